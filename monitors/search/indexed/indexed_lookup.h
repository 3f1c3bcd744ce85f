/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_lookup.h - comparisons of attributes in a plan that indexes answer. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_LOOKUP_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_sorted.h"
#include "monitors/search/indexed/indexed_plan.h"

struct esi_lookups;

/* Finds the comparisons that lookups may answer, and stores them in plan->lookups and
 * in the facts about clauses.  Returns 0 or a negative errno. */
int esi_lookups_create(struct esi_indexed_plan *plan);
/* Accepts NULL. */
void esi_lookups_destroy(struct esi_lookups *lookups);
/* Memory used, in bytes; 0 for NULL. */
uint64_t esi_lookups_bytes(const struct esi_lookups *lookups);
/* Whether an index finds values for the variables of a literal. */
bool esi_lookups_answer(const struct esi_indexed_plan *plan,
                        const struct esi_literal *literal);

enum { ESI_LISTED_FEW = 16 }; /* maximum while domains grow */

/* Lists the values of v that may satisfy the `=` of a literal whose other variable is
 * bound.  While domains grow, they are stored in `few`.  False if there was no memory
 * for an index, if there are too many values, or if another literal of the same
 * variables is used instead. */
bool esi_lookup_equal(struct esi_bound *bound,
                      const struct esi_literal *literal,
                      unsigned v,
                      struct esi_domain_value few[ESI_LISTED_FEW],
                      struct esi_listed *ret_listed);
/* Lists the values of v that satisfy a clause with several literals, of which those
 * without v are false and the others only have v unbound: the union of the lists of the
 * literals that name v.  False if there are more than `most` or there was no memory;
 * then `list` is unchanged. */
bool esi_lookup_alternatives(struct esi_bound *bound,
                             const struct esi_clause *clause,
                             unsigned v,
                             uint64_t most,
                             struct esi_sorted_list *list,
                             struct esi_listed *ret_listed);
/* Lists the values of v whose attribute is in the range allowed by bound variables, in
 * the same way.  Ignores clauses of which all other variables are `applied`. */
bool esi_lookup_bounds(struct esi_bound *bound,
                       unsigned v,
                       uint64_t applied,
                       uint64_t most,
                       struct esi_sorted_list *list,
                       struct esi_listed *ret_listed);
/* Lists, in two parts, the values of universal u that may violate `!=` with the other
 * variable.  False if all values may. */
bool esi_lookup_violators(const struct esi_bound *bound,
                          const struct esi_literal *literal,
                          unsigned u,
                          struct esi_listed ret_listed[2]);

#endif
