/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_rewrite_values.c - values of variables, and evaluation of literals. */
#include "config.h"

#include "monitors/search/thesis/engine_rewrite_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_BYTES = 64 << 20 };

/* --- Values ----------------------------------------------------------------------- */

static int fill_values(struct esi_choice *choice, struct esi_values *values)
{
    const struct esi_domain *domain = values->domain;
    struct esi_domain_value *items =
        esi_arena_alloc(&choice->arena, values->count * sizeof *items);
    struct es_event_id *ids = NULL;
    uint32_t number = 0;

    if (values->is_single)
        ids = esi_arena_alloc(&choice->arena, values->count * sizeof *ids);
    if (!items || (values->is_single && !ids))
        return -ENOMEM;
    choice->bytes += values->count * (sizeof *items + (ids ? sizeof *ids : 0));
    values->items = items;
    values->ids = ids;
    if (!values->is_single)
        for (; number < values->count; number++)
            items[number] = (struct esi_domain_value){.slot = 0, .position = number};
    for (uint32_t slot = 0; ids && slot < esi_domain_slots(domain); slot++) {
        struct esi_domain_column column = esi_domain_column(domain, slot);

        for (uint32_t i = 0; i < column.count; i++, number++) {
            items[number] = (struct esi_domain_value){.slot = slot, .position = i};
            ids[number] = (struct es_event_id){column.trace, column.indexes[i]};
        }
    }
    return 0;
}

static const struct esi_values *values_of(struct esi_choice *choice,
                                          const struct esi_domain *domain)
{
    struct esi_values *values;

    for (values = choice->all_values; values; values = values->next)
        if (values->domain == domain)
            return values;
    if (esi_domain_count(domain) > UINT32_MAX)
        return NULL;
    values = esi_arena_alloc(&choice->arena, sizeof *values);
    if (!values)
        return NULL;
    *values = (struct esi_values){.domain = domain,
                                  .is_single = esi_domain_is_single(domain),
                                  .count = (uint32_t)esi_domain_count(domain)};
    if (fill_values(choice, values))
        return NULL;
    values->next = choice->all_values;
    choice->all_values = values;
    return values;
}

int esi_choice_init(struct esi_choice *choice, const struct esi_engine_task *task)
{
    int result;

    *choice = (struct esi_choice){
        .task = task,
        .precedence = {.order = task->order},
        .check = {.program = task->program,
                  .domains = task->domains,
                  .counted = task->counted},
    };
    result = esi_formula_check_init(&choice->check);
    for (uint32_t v = 0; result == 0 && v < task->program->variable_count; v++) {
        choice->values[v] = values_of(choice, task->domains[v]);
        result = choice->values[v] ? 0 : -ENOMEM;
    }
    if (result < 0)
        esi_choice_fini(choice);
    return result;
}

void esi_choice_fini(struct esi_choice *choice)
{
    esi_formula_check_fini(&choice->check);
    for (struct esi_entries *entries = choice->all_entries; entries;
         entries = entries->next)
        free(entries->items);
    esi_arena_free(&choice->arena);
    *choice = (struct esi_choice){.task = NULL};
}

/* --- Entries of timestamps -------------------------------------------------------- */

static uint32_t *make_entries(struct esi_choice *choice,
                              const struct esi_values *of,
                              uint32_t slots)
{
    size_t bytes = (size_t)of->count * slots * sizeof(uint32_t);
    uint32_t *items;

    if (!bytes || bytes / slots / sizeof *items != of->count ||
        choice->bytes + bytes > ENTRIES_BYTES)
        return NULL;
    items = malloc(bytes);
    if (!items) {
        choice->failure = -ENOMEM;
        return NULL;
    }
    memset(items, 0xff, bytes);
    choice->bytes += bytes;
    return items;
}

/* NULL if there is no room for them: then each query goes to the order. */
static struct esi_entries *entries_of(struct esi_choice *choice,
                                      const struct esi_values *of,
                                      const struct esi_values *on)
{
    struct esi_entries *entries;

    if (!of->is_single || !on->is_single)
        return NULL;
    for (entries = choice->all_entries; entries; entries = entries->next)
        if (entries->of == of && entries->on == on)
            return entries->items ? entries : NULL;
    entries = esi_arena_alloc(&choice->arena, sizeof *entries);
    if (!entries) {
        choice->failure = -ENOMEM;
        return NULL;
    }
    entries->of = of;
    entries->on = on;
    entries->slots = esi_domain_slots(on->domain);
    entries->items = make_entries(choice, of, entries->slots);
    entries->next = choice->all_entries;
    choice->all_entries = entries;
    return entries->items ? entries : NULL;
}

