/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Compares pattern files member by member. */
#include "config.h"

#include "tests/search/pattern_compare.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    const struct es_pattern_file *a;
    const struct es_pattern_file *b;
};

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_constant(const struct esi_pattern_constant *a,
                          const struct esi_pattern_constant *b)
{
    return a->is_number == b->is_number && a->number == b->number &&
           same_text(a->text, b->text);
}

/* Numbers of attributes may differ, their names may not. */
static bool same_field(const struct pair *files,
                       enum esi_pattern_field field_a,
                       uint32_t attribute_a,
                       enum esi_pattern_field field_b,
                       uint32_t attribute_b)
{
    if (field_a != field_b || field_a != ES_FIELD_ATTRIBUTE)
        return field_a == field_b;
    return same_text(esi_pattern_attribute(files->a, attribute_a),
                     esi_pattern_attribute(files->b, attribute_b));
}

/* --- Classes ---------------------------------------------------------------------- */

static bool same_condition(const struct pair *files,
                           const struct esi_pattern_condition *a,
                           const struct esi_pattern_condition *b)
{
    if (!same_field(files, a->field, a->attribute, b->field, b->attribute) ||
        a->test != b->test || a->is_negated != b->is_negated ||
        !same_constant(&a->value, &b->value) || a->piece_count != b->piece_count)
        return false;
    for (size_t i = 0; i < a->piece_count; i++) {
        if (!same_text(a->pieces[i], b->pieces[i]))
            return false;
    }
    return true;
}

static bool same_class(const struct pair *files, uint32_t number)
{
    const struct esi_pattern_class *a = esi_pattern_class(files->a, number);
    const struct esi_pattern_class *b = esi_pattern_class(files->b, number);

    if (a->condition_count != b->condition_count ||
        a->partner_count != b->partner_count)
        return false;
    for (size_t i = 0; i < a->condition_count; i++) {
        if (!same_condition(files, &a->conditions[i], &b->conditions[i]))
            return false;
    }
    for (size_t i = 0; i < a->partner_count; i++) {
        if (a->partners[i] != b->partners[i])
            return false;
    }
    return true;
}

/* --- Predicates ------------------------------------------------------------------- */

static bool same_operand(const struct pair *files,
                         const struct esi_pattern_operand *a,
                         const struct esi_pattern_operand *b)
{
    if (a->occurrence != b->occurrence)
        return false;
    if (a->occurrence == ES_PATTERN_NONE)
        return same_constant(&a->constant, &b->constant);
    return same_field(files, a->field, a->attribute, b->field, b->attribute);
}

static bool same_node(const struct pair *files,
                      const struct esi_pattern_node *a,
                      const struct esi_pattern_node *b)
{
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && a->occurrence == b->occurrence && a->op == b->op &&
           a->is_negated == b->is_negated && a->at_most == b->at_most &&
           a->number == b->number && a->within_ns == b->within_ns &&
           a->test == b->test &&
           same_operand(files, &a->operands[0], &b->operands[0]) &&
           same_operand(files, &a->operands[1], &b->operands[1]) &&
           same_node(files, a->left, b->left) && same_node(files, a->right, b->right);
}

static bool same_predicate(const struct pair *files, uint32_t number)
{
    const struct esi_pattern_predicate *a = esi_pattern_predicate(files->a, number);
    const struct esi_pattern_predicate *b = esi_pattern_predicate(files->b, number);

    if (!same_text(a->name, b->name) || a->occurrence_count != b->occurrence_count)
        return false;
    for (uint32_t i = 0; i < a->occurrence_count; i++) {
        const struct esi_pattern_occurrence *x = &a->occurrences[i];
        const struct esi_pattern_occurrence *y = &b->occurrences[i];

        if (x->sign != y->sign || x->class_number != y->class_number ||
            x->predicate != y->predicate || !same_text(x->name, y->name))
            return false;
    }
    return same_node(files, a->root, b->root);
}

bool pattern_files_are_alike(const struct es_pattern_file *a,
                             const struct es_pattern_file *b)
{
    struct pair files = {a, b};

    if (es_pattern_predicates(a) != es_pattern_predicates(b) ||
        esi_pattern_classes(a) != esi_pattern_classes(b))
        return false;
    for (uint32_t i = 0; i < es_pattern_predicates(a); i++) {
        if (!same_predicate(&files, i))
            return false;
    }
    for (uint32_t i = 0; i < esi_pattern_classes(a); i++) {
        if (!same_class(&files, i))
            return false;
    }
    return true;
}

char *pattern_file_text(const struct es_pattern_file *file)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        abort();
    for (uint32_t i = 0; i < es_pattern_predicates(file); i++)
        if (!esi_pattern_predicate(file, i)->is_folded)
            esi_pattern_print(file, i, stream);
    fclose(stream);
    return text;
}
