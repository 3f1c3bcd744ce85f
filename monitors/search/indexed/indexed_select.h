/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_select.h - conditions on the attributes of one variable, applied by
 * restricting its domain. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_SELECT_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/domains/domain.h"

struct esi_indexed_plan;

/* Removes such conditions from the clauses of a plan and restricts the domains to the
 * values that satisfy them.  Returns 0 or -ENOMEM. */
int esi_indexed_select(struct esi_indexed_plan *plan);

/* Converts the values of these variables to the values of the same events in other
 * domains; domains may be selections or whole.  False if one is missing. */
bool esi_selected_values(const struct esi_domain *const *from,
                         const struct esi_domain *const *to,
                         uint64_t variables,
                         const struct esi_domain_value *values,
                         struct esi_domain_value *ret_values);

#endif
