/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_count.c - "at least 3 of B": how many values are in a relation with the bound
 * ones.
 *
 * Single events are counted by ranges: of a column, those from the first successor of
 * some event on succeed the set, those up to the last predecessor precede it, and from
 * both the events of the set itself are taken off.
 */
#include "config.h"

#include "monitors/search/truth/count_rows.h"
#include "monitors/search/truth/event_sets.h"
#include "monitors/search/indexed/indexed_searcher.h"

struct count {
    struct esi_searcher *searcher;
    const struct es_atom *atom;
    const struct es_domain *domain;
    uint64_t left; /* variables that are bound */
};

static size_t events_of(const struct count *count,
                        unsigned v,
                        struct es_event_id *scratch,
                        const struct es_event_id **ret_events)
{
    return es_domain_events(count->searcher->plan->domains[v],
                            count->searcher->values[v], scratch, ret_events);
}

/* --- Columns ---------------------------------------------------------------------- */

static void take_event(struct count *count,
                       struct es_event_id event,
                       const struct es_domain_column *column,
                       struct es_count_bounds *bounds)
{
    struct esi_searcher *searcher = count->searcher;
    uint32_t end = esi_event_before_end(searcher, event, column);
    struct esi_span within = {end, column->count};
    uint32_t begin = esi_event_after_begin(searcher, event, column, within);

    if (end > bounds->before_end)
        bounds->before_end = end;
    if (begin < bounds->after_begin)
        bounds->after_begin = begin;
    if (event.trace == column->trace && end < column->count &&
        column->indexes[end] == event.index)
        esi_spans_add(&searcher->members, end, end + 1);
}

static struct es_count_bounds bound_column(struct count *count,
                                           const struct es_domain_column *column)
{
    struct es_count_bounds bounds = {0, column->count};

    count->searcher->members.count = 0;
    for (uint64_t left = count->left; left; left &= left - 1) {
        struct es_event_id scratch;
        const struct es_event_id *events;
        size_t events_count =
            events_of(count, (unsigned)__builtin_ctzll(left), &scratch, &events);

        for (size_t i = 0; i < events_count; i++)
            take_event(count, events[i], column, &bounds);
    }
    esi_spans_sort(&count->searcher->members);
    esi_searcher_check(count->searcher, &count->searcher->members);
    return bounds;
}

/* Events of a column that are in the relation, not negated. */
static uint64_t count_column(struct count *count, const struct es_domain_column *column)
{
    struct es_count_bounds bounds = bound_column(count, column);

    return es_count_rows(count->atom, bounds, &count->searcher->members, column->count);
}

/* --- Values ----------------------------------------------------------------------- */

static bool is_received(const struct count *count, struct es_domain_value value)
{
    const struct esi_searcher *searcher = count->searcher;

    for (uint64_t left = count->left; left; left &= left - 1) {
        int v = __builtin_ctzll(left);
        const struct es_domain *domain = searcher->plan->domains[v];

        if (count->atom->is_reversed
                ? es_domain_is_received(count->domain, value, domain,
                                        searcher->values[v])
                : es_domain_is_received(domain, searcher->values[v], count->domain,
                                        value))
            return true;
    }
    return false;
}

/* The bound events, into searcher->side. */
static int gather(struct count *count)
{
    struct esi_searcher *searcher = count->searcher;

    searcher->side.count = 0;
    for (uint64_t left = count->left; left; left &= left - 1) {
        struct es_event_id scratch;
        const struct es_event_id *events;
        size_t events_count =
            events_of(count, (unsigned)__builtin_ctzll(left), &scratch, &events);

        if (es_event_list_add(&searcher->side, events, events_count) < 0) {
            searcher->error = -ENOMEM;
            return -ENOMEM;
        }
    }
    es_event_list_sort(&searcher->side);
    return 0;
}

static bool is_related(struct count *count, struct es_domain_value value)
{
    struct esi_searcher *searcher = count->searcher;
    struct es_event_id scratch;
    const struct es_event_id *events;
    size_t events_count = es_domain_events(count->domain, value, &scratch, &events);

    if (count->atom->is_reversed)
        return es_set_relation_holds(&searcher->precedence, count->atom->op, events,
                                     events_count, searcher->side.events,
                                     searcher->side.count);
    return es_set_relation_holds(&searcher->precedence, count->atom->op,
                                 searcher->side.events, searcher->side.count, events,
                                 events_count);
}

static bool is_counted(struct count *count, struct es_domain_value value)
{
    return count->atom->op == ES_OPERATOR_RECEIVED ? is_received(count, value)
                                                   : is_related(count, value);
}

/* --- Counting --------------------------------------------------------------------- */

static bool is_by_ranges(const struct count *count)
{
    return es_domain_is_single(count->domain) &&
           count->atom->op != ES_OPERATOR_RECEIVED;
}

static uint64_t count_slot(struct count *count, uint32_t slot)
{
    struct es_domain_column column = {.count =
                                          (uint32_t)es_domain_count(count->domain)};
    uint64_t result = 0;

    if (es_domain_is_single(count->domain))
        column = es_domain_column(count->domain, slot);
    if (is_by_ranges(count))
        result = count_column(count, &column);
    else
        for (uint32_t i = 0; i < column.count; i++)
            result += is_counted(count, (struct es_domain_value){slot, i});
    return count->atom->is_negated ? column.count - result : result;
}

bool esi_count_holds(struct esi_searcher *searcher,
                     const struct esi_indexed_literal *literal)
{
    const struct es_atom *atom = &searcher->plan->program->atoms[literal->atom];
    struct count count = {
        .searcher = searcher,
        .atom = atom,
        .domain = searcher->plan->counted[literal->atom],
        .left = atom->left & searcher->bound,
    };
    uint64_t found = 0;

    if (!is_by_ranges(&count) && gather(&count) < 0)
        return false;
    /* One more than the number tells enough. */
    for (uint32_t slot = 0;
         found <= atom->node->number && slot < es_domain_slots(count.domain); slot++)
        found += count_slot(&count, slot);
    return atom->node->at_most ? found <= atom->node->number
                               : found >= atom->node->number;
}
