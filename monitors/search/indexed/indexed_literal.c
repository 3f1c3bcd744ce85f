/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_literal.c - whether literals and clauses hold of bound variables, and which
 * values of one variable that is not bound satisfy a literal. */
#include "config.h"

#include <stdlib.h>

#include "monitors/search/truth/event_sets.h"
#include "monitors/search/indexed/indexed_searcher.h"

static size_t events_of(const struct esi_searcher *searcher,
                        unsigned v,
                        struct es_event_id *scratch,
                        const struct es_event_id **ret_events)
{
    return es_domain_events(searcher->plan->domains[v], searcher->values[v], scratch,
                            ret_events);
}

/* --- Relations -------------------------------------------------------------------- */

static uint8_t on_one_trace(struct es_event_id a, struct es_event_id b)
{
    if (a.index == b.index)
        return ESI_IS_SAME;
    return a.index < b.index ? ESI_IS_BEFORE : ESI_IS_AFTER;
}

/* Asks only what the mask depends on. */
static bool is_allowed(struct esi_searcher *searcher,
                       struct es_event_id a,
                       struct es_event_id b,
                       uint8_t mask)
{
    bool as_before = mask & ESI_IS_BEFORE;
    bool as_after = mask & ESI_IS_AFTER;
    bool otherwise = mask & ESI_IS_CONCURRENT;

    if (a.trace == b.trace)
        return mask & on_one_trace(a, b);
    if (as_before != otherwise && es_precedence_before(&searcher->precedence, a, b))
        return as_before;
    if (as_after != otherwise && es_precedence_before(&searcher->precedence, b, a))
        return as_after;
    return otherwise;
}

static bool some_precedes(struct esi_searcher *searcher, unsigned x, unsigned y)
{
    struct es_event_id scratch[2];
    const struct es_event_id *of_x;
    const struct es_event_id *of_y;
    size_t x_count = events_of(searcher, x, &scratch[0], &of_x);
    size_t y_count = events_of(searcher, y, &scratch[1], &of_y);

    return es_sets_any_before(&searcher->precedence, of_x, x_count, of_y, y_count);
}

static bool share(const struct esi_searcher *searcher, unsigned x, unsigned y)
{
    struct es_event_id scratch[2];
    const struct es_event_id *of_x;
    const struct es_event_id *of_y;
    size_t x_count = events_of(searcher, x, &scratch[0], &of_x);
    size_t y_count = events_of(searcher, y, &scratch[1], &of_y);

    return es_sets_share(of_x, x_count, of_y, y_count);
}

static bool are_near(const struct esi_searcher *searcher,
                     const struct esi_indexed_literal *literal)
{
    const struct es_domain *const *domains = searcher->plan->domains;
    const struct es_atom *atom = &searcher->plan->program->atoms[literal->atom];
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;

    return es_domain_widen(domains[literal->x], searcher->values[literal->x], &first,
                           &last) &&
           es_domain_widen(domains[literal->y], searcher->values[literal->y], &first,
                           &last) &&
           es_times_are_within(first, last, atom->node->within_ns);
}

static bool compares(const struct esi_searcher *searcher,
                     const struct esi_indexed_literal *literal)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    const struct es_atom *atom = &plan->program->atoms[literal->atom];
    unsigned left = atom->left ? (unsigned)__builtin_ctzll(atom->left) : literal->x;
    unsigned right = atom->right ? (unsigned)__builtin_ctzll(atom->right) : literal->y;

    return es_domain_compare(atom->node, plan->domains[left], searcher->values[left],
                             plan->domains[right], searcher->values[right]);
}

/* --- Parts that were not written out ---------------------------------------------- */

/* Of what is bound of its variables. */
static enum es_formula_truth formula_truth(struct esi_searcher *searcher,
                                           const struct esi_indexed_literal *literal)
{
    struct es_formula_check *check = searcher->check;
    enum es_formula_truth truth;

    check->bound = 0;
    for (uint64_t left = literal->variables & searcher->bound; left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);

        es_formula_check_bind(check, v, searcher->values[v]);
    }
    truth = es_formula_check(check, literal->formula, literal->variables);
    if (check->failure)
        searcher->error = check->failure;
    return truth;
}

/* --- Literals --------------------------------------------------------------------- */

