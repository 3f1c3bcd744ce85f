/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Judges one collective operation: from the enter and exit times of its members to who
 * waited for whom.  Pure logic; docs/collectives.md gives the reasons.
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVE_JUDGE_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVE_JUDGE_H

#include "eventspace/operation.h"
#include "monitors/collectives/collectives.h"

/* What an operation's code implies about waiting. */
struct esi_collective_traits {
    uint16_t family; /* the code without the large-count variant's 2000 */
    enum es_order_kind order;
    bool nonblocking; /* tuples last from start to completion and do not show how
                         long a rank waited */
    bool vector;      /* counts differ between members: some may not have to wait */
    bool synchronizing;
};

/* Returns false if the code is not that of a collective. */
bool esi_collective_traits(uint16_t operation,
                           struct esi_collective_traits *ret_traits);

/* Fills all members of `instance` that follow from the arrivals: all but key,
 * communicator, operation, instance, version, root, bytes and imbalance.  `instance`
 * must have the size, `error_ns` and the arrivals, whose waits and debts are filled;
 * `order` must have space for `size` ranks.  `moves`: every member sends or receives
 * data, so that none can leave too early.  O(size log size). */
void esi_collective_judge(const struct esi_collective_traits *traits,
                          bool moves,
                          struct esi_collective_arrival *arrivals,
                          int *order,
                          struct esi_collective_instance *instance);

#endif
