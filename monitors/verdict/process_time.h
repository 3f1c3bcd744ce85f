/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_time.h - whether a process of this host had the processor between two looks:
 * a call that only needs time to end would have ended. */
#ifndef ES_MONITORS_VERDICT_PROCESS_TIME_H
#define ES_MONITORS_VERDICT_PROCESS_TIME_H

#include "monitors/verdict/facts.h"

enum { ESI_PROCESS_TASKS = 32 };

/* A thread of the process as the system sees it. */
struct esi_process_task {
    int id;
    uint64_t used_ns;
};

struct esi_process_time {
    struct esi_process_task tasks[ESI_PROCESS_TASKS]; /* the first of them */
    size_t task_count;
    bool known;
    char state;       /* as proc(5) has it: R running, S sleeping, T stopped ... */
    uint64_t used_ns; /* by its first thread */
    uint64_t ticks;   /* by all its threads, in clock ticks */
};

/* Whether a process has a segment of the run on this host, where its time can be read.
 * It looks at several processes to find that out. */
bool esi_process_time_is_here(const struct es_run *run, int rank, int pid);

/* Of a process of this host. */
void esi_process_time_read(int pid, struct esi_process_time *ret_time);

/* Threads that had the processor between the two, or are new. */
size_t esi_process_time_active(const struct esi_process_time *before,
                               const struct esi_process_time *now);

enum esi_fact_schedule esi_process_time_compare(const struct esi_process_time *before,
                                                const struct esi_process_time *now);

#endif
