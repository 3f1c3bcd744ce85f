/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* program.c - compiles a predicate to a program.
 *
 * First determines, from the first predicate of the file on, which of the needed
 * predicates may be replaced by their variables.  So each predicate is examined only
 * once, however often it is named. */
#include "config.h"

#include "monitors/search/language/program.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/language/program_private.h"

/* The program is first, so that a pointer to it can be cast back. */
struct whole_program {
    struct esi_program program;
    struct esi_arena arena;
};

static bool have_one_disjunct(const struct esi_outcomes *outcomes)
{
    for (size_t i = 1; i < outcomes->count; i++)
        if (outcomes->items[i].needed != outcomes->items[0].needed)
            return false;
    return outcomes->count > 0;
}

/* *ret_replaceable may be NULL. */
static int build_program(const struct es_pattern_file *file,
                         uint32_t predicate,
                         const struct esi_replaceable *replaceable,
                         struct whole_program *whole,
                         struct esi_replaceable *ret_replaceable,
                         struct es_error *error)
{
    struct esi_program_builder builder = {.file = file,
                                          .replaceable = replaceable,
                                          .error = error,
                                          .arena = &whole->arena};
    const struct esi_pattern_predicate *tree = esi_pattern_predicate(file, predicate);
    struct esi_program *program = &whole->program;
    struct esi_outcomes outcomes = {.count = 0};

    builder.variables =
        esi_builder_alloc(&builder, ES_PROGRAM_VARIABLES * sizeof *builder.variables);
    if (builder.variables)
        esi_program_walk(&builder, tree, &outcomes);
    if (!builder.failure)
        esi_program_disjuncts(&builder, &outcomes, &tree->place, program);
    if (builder.failure)
        return builder.failure;
    program->file = file;
    program->predicate = predicate;
    program->variables = builder.variables;
    program->variable_count = builder.variable_count;
    program->atoms = builder.atoms;
    program->atom_count = builder.atom_count;
    if (ret_replaceable)
        *ret_replaceable =
            (struct esi_replaceable){.has_one_disjunct = have_one_disjunct(&outcomes),
                                     .has_universal = builder.universal != 0,
                                     .variables = builder.variable_count,
                                     .nested = builder.nested};
    return 0;
}

/* Determines which of the needed predicates before this one may be replaced. */
static int look_below(const struct es_pattern_file *file,
                      uint32_t predicate,
                      const bool *is_needed,
                      struct esi_replaceable *replaceable,
                      struct es_error *error)
{
    int result = 0;

    for (uint32_t p = 0; p < predicate && result == 0; p++) {
        struct whole_program whole = {.arena = {NULL}};

        if (!is_needed[p])
            continue;
        result = build_program(file, p, replaceable, &whole, &replaceable[p], error);
        esi_arena_free(&whole.arena);
    }
    return result;
}

int esi_program_create(const struct es_pattern_file *file,
                       uint32_t predicate,
                       struct esi_program **ret_program,
                       struct es_error *error)
{
    struct whole_program *whole = calloc(1, sizeof *whole);
    struct esi_replaceable *replaceable = calloc(predicate + 1u, sizeof *replaceable);
    bool *is_predicate_needed = calloc(es_pattern_predicates(file) + 1u, sizeof(bool));
    bool *is_class_needed = calloc(esi_pattern_classes(file) + 1u, sizeof(bool));
    int result = -ENOMEM;

    if (whole && replaceable && is_predicate_needed && is_class_needed) {
        esi_pattern_reach(file, predicate, is_predicate_needed, is_class_needed);
        result = look_below(file, predicate, is_predicate_needed, replaceable, error);
    }
    if (result == 0)
        result = build_program(file, predicate, replaceable, whole, NULL, error);
    if (result == 0)
        *ret_program = &whole->program;
    else if (whole)
        esi_program_destroy(&whole->program);
    free(replaceable);
    free(is_predicate_needed);
    free(is_class_needed);
    return result;
}

void esi_program_destroy(struct esi_program *program)
{
    struct whole_program *whole = (struct whole_program *)program;

    if (!whole)
        return;
    esi_arena_free(&whole->arena);
    free(whole);
}

uint64_t esi_program_universal(const struct esi_program *program)
{
    uint64_t universal = 0;

    for (uint32_t v = 0; v < program->variable_count; v++)
        if (program->variables[v].is_universal)
            universal |= esi_program_bit(v);
    return universal;
}

bool esi_program_is_prompt(const struct esi_program *program, unsigned variable)
{
    uint32_t number = program->variables[variable].class_number;

    return number != ES_PATTERN_NONE &&
           esi_pattern_class(program->file, number)->partner_count == 0;
}
