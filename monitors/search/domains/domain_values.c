/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* domain_values.c - data of values: events, partners, times and attributes. */
#include "config.h"

#include "monitors/search/domains/domain_columns.h"

#include <string.h>

#include "monitors/search/domains/event_value.h"
#include "monitors/search/domains/precedence.h"

static const struct esi_set_row *set_at(const struct esi_domain *domain,
                                        struct esi_domain_value value)
{
    return esi_segmented_at(&domain->sets, value.position);
}

size_t esi_domain_events(const struct esi_domain *domain,
                         struct esi_domain_value value,
                         struct es_event_id *scratch,
                         const struct es_event_id **ret_events)
{
    const struct esi_set_row *set;

    if (domain->is_single) {
        uint32_t row;
        const struct esi_column *column = esi_domain_at(domain, value, &row);
        *scratch = (struct es_event_id){column->trace, column->indexes[row]};
        *ret_events = scratch;
        return 1;
    }
    set = set_at(domain, value);
    *ret_events = set->count ? esi_segmented_at(&domain->events, set->events) : scratch;
    return set->count;
}

/* --- Partners --------------------------------------------------------------------- */

size_t esi_domain_partners(const struct esi_domain *domain,
                           struct esi_domain_value value,
                           const struct es_event_id **ret_partners)
{
    const struct esi_kept_partners *kept;
    const struct esi_column *column;
    uint32_t row;

    if (!domain->is_single) {
        const struct esi_set_row *set = set_at(domain, value);
        if (set->partner_count > 0)
            *ret_partners = esi_segmented_at(&domain->partners, set->partners);
        return set->partner_count;
    }
    column = esi_domain_at(domain, value, &row);
    if (!column->partners || column->partners[row].count == 0)
        return 0;
    kept = &column->partners[row];
    *ret_partners = esi_partners_at(kept);
    return kept->count;
}

static bool has_event(const struct es_event_id *events,
                      size_t count,
                      struct es_event_id id)
{
    for (size_t i = 0; i < count; i++)
        if (esi_event_is(events[i], id))
            return true;
    return false;
}

bool esi_domain_is_received(const struct esi_domain *left,
                            struct esi_domain_value left_value,
                            const struct esi_domain *right,
                            struct esi_domain_value right_value)
{
    const struct es_event_id *partners, *events;
    struct es_event_id scratch;
    size_t partner_count = esi_domain_partners(right, right_value, &partners);
    size_t count;

    if (partner_count == 0)
        return false;
    count = esi_domain_events(left, left_value, &scratch, &events);
    for (size_t i = 0; i < partner_count; i++)
        if (has_event(events, count, partners[i]))
            return true;
    return false;
}

/* --- Times ------------------------------------------------------------------------ */

bool esi_domain_time(const struct esi_domain *domain,
                     struct esi_domain_value value,
                     int64_t *ret_first,
                     int64_t *ret_last)
{
    int64_t first, last;

    if (domain->is_single) {
        first = last = esi_domain_time_at(domain, value);
    } else {
        first = set_at(domain, value)->first_time;
        last = set_at(domain, value)->last_time;
    }
    if (first == ESI_NO_TIME)
        return false;
    *ret_first = first;
    *ret_last = last;
    return true;
}

/* Whether some time up to a row is at least `limit`; if not exact, above it by more
 * than the disorder. */
static bool is_later(const struct esi_column *column,
                     uint32_t row,
                     int64_t limit,
                     bool is_exact)
{
    int64_t latest = column->latest[row];

    return is_exact ? latest >= limit
                    : latest > limit &&
                          (uint64_t)latest - (uint64_t)limit > column->disorder;
}

/* The first row of [from, to) for which is_later(); searched from the end, as queries
 * mostly concern recent rows. */
