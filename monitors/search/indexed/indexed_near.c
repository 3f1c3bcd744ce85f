/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_near.c - values near the times of bound variables. */
#include "config.h"

#include "monitors/search/indexed/indexed_near.h"

#include "base/array.h"

/* Maximum length of a list; longer ones take as long as the columns of as many
 * traces. */
enum { LISTED_MOST = 256 };

/* --- Times ------------------------------------------------------------------------ */

/* Restricts the times to those close enough to a bound variable. */
static void keep_times(const struct esi_bound *bound,
                       const struct esi_literal *literal,
                       unsigned other,
                       struct esi_near_times *times)
{
    const struct esi_indexed_plan *plan = bound->plan;
    int64_t within_ns = plan->program->atoms[literal->atom].node->within_ns;
    int64_t first = INT64_MAX, last = INT64_MIN;
    bool has_time =
        plan->single >> other & 1
            ? esi_domain_time(plan->domains[other], bound->values[other], &first, &last)
            : esi_domain_widen(plan->domains[other], bound->values[other], &first,
                               &last);

    times->is_empty |= !has_time;
    if (first > last) /* a set without events has no times */
        return;
    if (last >= INT64_MIN + within_ns && last - within_ns > times->from)
        times->from = last - within_ns;
    if (first <= INT64_MAX - within_ns && first + within_ns < times->to)
        times->to = first + within_ns;
}

void esi_near_keep_times(const struct esi_bound *bound,
                         unsigned v,
                         uint64_t near,
                         struct esi_near_times *times)
{
    const struct esi_indexed_plan *plan = bound->plan;
    const uint32_t *numbers = plan->clauses_of[v] + plan->clause_counts[v];

    times->is_bounded |= near != 0;
    for (uint32_t i = 0; near && i < plan->near_counts[v]; i++) {
        const struct esi_literal *literal = plan->clauses[numbers[i]].literals;
        unsigned other = literal->x == v ? literal->y : literal->x;

        if (near >> other & 1)
            keep_times(bound, literal, other, times);
    }
}

/* --- Values ----------------------------------------------------------------------- */

/* Whether the relation of an event to bound x is in a mask. */
static bool is_allowed(struct esi_bound *bound,
                       struct es_event_id event,
                       unsigned x,
                       uint8_t mask)
{
    struct es_event_id other = esi_bound_event(bound, x);
    bool is_after;

    if (esi_event_is(event, other))
        return mask & ESI_IS_SAME;
    if (event.trace == other.trace)
        return mask & (event.index < other.index ? ESI_IS_BEFORE : ESI_IS_AFTER);
    if (esi_bound_greatest(bound, x, event.trace) >= event.index)
        return mask & ESI_IS_BEFORE;
    /* This mask treats events after x like those concurrent with it. */
    if (!esi_mask_needs_successors(mask))
        return mask & ESI_IS_AFTER;
    is_after = !esi_bound_is_last(bound, x) &&
               esi_precedence_before(&bound->precedence, other, event);
    return mask & (is_after ? ESI_IS_AFTER : ESI_IS_CONCURRENT);
}

static bool are_allowed(struct esi_bound *bound,
                        struct es_event_id event,
                        unsigned v,
                        uint64_t masked)
{
    for (uint64_t left = masked; left; left &= left - 1) {
        unsigned x = (unsigned)__builtin_ctzll(left);

        if (!is_allowed(bound, event, x, bound->plan->masks[v][x]))
            return false;
    }
    return true;
}

bool esi_near_find(struct esi_bound *bound,
                   unsigned v,
                   uint64_t masked,
                   const struct esi_near_times *times,
                   uint64_t limit,
                   struct esi_sorted_list *list,
                   struct esi_listed *ret_listed)
{
    const struct esi_domain *domain = bound->plan->domains[v];
    uint32_t room = esi_domain_slots(domain), count, allowed = 0;
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
        if (are_allowed(bound, events[i], v, masked))
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
