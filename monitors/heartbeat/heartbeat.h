/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The heartbeat monitor (section 5.1 of the EventSpace paper): has each thread made
 * progress since the last look, and if not, what is it doing and who is it waiting for?
 *
 * Its scope gives the latest event of each thread and the operation under way; from
 * these and the processes' ledgers come the verdicts (monitors/verdict).  Of processes
 * without a ledger a second scope reads the collectives once a thread waits for long,
 * to tell who is missing from which.
 */
#ifndef ES_MONITORS_HEARTBEAT_HEARTBEAT_H
#define ES_MONITORS_HEARTBEAT_HEARTBEAT_H

#include "eventspace/scope.h"
#include "monitors/follow/thread_state.h"
#include "monitors/verdict/verdict.h"

struct esi_heartbeat_config {
    uint64_t stalled_after_ns; /* a thread counts as stalled that has been in one
                                  operation, or polled in vain, for so long */
    struct es_servers
        *servers; /* all hosts of the run; NULL = this host only; borrowed */
    const struct es_tree_config
        *tree; /* how threads are looked at; NULL = as scopes do; borrowed */
};

/* What one pull has shown; borrowed until the next one. */
struct esi_heartbeat_report {
    const char *run;
    uint64_t pull; /* from 1 */
    uint64_t realtime_ns;
    const struct esi_thread_state *threads; /* by rank, then thread */
    const struct esi_wait *waits;           /* one per thread */
    size_t thread_count;
    const uint32_t *origins;      /* one of each thread's, in ... */
    const struct es_scope *scope; /* ... the scope that was pulled */
    const struct esi_diagnosis *diagnosis;
    bool again;    /* a second look would tell more */
    bool doubtful; /* it would make sure of something */
    size_t stalled;
    size_t dead;
    size_t finished;
    size_t unknown; /* what they do is not recorded */
    bool paced;     /* looks wait by themselves: see es_scope_is_paced() */
    bool vanished;  /* nothing of the run is left to be found */
    const struct es_notice *notices; /* hosts that did not deliver */
    size_t notice_count;
};

struct esi_heartbeat;

/* Borrows the run.  -errno with words in `error`. */
int esi_heartbeat_create(struct es_run *run,
                         const struct esi_heartbeat_config *config,
                         struct es_error *error,
                         struct esi_heartbeat **ret_heartbeat);
/* Accepts NULL. */
void esi_heartbeat_destroy(struct esi_heartbeat *heartbeat);

/* Pulls and judges once.  0 or -errno. */
int esi_heartbeat_beat(struct esi_heartbeat *heartbeat,
                       struct esi_heartbeat_report *ret_report);

#endif
