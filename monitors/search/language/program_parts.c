/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* program_parts.c - the parts of programs: variables, atoms and formulas. */
#include "config.h"

#include "monitors/search/language/program_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct esi_draft_formula always = {.formula = {.kind = ES_FORMULA_TRUE}};
static const struct esi_draft_formula never = {.formula = {.kind = ES_FORMULA_FALSE}};

void esi_builder_fail(struct esi_program_builder *builder,
                      int code,
                      const struct esi_pattern_place *place,
                      const char *words)
{
    if (builder->failure)
        return;
    builder->failure = code;
    if (words && place)
        esi_pattern_fault(builder->file, *place, words, builder->error);
    else if (words)
        es_error_set(builder->error, code, "%s", words);
}

void *esi_builder_alloc(struct esi_program_builder *builder, size_t size)
{
    void *memory = esi_arena_alloc(builder->arena, size);

    if (!memory)
        esi_builder_fail(builder, -ENOMEM, NULL, NULL);
    return memory;
}

/* --- Variables -------------------------------------------------------------------- */

static bool is_name_of(const struct esi_program_variable *variable, const char *name)
{
    size_t length = strlen(name);

    return strncmp(variable->name, name, length) == 0 &&
           (variable->name[length] == '\0' || variable->name[length] == '.');
}

static bool is_name_taken(const struct esi_program_builder *builder, const char *name)
{
    for (uint32_t v = 0; v < builder->variable_count; v++)
        if (is_name_of(&builder->variables[v], name))
            return true;
    return false;
}

const char *esi_builder_name(struct esi_program_builder *builder,
                             const char *prefix,
                             const char *name)
{
    size_t size = strlen(prefix) + strlen(name) + 32;
    char *text = esi_builder_alloc(builder, size);

    if (!text)
        return "";
    snprintf(text, size, "%s%s%s", prefix, *prefix ? "." : "", name);
    for (unsigned use = 2; is_name_taken(builder, text); use++)
        snprintf(text, size, "%s%s%s#%u", prefix, *prefix ? "." : "", name, use);
    return text;
}

uint32_t esi_builder_variable(struct esi_program_builder *builder,
                              const struct esi_program_variable *variable,
                              const struct esi_pattern_place *place)
{
    if (builder->variable_count == ES_PROGRAM_VARIABLES) {
        esi_builder_fail(builder, -EINVAL, place,
                         "the pattern has more than 64 variables, those of the "
                         "predicates that it names included");
        return 0;
    }
    builder->variables[builder->variable_count] = *variable;
    if (variable->is_universal)
        builder->universal |= UINT64_C(1) << builder->variable_count;
    return builder->variable_count++;
}

/* --- Atoms ------------------------------------------------------------------------ */

static bool is_same_atom(const struct esi_atom *a, const struct esi_atom *b)
{
    if (a->kind != b->kind || a->op != b->op || a->is_negated != b->is_negated ||
        a->left != b->left || a->right != b->right)
        return false;
    if (a->kind == ES_ATOM_WITHIN)
        return a->node->within_ns == b->node->within_ns;
    return a->kind == ES_ATOM_RELATION ||
           (a->node == b->node && a->is_reversed == b->is_reversed);
}

static uint32_t atom_number(struct esi_program_builder *builder,
                            const struct esi_atom *atom)
{
    for (uint32_t i = 0; i < builder->atom_count; i++)
        if (is_same_atom(&builder->atoms[i], atom))
            return i;
    if (builder->atom_count == builder->atom_capacity) {
        uint32_t capacity = builder->atom_capacity ? 2 * builder->atom_capacity : 16;
        struct esi_atom *atoms = esi_builder_alloc(builder, capacity * sizeof *atoms);

        if (!atoms)
            return 0;
        if (builder->atom_count)
            memcpy(atoms, builder->atoms, builder->atom_count * sizeof *atoms);
        builder->atoms = atoms;
        builder->atom_capacity = capacity;
    }
    builder->atoms[builder->atom_count] = *atom;
    return builder->atom_count++;
}

/* --- Formulas --------------------------------------------------------------------- */

const struct esi_formula *esi_formula_true(void)
{
    return &always.formula;
}

const struct esi_formula *esi_formula_false(void)
{
    return &never.formula;
}

static const struct esi_draft_formula *whole_formula(const struct esi_formula *formula)
{
    return (const struct esi_draft_formula *)formula;
}

uint64_t esi_formula_universal(const struct esi_formula *formula)
{
    return whole_formula(formula)->universal;
}

/* A relation with an empty set is constant, unless a universal variable without values
 * could make it true (D8). */
static bool is_constant(const struct esi_program_builder *builder,
                        const struct esi_atom *atom,
                        bool *ret_value)
{
    if (atom->kind == ES_ATOM_WITHIN && !atom->left) {
        *ret_value = true;
        return true;
    }
    if (atom->kind != ES_ATOM_RELATION || (atom->left && atom->right) ||
        ((atom->left | atom->right) & builder->universal))
        return false;
    *ret_value = (atom->op == ES_OPERATOR_CONCURRENT) != atom->is_negated;
    return true;
}

