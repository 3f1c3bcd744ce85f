/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* How the processes of a run live and end, as its segments show. */
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
    size_t alive;  /* segments whose process lives */
    size_t failed; /* aborted, killed, lost, or ended with another code than 0 */
    size_t killed; /* of these after the first failure, as launchers do it; also those
                       that are gone, which nobody saw */
    size_t alone;  /* where there are several and each is rank 0 of 1; else 0 */
    bool is_first_unseen; /* rank 0 is gone, and nobody has noted its end */
    /* Of first_failure. */
    int signal;              /* that killed it; else 0 */
    int exit_code;           /* where it exited by itself; else 0 */
    char first_failure[128]; /* "rank 3 was killed by signal 9 (Killed)", or "" */
};

/* Looks at the run's segments.  False when there are none. */
bool esi_ending_scan(const char *run, struct esi_ending *ret_ending);

/* What became of the process, in a few words: "running", "killed by signal 9 (Killed)".
 * Returns `out`. */
const char *esi_ending_describe(const struct es_segment_info *info,
                                char *out,
                                size_t size);

/* --- Watching the processes of the run on this host --- */

struct esi_watch;

/* Watches through `segments`, which have to live longer. */
int esi_watch_create(struct esi_segment_set *segments,
                     const char *host,
                     struct esi_watch **ret_watch);
/* Accepts NULL. */
void esi_watch_destroy(struct esi_watch *watch);
/* Scans all; calls `on_lost` once for each process that has vanished.  Returns how many
 * live. */
int esi_watch_scan(struct esi_watch *watch,
                   void (*on_lost)(void *data, const struct esi_lost_rank *lost),
                   void *data);

#endif
