/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_literal.c - whether literals and clauses hold of bound variables, and which
 * values of one variable that is not bound satisfy a literal. */
#include "config.h"

#include <stdlib.h>

#include "monitors/search/truth/event_sets.h"
#include "monitors/search/indexed/indexed_searcher.h"

/* --- Literals --------------------------------------------------------------------- */

enum es_formula_truth esi_literal_truth(struct esi_searcher *searcher,
                                        const struct es_literal *literal)
{
    enum es_formula_truth truth = es_literal_truth(&searcher->check, literal);

    if (searcher->check.failure)
        searcher->error = searcher->check.failure;
    return truth;
}

/* --- Clauses ---------------------------------------------------------------------- */

bool esi_clause_is_satisfied(struct esi_searcher *searcher,
                             const struct es_clause *clause)
{
    for (uint32_t i = 0; i < clause->count; i++)
        if ((clause->literals[i].variables & ~searcher->check.bound) == 0 &&
            esi_literal_truth(searcher, &clause->literals[i]) == ES_FORMULA_HOLDS)
            return true;
    return false;
}

bool esi_clause_is_refuted(struct esi_searcher *searcher,
                           const struct es_clause *clause)
{
    for (uint32_t i = 0; i < clause->count; i++) {
        const struct es_literal *literal = &clause->literals[i];

        if (literal->kind != ES_LITERAL_FORMULA &&
            literal->variables & ~searcher->check.bound)
            return false;
    }
    for (uint32_t i = 0; i < clause->count; i++)
        if (esi_literal_truth(searcher, &clause->literals[i]) != ES_FORMULA_FAILS)
            return false;
    return true;
}

bool esi_clause_holds(struct esi_searcher *searcher, const struct es_clause *clause)
{
    return esi_clause_is_satisfied(searcher, clause) ||
           (clause->universal && esi_universal_holds(searcher, clause));
}

/* --- Spans ------------------------------------------------------------------------ */

void esi_mask_spans(struct esi_searcher *searcher,
                    unsigned x,
                    uint8_t mask,
                    unsigned distinct,
                    uint32_t slot,
                    struct esi_spans *spans)
{
    struct es_domain_column column =
        es_domain_column(searcher->plan->distinct[distinct], slot);
    bool is_own = column.trace == esi_event_of(searcher, x).trace;
    bool between = mask & (is_own ? ESI_IS_SAME : ESI_IS_CONCURRENT);
    bool before = mask & ESI_IS_BEFORE;
    bool after = mask & ESI_IS_AFTER;
    uint32_t before_end = 0;
    uint32_t after_begin = column.count;

    if (before == between && between == after) {
        if (before)
            esi_spans_add(spans, 0, column.count);
        return;
    }
    if (before != between)
        before_end = esi_row_before_end(searcher, x, distinct, slot);
    if (after != between)
        after_begin = esi_row_after_begin(searcher, x, distinct, slot);
    if (before && before != between)
        esi_spans_add(spans, 0, before_end);
    if (between)
        esi_spans_add(spans, before_end, after_begin);
    if (after && after != between)
        esi_spans_add(spans, after_begin, column.count);
}

static void add_position(const struct es_domain_column *column,
                         uint32_t index,
                         struct esi_spans *spans)
{
    uint32_t position = esi_column_position(column, index);

    if (position < column->count && column->indexes[position] == index)
        esi_spans_add(spans, position, position + 1);
}

void esi_column_spans(const struct es_domain_column *column,
                      const struct es_event_id *events,
                      size_t count,
                      struct esi_spans *spans)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].trace == column->trace)
            add_position(column, events[i].index, spans);
}

/* Values of v that some event of x precedes, or that precede one. */
static void add_ordered(struct esi_searcher *searcher,
                        unsigned x,
                        unsigned v,
                        uint32_t slot,
                        bool is_after,
                        struct esi_spans *spans)
{
    unsigned distinct = searcher->plan->distinct_of[v];
    uint32_t count = es_domain_column(searcher->plan->domains[v], slot).count;