const struct esi_formula *esi_formula_atom(struct esi_program_builder *builder,
                                           const struct esi_atom *atom)
{
    struct esi_draft_formula *formula;
    bool value;

    if (is_constant(builder, atom, &value))
        return value ? &always.formula : &never.formula;
    formula = esi_builder_alloc(builder, sizeof *formula);
    if (!formula)
        return &never.formula;
    *formula = (struct esi_draft_formula){
        .formula = {.kind = ES_FORMULA_ATOM, .atom = atom_number(builder, atom)},
        .atoms = 1,
        .universal = (atom->left | atom->right) & builder->universal,
    };
    return &formula->formula;
}

static bool is_same_formula(const struct esi_formula *a, const struct esi_formula *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->part_count != b->part_count ||
        whole_formula(a)->atoms != whole_formula(b)->atoms ||
        (a->kind == ES_FORMULA_ATOM && a->atom != b->atom))
        return false;
    for (size_t i = 0; i < a->part_count; i++)
        if (!is_same_formula(a->parts[i], b->parts[i]))
            return false;
    return true;
}

/* The parts of a formula of this kind, or the formula itself as the only part. */
static size_t parts_of(const struct esi_formula *const *formula,
                       enum esi_formula_kind kind,
                       const struct esi_formula *const **ret_parts)
{
    *ret_parts = (*formula)->kind == kind ? (*formula)->parts : formula;
    return (*formula)->kind == kind ? (*formula)->part_count : 1;
}

/* Avoids duplicate parts.  For AND only the identical formula (the condition of a
 * replaced predicate) is omitted, because repetitions in a pattern are left to pruning;
 * for OR also one with the same meaning. */
static bool is_part(const struct esi_formula *const *parts,
                    size_t count,
                    const struct esi_formula *part,
                    enum esi_formula_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (kind == ES_FORMULA_OR ? is_same_formula(parts[i], part) : parts[i] == part)
            return true;
    return false;
}

static const struct esi_formula *too_long(struct esi_program_builder *builder)
{
    esi_builder_fail(builder, -EINVAL, NULL,
                     "the pattern is too long: written out, its condition would name "
                     "more than 262144 relations");
    return &never.formula;
}

static const struct esi_formula *join_formulas(struct esi_program_builder *builder,
                                               enum esi_formula_kind kind,
                                               const struct esi_formula *a,
                                               const struct esi_formula *b)
{
    const struct esi_formula *const *a_parts;
    const struct esi_formula *const *b_parts;
    size_t a_count = parts_of(&a, kind, &a_parts);
    size_t b_count = parts_of(&b, kind, &b_parts);
    const struct esi_formula **parts = NULL;
    struct esi_draft_formula *formula = NULL;
    size_t count = a_count;

    builder->parts += a_count + b_count;
    if (builder->parts <= ESI_FORMULA_PARTS) {
        parts = esi_builder_alloc(builder, (a_count + b_count) * sizeof *parts);
        formula = esi_builder_alloc(builder, sizeof *formula);
    }
    if (!parts || !formula)
        return too_long(builder);
    memcpy(parts, a_parts, a_count * sizeof *parts);
    for (size_t i = 0; i < b_count; i++)
        if (!is_part(parts, a_count, b_parts[i], kind))
            parts[count++] = b_parts[i];
    if (count == a_count)
        return a;
    *formula = (struct esi_draft_formula){
        .formula = {.kind = kind, .part_count = count, .parts = parts}};
    for (size_t i = 0; i < count; i++) {
        formula->atoms += whole_formula(parts[i])->atoms;
        formula->universal |= whole_formula(parts[i])->universal;
    }
    return formula->atoms <= ESI_FORMULA_ATOMS ? &formula->formula : too_long(builder);
}

const struct esi_formula *esi_formula_both(struct esi_program_builder *builder,
                                           const struct esi_formula *a,
                                           const struct esi_formula *b)
{
    if (a->kind == ES_FORMULA_FALSE || b->kind == ES_FORMULA_TRUE)
        return a;
    if (b->kind == ES_FORMULA_FALSE || a->kind == ES_FORMULA_TRUE)
        return b;
    return join_formulas(builder, ES_FORMULA_AND, a, b);
}

const struct esi_formula *esi_formula_either(struct esi_program_builder *builder,
                                             const struct esi_formula *a,
                                             const struct esi_formula *b)
{
    if (a->kind == ES_FORMULA_TRUE || b->kind == ES_FORMULA_FALSE)
        return a;
    if (b->kind == ES_FORMULA_TRUE || a->kind == ES_FORMULA_FALSE)
        return b;
    return join_formulas(builder, ES_FORMULA_OR, a, b);
}