static uint32_t first_later(const struct esi_column *column,
                            uint32_t from,
                            uint32_t to,
                            int64_t limit,
                            bool is_exact)
{
    for (uint64_t step = 1; from < to; step *= 2) {
        uint32_t row = to - from > step ? to - (uint32_t)step : from;

        if (!is_later(column, row, limit, is_exact)) {
            from = row + 1;
            break;
        }
        to = row;
    }
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (is_later(column, middle, limit, is_exact))
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* The position of a row; in a selection that of the first row that is not less. */
static uint32_t position_of(const struct esi_column *column, uint32_t row)
{
    uint32_t low = 0;
    uint32_t high = column->end;

    if (!column->rows)
        return row - column->first;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (column->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void esi_domain_keep_within(const struct esi_domain *domain,
                            uint32_t slot,
                            int64_t from,
                            int64_t to,
                            uint32_t *begin,
                            uint32_t *end)
{
    const struct esi_column *column = &domain->columns[slot];
    const struct esi_column *times = column->rows ? column->whole : column;
    uint32_t first, last;

    if (!times->latest || *begin >= *end)
        return;
    first = column->rows ? column->rows[*begin] : column->first + *begin;
    last = column->rows ? column->rows[*end - 1] : column->first + *end - 1;
    /* Of most columns the last row decides. */
    if (!is_later(times, last, from, true)) {
        *begin = *end;
        return;
    }
    first = first_later(times, first, last, from, true);
    *begin = position_of(column, first);
    if (is_later(times, last, to, false))
        *end = position_of(column, first_later(times, first, last, to, false));
}

bool esi_domain_widen(const struct esi_domain *domain,
                      struct esi_domain_value value,
                      int64_t *first,
                      int64_t *last)
{
    int64_t from, to;

    if (!domain->is_single && set_at(domain, value)->count == 0)
        return true;
    if (!esi_domain_time(domain, value, &from, &to))
        return false;
    if (from < *first)
        *first = from;
    if (to > *last)
        *last = to;
    return true;
}

bool esi_times_are_within(int64_t first, int64_t last, int64_t within_ns)
{
    /* Unsigned, because the difference may exceed an int64_t. */
    return first > last || (uint64_t)last - (uint64_t)first <= (uint64_t)within_ns;
}

/* --- Comparisons ------------------------------------------------------------------ */

/* One side of a comparison; `text` if it is not a number. */
struct value_side {
    enum esi_value_form form;
    int64_t number;
    const char *text;
};

/* The stored value of one side of a comparison. */
static const struct esi_value *kept_value(const struct esi_pattern_node *node,
                                          const struct esi_pattern_operand *operand,
                                          const struct esi_domain *domain,
                                          struct esi_domain_value value)
{
    const struct esi_keeps *keeps = domain->keeps;
    uint32_t number = esi_keeps_find(keeps, node, operand);
    uint32_t row;
    const struct esi_column *column = esi_domain_at(domain, value, &row);

    return number < keeps->asked_count
               ? &column->values[(size_t)row * keeps->asked_count + number]
               : NULL;
}

static struct value_side side_of(const struct esi_pattern_node *node,
                                 unsigned number,
                                 const struct esi_domain *domain,
                                 struct esi_domain_value value)
{
    const struct esi_pattern_operand *operand = &node->operands[number];
    const struct esi_pattern_constant *constant = &operand->constant;
    const struct esi_value *kept;

    if (operand->occurrence == ES_PATTERN_NONE) {
        int64_t parsed = 0;
        if (constant->is_number)
            return (struct value_side){ESI_VALUE_NUMBER, constant->number, NULL};
        if (esi_number_parse(constant->text, &parsed))
            return (struct value_side){ESI_VALUE_NUMBER, parsed, constant->text};
        return (struct value_side){ESI_VALUE_TEXT, 0, constant->text};
    }
    kept = kept_value(node, operand, domain, value);
    if (!kept)
        return (struct value_side){ESI_VALUE_ABSENT, 0, NULL};
    return (struct value_side){(enum esi_value_form)kept->form, kept->number,
                               kept->form == ESI_VALUE_TEXT
                                   ? esi_texts_at(domain->keeps->texts, kept->text)
                                   : NULL};
}

bool esi_domain_key(const struct esi_pattern_node *node,
                    unsigned side,
                    const struct esi_domain *domain,
                    struct esi_domain_value value,
                    struct esi_domain_key *ret_key)
{
    const struct esi_value *kept =
        kept_value(node, &node->operands[side], domain, value);

    return kept && esi_value_key(kept, ret_key);
}

/* A comparison with a constant number is numeric: a value that is not a number
 * fails. */
static bool demands_numbers(const struct esi_pattern_node *node)
{
    return node->test != ES_TEST_EQUAL ||
           (node->operands[0].occurrence == ES_PATTERN_NONE &&
            node->operands[0].constant.is_number) ||
           (node->operands[1].occurrence == ES_PATTERN_NONE &&
            node->operands[1].constant.is_number);
}

bool esi_domain_compare(const struct esi_pattern_node *node,
                        const struct esi_domain *left,
                        struct esi_domain_value left_value,
                        const struct esi_domain *right,
                        struct esi_domain_value right_value)
{
    struct value_side a = side_of(node, 0, left, left_value), b;

    if (a.form == ESI_VALUE_ABSENT)
        return false;
    if (node->test == ES_TEST_REGEX)
        return (a.number != 0) != node->is_negated;
    b = side_of(node, 1, right, right_value);
    if (b.form == ESI_VALUE_ABSENT)
        return false;
    if (a.form == ESI_VALUE_NUMBER && b.form == ESI_VALUE_NUMBER)
        return esi_numbers_compare(node->test, a.number, b.number) != node->is_negated;
    if (demands_numbers(node))
        return false;
    return (a.form == b.form && strcmp(a.text, b.text) == 0) != node->is_negated;
}
