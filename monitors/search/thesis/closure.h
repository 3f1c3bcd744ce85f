/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Convex closures: a set of events together with all events between two of them
 * (Nichols, chapter 4; docs/engines.md).
 *
 *   esi_closure_maker_create(order, ES_CLOSURE_BINARY, NULL, &maker);
 *   esi_closure_make(maker, &precedence, events, count, &closure);
 *   esi_closure_combine(maker, &precedence, &closure, &other, &both);
 *   esi_closure_fini(&closure);
 *   esi_closure_maker_destroy(maker);
 *
 * On a trace, a closure contains all events from its front to its back, or none.  A
 * closure stores only the traces on which it has events.
 *
 * Costs count comparisons of timestamps; reading an entry is free (theorem 4.1).
 * Events that the order has forgotten precede nothing and have no predecessors; they
 * are counted as unknown.
 *
 * Costs, in comparisons, for n traces, a set of e events on t of them, a closure of c
 * events, on traces with at most i events before their back:
 *
 *   EXISTING  2 t^2 to find the set's minima and maxima, n t^2 for the back; the walk
 *             visits each of the c events and its successors, but compares indexes only
 *   STEP      n t + c
 *   BINARY    n t log i
 *   JUMP      n t log i / log t, at most t jumps of each length
 *
 * and in time e + n t more, for reading entries.
 */
#ifndef ES_MONITORS_SEARCH_THESIS_CLOSURE_H
#define ES_MONITORS_SEARCH_THESIS_CLOSURE_H

#include <stddef.h>
#include <stdint.h>

#include "monitors/search/truth/event_list.h"
#include "monitors/search/domains/precedence.h"
#include "monitors/search/thesis/successors.h"
#include "monitors/search/thesis/tuning.h"

/* {0} is the closure of the empty set.  Its memory is reused when it is the result of
 * another call. */
struct esi_closure {
    /* Front and back on each of its traces, one after the other; an event that is both
     * appears twice.  As a set of events (event_sets.h) it has the relations of the
     * closure (theorem 3.23). */
    struct esi_event_list ends;
    /* For combining: the first event of the original set on each of its traces, and the
     * greatest predecessors of its last events (including these) on all traces. */
    struct esi_event_list first;
    struct esi_event_list greatest;
};

void esi_closure_fini(struct esi_closure *closure);

/* State for computing closures in one order.  One thread at a time. */
struct esi_closure_maker;

/* `order` is borrowed and must not be appended to.  `successors`, which EXISTING
 * follows, are borrowed; NULL means that they are computed from the order, which is
 * much slower.  Returns 0 or -ENOMEM. */
int esi_closure_maker_create(const struct es_order *order,
                             enum esi_closure_method method,
                             const struct esi_successors *successors,
                             struct esi_closure_maker **ret_maker);
/* Accepts NULL. */
void esi_closure_maker_destroy(struct esi_closure_maker *maker);

/* Computes the closure of a set: events sorted by trace and index, distinct.  Returns
 * 0, or -ENOMEM, and then `closure` is empty. */
int esi_closure_make(struct esi_closure_maker *maker,
                     struct esi_precedence *precedence,
                     const struct es_event_id *events,
                     size_t count,
                     struct esi_closure *closure);

/* Computes the closure of the union of the sets of two closures (4.5): examines only
 * traces that one of them does not have, and there only what the other has not
 * determined.  Takes at most n t log i comparisons for t traces of one set, often none.
 * EXISTING cannot combine; it computes the closure of all fronts and backs.  `closure`
 * must be neither of the operands. */
int esi_closure_combine(struct esi_closure_maker *maker,
                        struct esi_precedence *precedence,
                        const struct esi_closure *a,
                        const struct esi_closure *b,
                        struct esi_closure *closure);

/* Number of events in the closure. */
uint64_t esi_closure_size(const struct esi_closure *closure);

/* Memory used, in bytes. */
uint64_t esi_closure_bytes(const struct esi_closure *closure);

#endif
