/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reference_parse.c - converts the parser's result to trees of the reference. */
#include "config.h"

#include "tests/search/reference_parse.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool is_true)
{
    if (!is_true)
        abort();
}

static void copy_word(char target[REFERENCE_WORD], const char *word)
{
    demand(strlen(word) < REFERENCE_WORD);
    strcpy(target, word);
}

/* --- Classes ---------------------------------------------------------------------- */

static const char *name_of(const struct es_pattern_file *file,
                           enum esi_pattern_field field,
                           uint32_t attribute)
{
    static const char *const names[] = {"process", "type", "text", "kind"};

    return field == ES_FIELD_ATTRIBUTE ? esi_pattern_attribute(file, attribute)
                                       : names[field];
}

/* Appends a literal character, escaped as in the source. */
static void append_sign(char text[REFERENCE_WORD], char sign)
{
    size_t length = strlen(text);

    demand(length + 3 < REFERENCE_WORD);
    if (strchr("*\\\"\t\n", sign))
        text[length++] = '\\';
    text[length++] = (char)(sign == '\t' ? 't' : sign == '\n' ? 'n' : sign);
    text[length] = '\0';
}

static void append_wildcard(char text[REFERENCE_WORD])
{
    demand(strlen(text) + 2 < REFERENCE_WORD);
    strcat(text, "*");
}

static void write_glob(const struct esi_pattern_condition *condition,
                       char text[REFERENCE_WORD])
{
    text[0] = '\0';
    for (size_t i = 0; i < condition->piece_count; i++) {
        if (i > 0)
            append_wildcard(text);
        for (const char *at = condition->pieces[i]; *at != '\0'; at++)
            append_sign(text, *at);
    }
}

static enum reference_test test_of(enum esi_pattern_test test)
{
    static const enum reference_test tests[] = {
        [ES_TEST_GLOB] = REFERENCE_GLOB,
        [ES_TEST_REGEX] = REFERENCE_REGEX,
        [ES_TEST_EQUAL] = REFERENCE_EQUAL,
        [ES_TEST_LESS] = REFERENCE_LESS,
        [ES_TEST_LESS_EQUAL] = REFERENCE_LESS_EQUAL,
        [ES_TEST_GREATER] = REFERENCE_GREATER,
        [ES_TEST_GREATER_EQUAL] = REFERENCE_GREATER_EQUAL,
    };

    return tests[test];
}

static void convert_condition(const struct es_pattern_file *file,
                              const struct esi_pattern_condition *condition,
                              struct reference_condition *target)
{
    copy_word(target->name, name_of(file, condition->field, condition->attribute));
    target->test = test_of(condition->test);
    target->is_negated = condition->is_negated;
    if (condition->test == ES_TEST_GLOB)
        write_glob(condition, target->text);
    else if (condition->test == ES_TEST_REGEX)
        copy_word(target->text, condition->value.text);
    else
        target->number = condition->value.number;
}

static void convert_class(const struct es_pattern_file *file,
                          uint32_t number,
                          struct reference_file *target)
{
    const struct esi_pattern_class *from = esi_pattern_class(file, number);
    struct reference_class *class = &target->classes[reference_add_class(target)];

    demand(from->condition_count <= REFERENCE_CONDITIONS &&
           from->partner_count <= REFERENCE_PARTNERS);
    class->condition_count = (int)from->condition_count;
    for (size_t i = 0; i < from->condition_count; i++)
        convert_condition(file, &from->conditions[i], &class->conditions[i]);
    class->partner_count = (int)from->partner_count;
    for (size_t i = 0; i < from->partner_count; i++)
        class->partners[i] = (int)from->partners[i];
}

/* --- Predicates ------------------------------------------------------------------- */

static void convert_occurrence(const struct esi_pattern_occurrence *from,
                               struct reference_predicate *predicate)
{
    static const enum reference_sign signs[] = {
        [ES_SIGN_NONE] = REFERENCE_PLAIN,
        [ES_SIGN_RETURNED] = REFERENCE_RETURNED,
        [ES_SIGN_HIDDEN] = REFERENCE_HIDDEN,
        [ES_SIGN_UNIVERSAL] = REFERENCE_UNIVERSAL,
        [ES_SIGN_COUNTED] = REFERENCE_COUNTED,
    };
    int number = reference_add_occurrence(predicate, signs[from->sign]);
    struct reference_occurrence *occurrence = &predicate->occurrences[number];

