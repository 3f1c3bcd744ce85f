/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* program_disjuncts.c - computes the disjuncts from the outcomes of a whole predicate.
 *
 * An outcome is a choice of sides.  If there are universal variables, one choice may
 * hold for some of their values and another for the others; then both together form a
 * disjunct.  But if two groups of choices have no universal variable in common, "for
 * all values one of these or one of those" is equivalent to "one of these for all, or
 * one of those for all": then one group suffices, and the other is never part of a
 * minimal assignment.  So only groups connected by universal variables are joined. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/language/program_private.h"

/* Choices with the same needed variables, or a union of such choices. */
struct group {
    uint64_t needed;
    uint64_t universal;
    const struct esi_formula *condition; /* OR of the choices */
};

struct groups {
    struct group items[ES_PROGRAM_DISJUNCTS];
    size_t count;
};

static struct group *find_group(struct groups *groups, uint64_t needed)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->items[i].needed == needed)
            return &groups->items[i];
    return NULL;
}

static struct group *add_group(struct esi_program_builder *builder,
                               struct groups *groups,
                               uint64_t needed,
                               const struct esi_pattern_place *place)
{
    struct group *group = find_group(groups, needed);

    if (group)
        return group;
    if (groups->count == ES_PROGRAM_DISJUNCTS) {
        esi_builder_fail(builder, -EINVAL, place,
                         "the sides of '|' can make up more than 256 different sets of "
                         "variables for a match");
        return NULL;
    }
    group = &groups->items[groups->count++];
    *group = (struct group){.needed = needed, .condition = esi_formula_false()};
    return group;
}

static void collect_choices(struct esi_program_builder *builder,
                            const struct esi_outcomes *outcomes,
                            const struct esi_pattern_place *place,
                            struct groups *ret_choices)
{
    ret_choices->count = 0;
    for (size_t i = 0; i < outcomes->count; i++) {
        const struct esi_outcome *outcome = &outcomes->items[i];
        struct group *group = add_group(builder, ret_choices, outcome->needed, place);

        if (!group)
            return;
        group->condition =
            esi_formula_either(builder, group->condition, outcome->condition);
        group->universal = esi_formula_universal(group->condition);
    }
}

/* Joins a choice to a group that shares a universal variable with it.  Returns true if
 * this created a new group or added variables to one. */
static bool join_choice(struct esi_program_builder *builder,
                        struct groups *groups,
                        struct group group,
                        const struct group *choice,
                        const struct esi_pattern_place *place)
{
    struct group *joined;
    uint64_t universal = group.universal | choice->universal;

    if (!(group.universal & choice->universal))
        return false;
    joined = find_group(groups, group.needed | choice->needed);
    if (joined && (joined->universal | universal) == joined->universal)
        return false;
    joined = add_group(builder, groups, group.needed | choice->needed, place);
    if (joined)
        joined->universal |= universal;
    return joined != NULL;
}

static void join_groups(struct esi_program_builder *builder,
                        const struct groups *choices,
                        struct groups *groups,
                        const struct esi_pattern_place *place)
{
    bool is_changed = true;

    *groups = *choices;
    while (is_changed && !builder->failure) {
        is_changed = false;
        for (size_t i = 0; i < groups->count && !builder->failure; i++)
            for (size_t k = 0; k < choices->count; k++)
                is_changed |= join_choice(builder, groups, groups->items[i],
                                          &choices->items[k], place);
    }
}

/* --- Conditions ------------------------------------------------------------------- */

static bool is_within(uint64_t part, uint64_t whole)
{
    return (part & ~whole) == 0;
}

static int compare_sizes(const void *left, const void *right)
{
    const struct group *a = left;
    const struct group *b = right;
    int a_size = __builtin_popcountll(a->needed);
    int b_size = __builtin_popcountll(b->needed);

    if (a_size != b_size)
        return a_size - b_size;
    return (a->needed > b->needed) - (a->needed < b->needed);
}

static const struct esi_formula *condition_of(struct esi_program_builder *builder,
                                              const struct groups *choices,
                                              uint64_t needed)
{
    const struct esi_formula *condition = esi_formula_false();

    for (size_t i = 0; i < choices->count; i++)
        if (is_within(choices->items[i].needed, needed))
            condition =
                esi_formula_either(builder, condition, choices->items[i].condition);
    return condition;
}

