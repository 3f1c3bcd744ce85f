/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_near.h - values that happened near those of bound variables. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_NEAR_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_sorted.h"

/* When single v has to have happened. */
struct esi_near_times {
    bool is_bounded; /* it has to have a time */
    bool is_empty;   /* at no time */
    int64_t from;
    int64_t to;
};

#define ESI_NEAR_ALL_TIMES ((struct esi_near_times){.from = INT64_MIN, .to = INT64_MAX})

/* Leaves of times those that the bound variables `near` say. */
void esi_near_keep_times(const struct esi_bound *bound,
                         unsigned v,
                         uint64_t near,
                         struct esi_near_times *times);

/* While domains grow: the values of v that joined its class lately, happened then and
 * are to the bound variables `masked` as masks say; of more than `limit` only
 * that they are more.  False: they are too many, or others may be. */
bool esi_near_find(struct esi_bound *bound,
                   unsigned v,
                   uint64_t masked,
                   const struct esi_near_times *times,
                   uint64_t limit,
                   struct esi_sorted_list *list,
                   struct esi_listed *ret_listed);

#endif
