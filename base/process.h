/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Identifies processes by pid and start time, because pids are reused. */
#ifndef ES_BASE_PROCESS_H
#define ES_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start time of a process in clock ticks since boot (field 22 of /proc/PID/stat).
 * Returns 0; -ESRCH if there is no such process; or -EIO if /proc cannot be parsed. */
int esi_process_start_time(int pid, uint64_t *ret_start);

/* Returns whether the process exists, is not a zombie, and was started at `start` (0
 * for any time).  If /proc is not usable, every existing pid counts as alive. */
bool esi_process_is_alive(int pid, uint64_t start);

/* Returns whether the process is alive and stopped by a signal (Ctrl-Z, SIGSTOP).  Does
 * not detect processes stopped by a tracer or a cgroup freezer. */
bool esi_process_is_stopped(int pid, uint64_t start);

/* Lists the kernel ids of a process's threads in `ret_ids`, as far as there is room.
 * Returns their number, which may be larger; or -errno. */
int esi_process_list_threads(int pid, uint32_t *ret_ids, size_t room);

/* How much more address space this process may map (RLIMIT_AS minus the size in
 * /proc/self/statm); UINT64_MAX if it is not limited or not known. */
uint64_t esi_process_address_space_left(void);

#endif