/* If a lesser disjunct always holds, this one has no minimal assignments. */
static bool is_never_minimal(const struct esi_program_disjunct *disjuncts,
                             uint32_t count,
                             uint64_t variables)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_within(disjuncts[i].variables, variables) &&
            disjuncts[i].condition->kind == ES_FORMULA_TRUE)
            return true;
    return false;
}

static void find_lesser(struct esi_program_builder *builder,
                        struct esi_program_disjunct *disjuncts,
                        uint32_t number)
{
    uint32_t *lesser = esi_builder_alloc(builder, number * sizeof *lesser);
    size_t count = 0;

    if (!lesser)
        return;
    for (uint32_t i = 0; i < number; i++)
        if (is_within(disjuncts[i].variables, disjuncts[number].variables))
            lesser[count++] = i;
    disjuncts[number].lesser = lesser;
    disjuncts[number].lesser_count = count;
}

static void tell_choices(struct esi_program_builder *builder,
                         const struct groups *choices,
                         struct esi_program *program)
{
    struct esi_program_choice *told =
        esi_builder_alloc(builder, choices->count * sizeof *told);

    if (!told)
        return;
    for (size_t i = 0; i < choices->count; i++)
        told[i] = (struct esi_program_choice){choices->items[i].needed,
                                              choices->items[i].universal};
    program->choices = told;
    program->choice_count = (uint32_t)choices->count;
}

void esi_program_disjuncts(struct esi_program_builder *builder,
                           const struct esi_outcomes *outcomes,
                           const struct esi_pattern_place *place,
                           struct esi_program *program)
{
    struct groups *choices = esi_builder_alloc(builder, 2 * sizeof *choices);
    struct groups *groups = choices ? choices + 1 : NULL;
    struct esi_program_disjunct *disjuncts;
    uint32_t count = 0;

    if (!choices)
        return;
    collect_choices(builder, outcomes, place, choices);
    if (!builder->failure)
        join_groups(builder, choices, groups, place);
    tell_choices(builder, choices, program);
    if (builder->failure)
        return;
    qsort(groups->items, groups->count, sizeof *groups->items, compare_sizes);
    disjuncts = esi_builder_alloc(builder, groups->count * sizeof *disjuncts);
    for (size_t i = 0; disjuncts && i < groups->count && !builder->failure; i++) {
        uint64_t needed = groups->items[i].needed;
        const struct esi_formula *condition = condition_of(builder, choices, needed);

        if (is_never_minimal(disjuncts, count, needed))
            continue;
        disjuncts[count] = (struct esi_program_disjunct){
            .variables = needed,
            .universal = esi_formula_universal(condition),
            .condition = condition,
        };
        find_lesser(builder, disjuncts, count++);
    }
    program->disjuncts = disjuncts;
    program->disjunct_count = count;
}

/* --- Universal variables without values ------------------------------------------- */

/* The variables of all choices within `whole` that are connected to the first one by
 * universal variables that have values; marks these choices as taken. */
static uint64_t take_connected(const struct esi_program *program,
                               uint64_t whole,
                               uint64_t empty,
                               uint32_t first,
                               bool *is_taken)
{
    uint64_t variables = program->choices[first].variables;
    uint64_t universal = program->choices[first].universal & ~empty;
    bool is_changed = true;

    while (is_changed) {
        is_changed = false;
        for (uint32_t i = first + 1; i < program->choice_count; i++) {
            const struct esi_program_choice *choice = &program->choices[i];

            if (is_taken[i] || !is_within(choice->variables, whole) ||
                !(choice->universal & universal))
                continue;
            is_taken[i] = is_changed = true;
            variables |= choice->variables;
            universal |= choice->universal & ~empty;
        }
    }
    return variables;
}

bool esi_program_may_be_minimal(const struct esi_program *program,
                                uint32_t disjunct,
                                uint64_t empty)
{
    uint64_t whole = program->disjuncts[disjunct].variables;
    bool is_taken[ES_PROGRAM_DISJUNCTS] = {false};

    if (!(program->disjuncts[disjunct].universal & empty))
        return true;
    for (uint32_t i = 0; i < program->choice_count; i++)
        if (!is_taken[i] && is_within(program->choices[i].variables, whole) &&
            take_connected(program, whole, empty, i, is_taken) == whole)
            return true;
    return false;
}
