/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* conditions_private.h - what one operation or request waits for. */
#ifndef ES_MONITORS_VERDICT_CONDITIONS_PRIVATE_H
#define ES_MONITORS_VERDICT_CONDITIONS_PRIVATE_H

#include "monitors/verdict/conditions.h"

enum esi_condition_surety {
    ESI_CONDITION_UNKNOWN,  /* not known whether and for what it waits */
    ESI_CONDITION_MET,      /* it does not wait */
    ESI_CONDITION_MAYBE,    /* it may wait for this */
    ESI_CONDITION_REASONED, /* the call waits for this if for nothing else, provided
                               that its process was scheduled */
    ESI_CONDITION_SURE,
};

#define ESI_CONDITION_NO_SPACE UINT32_MAX

struct esi_condition {
    enum esi_condition_surety surety;
    enum esi_wait_reason reason;
    uint32_t node;      /* node of what it waits for */
    bool any;           /* one of the targets suffices */
    int rank;           /* the only target; otherwise -1 */
    const int *targets; /* borrowed; NULL: only `rank` */
    size_t target_count;
    uint32_t space; /* instance space whose first members are the targets */
    const struct esi_ledger_request
        *taker; /* the receive that gets the message; NULL = none known */
};

/* The ranks that can send to one side of a group. */
struct esi_sender_set {
    bool made;
    bool exact; /* all their ledgers are known */
    bool freed; /* some of them have freed the communicator */
    uint32_t node;
};

/* Determines what a request waits for.  Returns 0 or -ENOMEM. */
int esi_condition_of_request(struct esi_conditions *conditions,
                             const struct esi_fact_process *process,
                             const struct esi_ledger_request *request,
                             struct esi_condition *ret_condition);
/* Determines what the thread's open operation waits for, according to its tuple.
 * Returns 0 or -ENOMEM. */
int esi_condition_of_open(struct esi_conditions *conditions,
                          const struct esi_fact_process *process,
                          const struct esi_thread_state *thread,
                          struct esi_condition *ret_condition);

/* Passes to `take` what a call on locks or epochs of a window waits for.  Returns 1, 0
 * if the call is not of this kind, or -ENOMEM. */
int esi_condition_add_window(struct esi_conditions *conditions,
                             const struct esi_fact_process *process,
                             const struct esi_thread_state *thread,
                             int (*take)(void *, const struct esi_condition *),
                             void *data);

/* --- Nodes ------------------------------------------------------------------------ */

uint32_t esi_condition_rank_node(const struct esi_conditions *conditions, int rank);
bool esi_condition_is_exact(const struct esi_conditions *conditions, int rank);
/* Sets *ret_set to NULL if the members are not known. */
int esi_condition_find_senders(struct esi_conditions *conditions,
                               uint32_t group,
                               unsigned side,
                               struct esi_sender_set **ret_set);
/* Makes the node of the first `count` members of a space, which waits for any of them
 * or for all. */
int esi_condition_find_missing(struct esi_conditions *conditions,
                               struct esi_instance_space *space,
                               size_t count,
                               bool any,
                               uint32_t *ret_node);

#endif
