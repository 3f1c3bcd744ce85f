/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_near.c - values near the times of bound variables. */
#include "config.h"

#include "monitors/search/indexed/indexed_near.h"

#include "base/array.h"

enum {
    LISTED_MOST = 256,  /* maximum length of a list */
    LISTED_COLUMNS = 2, /* a listed value takes as long as this many columns */
};

/* --- Times ------------------------------------------------------------------------ */

/* Restricts the times to those close enough to a bound variable. */
static void keep_times(const struct esi_bound_times *other,
                       int64_t within_ns,
                       struct esi_near_times *times)
{
    int64_t from, to;

    times->is_empty |= !other->are_known;
    if (!other->are_known || other->first > other->last)
        return;
    if (!__builtin_sub_overflow(other->last, within_ns, &from) && from > times->from)
        times->from = from;
    if (!__builtin_add_overflow(other->first, within_ns, &to) && to < times->to)
        times->to = to;
}

void esi_near_keep_times(const struct esi_bound *bound,
                         unsigned v,
                         uint64_t near,
                         struct esi_near_times *times)
{
    const struct esi_indexed_plan *plan = bound->plan;

    times->is_bounded |= near != 0;
    for (uint32_t i = 0; near && i < plan->near_counts[v]; i++) {
        const struct esi_near_limit *limit = &plan->near_limits[v][i];

        if (near >> limit->other & 1)
            keep_times(&bound->times[limit->other], limit->within_ns, times);
    }
}

/* --- Values ----------------------------------------------------------------------- */

bool esi_near_find(struct esi_bound *bound,
                   unsigned v,
                   uint64_t masked,
                   const struct esi_near_times *times,
                   uint64_t limit,
                   struct esi_sorted_list *list,
                   struct esi_listed *ret_listed)
{
    const struct esi_domain *domain = bound->plan->domains[v];
    uint32_t room = esi_domain_slots(domain) / LISTED_COLUMNS, count, allowed = 0;
    struct es_event_id events[LISTED_MOST];
    size_t kept = 0;
    int result;

    if (room > LISTED_MOST)
        room = LISTED_MOST;
    result =
        esi_domain_list_within(domain, times->from, times->to, events, room, &count);
    if (result > 0 && ESI_ARRAY_RESERVE(list->values, list->capacity, count) < 0)
        result = -ENOMEM;
    if (result < 0)
        bound->error = result;
    if (result <= 0)
        return false;
    for (uint32_t i = 0; i < count && allowed <= limit; i++)
        if (esi_bound_allows(bound, events[i], v, masked))
            events[allowed++] = events[i];
    if (allowed > limit) {
        *ret_listed = (struct esi_listed){NULL, allowed};
        return true;
    }
    for (uint32_t i = 0; i < allowed; i++)
        kept += esi_domain_find(domain, events[i], &list->values[kept]);
    *ret_listed =
        (struct esi_listed){list->values, esi_domain_values_sort(list->values, kept)};
    return true;
}
