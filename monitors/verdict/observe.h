/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Observes a run (section 5.1 of the EventSpace paper, the heartbeat): has each thread
 * made progress since the last look, and if not, what is it doing and which ranks is it
 * waiting for?
 *
 * A scope delivers the latest event of each thread and the operation in progress; with
 * the processes' ledgers, they give the verdicts.  For processes without a ledger, a
 * second scope reads the collectives when a thread has waited for long, to find the
 * ranks missing from them.
 *
 *     esi_observer_create(run, &config, &error, &observer);
 *     while (...)
 *         esi_observer_look(observer, &observation);
 *     esi_observer_destroy(observer);
 *
 * One thread at a time.
 */
#ifndef ES_MONITORS_VERDICT_OBSERVE_H
#define ES_MONITORS_VERDICT_OBSERVE_H

#include "eventspace/scope.h"
#include "monitors/verdict/verdict.h"

#define ESI_STALLED_AFTER_NS UINT64_C(5000000000) /* unless the user says otherwise */

struct esi_observer_config {
    uint64_t stalled_after_ns; /* a thread counts as stalled after so long in one
                                  operation, or polling without success */
    struct es_servers
        *servers; /* for all hosts of the run; NULL = this host only; borrowed */
    const struct es_tree_config
        *tree; /* the tree of the scope; NULL = default; borrowed */
};

/* The results of one look; borrowed until the next one. */
struct esi_observation {
    uint64_t number;                       /* from 1 */
    const struct esi_diagnosis *diagnosis; /* with the facts, and their threads */
    const struct es_scope *scope;          /* that was pulled */
    size_t verdicts[ES_VERDICTS];          /* number of threads by verdict */
    bool again;                      /* another look would give more information */
    bool doubtful;                   /* another look would make a verdict certain */
    bool vanished;                   /* nothing of the run exists any more */
    const struct es_notice *notices; /* hosts that did not deliver data */
    size_t notice_count;
};

struct esi_observer;

/* Borrows the run.  Returns 0 or -errno with `error` filled. */
int esi_observer_create(struct es_run *run,
                        const struct esi_observer_config *config,
                        struct es_error *error,
                        struct esi_observer **ret_observer);
/* Accepts NULL. */
void esi_observer_destroy(struct esi_observer *observer);

/* Pulls and evaluates once.  Returns 0 or -errno. */
int esi_observer_look(struct esi_observer *observer,
                      struct esi_observation *ret_observation);

#endif
