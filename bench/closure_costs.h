/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of convex closures of random sets of events (Nichols, 4.7).
 *
 *   closure_sets_draw(order, 5000, 8, 10, &seed, &sets);
 *   closure_costs_make(order, successors, ES_CLOSURE_JUMP, &sets, 20, &costs);
 *   closure_sets_fini(&sets);
 */
#ifndef ES_BENCH_CLOSURE_COSTS_H
#define ES_BENCH_CLOSURE_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/order/order.h"
#include "monitors/search/thesis/closure.h"

/* Random sets: set i is events[begins[i]] to events[begins[i + 1] - 1]. */
struct closure_sets {
    size_t count;
    size_t *begins;
    struct es_event_id *events;
};

/* Draws sets of `least` to `most` distinct events of the order, all with equal
 * probability, and advances `seed`.  Returns 0, -EINVAL if there are too few events, or
 * -ENOMEM. */
int closure_sets_draw(const struct es_order *order,
                      size_t count,
                      uint32_t least,
                      uint32_t most,
                      uint64_t *seed,
                      struct closure_sets *ret_sets);
void closure_sets_fini(struct closure_sets *sets);

/* Of all sets together. */
struct closure_costs {
    double min_ms; /* of the runs */
    double average_ms;
    double max_ms;
    uint64_t comparisons;
    uint64_t events; /* in the closures */
};

/* Computes the closure of each set, `runs` times in all. */
int closure_costs_make(const struct es_order *order,
                       const struct esi_successors *successors,
                       enum esi_closure_method method,
                       const struct closure_sets *sets,
                       unsigned runs,
                       struct closure_costs *ret_costs);

/* Computes one closure of the closures of sets 2i and 2i + 1, which are computed
 * beforehand, not timed: by combining them (4.5), or from their fronts and backs. */
int closure_costs_combine(const struct es_order *order,
                          bool is_combining,
                          const struct closure_sets *sets,
                          unsigned runs,
                          struct closure_costs *ret_costs);

#endif
