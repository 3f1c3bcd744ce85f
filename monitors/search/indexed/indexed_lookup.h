/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_lookup.h - the comparisons of attributes in a plan that an index answers. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_LOOKUP_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_sorted.h"
#include "monitors/search/indexed/indexed_plan.h"

struct esi_lookups;

/* Finds the comparisons that lookups may answer, into plan->lookups and what the plan
 * knows of its clauses.  0 or a negative errno. */
int esi_lookups_create(struct esi_indexed_plan *plan);
/* Accepts NULL. */
void esi_lookups_destroy(struct esi_lookups *lookups);
/* Of NULL none. */
uint64_t esi_lookups_bytes(const struct esi_lookups *lookups);
/* Whether an index finds values of the variables of a literal. */
bool esi_lookups_answer(const struct esi_indexed_plan *plan,
                        const struct esi_literal *literal);

enum { ESI_LISTED_FEW = 16 }; /* while domains grow: so many at most */

/* Of all values at most this part is walked as a list. */
static inline unsigned esi_listed_share(const struct esi_indexed_plan *plan)
{
    return plan->without & ES_INDEXED_THRIFT ? 1 : 8;
}

/* The values of v that `=` with the other variable of the literal, which is bound, may
 * leave.  While domains grow they are put into `few`.  False: there was no memory for
 * an index, or they are not few, or another literal of the two tells. */
bool esi_lookup_equal(struct esi_bound *bound,
                      const struct esi_literal *literal,
                      unsigned v,
                      struct esi_domain_value few[ESI_LISTED_FEW],
                      struct esi_listed *ret_listed);
/* The values of v that a clause of several literals leaves, all others of which are
 * bound and no literal of them holds: the union of what each literal lists that names
 * v, if that is `most` at most.  False: it is more, or there was no memory; what is in
 * `list` has not changed then. */
bool esi_lookup_alternatives(struct esi_bound *bound,
                             const struct esi_clause *clause,
                             unsigned v,
                             uint64_t most,
                             struct esi_sorted_list *list,
                             struct esi_listed *ret_listed);
/* The values of v with an attribute between what bound variables leave of it, the same;
 * not if all of these are `applied`. */
bool esi_lookup_bounds(struct esi_bound *bound,
                       unsigned v,
                       uint64_t applied,
                       uint64_t most,
                       struct esi_sorted_list *list,
                       struct esi_listed *ret_listed);
/* The values of universal u, in two parts, that may violate `!=` with the other
 * variable.  False: all may. */
bool esi_lookup_violators(const struct esi_bound *bound,
                          const struct esi_literal *literal,
                          unsigned u,
                          struct esi_listed ret_listed[2]);

#endif
