/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * engine_closure_plan.c - in which order variables are bound, and when what is tested.
 *
 * The order is that of the tree, in post-order: the variables of an atom are bound when
 * it is reached, its left operand's first.  A conjunct is tested as soon as its last
 * existential variable is bound, and so is a lesser support.  Before, it is tested with
 * each of its variables if those that are bound may show that it fails.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/thesis/engine_closure_private.h"

/* --- Parts of a condition --------------------------------------------------------- */

static uint64_t named_by(const struct esi_program *program,
                         const struct esi_formula *formula)
{
    uint64_t named = 0;

    if (formula->kind == ES_FORMULA_ATOM)
        return program->atoms[formula->atom].left | program->atoms[formula->atom].right;
    for (size_t i = 0; i < formula->part_count; i++)
        named |= named_by(program, formula->parts[i]);
    return named;
}

static size_t count_parts(const struct esi_formula *formula)
{
    size_t count = 0;

    if (formula->kind != ES_FORMULA_AND)
        return 1;
    for (size_t i = 0; i < formula->part_count; i++)
        count += count_parts(formula->parts[i]);
    return count;
}

static void add_parts(const struct esi_engine_task *task,
                      const struct esi_formula *formula,
                      struct esi_closure_plan *plan)
{
    uint64_t named = named_by(task->program, formula);
    uint64_t universals = esi_program_universal(task->program);

    if (formula->kind == ES_FORMULA_AND) {
        for (size_t i = 0; i < formula->part_count; i++)
            add_parts(task, formula->parts[i], plan);
        return;
    }
    if (formula->kind == ES_FORMULA_TRUE)
        return;
    plan->is_false |= formula->kind == ES_FORMULA_FALSE;
    plan->parts[plan->part_count++] = (struct esi_closure_part){
        .formula = formula,
        .existential = named & ~universals,
        .universal =
            named & universals & ~esi_universal_empty(task->program, task->domains),
    };
}

/* --- The order of binding --------------------------------------------------------- */

static void bind_all(struct esi_closure_plan *plan, uint64_t variables, uint64_t *bound)
{
    variables &= ~*bound;
    *bound |= variables;
    for (; variables; variables &= variables - 1)
        plan->order[plan->level_count++] = (uint8_t)__builtin_ctzll(variables);
}

static void bind_formula(const struct esi_program *program,
                         const struct esi_formula *formula,
                         uint64_t existential,
                         struct esi_closure_plan *plan,
                         uint64_t *bound)
{
    if (formula->kind == ES_FORMULA_ATOM) {
        bind_all(plan, program->atoms[formula->atom].left & existential, bound);
        bind_all(plan, program->atoms[formula->atom].right & existential, bound);
        return;
    }
    for (size_t i = 0; i < formula->part_count; i++)
        bind_formula(program, formula->parts[i], existential, plan, bound);
}

static void order_variables(const struct esi_program *program,
                            uint64_t variables,
                            struct esi_closure_plan *plan)
{
    uint64_t bound = 0;

    for (size_t i = 0; i < plan->part_count; i++)
        bind_formula(program, plan->parts[i].formula, plan->parts[i].existential, plan,
                     &bound);
    /* Terms that no atom is about. */
    bind_all(plan, variables, &bound);
    plan->hidden_from = plan->level_count;
    while (plan->hidden_from &&
           !program->variables[plan->order[plan->hidden_from - 1]].is_returned)
        plan->hidden_from--;
}

/* --- When what is tested ---------------------------------------------------------- */

/* Variables that are bound when `level` are. */
static uint64_t bound_at(const struct esi_closure_plan *plan, uint32_t level)
{
    uint64_t bound = 0;

    for (uint32_t i = 0; i < level; i++)
        bound |= UINT64_C(1) << plan->order[i];
    return bound;
}

/* Whether all of these are bound at a level and not before. */
static bool is_due(const struct esi_closure_plan *plan,
                   uint64_t variables,
                   uint32_t level)
{
    return !(variables & ~bound_at(plan, level)) &&
           (level == 0 || (variables & ~bound_at(plan, level - 1)));
}

static void add_own_checks(struct esi_closure_plan *plan, uint32_t level)
{
    for (size_t i = 0; i < plan->part_count; i++)
        if (is_due(plan, plan->parts[i].existential, level))
            plan->checks[plan->check_count++] = (struct esi_closure_check){
                .parts = &plan->parts[i], .part_count = 1, .lesser = ES_PATTERN_NONE};
}

