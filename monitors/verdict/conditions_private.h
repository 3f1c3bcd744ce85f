/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* conditions_private.h - what one operation or request waits for. */
#ifndef ES_MONITORS_VERDICT_CONDITIONS_PRIVATE_H
#define ES_MONITORS_VERDICT_CONDITIONS_PRIVATE_H

#include "monitors/verdict/conditions.h"

enum esi_condition_surety {
    ESI_CONDITION_UNKNOWN,  /* whether and for what it waits */
    ESI_CONDITION_MET,      /* it does not wait */
    ESI_CONDITION_MAYBE,    /* it may wait for this */
    ESI_CONDITION_REASONED, /* if nothing else holds up the call, this does, provided
                               that the process had the processor */
    ESI_CONDITION_SURE,
};

#define ESI_CONDITION_NO_SPACE UINT32_MAX

struct esi_condition {
    enum esi_condition_surety surety;
    enum esi_wait_reason reason;
    uint32_t node;      /* of what it waits for */
    bool any;           /* one of the targets suffices */
    int rank;           /* the only target; else -1 */
    const int *targets; /* borrowed; NULL: `rank` */
    size_t target_count;
    uint32_t space; /* index of the instance space whose beginning the targets are */
    const struct esi_ledger_request
        *taker; /* that gets the message; NULL = none known */
};

/* Who can send to a side of a group. */
struct esi_sender_set {
    bool made;
    bool exact; /* the ledgers of all are known */
    bool freed; /* some have freed the communicator */
    uint32_t node;
};

/* 0 or -ENOMEM each. */
int esi_condition_of_request(struct esi_conditions *conditions,
                             const struct esi_fact_process *process,
                             const struct esi_ledger_request *request,
                             struct esi_condition *ret_condition);
/* Of the thread's open operation, or what it waits for as its tuple tells. */
int esi_condition_of_open(struct esi_conditions *conditions,
                          const struct esi_fact_process *process,
                          const struct esi_thread_state *thread,
                          struct esi_condition *ret_condition);

/* For calls about locks and epochs of a window: gives what they wait for.  1: it is
 * such a call; 0: it is not; or -ENOMEM. */
int esi_condition_add_window(struct esi_conditions *conditions,
                             const struct esi_fact_process *process,
                             const struct esi_thread_state *thread,
                             int (*take)(void *, const struct esi_condition *),
                             void *data);

/* --- Nodes ------------------------------------------------------------------------ */

uint32_t esi_condition_rank_node(const struct esi_conditions *conditions, int rank);
bool esi_condition_is_exact(const struct esi_conditions *conditions, int rank);
/* *ret_set is NULL where the members are not known. */
int esi_condition_find_senders(struct esi_conditions *conditions,
                               uint32_t group,
                               size_t side,
                               struct esi_sender_set **ret_set);
/* The first `count` members of a space; surely `any` of them, or all. */
int esi_condition_find_missing(struct esi_conditions *conditions,
                               struct esi_instance_space *space,
                               size_t count,
                               bool any,
                               uint32_t *ret_node);

#endif
