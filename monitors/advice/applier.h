/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * `eventspace collectives --apply`: one change of trees after the other, each measured
 * before and after, and taken back if it was for the worse.
 *
 *   one thread; the advice is only looked at while the caller has it.
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
    ES_APPLIED_REFUSED, /* it could not be put in force */
};

struct esi_applied_change {
    struct esi_advised_group group; /* its borrowed pointers are not used */
    char communicator[64];
    struct esi_tree_advice advice;
    char before[96]; /* trees in short */
    char after[96];
    struct esi_advised_past was;
    struct esi_advised_past is; /* its count is 0 until it was measured */
    uint32_t version;           /* of the rules with the change */
    uint64_t seen;              /* operations of that kind before the change */
    char *rules_before;         /* the applier's */
    bool went_back;
    enum esi_applied_outcome outcome;
};

struct esi_applier;

/* Borrows the hosts.  `after`: operations that a change is based on, and judged by.
 * -ENOMEM. */
int esi_applier_create(const struct esi_tree_hosts *hosts,
                       size_t after,
                       struct esi_applier **ret_applier);
/* Accepts NULL. */
void esi_applier_destroy(struct esi_applier *applier);

/* Looks at proposals, and chooses the one to be applied: the one that saves most.
 * Copies it.  Nothing is chosen while a change is under way. */
void esi_applier_choose(struct esi_applier *applier,
                        const struct esi_collectives_proposal *proposals,
                        size_t count,
                        const struct esi_tree_advisor *advisor);

/* Looks at what was measured since the change that is under way.  With `over` what
 * there is must do. */
void esi_applier_measure(struct esi_applier *applier,
                         const struct esi_tree_advisor *advisor,
                         bool over);

/* Does what was chosen: changes trees, waits until they are in force, takes changes
 * back.  -ENOMEM and the like. */
int esi_applier_act(struct esi_applier *applier);

/* The changes so far, the oldest first; borrowed until the next call. */
const struct esi_applied_change *esi_applier_changes(const struct esi_applier *applier,
                                                     size_t *ret_count);

/* "held", "worse" and the like. */
const char *esi_applied_outcome_name(enum esi_applied_outcome outcome);

#endif
