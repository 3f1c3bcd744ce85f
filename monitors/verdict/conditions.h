/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What each thread waits for: the wait graph of threads, requests and ranks.  Pure
 * logic.
 *
 * A rank acts if one of its threads does.  A thread waits for all or any of its
 * requests.  A request waits for a rank, for the members missing from a collective
 * operation, or for any possible sender.  Each wait is certain, reasoned (the call
 * waits for one of several reasons, and has not returned although its process was
 * scheduled), or possible; docs/verdicts.md has the rules.
 */
#ifndef ES_MONITORS_VERDICT_CONDITIONS_H
#define ES_MONITORS_VERDICT_CONDITIONS_H

#include "monitors/verdict/and_or.h"
#include "monitors/verdict/channels.h"
#include "monitors/verdict/instances.h"
#include "monitors/verdict/windows.h"

enum esi_wait_reason {
    ES_REASON_NONE,       /* does not wait, or for an unknown reason */
    ES_REASON_RECEIVE,    /* for a message */
    ES_REASON_SEND,       /* for a message to be received */
    ES_REASON_TRANSFER,   /* the other end has arrived: the message is in transit */
    ES_REASON_COLLECTIVE, /* for other members to enter */
    ES_REASON_COMPLETION, /* for requests to complete */
    ES_REASON_ENTERED,    /* in a collective that all members have entered */
    ES_REASON_WINDOW,     /* for locks or epochs of a window */
    ES_REASON_POLL,       /* polls without success */
};

/* What one thread waits for, as it is reported. */
struct esi_wait {
    enum esi_wait_reason reason;
    bool any;           /* one of the targets suffices */
    bool certain;       /* it certainly waits for the targets */
    bool stuck;         /* set by the verdict: it can never be released */
    const int *targets; /* world ranks; borrowed from the conditions */
    size_t target_count;
    int *list;         /* owned: the targets, if the wait has its own list */
    uint32_t requests; /* outstanding requests that it waits for; 0 = not known */
    const struct esi_ledger_request *taker; /* an earlier receive, which gets the
                                               message; borrowed; NULL = none */
    uint32_t first_pending;                 /* index in the conditions' `pending` */
    uint32_t pending_count; /* number of its known requests, including those whose
                               targets are not known */
};

struct esi_conditions {
    const struct esi_facts *facts; /* borrowed */
    struct esi_channels_table channels;
    struct esi_instance_table instances;
    struct esi_windows windows;
    struct esi_and_or graph;
    uint32_t acts;          /* the acting node: stands for unknown targets */
    uint32_t everybody;     /* the node for any rank; ESI_NODE_NONE until needed */
    uint32_t *rank_nodes;   /* owned; per process; processes of the same rank share a
                               node */
    uint32_t *thread_nodes; /* owned; per thread */
    bool *exact;            /* owned; per process: its ledger is complete */
    bool *terminal;         /* owned; per process: it will do nothing more */
    struct esi_sender_set *sets; /* owned; two per group: who can send to each of its
                                    sides */
    struct esi_wait *waits;      /* owned; per thread */
    const struct esi_ledger_request **pending; /* owned list; the pending requests of
                                                  all waits */
    size_t pending_count;
    size_t pending_capacity;
    size_t *holds_up; /* owned; per process: number of threads that wait for its rank */
    size_t *counted;  /* owned; per process: thread counted last, plus 1 */
};

/* Returns 0 or -ENOMEM; free with esi_conditions_fini(). */
int esi_conditions_init(struct esi_conditions *conditions,
                        const struct esi_facts *facts);
void esi_conditions_fini(struct esi_conditions *conditions);

#endif
