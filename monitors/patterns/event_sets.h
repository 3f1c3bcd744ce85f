/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Relations of two sets of events (Nichols, 3.1 and 3.2).
 *
 *   es_set_relation(&precedence, a, a_count, b, b_count)
 *
 * Of any two sets exactly one of A --> B, B --> A, A || B and A <-> B holds
 * (theorem 3.9); which one is found by comparing the front of one with the back of the
 * other, at most 2 |loc(A)| |loc(B)| pairs (theorem 3.20).  An empty set is concurrent
 * with all.
 */
#ifndef ES_MONITORS_PATTERNS_EVENT_SETS_H
#define ES_MONITORS_PATTERNS_EVENT_SETS_H

#include <stddef.h>

#include "monitors/patterns/pattern.h"
#include "monitors/patterns/precedence.h"

enum es_set_relation {
    ES_SETS_BEFORE,
    ES_SETS_AFTER,
    ES_SETS_CONCURRENT,
    ES_SETS_OVERLAP, /* entangled: they share an event */
    ES_SETS_CROSS,   /* entangled: each has an event before one of the other */
};

/* Events of each set: sorted by trace and index, distinct.  May find OVERLAP of fronts
 * and backs only: sets that share an event in the middle cross for it (theorem 3.18);
 * es_set_relation_exact() tells these two apart as well. */
enum es_set_relation es_set_relation(struct es_precedence *precedence,
                                     const struct es_event_id *a,
                                     size_t a_count,
                                     const struct es_event_id *b,
                                     size_t b_count);
enum es_set_relation es_set_relation_exact(struct es_precedence *precedence,
                                           const struct es_event_id *a,
                                           size_t a_count,
                                           const struct es_event_id *b,
                                           size_t b_count);

/* Whether they share an event: O(a_count + b_count), compares no timestamps. */
bool es_sets_share(const struct es_event_id *a,
                   size_t a_count,
                   const struct es_event_id *b,
                   size_t b_count);

/* Whether some event of `a` precedes some event of `b` (definition 3.1): only the first
 * events of `a` on their traces and the last ones of `b` are compared. */
bool es_sets_any_before(struct es_precedence *precedence,
                        const struct es_event_id *a,
                        size_t a_count,
                        const struct es_event_id *b,
                        size_t b_count);

/* Whether a relation is what an operator (not RECEIVED) asks for. */
bool es_set_relation_is(enum es_set_relation relation, enum es_pattern_operator op);

/* Whether the relation that an operator (not RECEIVED) asks for holds: compares no more
 * than that takes. */
bool es_set_relation_holds(struct es_precedence *precedence,
                           enum es_pattern_operator op,
                           const struct es_event_id *a,
                           size_t a_count,
                           const struct es_event_id *b,
                           size_t b_count);

#endif
