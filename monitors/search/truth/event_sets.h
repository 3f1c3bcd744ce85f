/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Relations of two sets of events (Nichols, 3.1 and 3.2).
 *
 *   esi_set_relation_holds(&precedence, ES_OPERATOR_BEFORE, a, a_count, b, b_count)
 *
 * For any two sets exactly one of A --> B, B --> A, A || B and A <-> B holds (theorem
 * 3.9).  It is found by comparing the front of one with the back of the other, at most
 * 2 |loc(A)| |loc(B)| pairs (theorem 3.20).  An empty set is concurrent with all.  The
 * events of a set are sorted by trace and index, and distinct.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_EVENT_SETS_H
#define ES_MONITORS_SEARCH_TRUTH_EVENT_SETS_H

#include <stddef.h>

#include "monitors/search/language/pattern.h"
#include "monitors/search/domains/precedence.h"

/* Whether the sets share an event.  O(a_count + b_count); compares no timestamps. */
bool esi_sets_share(const struct es_event_id *a,
                    size_t a_count,
                    const struct es_event_id *b,
                    size_t b_count);

/* Whether some event of `a` precedes some event of `b` (definition 3.1).  Compares only
 * the first events of `a` on their traces and the last ones of `b`. */
bool esi_sets_any_before(struct esi_precedence *precedence,
                         const struct es_event_id *a,
                         size_t a_count,
                         const struct es_event_id *b,
                         size_t b_count);

/* Whether the relation of an operator (not RECEIVED) holds.  Compares no more than
 * necessary. */
bool esi_set_relation_holds(struct esi_precedence *precedence,
                            enum esi_pattern_operator op,
                            const struct es_event_id *a,
                            size_t a_count,
                            const struct es_event_id *b,
                            size_t b_count);

#endif
