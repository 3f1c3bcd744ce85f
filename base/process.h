/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Which process a pid stands for: pids are used again, start times tell them apart. */
#ifndef ES_BASE_PROCESS_H
#define ES_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* The start time of a process in the kernel's clock ticks since boot (field 22 of
 * /proc/PID/stat).  -ESRCH: there is no such process; -EIO: /proc cannot be understood.
 */
int esi_process_start_time(int pid, uint64_t *ret_start);

/* Whether the process lives: it exists, is no zombie, and was started at `start` (0 =
 * not known: any).  Where /proc cannot tell, a pid that exists counts as alive. */
bool esi_process_is_alive(int pid, uint64_t start);

/* Whether the process lives and was stopped by a signal (Ctrl-Z, SIGSTOP).  One that a
 * tracer or a cgroup's freezer holds is not known as such. */
bool esi_process_is_stopped(int pid, uint64_t start);

/* How much address space this process may still map (RLIMIT_AS less what it has mapped,
 * /proc/self/statm): UINT64_MAX where it has no limit or /proc cannot tell. */
uint64_t esi_process_address_space_left(void);

#endif
