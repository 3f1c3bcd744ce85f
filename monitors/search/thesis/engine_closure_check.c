/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_closure_check.c - whether a condition holds for the values that are bound, and
 * for all values of universal variables. */
#include "config.h"

#include "monitors/search/thesis/engine_closure_private.h"

/* Of the variables that are `bound`. */
static enum esi_formula_truth truth_of(struct esi_closure_search *search,
                                       const struct esi_formula *formula,
                                       uint64_t bound)
{
    enum esi_formula_truth truth;

    search->check.bound = bound;
    truth = esi_formula_check(&search->check, formula, search->variables);
    if (search->check.failure && search->result == 0)
        search->result = search->check.failure;
    return truth;
}

/* For all values of the universal variables. */
static bool holds_for_all(struct esi_closure_search *search,
                          const struct esi_formula *formula,
                          uint64_t universal)
{
    struct esi_closure_cursor cursor;
    unsigned v;

    if (!universal)
        return truth_of(search, formula, UINT64_MAX) == ES_FORMULA_HOLDS;
    v = (unsigned)__builtin_ctzll(universal);
    esi_closure_cursor_init(search->task->domains[v], &cursor);
    while (esi_closure_bind(search, &cursor, v))
        if (!holds_for_all(search, formula, universal & (universal - 1)))
            return false;
    return search->result == 0;
}

bool esi_closure_check_holds(struct esi_closure_search *search,
                             const struct esi_closure_check *check)
{
    bool holds = true;

    if (check->early)
        return truth_of(search, check->parts->formula, check->early) !=
               ES_FORMULA_FAILS;
    for (size_t i = 0; i < check->part_count && holds; i++)
        holds =
            holds_for_all(search, check->parts[i].formula, check->parts[i].universal);
    return check->lesser == ES_PATTERN_NONE ? holds : !holds;
}
