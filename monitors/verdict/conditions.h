/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What each thread waits for: the wait graph over threads, requests and ranks.
 * Pure logic.
 *
 * A rank acts if one of its threads does.  A thread waits for all or any of its
 * requests, a request for a rank, for the members that are missing from a collective
 * operation, or for anybody who could send.  Each wait is sure, reasoned (the call
 * waits for one of several reasons, and sits there although it had the processor), or
 * possible; docs/verdicts.md has the rules.
 */
#ifndef ES_MONITORS_VERDICT_CONDITIONS_H
#define ES_MONITORS_VERDICT_CONDITIONS_H

#include "monitors/verdict/and_or.h"
#include "monitors/verdict/channels.h"
#include "monitors/verdict/instances.h"
#include "monitors/verdict/windows.h"

enum esi_wait_reason {
    ES_REASON_NONE,       /* does not wait, or it cannot be told for what */
    ES_REASON_RECEIVE,    /* for a message */
    ES_REASON_SEND,       /* for a message to be taken */
    ES_REASON_TRANSFER,   /* the other end is there: the message is on its way */
    ES_REASON_COLLECTIVE, /* for others to enter */
    ES_REASON_COMPLETION, /* for requests */
    ES_REASON_ENTERED,    /* in a collective that all have entered */
    ES_REASON_WINDOW,     /* for locks or epochs of a window */
    ES_REASON_POLL,       /* polls in vain */
};

/* What one thread waits for, to be told. */
struct esi_wait {
    enum esi_wait_reason reason;
    bool any;           /* one of the ranks suffices */
    bool certain;       /* it surely waits for that */
    bool stuck;         /* filled by the verdict: it can never be released */
    const int *targets; /* world ranks; borrowed from the conditions */
    size_t target_count;
    int *list;         /* owned: the targets, where they are a list of their own */
    uint32_t requests; /* outstanding of those waited for; 0 = not known */
    const struct esi_ledger_request *taker; /* was posted before and gets the message;
                                               borrowed; NULL = none */
    uint32_t first_pending;                 /* in the conditions' `pending` */
    uint32_t pending_count; /* of its requests that are known, also such of which it
                               cannot be told whom they wait for */
};

struct esi_conditions {
    const struct esi_facts *facts; /* borrowed */
    struct esi_channels_table channels;
    struct esi_instance_table instances;
    struct esi_windows windows;
    struct esi_and_or graph;
    uint32_t acts;          /* the node that acts: who is not known */
    uint32_t everybody;     /* the node of any rank; ESI_NODE_NONE until it is needed */
    uint32_t *rank_nodes;   /* owned; per process; those of one rank share theirs */
    uint32_t *thread_nodes; /* owned; per thread */
    bool *exact;            /* owned; per process: its ledger tells all */
    bool *terminal;         /* owned; per process: it will do nothing any more */
    struct esi_sender_set *sets; /* owned; two per group: who can send to its sides */
    struct esi_wait *waits;      /* owned; per thread */
    const struct esi_ledger_request **pending; /* owned list; of all waits */
    size_t pending_count;
    size_t pending_capacity;
    size_t *holds_up; /* owned; per process: threads that wait for its rank */
};

/* 0 or -ENOMEM; free with esi_conditions_fini(). */
int esi_conditions_init(struct esi_conditions *conditions,
                        const struct esi_facts *facts);
void esi_conditions_fini(struct esi_conditions *conditions);

#endif
