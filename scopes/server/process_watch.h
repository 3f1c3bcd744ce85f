/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Observes in the segments of a run whether its processes live, and how they ended. */
#ifndef ES_SCOPES_SERVER_PROCESS_WATCH_H
#define ES_SCOPES_SERVER_PROCESS_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/run.h"
#include "scopes/server/host_registry.h"

struct esi_segment_set;

/* --- Ends --- */

struct esi_ending {
    size_t segments;
    size_t before_mpi; /* segments whose process has not called MPI, or had not when it
                          ended */
    size_t alive;      /* segments whose process is alive */
    size_t failed; /* aborted, killed, lost, or ended with an exit code other than 0,
                      also after MPI_Finalize */
    size_t killed; /* of the failed ones, those killed after the first failure, as
                      launchers do; includes processes whose end nobody saw */
    bool together; /* all failed ones were killed by one signal, and not by SIGKILL,
                      with which launchers kill others: the job was ended */
    size_t alone;  /* segments if there are several, each of rank 0 of 1; else 0 */
    size_t size;   /* of the launched MPI_COMM_WORLD; 0 = unknown */
    size_t absent; /* ranks of that world without a segment on this host; 0 if processes
                      remove their segments */
    int first_absent;
    bool is_first_unseen; /* rank 0 has ended, and nobody recorded how */
    /* Of first_failure. */
    int signal;              /* the signal that killed it, or 0 */
    int other_signal;        /* if that is one with which launchers kill: the other one
                                of these, if it killed another rank; else 0 */
    int exit_code;           /* if it exited by itself, otherwise 0 */
    char first_failure[128]; /* "rank 3 was killed by signal 9 (Killed)", "all 4 ranks
                                were killed by ...", or "" */
};

/* Scans the run's segments.  Returns false if there are none. */
bool esi_ending_scan(const char *run, struct esi_ending *ret_ending);

/* Whether the process has not called MPI, or had not when it ended.  Not if its calls
 * cannot be seen. */
bool esi_ending_is_before_mpi(const struct es_run *run,
                              const struct es_segment_view *segment);

/* Describes the state of the process, such as "running" or "killed by signal 9
 * (Killed)"; `before_mpi`: it has not called MPI, or had not when it ended.  Returns
 * `out`. */
const char *esi_ending_describe(const struct es_segment_info *info,
                                bool before_mpi,
                                char *out,
                                size_t size);

/* --- Watching the processes of the run on this host --- */

struct esi_watch;

/* Watches processes in `segments`, which must outlive the watch. */
int esi_watch_create(struct esi_segment_set *segments,
                     const char *host,
                     struct esi_watch **ret_watch);
/* Destroys the watch.  Accepts NULL. */
void esi_watch_destroy(struct esi_watch *watch);
/* Scans all processes and calls `on_lost` once for each that has vanished.  Returns the
 * number of live processes. */
int esi_watch_scan(struct esi_watch *watch,
                   void (*on_lost)(void *data, const struct esi_lost_rank *lost),
                   void *data);

#endif