    if (from->class_number != ES_PATTERN_NONE)
        occurrence->class_number = (int)from->class_number;
    else
        occurrence->predicate = (int)from->predicate;
}

/* Converts a constant: a text, or a glob that the parser made a regular expression. */
static void convert_text(const char *from, struct reference_condition *constant)
{
    static const char glob[] = "(?s)\\A";

    if (constant->test == REFERENCE_REGEX && strncmp(from, glob, strlen(glob)) != 0) {
        copy_word(constant->text, from);
        return;
    }
    if (constant->test == REFERENCE_REGEX)
        from += strlen(glob);
    for (; *from != '\0'; from++)
        if (constant->test == REFERENCE_EQUAL)
            append_sign(constant->text, *from);
        else if (strncmp(from, ".*", 2) == 0 && from++)
            append_wildcard(constant->text);
        else if (strcmp(from, "\\z") == 0)
            break;
        else if (*from == '\\' && from++)
            append_sign(constant->text, *from);
        else
            append_sign(constant->text, *from);
    constant->test = REFERENCE_GLOB;
}

static void convert_compare(const struct es_pattern_file *file,
                            const struct esi_pattern_node *from,
                            struct reference_node *node)
{
    const struct esi_pattern_operand *left = &from->operands[0];
    const struct esi_pattern_operand *right = &from->operands[1];

    demand(left->occurrence != ES_PATTERN_NONE);
    node->occurrence = (int)left->occurrence;
    copy_word(node->attribute, name_of(file, left->field, left->attribute));
    node->test = test_of(from->test);
    if (right->occurrence != ES_PATTERN_NONE) {
        node->right_occurrence = (int)right->occurrence;
        copy_word(node->other, name_of(file, right->field, right->attribute));
        return;
    }
    node->constant.test = node->test;
    node->constant.is_negated = from->is_negated;
    node->constant.number = right->constant.number;
    if (!right->constant.is_number)
        convert_text(right->constant.text, &node->constant);
}

static int convert_node(const struct es_pattern_file *file,
                        const struct esi_pattern_node *from,
                        struct reference_predicate *predicate)
{
    static const enum reference_kind kinds[] = {
        [ES_NODE_TERM] = REFERENCE_TERM,         [ES_NODE_COUNT] = REFERENCE_COUNT,
        [ES_NODE_RELATION] = REFERENCE_RELATION, [ES_NODE_LIMITED] = REFERENCE_LIMITED,
        [ES_NODE_AND] = REFERENCE_AND,           [ES_NODE_OR] = REFERENCE_OR,
        [ES_NODE_WITHIN] = REFERENCE_WITHIN,     [ES_NODE_COMPARE] = REFERENCE_COMPARE,
    };
    static const enum reference_operator operators[] = {
        [ES_OPERATOR_BEFORE] = REFERENCE_BEFORE,
        [ES_OPERATOR_CONCURRENT] = REFERENCE_CONCURRENT,
        [ES_OPERATOR_ENTANGLED] = REFERENCE_ENTANGLED,
        [ES_OPERATOR_RECEIVED] = REFERENCE_RECEIVED,
    };
    int left = from->left ? convert_node(file, from->left, predicate) : REFERENCE_NONE;
    int right =
        from->right ? convert_node(file, from->right, predicate) : REFERENCE_NONE;
    int number = reference_add_node(predicate, kinds[from->kind]);
    struct reference_node *node = &predicate->nodes[number];

    node->left = left;
    node->right = right;
    node->occurrence = (int)from->occurrence;
    node->op = operators[from->op];
    node->is_negated = from->is_negated;
    node->at_most = from->at_most;
    node->number = (int)from->number;
    node->within_ns = from->within_ns;
    if (from->kind == ES_NODE_COMPARE)
        convert_compare(file, from, node);
    return number;
}

void reference_convert(const struct es_pattern_file *file,
                       struct reference_file *ret_file)
{
    reference_file_init(ret_file);
    for (uint32_t i = 0; i < esi_pattern_classes(file); i++)
        convert_class(file, i, ret_file);
    for (uint32_t i = 0; i < es_pattern_predicates(file); i++) {
        const struct esi_pattern_predicate *from = esi_pattern_predicate(file, i);
        int number = reference_add_predicate(ret_file, from->name);
        struct reference_predicate *predicate = &ret_file->predicates[number];

        for (uint32_t j = 0; j < from->occurrence_count; j++)
            convert_occurrence(&from->occurrences[j], predicate);
        predicate->root = convert_node(file, from->root, predicate);
    }
}
