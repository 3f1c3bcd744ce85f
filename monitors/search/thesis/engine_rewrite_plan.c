/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_rewrite_plan.c - creates the clauses to be searched from a program. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/thesis/engine_rewrite_private.h"

enum {
    SAMPLES = 500,
    SAMPLES_OF_COUNTS = 20, /* each reads a whole domain; a part of the condition
                               that was not expanded may do so, too */
};

/* --- Estimates by samples --------------------------------------------------------- */

struct sampler {
    struct esi_choice *choice;
    uint64_t state;
    int failure;
};

/* splitmix64 */
static uint64_t draw_value(struct sampler *sampler)
{
    uint64_t z = sampler->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Estimates the share of random values for which a literal holds. */
static double sample_literal(void *data, const struct esi_literal *literal)
{
    struct sampler *sampler = data;
    bool is_slow =
        literal->kind == ES_LITERAL_COUNT || literal->kind == ES_LITERAL_FORMULA;
    unsigned samples = is_slow ? SAMPLES_OF_COUNTS : SAMPLES;
    unsigned held = 0;
    struct esi_test test;

    if (esi_choice_test(sampler->choice, literal, &test)) {
        sampler->failure = -ENOMEM;
        return 0;
    }
    for (unsigned i = 0; i < samples; i++) {
        for (uint64_t left = test.literal.variables; left; left &= left - 1) {
            unsigned v = (unsigned)__builtin_ctzll(left);
            uint32_t count = sampler->choice->values[v]->count;

            if (count == 0)
                return 0;
            sampler->choice->chosen[v] = (uint32_t)(draw_value(sampler) % count);
        }
        held += esi_test_holds(sampler->choice, &test);
    }
    return (double)held / samples;
}

/* Comparisons for samples are not counted as comparisons of the search, as in the
 * thesis. */
static int reorder_plan(struct esi_plans *plans, struct esi_plan *plan)
{
    const struct esi_rewrite_tuning *tuning = plans->task->tuning;
    uint64_t comparisons = plans->choice.precedence.comparisons;
    struct sampler sampler = {.choice = &plans->choice, .state = tuning->seed};
    struct esi_reorder_facts facts = {
        .program = plans->task->program, .success = sample_literal, .data = &sampler};
    int result;

    for (uint32_t v = 0; v < plans->task->program->variable_count; v++)
        facts.counts[v] = plans->choice.values[v]->count;
    result = esi_reorder(plan->cnf, &facts, tuning->reordering, &plan->reordered);
    plan->sampled = plans->choice.precedence.comparisons - comparisons;
    plans->choice.precedence.comparisons = comparisons;
    return result ? result : sampler.failure;
}

/* --- Clauses ---------------------------------------------------------------------- */

static int make_forall(struct esi_plans *plans,
                       unsigned v,
                       struct esi_forall *ret_forall)
{
    const struct esi_rewrite_tuning *tuning = plans->task->tuning;
    struct esi_forall forall = {.variable = v, .count = plans->choice.values[v]->count};

    if (tuning->failed_first) {
        forall.order =
            esi_arena_alloc(&plans->choice.arena, forall.count * sizeof *forall.order);
        if (!forall.order)
            return -ENOMEM;
        plans->choice.bytes += forall.count * sizeof *forall.order;
    }
    for (uint32_t i = 0; forall.order && i < forall.count; i++)
        forall.order[i] = i;
    *ret_forall = forall;
    return 0;
}

static int make_foralls(struct esi_plans *plans,
                        uint64_t universal,
                        struct esi_plan_clause *clause)
{
    int result = 0;

    clause->foralls =
        esi_arena_alloc(&plans->choice.arena, (size_t)__builtin_popcountll(universal) *
                                                  sizeof *clause->foralls);
    if (!clause->foralls)
        return -ENOMEM;
    for (; universal && result == 0; universal &= universal - 1)
        result = make_forall(plans, (unsigned)__builtin_ctzll(universal),
                             &clause->foralls[clause->forall_count++]);
    return result;
}

/* Adds either the tests with universal variables or those without. */
static int add_tests(struct esi_plans *plans,
                     const struct esi_clause *from,
                     bool with_universal,
                     struct esi_plan_clause *clause)
{
    for (size_t i = 0; i < from->count; i++) {
        struct esi_test test;
        int result = esi_choice_test(&plans->choice, &from->literals[i], &test);

        if (result)
            return result;
        if (((test.literal.variables & from->universal) != 0) == with_universal)
            clause->tests[clause->count++] = test;
    }
    return 0;
}

static int make_clause(struct esi_plans *plans,
                       const struct esi_clause *from,
                       struct esi_plan_clause *clause)
{
    int result;

    clause->existential = from->existential;
    clause->tests =
        esi_arena_alloc(&plans->choice.arena, from->count * sizeof *clause->tests);
    if (!clause->tests)
        return -ENOMEM;
    plans->choice.bytes += from->count * sizeof *clause->tests;
    result = add_tests(plans, from, false, clause);
    clause->fixed = clause->count;
    clause->lucky = clause->count;
    clause->learns =
        ((const struct esi_rewrite_tuning *)plans->task->tuning)->failed_first;
    if (result == 0)
        result = add_tests(plans, from, true, clause);
    return result ? result : make_foralls(plans, from->universal, clause);
}

static int make_clauses(struct esi_plans *plans, struct esi_plan *plan)
{
    int result = 0;

    plan->clause_count = plan->cnf->count;
    plan->clauses = esi_arena_alloc(&plans->choice.arena,
                                    plan->clause_count * sizeof *plan->clauses);
    if (!plan->clauses)
        return -ENOMEM;
    for (size_t i = 0; i < plan->clause_count && result == 0; i++)
        result = make_clause(plans, &plan->cnf->clauses[i], &plan->clauses[i]);
    return result;
}

/* --- Plans ------------------------------------------------------------------------ */

static int make_plan(struct esi_plans *plans, uint32_t disjunct, struct es_error *error)
{
    const struct esi_rewrite_tuning *tuning = plans->task->tuning;
    struct esi_plan *plan = &plans->items[disjunct];
    int result =
        esi_cnf_create(plans->task->program, disjunct, plans->empty, &plan->cnf, error);

    if (result)
        return result;
    plan->size_before = plan->cnf->size;
    plan->literals_before = plan->cnf->literals;
    if (tuning->prune)
        result = esi_cnf_prune(plan->cnf);
    if (result == 0)
        result = reorder_plan(plans, plan);
    return result ? result : make_clauses(plans, plan);
}

int esi_plans_create(const struct esi_engine_task *task,
                     struct esi_plans *ret_plans,
                     struct es_error *error)
{
    struct esi_plans plans = {.task = task};
    int result = esi_choice_init(&plans.choice, task);

    if (result)
        return result;
    plans.empty = esi_universal_empty(task->program, task->domains);
    plans.items = calloc(task->program->disjunct_count + 1u, sizeof *plans.items);
    if (!plans.items)
        result = -ENOMEM;
    while (result == 0 && plans.count < task->program->disjunct_count)
        result = make_plan(&plans, plans.count++, error);
    if (result)
        esi_plans_destroy(&plans);
    else
        *ret_plans = plans;
    return result;
}

void esi_plans_destroy(struct esi_plans *plans)
{
    for (uint32_t s = 0; plans->items && s < plans->count; s++)
        esi_cnf_destroy(plans->items[s].cnf);
    free(plans->items);
    esi_choice_fini(&plans->choice);
}
