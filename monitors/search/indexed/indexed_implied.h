/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_implied.h - relations of two variables implied by other variables. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_IMPLIED_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_IMPLIED_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_plan.h"

/* Computes plan->known and plan->implied, and whether the plan is false. */
void esi_implied_find(struct esi_indexed_plan *plan);

/* The bound variables whose implied masks must still be applied to v.  Excludes those
 * in `applied` and those whose mask follows from the masks of other bound variables. */
uint64_t esi_implied_of(const struct esi_bound *bound, unsigned v, uint64_t applied);
/* Whether v must be between two bound events that have no event between them.  Ignores
 * pairs that are both in `applied`. */
bool esi_implied_is_empty(struct esi_bound *bound, unsigned v, uint64_t applied);

#endif
