/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_rewrite.c - the engine "rewrite": backtracking over single events, clause by
 * clause of a rewritten pattern (Nichols, 5.5).
 *
 * A literal assigns values to its unassigned variables.  If it holds, the search
 * continues with the next clause, otherwise with the next literal and the same values;
 * a part that was not expanded may fail before all its variables have values.  So
 * branches differ in values only, and no assignment is found twice.  A clause with
 * universal variables first assigns values to all its existential ones; then it must
 * hold for all values of the universal ones.
 *
 * Recursion only happens to assign values, so its depth is limited by the number of
 * variables. */
#include "config.h"

#include <string.h>

#include "monitors/search/thesis/engine_rewrite_private.h"

struct clause_search {
    struct esi_plans *plans;
    struct esi_choice *choice;
    const struct esi_plan *plan;
    const struct esi_program_disjunct *disjunct;
    uint64_t bound;
    uint64_t backtracks;
    struct esi_domain_value values[ES_PROGRAM_VARIABLES]; /* of a match */
};

/* --- Clauses with universal variables --------------------------------------------- */

static bool does_any_hold(struct esi_choice *choice,
                          const struct esi_test *tests,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (esi_test_holds(choice, &tests[i]))
            return true;
    return false;
}

/* The values of a trace are tried in order, so a test that held for one value is likely
 * to hold for the next. */
static bool does_any_hold_again(struct esi_choice *choice,
                                struct esi_plan_clause *clause)
{
    if (esi_test_holds(choice, &clause->tests[clause->lucky]))
        return true;
    for (size_t i = clause->fixed; i < clause->count; i++)
        if (i != clause->lucky && esi_test_holds(choice, &clause->tests[i])) {
            clause->lucky = clause->learns ? i : clause->lucky;
            return true;
        }
    return false;
}

static void move_to_front(uint32_t *order, uint32_t position)
{
    uint32_t value = order[position];

    memmove(order + 1, order, position * sizeof *order);
    order[0] = value;
}

/* Whether the clause holds for all values of the universal variables from `first`
 * on. */
static bool holds_for_all(struct esi_choice *choice,
                          struct esi_plan_clause *clause,
                          size_t first)
{
    const struct esi_forall *forall = &clause->foralls[first];

    if (first == clause->forall_count)
        return does_any_hold_again(choice, clause);
    for (uint32_t i = 0; i < forall->count; i++) {
        choice->chosen[forall->variable] = forall->order ? forall->order[i] : i;
        if (esi_choice_is_over(choice))
            return false;
        if (holds_for_all(choice, clause, first + 1))
            continue;
        if (forall->order && i > 0)
            move_to_front(forall->order, i);
        return false;
    }
    return true;
}

static bool clause_holds(struct esi_choice *choice, struct esi_plan_clause *clause)
{
    return does_any_hold(choice, clause->tests, clause->fixed) ||
           (clause->forall_count && holds_for_all(choice, clause, 0));
}

/* --- Matches ---------------------------------------------------------------------- */

/* A lesser disjunct that holds needs fewer of these values (D6). */
static bool is_minimal(struct clause_search *search)
{
    for (size_t i = 0; i < search->disjunct->lesser_count; i++) {
        const struct esi_plan *lesser =
            &search->plans->items[search->disjunct->lesser[i]];
        bool holds = true;

        for (size_t k = 0; k < lesser->clause_count && holds; k++)
            holds = clause_holds(search->choice, &lesser->clauses[k]);
        if (holds)
            return false;
    }
    return true;
}

static int add_match(struct clause_search *search)
{
    const struct esi_engine_task *task = search->plans->task;
    uint64_t variables = search->disjunct->variables;

    if (!is_minimal(search))
        return 0;
    if (search->choice->failure)
        return search->choice->failure;
    if (search->choice->is_over)
        return 1;
    for (uint64_t left = variables; left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);

        search->values[v] = search->choice->values[v]->items[search->choice->chosen[v]];
    }
    return esi_matches_add(task->matches, variables, search->values);
}

/* --- Backtracking ----------------------------------------------------------------- */

static int go_on(struct clause_search *search, size_t clause, size_t literal);

/* Tries all values of the first of these variables, and continues at the same
 * literal. */
static int try_values(struct clause_search *search,
                      uint64_t unbound,
                      size_t clause,
                      size_t literal)
{
    unsigned v = (unsigned)__builtin_ctzll(unbound);
    uint32_t count = search->choice->values[v]->count;
    int result = 0;

    search->bound |= UINT64_C(1) << v;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        search->choice->chosen[v] = i;
        result =
            esi_choice_is_over(search->choice) ? 1 : go_on(search, clause, literal);
        search->backtracks++;
    }
    search->bound &= ~(UINT64_C(1) << v);
    return result;
}