    if (is_after)
        esi_spans_add(spans, esi_row_after_begin(searcher, x, distinct, slot), count);
    else
        esi_spans_add(spans, 0, esi_row_before_end(searcher, x, distinct, slot));
}

/* The receives that name bound x. */
static void add_receives(struct esi_searcher *searcher,
                         const struct es_literal *literal,
                         unsigned v,
                         uint32_t slot,
                         struct esi_spans *spans)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    struct es_event_id send = esi_event_of(searcher, literal->x);
    struct es_domain_value value;
    struct esi_listed listed;
    uint32_t at = 0;
    int result;

    if (!plan->is_growing) {
        listed = esi_received_index_find(plan->received[plan->distinct_of[v]], send);
        for (size_t i = 0; i < listed.count; i++)
            if (listed.values[i].slot == slot)
                esi_spans_add(spans, listed.values[i].position,
                              listed.values[i].position + 1);
        return;
    }
    while ((result = es_domain_next_receive(plan->domains[v], send, &at, &value)) > 0)
        if (value.slot == slot)
            esi_spans_add(spans, value.position, value.position + 1);
    if (result < 0)
        searcher->error = result;
}

/* The sends that bound y names, or the receives that name bound x. */
static void add_received(struct esi_searcher *searcher,
                         const struct es_literal *literal,
                         unsigned v,
                         uint32_t slot,
                         struct esi_spans *spans)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    struct es_domain_column column = es_domain_column(plan->domains[v], slot);
    const struct es_event_id *partners;
    size_t count;

    if (v != literal->x) {
        add_receives(searcher, literal, v, slot, spans);
        return;
    }
    count = es_domain_partners(plan->domains[literal->y], searcher->values[literal->y],
                               &partners);
    esi_column_spans(&column, partners, count, spans);
}

/* As if the literal were not negated. */
static void add_plain(struct esi_searcher *searcher,
                      const struct es_literal *literal,
                      unsigned v,
                      uint32_t slot,
                      struct esi_spans *spans)
{
    unsigned other = v == literal->x ? literal->y : literal->x;
    struct es_domain_column column;

    switch (literal->kind) {
    case ES_LITERAL_RELATION:
        esi_mask_spans(searcher, other,
                       v == literal->x ? literal->mask : esi_mask_turned(literal->mask),
                       searcher->plan->distinct_of[v], slot, spans);
        break;
    case ES_LITERAL_BEFORE:
        add_ordered(searcher, other, v, slot, v == literal->y, spans);
        break;
    case ES_LITERAL_EQUAL:
        column = es_domain_column(searcher->plan->domains[v], slot);
        esi_column_spans(&column, searcher->check.bindings[other].events,
                         searcher->check.bindings[other].count, spans);
        break;
    case ES_LITERAL_RECEIVED:
        add_received(searcher, literal, v, slot, spans);
        break;
    case ES_LITERAL_NEAR:
    case ES_LITERAL_COMPARE:
    case ES_LITERAL_COUNT:
    case ES_LITERAL_FORMULA:
        break; /* never exact */
    }
}

void esi_literal_spans(struct esi_searcher *searcher,
                       const struct es_literal *literal,
                       unsigned v,
                       uint32_t slot,
                       struct esi_spans *spans)
{
    uint32_t end = es_domain_column(searcher->plan->domains[v], slot).count;

    if (literal->kind == ES_LITERAL_RELATION || !literal->is_negated) {
        add_plain(searcher, literal, v, slot, spans);
        return;
    }
    searcher->plain.count = 0;
    add_plain(searcher, literal, v, slot, &searcher->plain);
    esi_spans_sort(&searcher->plain);
    esi_searcher_check(searcher, &searcher->plain);
    esi_spans_add_others(spans, &searcher->plain, end);
}
