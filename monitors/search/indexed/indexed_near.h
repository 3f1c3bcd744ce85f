/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_near.h - values near the times of bound variables. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_NEAR_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_sorted.h"

/* The permitted times of a single variable. */
struct esi_near_times {
    bool is_bounded; /* the value must have a time */
    bool is_empty;   /* no time is permitted */
    int64_t from;
    int64_t to;
};

#define ESI_NEAR_ALL_TIMES ((struct esi_near_times){.from = INT64_MIN, .to = INT64_MAX})

/* Whether the time of a value of a domain of single events is permitted. */
static inline bool esi_near_has(const struct esi_near_times *times,
                                const struct esi_domain *domain,
                                struct esi_domain_value value)
{
    int64_t time;

    if (!times->is_bounded)
        return true;
    time = esi_domain_time_at(domain, value);
    return time != ESI_NO_TIME && time >= times->from && time <= times->to;
}

/* Restricts the times of v by the bound variables `near`. */
void esi_near_keep_times(const struct esi_bound *bound,
                         unsigned v,
                         uint64_t near,
                         struct esi_near_times *times);

/* For growing domains: lists the values of v that joined its class recently, happened
 * at these times, and satisfy the masks with the bound variables `masked`.  If there
 * are more than `limit`, only a count above `limit` is returned.  False if there are
 * too many, or if older values may qualify. */
bool esi_near_find(struct esi_bound *bound,
                   unsigned v,
                   uint64_t masked,
                   const struct esi_near_times *times,
                   uint64_t limit,
                   struct esi_sorted_list *list,
                   struct esi_listed *ret_listed);

#endif
