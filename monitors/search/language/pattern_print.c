/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Prints predicates in the pattern language. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "monitors/search/language/pattern_private.h"

/* --- Strings and names ------------------------------------------------------------ */

/* Escapes a text without wildcards for use within double quotes. */
static void print_escaped(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '\t' || *text == '\n')
            fprintf(out, "\\%c", *text == '\t' ? 't' : 'n');
        else if (strchr("\"\\*", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void print_glob(const char *const *pieces, size_t count, FILE *out)
{
    fputc('"', out);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fputc('*', out);
        print_escaped(pieces[i], out);
    }
    fputc('"', out);
}

static bool is_id(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

    return *text && strchr(letters, *text) &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                             "0123456789")] == '\0';
}

static void print_field(const struct es_pattern_file *file,
                        enum esi_pattern_field field,
                        uint32_t attribute,
                        FILE *out)
{
    const char *name = esi_pattern_field_name(file, field, attribute);

    if (is_id(name))
        fputs(name, out);
    else
        print_glob(&name, 1, out);
}

/* A regular expression is printed as it was read. */
static void print_constant(const struct esi_pattern_constant *constant,
                           enum esi_pattern_test test,
                           FILE *out)
{
    if (constant->is_number)
        fprintf(out, "%" PRId64, constant->number);
    else if (test == ES_TEST_REGEX)
        fprintf(out, "\"%s\"", constant->text);
    else
        print_glob(&constant->text, 1, out);
}