static bool is_before(struct esi_choice *choice, const struct esi_test *test)
{
    uint32_t x = choice->chosen[test->literal.x];
    uint32_t y = choice->chosen[test->literal.y];
    struct es_event_id a = choice->values[test->literal.x]->ids[x];
    struct es_event_id b = choice->values[test->literal.y]->ids[y];
    uint32_t *entry;
    int64_t found;

    entry = &test->entries->items[(size_t)y * test->entries->slots +
                                  test->entries->on->items[x].slot];
    if (*entry == ESI_ENTRY_NONE) {
        found = es_order_greatest_predecessor(choice->precedence.order, b, a.trace);
        *entry = found < 0 ? ESI_ENTRY_UNKNOWN : (uint32_t)found;
    }
    if (*entry == ESI_ENTRY_UNKNOWN)
        return esi_precedence_before(&choice->precedence, a, b);
    choice->precedence.comparisons++;
    return a.index <= *entry;
}

/* --- Literals of sets ------------------------------------------------------------- */

static struct esi_domain_value value_of(const struct esi_choice *choice, unsigned v)
{
    return choice->values[v]->items[choice->chosen[v]];
}

/* Evaluates with the values of those of its variables that are `bound`. */
static enum esi_formula_truth truth_of(struct esi_choice *choice,
                                       const struct esi_test *test,
                                       uint64_t bound)
{
    struct esi_formula_check *check = &choice->check;
    enum esi_formula_truth truth;

    /* The choice may have been moved since the check was initialized. */
    check->precedence = &choice->precedence;
    check->bound = 0;
    for (uint64_t left = test->literal.variables & bound; left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);

        esi_formula_check_bind(check, v, value_of(choice, v));
    }
    truth = esi_literal_truth(check, &test->literal);
    if (check->failure)
        choice->failure = check->failure;
    return truth;
}

static bool has_count(struct esi_choice *choice, const struct esi_test *test)
{
    uint8_t *known = test->known ? &test->known[choice->chosen[test->literal.x]] : NULL;
    bool holds;

    if (known && *known)
        return *known == 2;
    holds = truth_of(choice, test, UINT64_MAX) == ES_FORMULA_HOLDS;
    if (known)
        *known = holds ? 2 : 1;
    return holds;
}

bool esi_test_is_refuted(struct esi_choice *choice,
                         const struct esi_test *test,
                         uint64_t bound)
{
    return test->literal.kind == ES_LITERAL_FORMULA &&
           truth_of(choice, test, bound) == ES_FORMULA_FAILS;
}

/* --- Literals --------------------------------------------------------------------- */

int esi_choice_test(struct esi_choice *choice,
                    const struct esi_literal *literal,
                    struct esi_test *ret_test)
{
    struct esi_test test = {.literal = *literal};

    test.is_equality = literal->kind == ES_LITERAL_EQUAL &&
                       choice->values[literal->x]->is_single &&
                       choice->values[literal->y]->is_single;
    if (literal->kind == ES_LITERAL_COUNT &&
        __builtin_popcountll(literal->variables) == 1) {
        test.known = esi_arena_alloc(&choice->arena, choice->values[literal->x]->count);
        if (!test.known)
            return -ENOMEM;
        choice->bytes += choice->values[literal->x]->count;
    }
    if (literal->kind == ES_LITERAL_BEFORE)
        test.entries =
            entries_of(choice, choice->values[literal->y], choice->values[literal->x]);
    if (choice->failure)
        return choice->failure;
    *ret_test = test;
    return 0;
}

bool esi_test_holds_slowly(struct esi_choice *choice, const struct esi_test *test)
{
    const struct esi_literal *literal = &test->literal;

    if (literal->kind == ES_LITERAL_BEFORE && test->entries)
        return is_before(choice, test) != literal->is_negated;
    if (literal->kind == ES_LITERAL_COUNT)
        return has_count(choice, test);
    return truth_of(choice, test, UINT64_MAX) == ES_FORMULA_HOLDS;
}
