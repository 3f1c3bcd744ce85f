/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Convex closures: a set of events with all that lies between two of them (Nichols,
 * chapter 4; docs/closures.md).
 *
 *   esi_closure_maker_create(order, ES_CLOSURE_BINARY, NULL, &maker);
 *   esi_closure_make(maker, &precedence, events, count, &closure);
 *   esi_closure_combine(maker, &precedence, &closure, &other, &both);
 *   esi_closure_fini(&closure);
 *   esi_closure_maker_destroy(maker);
 *
 * On a trace a closure has all events from one to another, its front and its back
 * there, or none.  Closures hold only the traces that they have.
 *
 * What is counted are timestamps that are compared; reading an entry of one is not
 * (theorem 4.1).  Events that the order has forgotten precede nothing and have no
 * predecessors; they are counted as unknown.
 *
 * Costs, in comparisons, for n traces, a set of e events on t of them, a closure of c
 * events, on traces with at most i events before their back:
 *   EXISTING  2 t^2 to find the set's minima and maxima, n t^2 for the back; the walk
 *             visits each of the c events and its successors, but compares indexes only
 *   STEP      n t + c
 *   BINARY    n t log i
 *   JUMP      n t log i / log t, at most t jumps of each length
 * and in time e + n t more, for entries that are read.
 */
#ifndef ES_MONITORS_SEARCH_THESIS_CLOSURE_H
#define ES_MONITORS_SEARCH_THESIS_CLOSURE_H

#include <stddef.h>
#include <stdint.h>

#include "monitors/search/truth/event_list.h"
#include "monitors/search/domains/precedence.h"
#include "monitors/search/search.h"
#include "monitors/search/thesis/successors.h"

/* {0} is the closure of nothing.  Its memory is used again by the next make or combine
 * into it. */
struct esi_closure {
    /* Front and back on each trace it has, one after the other, the same event twice
     * where they are one: as a set of events (event_sets.h) it has the closure's
     * relations (theorem 3.23). */
    struct esi_event_list ends;
    /* For combining: the first event of the set itself on each of its traces, and the
     * greatest predecessors of its last ones (and these) on all. */
    struct esi_event_list first;
    struct esi_event_list greatest;
};

void esi_closure_fini(struct esi_closure *closure);

/* What closures of one order are made with.  One thread at a time. */
struct esi_closure_maker;

/* `order` is borrowed, and not appended to; so are `successors`, which EXISTING walks
 * along.  NULL: they are worked out from the order, far slower.  0 or -ENOMEM. */
int esi_closure_maker_create(const struct es_order *order,
                             enum esi_closure_method method,
                             const struct esi_successors *successors,
                             struct esi_closure_maker **ret_maker);
/* Accepts NULL. */
void esi_closure_maker_destroy(struct esi_closure_maker *maker);

/* The closure of a set: events sorted by trace and index, distinct.  0 or -ENOMEM:
 * `closure` is then that of nothing. */
int esi_closure_make(struct esi_closure_maker *maker,
                     struct esi_precedence *precedence,
                     const struct es_event_id *events,
                     size_t count,
                     struct esi_closure *closure);

/* The closure of the union of the sets that two closures are of (4.5): only on traces
 * that one of them does not have, and there only what the other has not told.  At most
 * n t log i comparisons, for t traces of one set, often none.  With EXISTING, which has
 * no way to do so, it is made anew of fronts and backs.  `closure` is none of the two.
 */
int esi_closure_combine(struct esi_closure_maker *maker,
                        struct esi_precedence *precedence,
                        const struct esi_closure *a,
                        const struct esi_closure *b,
                        struct esi_closure *closure);

/* Events in it. */
uint64_t esi_closure_size(const struct esi_closure *closure);

/* Memory that is held. */
uint64_t esi_closure_bytes(const struct esi_closure *closure);

#endif
