/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_time.h - whether a process of this host was scheduled between two
 * observations: then a call that waits for nobody would have returned. */
#ifndef ES_MONITORS_VERDICT_PROCESS_TIME_H
#define ES_MONITORS_VERDICT_PROCESS_TIME_H

#include "monitors/verdict/facts.h"

enum { ESI_PROCESS_TASKS = 32 };

/* A thread of the process, according to the kernel. */
struct esi_process_task {
    int id;
    uint64_t used_ns;
};

struct esi_process_time {
    struct esi_process_task tasks[ESI_PROCESS_TASKS]; /* the first of them */
    size_t task_count;
    bool known;
    char state;       /* as in proc(5): R running, S sleeping, T stopped ... */
    uint64_t used_ns; /* by its main thread */
    uint64_t ticks;   /* by all its threads, in clock ticks */
};

/* Whether a process has a segment of the run on this host, so that its processor time
 * can be read.  Checks several processes. */
bool esi_process_time_is_here(const struct es_run *run, int rank, int pid);

/* Reads the times of a process of this host.  Its ledger, if known, names the threads
 * of the MPI library, which are left out. */
void esi_process_time_read(int pid,
                           const struct esi_ledger *ledger,
                           struct esi_process_time *ret_time);

/* Number of threads that were scheduled between the two observations, or are new. */
size_t esi_process_time_active(const struct esi_process_time *before,
                               const struct esi_process_time *now);

enum esi_fact_schedule esi_process_time_compare(const struct esi_process_time *before,
                                                const struct esi_process_time *now);

#endif
