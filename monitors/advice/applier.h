/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * `eventspace collectives --apply`: applies one change of trees after the other, each
 * measured before and after, and reverted if it was worse.
 *
 * One thread at a time; proposals are only used during the call.
 */
#ifndef ES_MONITORS_ADVICE_APPLIER_H
#define ES_MONITORS_ADVICE_APPLIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/advice/tree_hosts.h"
#include "monitors/advice/collectives_advice.h"

enum esi_applied_outcome {
    ES_APPLIED_CHOSEN,
    ES_APPLIED_SWITCHING,
    ES_APPLIED_MEASURING,
    ES_APPLIED_HELD,
    ES_APPLIED_PARTLY,
    ES_APPLIED_MISSED,
    ES_APPLIED_WORSE,
    ES_APPLIED_REFUSED, /* it could not be applied */
};

struct esi_applied_change {
    struct esi_advised_group group; /* its borrowed pointers are not used */
    char communicator[64];
    struct esi_tree_advice advice;
    char before[96]; /* short descriptions of trees */
    char after[96];
    struct esi_advised_past was;
    struct esi_advised_past is; /* its count is 0 until it was measured */
    uint32_t version;           /* of the rules with the change */
    uint64_t seen;              /* operations of this kind before the change */
    char *rules_before;         /* owned by the applier */
    bool went_back;
    enum esi_applied_outcome outcome;
};

struct esi_applier;

/* Borrows the hosts.  `after`: operations that a change is based on, and judged by.
 * Returns 0 or -ENOMEM. */
int esi_applier_create(const struct esi_tree_hosts *hosts,
                       size_t after,
                       struct esi_applier **ret_applier);
/* Accepts NULL. */
void esi_applier_destroy(struct esi_applier *applier);

/* Chooses and copies the proposal to apply: the one that saves most.  Does nothing
 * while a change is in progress. */
void esi_applier_choose(struct esi_applier *applier,
                        const struct esi_collectives_proposal *proposals,
                        size_t count,
                        const struct esi_tree_advisor *advisor);

/* Evaluates the measurements since the change in progress; with `over`, even if they
 * are few. */
void esi_applier_measure(struct esi_applier *applier,
                         const struct esi_tree_advisor *advisor,
                         bool over);

/* Performs the next step: changes trees, waits until they are used, reverts changes.
 * Returns 0, -ENOMEM or the like. */
int esi_applier_act(struct esi_applier *applier);

/* The changes so far, oldest first; borrowed until the next call. */
const struct esi_applied_change *esi_applier_changes(const struct esi_applier *applier,
                                                     size_t *ret_count);

/* "held", "worse" etc. */
const char *esi_applied_outcome_name(enum esi_applied_outcome outcome);

#endif
