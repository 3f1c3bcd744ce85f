/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_select.h - conditions on the attributes of one variable: which of its values
 * are searched at all. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_SELECT_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/domains/domain.h"

struct esi_indexed_plan;

/* Takes such conditions out of the clauses of a plan, and gives it domains that have
 * what they leave.  0 or -ENOMEM. */
int esi_indexed_select(struct esi_indexed_plan *plan);

/* The same events as values of other domains, which are selections or the whole ones;
 * of these variables.  False: one is not there. */
bool esi_selected_values(const struct esi_domain *const *from,
                         const struct esi_domain *const *to,
                         uint64_t variables,
                         const struct esi_domain_value *values,
                         struct esi_domain_value *ret_values);

#endif
