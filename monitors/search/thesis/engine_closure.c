/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * engine_closure.c - the classic search: through the tree in post-order, with convex
 * closures for the sides of relations (Nichols, chapter 4).
 *
 * Variables are bound one after the other to each of their values; what can be tested
 * is tested, and where it fails the next value is taken.  Values of universal variables
 * are run through in the test.  It is the plainest of the engines, and the slowest.
 */
#include "config.h"

#include "monitors/search/thesis/engine_closure_private.h"

static bool all_hold(struct esi_closure_search *search,
                     const struct esi_closure_plan *plan,
                     uint32_t level)
{
    for (size_t i = plan->begins[level]; i < plan->begins[level + 1]; i++)
        if (!esi_closure_check_holds(search, &plan->checks[i]) || search->result != 0)
            return false;
    return true;
}

static bool add_match(struct esi_closure_search *search, uint64_t variables)
{
    for (uint64_t left = variables; left; left &= left - 1) {
        int v = __builtin_ctzll(left);

        search->values[v] = search->check.bindings[v].value;
    }
    search->result = esi_matches_add(search->task->matches, variables, search->values);
    return true;
}

/* Binds the variables from `level` on in all ways that match.  Returns whether there is
 * one. */
static bool search_from(struct esi_closure_search *search,
                        uint32_t support,
                        const struct esi_closure_plan *plan,
                        uint32_t level)
{
    struct esi_closure_cursor cursor;
    bool has_found = false;
    uint8_t v;

    if (level == plan->level_count)
        return add_match(search, search->task->program->supports[support].variables);
    v = plan->order[level];
    esi_closure_cursor_init(search->task->domains[v], &cursor);
    while (search->result == 0 && esi_closure_bind(search, &cursor, v)) {
        if (all_hold(search, plan, level + 1))
            has_found |= search_from(search, support, plan, level + 1);
        search->task->statistics->backtracks++;
        if (has_found && level >= plan->hidden_from)
            break;
    }
    return has_found;
}

static bool have_values(const struct esi_engine_task *task, uint64_t variables)
{
    for (; variables; variables &= variables - 1)
        if (esi_domain_count(task->domains[__builtin_ctzll(variables)]) == 0)
            return false;
    return true;
}

static void search_support(struct esi_closure_search *search,
                           const struct esi_closure_plan *plans,
                           uint32_t support)
{
    const struct esi_closure_plan *plan = &plans[support];

    if (!plan->is_false && esi_support_may_match(search->task, support) &&
        have_values(search->task, search->task->program->supports[support].variables) &&
        all_hold(search, plan, 0))
        search_from(search, support, plan, 0);
}

/* --- Beginning and end ------------------------------------------------------------ */

static int begin_search(const struct esi_engine_task *task,
                        struct esi_closure_search *search)
{
    int result;

    search->task = task;
    search->precedence.order = task->order;
    search->variables = ~esi_universal_empty(task->program, task->domains);
    search->check = (struct esi_formula_check){.program = task->program,
                                               .domains = task->domains,
                                               .counted = task->counted,
                                               .precedence = &search->precedence,
                                               .side = esi_closure_side,
                                               .side_data = search,
                                               .config = task->config};
    result = esi_closure_maker_create(task->order, task->config->closure_method,
                                      task->config->successors, &search->maker);
    if (result < 0)
        return result;
    return esi_closure_operands_init(task, &search->operands);
}

static void end_search(struct esi_closure_search *search)
{
    struct esi_search_statistics *statistics = search->task->statistics;

    statistics->comparisons += search->precedence.comparisons;
    statistics->unknown += search->precedence.unknown;
    for (size_t i = 0; i < search->operands.count; i++)
        statistics->bytes += esi_closure_bytes(&search->operands.items[i].closure);
    esi_closure_operands_fini(&search->operands);
    esi_closure_maker_destroy(search->maker);
    esi_formula_check_fini(&search->check);
    esi_event_list_fini(&search->events);
}

static int run_search(const struct esi_engine_task *task, struct es_error *error)
{
    struct esi_closure_search search = {.task = NULL};
    struct esi_closure_plan *plans = NULL;
    int result = begin_search(task, &search);

    (void)error;
    if (result == 0)
        result = esi_closure_plans_create(task, &plans);
    search.result = result;
    for (uint32_t i = 0; i < task->program->support_count && search.result == 0; i++)
        search_support(&search, plans, i);
    esi_closure_plans_destroy(task, plans);
    end_search(&search);
    return search.result;
}

static int explain_search(const struct esi_engine_task *task,
                          FILE *out,
                          struct es_error *error)
{
    struct esi_closure_operands operands = {.count = 0};
    struct esi_closure_plan *plans = NULL;
    int result = esi_closure_operands_init(task, &operands);

    (void)error;
    if (result == 0)
        result = esi_closure_plans_create(task, &plans);
    if (result == 0)
        esi_closure_explain(task, plans, &operands, out);
    esi_closure_plans_destroy(task, plans);
    esi_closure_operands_fini(&operands);
    return result;
}

const struct esi_engine_ops esi_engine_closure = {
    .name = "closure",
    .help = "through the tree, with convex closures (the classic one; slow)",
    .search = run_search,
    .explain = explain_search,
};
