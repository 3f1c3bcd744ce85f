/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* count_rows.c - counts rows of a column for COUNT atoms. */
#include "config.h"

#include "monitors/search/truth/count_rows.h"

static uint64_t without_members(const struct esi_intervals *members,
                                uint32_t begin,
                                uint32_t end)
{
    uint64_t result = begin < end ? end - begin : 0;

    for (uint32_t i = 0; i < members->count; i++) {
        struct esi_interval interval = members->items[i];

        if (interval.begin < begin)
            interval.begin = begin;
        if (interval.end > end)
            interval.end = end;
        if (interval.begin < interval.end)
            result -= interval.end - interval.begin;
    }
    return result;
}

uint64_t esi_count_rows(const struct esi_atom *atom,
                        struct esi_count_bounds bounds,
                        const struct esi_intervals *members,
                        uint32_t rows)
{
    uint32_t low =
        bounds.before_end < bounds.after_begin ? bounds.before_end : bounds.after_begin;
    uint32_t high =
        bounds.before_end < bounds.after_begin ? bounds.after_begin : bounds.before_end;

    switch (atom->op) {
    case ES_OPERATOR_BEFORE:
        return atom->is_reversed ? without_members(members, 0, low)
                                 : without_members(members, high, rows);
    case ES_OPERATOR_CONCURRENT:
        return without_members(members, bounds.before_end, bounds.after_begin);
    case ES_OPERATOR_ENTANGLED:
        return esi_intervals_total(members) +
               without_members(members, bounds.after_begin, bounds.before_end);
    case ES_OPERATOR_RECEIVED:
        break; /* counted by values */
    }
    return 0;
}
