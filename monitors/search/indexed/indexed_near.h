/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_near.h - values that happened near those of bound variables. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_NEAR_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_sorted.h"

/* When single v has to have happened; all times unless it is bounded. */
struct esi_near_times {
    bool is_bounded;
    bool is_empty; /* at no time */
    int64_t from;
    int64_t to;
};

/* As all says that is bound. */
struct esi_near_times esi_near_times_of(const struct esi_bound *bound, unsigned v);

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
