/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Judges one collective operation: from when its members entered and left to who waited
 * for whom.  Pure logic; docs/collectives.md has the reasons.
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVE_JUDGE_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVE_JUDGE_H

#include "eventspace/operation.h"
#include "monitors/collectives/collectives.h"

/* What an operation's code says about waiting. */
struct esi_collective_traits {
    uint16_t family; /* the code without the large-count variant's 2000 */
    enum es_order_kind order;
    bool nonblocking; /* tuples last from the start to the completion: how long a rank
                         waited in between does not show */
    bool vector;      /* counts differ between members: some may not have to wait */
    bool synchronizing;
};

/* False: not the code of a collective. */
bool esi_collective_traits(uint16_t operation,
                           struct esi_collective_traits *ret_traits);

/* Fills what follows from the arrivals: all of `instance` but key, communicator,
 * operation, instance, version, root, bytes and imbalance.  `instance` has the size,
 * `error_ns` and the arrivals, whose waits and debts are filled; `order` has room for
 * `size` ranks.  `moves`: every member sends or gets data, so that nobody can have left
 * too early.  O(size log size). */
void esi_collective_judge(const struct esi_collective_traits *traits,
                          bool moves,
                          struct esi_collective_arrival *arrivals,
                          int *order,
                          struct esi_collective_instance *instance);

#endif