/* Prints a time in the largest unit of which it is a whole number. */
static void print_time(int64_t time_ns, FILE *out)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {
        {1000 * 1000 * 1000, "s"}, {1000 * 1000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t i = 0;

    while (time_ns % units[i].ns != 0)
        i++;
    fprintf(out, "%" PRId64 "%s", time_ns / units[i].ns, units[i].name);
}

/* --- Classes ---------------------------------------------------------------------- */

static void print_literal(const struct es_pattern_file *file,
                          const struct esi_pattern_class *class,
                          FILE *out)
{
    if (class->condition_count == 0)
        fputs("[\"\", \"\", \"\"", out);
    for (size_t i = 0; i < class->condition_count; i++) {
        const struct esi_pattern_condition *condition = &class->conditions[i];

        fputs(i == 0 ? "[" : ", ", out);
        print_field(file, condition->field, condition->attribute, out);
        fprintf(out, " %s ",
                esi_pattern_test_text(condition->test, condition->is_negated));
        if (condition->test == ES_TEST_GLOB)
            print_glob(condition->pieces, condition->piece_count, out);
        else
            print_constant(&condition->value, condition->test, out);
    }
    fputc(']', out);
}

static void print_class(const struct es_pattern_file *file, uint32_t number, FILE *out)
{
    const struct esi_class *class = file->classes[number];

    if (class->left_name)
        fputs(class->left_name, out);
    else
        print_literal(file, &class->data, out);
    if (class->right == ES_PATTERN_NONE)
        return;
    fputc('.', out);
    if (class->right_name)
        fputs(class->right_name, out);
    else
        print_literal(file, &file->classes[class->right]->data, out);
}

/* A name that refers to the class, or NULL. */
static const char *name_of_class(const struct es_pattern_file *file,
                                 uint32_t class_number)
{
    for (uint32_t i = 0; i < file->predicate_count; i++) {
        if (esi_pattern_alias(file->predicates[i]) == class_number)
            return file->predicates[i]->name;
    }
    return NULL;
}

/* --- Clauses ---------------------------------------------------------------------- */

struct printing {
    const struct es_pattern_file *file;
    const struct esi_pattern_predicate *predicate;
    FILE *out;
};

static void print_node(const struct printing *printing,
                       const struct esi_pattern_node *node);

/* The tree of a predicate that the parser split off; NULL for any other predicate. */
static const struct esi_pattern_predicate *folded_node(
    const struct printing *printing,
    const struct esi_pattern_occurrence *occurrence)
{
    const struct esi_pattern_predicate *predicate =
        occurrence->predicate != ES_PATTERN_NONE
            ? printing->file->predicates[occurrence->predicate]
            : NULL;

    return predicate && predicate->is_folded ? predicate : NULL;
}

static void print_folded(const struct printing *printing,
                         const struct esi_pattern_predicate *predicate)
{
    struct printing inner = {printing->file, predicate, printing->out};

    fputc('(', printing->out);
    print_node(&inner, predicate->root);
    fputc(')', printing->out);
}

/* Prints a literal, a name or a variable. */
static void print_occurrence(const struct printing *printing, uint32_t number)
{
    const struct esi_pattern_occurrence *occurrence =
        &printing->predicate->occurrences[number];

    if (folded_node(printing, occurrence)) {
        print_folded(printing, folded_node(printing, occurrence));
        return;
    }

    if (occurrence->class_number != ES_PATTERN_NONE && occurrence->name[0] == '[')
        print_class(printing->file, occurrence->class_number, printing->out);
    else if (occurrence->class_number != ES_PATTERN_NONE &&
             strchr(occurrence->name, '.'))
        print_class(printing->file, occurrence->class_number, printing->out);
    else
        fputs(occurrence->name, printing->out);
}

static void print_operand(const struct printing *printing,
                          const struct esi_pattern_node *node,
                          size_t side)
{
    const struct esi_pattern_operand *operand = &node->operands[side];

    if (operand->occurrence == ES_PATTERN_NONE) {
        print_constant(&operand->constant, node->test, printing->out);
        return;
    }
    fprintf(printing->out, "%s.",
            printing->predicate->occurrences[operand->occurrence].name);
    print_field(printing->file, operand->field, operand->attribute, printing->out);
}

static void print_compare(const struct printing *printing,
                          const struct esi_pattern_node *node)
{
    print_operand(printing, node, 0);
    fprintf(printing->out, " %s ", esi_pattern_test_text(node->test, node->is_negated));
    print_operand(printing, node, 1);
}

static void print_operator(const struct printing *printing,
                           const struct esi_pattern_node *node)
{
    switch (node->kind) {
    case ES_NODE_RELATION:
        fprintf(printing->out, " %s ",
                esi_pattern_operator_text(node->op, node->is_negated));
        break;
    case ES_NODE_LIMITED:
        fputs(" -(", printing->out);
        print_occurrence(printing, node->occurrence);
        fputs(")-> ", printing->out);
        break;
    default:
        fputs(node->kind == ES_NODE_AND ? " & " : " | ", printing->out);
        break;
    }
}

/* Prints a node, in brackets if it has operators. */
static void print_inner(const struct printing *printing,
                        const struct esi_pattern_node *node)
{
    bool is_single = node->kind == ES_NODE_TERM || node->kind == ES_NODE_COUNT ||
                     node->kind == ES_NODE_COMPARE || node->kind == ES_NODE_WITHIN;

    fputs(is_single ? "" : "(", printing->out);
    print_node(printing, node);
    fputs(is_single ? "" : ")", printing->out);
}

static void print_node(const struct printing *printing,
                       const struct esi_pattern_node *node)
{
    switch (node->kind) {
    case ES_NODE_TERM:
        print_occurrence(printing, node->occurrence);
        break;
    case ES_NODE_COUNT:
        fprintf(printing->out, "at %s %" PRIu32 " of ",
                node->at_most ? "most" : "least", node->number);
        print_occurrence(printing, node->occurrence);
        break;
    case ES_NODE_COMPARE:
        print_compare(printing, node);
        break;
    case ES_NODE_WITHIN:
        fputc('(', printing->out);
        print_node(printing, node->left);
        fputs(") within ", printing->out);
        print_time(node->within_ns, printing->out);
        break;
    case ES_NODE_RELATION:
    case ES_NODE_LIMITED:
    case ES_NODE_AND:
    case ES_NODE_OR:
        print_inner(printing, node->left);
        print_operator(printing, node);
        print_inner(printing, node->right);
        break;
    }
}

/* --- Statements ------------------------------------------------------------------- */

static void print_declarations(const struct printing *printing)
{
    const struct es_pattern_file *file = printing->file;

    for (uint32_t i = 0; i < printing->predicate->occurrence_count; i++) {
        const struct esi_pattern_occurrence *occurrence =
            &printing->predicate->occurrences[i];
        const char *name;

        if (folded_node(printing, occurrence)) {
            struct printing inner = {file, folded_node(printing, occurrence),
                                     printing->out};

            print_declarations(&inner);
        }
        if (!strchr("$*~", occurrence->name[0]))
            continue;
        name = occurrence->predicate != ES_PATTERN_NONE
                   ? file->predicates[occurrence->predicate]->name
                   : name_of_class(file, occurrence->class_number);
        fprintf(printing->out, "%s %s;\n", name ? name : "", occurrence->name);
    }
}

void esi_pattern_print(const struct es_pattern_file *file,
                       uint32_t predicate,
                       FILE *out)
{
    struct printing printing = {file, esi_pattern_predicate(file, predicate), out};

    print_declarations(&printing);
    fprintf(out, "%s := ", printing.predicate->name);
    print_node(&printing, printing.predicate->root);
    fputs(";\n", out);
}
