/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_window.h - attributes of a variable that are to lie between those of others.
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_WINDOW_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_equal.h"
#include "monitors/search/indexed/indexed_plan.h"

struct esi_attribute_windows;

/* Finds the attributes that may be bounded on both sides, into plan->windows and what
 * the plan knows of its clauses.  0 or a negative errno. */
int esi_attribute_windows_create(struct esi_indexed_plan *plan);
/* Accepts NULL. */
void esi_attribute_windows_destroy(struct esi_attribute_windows *windows);
/* Of NULL none. */
uint64_t esi_attribute_windows_bytes(const struct esi_attribute_windows *windows);

/* The values of v between what bound variables say, if these are `most` at most.
 * False: they are more, or nothing bounds them on both sides. */
bool esi_window_find(struct esi_bound *bound,
                     unsigned v,
                     uint64_t most,
                     struct esi_sorted_list *list,
                     struct esi_listed *ret_listed);

#endif
