/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The heartbeat monitor (section 5.1 of the EventSpace paper): has each thread made
 * progress since the last observation, and if not, what is it doing and which ranks is
 * it waiting for?
 *
 * Its scope delivers the latest event of each thread and the operation in progress;
 * with the processes' ledgers, they give the verdicts (monitors/verdict). For processes
 * without a ledger, a second scope reads the collectives when a thread has waited for
 * long, to find the ranks missing from them.
 */
#ifndef ES_MONITORS_VERDICT_OBSERVE_H
#define ES_MONITORS_VERDICT_OBSERVE_H

#include "eventspace/scope.h"
#include "monitors/follow/thread_state.h"
#include "monitors/verdict/verdict.h"

struct esi_heartbeat_config {
    uint64_t stalled_after_ns; /* a thread counts as stalled after so long in one
                                  operation, or polling without success */
    struct es_servers
        *servers; /* for all hosts of the run; NULL = this host only; borrowed */
    const struct es_tree_config
        *tree; /* the tree of the scope; NULL = default; borrowed */
};

/* The results of one pull; borrowed until the next one. */
struct esi_heartbeat_report {
    const char *run;
    uint64_t pull; /* from 1 */
    uint64_t realtime_ns;
    const struct esi_thread_state *threads; /* by rank, then thread */
    const struct esi_wait *waits;           /* one per thread */
    size_t thread_count;
    const uint32_t *origins;      /* per thread: one of its origins ... */
    const struct es_scope *scope; /* ... in the scope that was pulled */
    const struct esi_diagnosis *diagnosis;
    bool again;    /* another observation would give more information */
    bool doubtful; /* another observation would make a verdict certain */
    size_t stalled;
    size_t dead;
    size_t finished;
    size_t unknown;                  /* threads whose activity is not recorded */
    bool paced;                      /* pulls are paced: see es_scope_is_paced() */
    bool vanished;                   /* nothing of the run exists any more */
    const struct es_notice *notices; /* hosts that did not deliver data */
    size_t notice_count;
};

struct esi_heartbeat;

/* Borrows the run.  Returns 0 or -errno with `error` filled. */
int esi_heartbeat_create(struct es_run *run,
                         const struct esi_heartbeat_config *config,
                         struct es_error *error,
                         struct esi_heartbeat **ret_heartbeat);
/* Accepts NULL. */
void esi_heartbeat_destroy(struct esi_heartbeat *heartbeat);

/* Pulls and evaluates once.  Returns 0 or -errno. */
int esi_heartbeat_beat(struct esi_heartbeat *heartbeat,
                       struct esi_heartbeat_report *ret_report);

#endif