bool esi_literal_holds(struct esi_searcher *searcher,
                       const struct esi_indexed_literal *literal)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    unsigned x = literal->x;
    unsigned y = literal->y;
    bool holds = false;

    switch (literal->kind) {
    case ESI_INDEXED_RELATION:
        return is_allowed(searcher, searcher->events[x], searcher->events[y],
                          literal->mask);
    case ESI_INDEXED_BEFORE:
        holds = some_precedes(searcher, x, y);
        break;
    case ESI_INDEXED_EQUAL:
        holds = share(searcher, x, y);
        break;
    case ESI_INDEXED_RECEIVED:
        holds = es_domain_is_received(plan->domains[x], searcher->values[x],
                                      plan->domains[y], searcher->values[y]);
        break;
    case ESI_INDEXED_NEAR:
        holds = are_near(searcher, literal);
        break;
    case ESI_INDEXED_COMPARE:
        holds = compares(searcher, literal);
        break;
    case ESI_INDEXED_COUNT:
        holds = esi_count_holds(searcher, literal);
        break;
    case ESI_INDEXED_FORMULA:
        holds = formula_truth(searcher, literal) == ES_FORMULA_HOLDS;
        break;
    }
    return holds != literal->is_negated;
}

/* --- Clauses ---------------------------------------------------------------------- */

bool esi_clause_is_satisfied(struct esi_searcher *searcher,
                             const struct esi_indexed_clause *clause)
{
    for (uint32_t i = 0; i < clause->count; i++)
        if ((clause->literals[i].variables & ~searcher->bound) == 0 &&
            esi_literal_holds(searcher, &clause->literals[i]))
            return true;
    return false;
}

bool esi_clause_is_refuted(struct esi_searcher *searcher,
                           const struct esi_indexed_clause *clause)
{
    for (uint32_t i = 0; i < clause->count; i++) {
        const struct esi_indexed_literal *literal = &clause->literals[i];

        if (literal->kind != ESI_INDEXED_FORMULA &&
            literal->variables & ~searcher->bound)
            return false;
    }
    for (uint32_t i = 0; i < clause->count; i++) {
        const struct esi_indexed_literal *literal = &clause->literals[i];

        if (literal->kind == ESI_INDEXED_FORMULA
                ? formula_truth(searcher, literal) != ES_FORMULA_FAILS
                : esi_literal_holds(searcher, literal))
            return false;
    }
    return true;
}

bool esi_clause_holds(struct esi_searcher *searcher,
                      const struct esi_indexed_clause *clause)
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
    bool is_own = column.trace == searcher->events[x].trace;
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
                         const struct esi_indexed_literal *literal,
                         unsigned v,
                         uint32_t slot,
                         struct esi_spans *spans)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    struct es_event_id send = searcher->events[literal->x];
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
                         const struct esi_indexed_literal *literal,
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
                      const struct esi_indexed_literal *literal,
                      unsigned v,
                      uint32_t slot,
                      struct esi_spans *spans)
{
    unsigned other = v == literal->x ? literal->y : literal->x;
    struct es_domain_column column;
    struct es_event_id scratch;
    const struct es_event_id *events;
    size_t count;

    switch (literal->kind) {
    case ESI_INDEXED_RELATION:
        esi_mask_spans(searcher, other,
                       v == literal->x ? literal->mask : esi_mask_turned(literal->mask),
                       searcher->plan->distinct_of[v], slot, spans);
        break;
    case ESI_INDEXED_BEFORE:
        add_ordered(searcher, other, v, slot, v == literal->y, spans);
        break;
    case ESI_INDEXED_EQUAL:
        column = es_domain_column(searcher->plan->domains[v], slot);
        count = events_of(searcher, other, &scratch, &events);
        esi_column_spans(&column, events, count, spans);
        break;
    case ESI_INDEXED_RECEIVED:
        add_received(searcher, literal, v, slot, spans);
        break;
    case ESI_INDEXED_NEAR:
    case ESI_INDEXED_COMPARE:
    case ESI_INDEXED_COUNT:
    case ESI_INDEXED_FORMULA:
        break; /* never exact */
    }
}

void esi_literal_spans(struct esi_searcher *searcher,
                       const struct esi_indexed_literal *literal,
                       unsigned v,
                       uint32_t slot,
                       struct esi_spans *spans)
{
    uint32_t end = es_domain_column(searcher->plan->domains[v], slot).count;

    if (literal->kind == ESI_INDEXED_RELATION || !literal->is_negated) {
        add_plain(searcher, literal, v, slot, spans);
        return;
    }
    searcher->plain.count = 0;
    add_plain(searcher, literal, v, slot, &searcher->plain);
    esi_spans_sort(&searcher->plain);
    esi_searcher_check(searcher, &searcher->plain);
    esi_spans_add_others(spans, &searcher->plain, end);
}
