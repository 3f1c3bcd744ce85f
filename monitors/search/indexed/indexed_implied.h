/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_implied.h - what the conditions of a plan say of two variables by way of
 * others. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_IMPLIED_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_IMPLIED_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_plan.h"

/* Finds plan->known and plan->implied, and whether the plan is false. */
void esi_implied_find(struct esi_indexed_plan *plan);

/* The bound variables whose implied masks are still to be applied to v: not those in
 * `applied`, nor those whose mask follows from masks of other bound variables. */
uint64_t esi_implied_of(const struct esi_bound *bound, unsigned v, uint64_t applied);
/* Whether v has to be between two bound events that have no event between them.  Pairs
 * of which both are in `applied` are left out. */
bool esi_implied_is_empty(struct esi_bound *bound, unsigned v, uint64_t applied);

#endif