/* Searches from a literal of a clause on.  Returns 0 when everything was tried,
 * otherwise the result of esi_matches_add(). */
static int go_on(struct clause_search *search, size_t number, size_t literal)
{
    while (number < search->plan->clause_count) {
        struct esi_plan_clause *clause = &search->plan->clauses[number];
        const struct esi_test *test = &clause->tests[literal];

        if (clause->forall_count) {
            if (clause->existential & ~search->bound)
                return try_values(search, clause->existential & ~search->bound, number,
                                  0);
            if (!clause_holds(search->choice, clause))
                return 0;
        } else {
            if (literal == clause->count)
                return 0;
            if (test->literal.variables & ~search->bound &&
                esi_test_is_refuted(search->choice, test, search->bound)) {
                literal++;
                continue;
            }
            if (test->literal.variables & ~search->bound)
                return try_values(search, test->literal.variables & ~search->bound,
                                  number, literal);
            if (!esi_test_holds(search->choice, test)) {
                literal++;
                continue;
            }
        }
        number++;
        literal = 0;
    }
    if (search->disjunct->variables & ~search->bound)
        return try_values(search, search->disjunct->variables & ~search->bound, number,
                          0);
    return add_match(search);
}

static int search_plans(struct esi_plans *plans)
{
    struct esi_search_statistics *statistics = plans->task->statistics;
    struct clause_search search = {.plans = plans, .choice = &plans->choice};
    int result = esi_search_is_over(plans->task->config);

    for (uint32_t s = 0; s < plans->count && result == 0; s++) {
        if (!esi_disjunct_may_match(plans->task, s))
            continue;
        search.plan = &plans->items[s];
        search.disjunct = &plans->task->program->disjuncts[s];
        result = go_on(&search, 0, 0);
    }
    if (result == 0)
        result = plans->choice.failure;
    if (result == 0)
        result = plans->choice.is_over;
    statistics->backtracks += search.backtracks;
    return result;
}

/* --- The engine ------------------------------------------------------------------- */

static int search_clauses(const struct esi_engine_task *task, struct es_error *error)
{
    struct esi_search_statistics *statistics = task->statistics;
    struct esi_plans plans;
    int result = esi_plans_create(task, &plans, error);

    if (result)
        return result;
    result = search_plans(&plans);
    for (uint32_t s = 0; s < plans.count; s++)
        statistics->pattern_size += plans.items[s].cnf->size;
    statistics->comparisons += plans.choice.precedence.comparisons;
    statistics->unknown += plans.choice.precedence.unknown;
    if (plans.choice.bytes > statistics->bytes)
        statistics->bytes = plans.choice.bytes;
    esi_plans_destroy(&plans);
    return result;
}

const struct esi_rewrite_tuning esi_rewrite_defaults = {.prune = true,
                                                        .reordering =
                                                            ES_REORDER_CLUSTER,
                                                        .failed_first = true};

static const char *const reorderings[] = {
    [ES_REORDER_NONE] = "none",
    [ES_REORDER_BRUTE] = "brute",
    [ES_REORDER_SUCCESS] = "success",
    [ES_REORDER_CLUSTER] = "cluster",
    NULL,
};

static const struct esi_field rows[] = {
    {.name = "failed-first",
     .kind = ESI_FIELD_BOOLEAN,
     .offset = offsetof(struct esi_rewrite_tuning, failed_first)},
    {.name = "prune",
     .kind = ESI_FIELD_BOOLEAN,
     .offset = offsetof(struct esi_rewrite_tuning, prune)},
    {.name = "reorder",
     .kind = ESI_FIELD_CHOICE,
     .offset = offsetof(struct esi_rewrite_tuning, reordering),
     .choices = reorderings},
    {.name = "seed",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct esi_rewrite_tuning, seed),
     .maximum = INT64_MAX},
};

static const struct esi_fields fields = {.size = sizeof(struct esi_rewrite_tuning),
                                         .rows = rows,
                                         .row_count = sizeof rows / sizeof rows[0]};

const struct esi_engine_ops esi_engine_rewrite = {
    .name = "rewrite",
    .help = "rewritten patterns: relations of single events, searched by backtracking",
    .defaults = &esi_rewrite_defaults,
    .fields = &fields,
    .search = search_clauses,
    .explain = esi_rewrite_explain,
};