/* Whether it may be told that a formula fails when these variables are bound: what is
 * not within a time is not when more is bound either. */
static bool may_fail(const struct esi_program *program,
                     const struct esi_formula *formula,
                     uint64_t bound)
{
    bool is_and = formula->kind == ES_FORMULA_AND;

    if (formula->kind == ES_FORMULA_ATOM) {
        const struct esi_atom *atom = &program->atoms[formula->atom];
        uint64_t named = (atom->left | atom->right) & bound;

        return atom->kind == ES_ATOM_WITHIN ? (named & (named - 1)) != 0
                                            : named == (atom->left | atom->right);
    }
    if (formula->kind != ES_FORMULA_AND && formula->kind != ES_FORMULA_OR)
        return formula->kind == ES_FORMULA_FALSE;
    for (size_t i = 0; i < formula->part_count; i++)
        if (may_fail(program, formula->parts[i], bound) == is_and)
            return is_and;
    return !is_and;
}

/* With each variable of a part that does not make it due. */
static void add_early_checks(const struct esi_program *program,
                             struct esi_closure_plan *plan,
                             uint32_t level)
{
    uint64_t bound = bound_at(plan, level);

    for (size_t i = 0; level > 0 && i < plan->part_count; i++) {
        const struct esi_closure_part *part = &plan->parts[i];
        uint64_t early = part->existential & bound;

        if (early != part->existential && early >> plan->order[level - 1] & 1 &&
            may_fail(program, part->formula, early))
            plan->checks[plan->check_count++] =
                (struct esi_closure_check){.parts = part,
                                           .part_count = 1,
                                           .lesser = ES_PATTERN_NONE,
                                           .early = early};
    }
}

static void add_lesser_checks(const struct esi_program *program,
                              const struct esi_closure_plan *plans,
                              uint32_t support,
                              struct esi_closure_plan *plan,
                              uint32_t level)
{
    for (size_t i = 0; i < program->supports[support].lesser_count; i++) {
        uint32_t lesser = program->supports[support].lesser[i];

        if (!plans[lesser].is_false &&
            is_due(plan, program->supports[lesser].variables, level))
            plan->checks[plan->check_count++] = (struct esi_closure_check){
                plans[lesser].parts, plans[lesser].part_count, lesser, 0};
    }
}

static int place_checks(const struct esi_program *program,
                        const struct esi_closure_plan *plans,
                        uint32_t support,
                        struct esi_closure_plan *plan)
{
    size_t count = plan->part_count * ((size_t)plan->level_count + 1) +
                   program->supports[support].lesser_count;

    plan->checks = calloc(count ? count : 1, sizeof *plan->checks);
    if (!plan->checks)
        return -ENOMEM;
    for (uint32_t level = 0; level <= plan->level_count; level++) {
        plan->begins[level] = plan->check_count;
        add_early_checks(program, plan, level);
        add_own_checks(plan, level);
        add_lesser_checks(program, plans, support, plan, level);
    }
    plan->begins[plan->level_count + 1] = plan->check_count;
    return 0;
}

/* --- All of it -------------------------------------------------------------------- */

/* Lesser supports come first: their parts are there. */
static int make_plan(const struct esi_engine_task *task,
                     struct esi_closure_plan *plans,
                     uint32_t support)
{
    const struct esi_program_support *of = &task->program->supports[support];
    struct esi_closure_plan *plan = &plans[support];

    plan->parts = calloc(count_parts(of->condition), sizeof *plan->parts);
    if (!plan->parts)
        return -ENOMEM;
    add_parts(task, of->condition, plan);
    order_variables(task->program, of->variables, plan);
    return place_checks(task->program, plans, support, plan);
}

int esi_closure_plans_create(const struct esi_engine_task *task,
                             struct esi_closure_plan **ret_plans)
{
    uint32_t count = task->program->support_count;
    struct esi_closure_plan *plans = calloc(count ? count : 1, sizeof *plans);
    int result = 0;

    if (!plans)
        return -ENOMEM;
    for (uint32_t support = 0; support < count && result == 0; support++)
        result = make_plan(task, plans, support);
    if (result < 0)
        esi_closure_plans_destroy(task, plans);
    else
        *ret_plans = plans;
    return result;
}

void esi_closure_plans_destroy(const struct esi_engine_task *task,
                               struct esi_closure_plan *plans)
{
    for (uint32_t i = 0; plans && i < task->program->support_count; i++) {
        free(plans[i].parts);
        free(plans[i].checks);
    }
    free(plans);
}
