/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* random_pattern_write.c - writes trees as the text from which they are parsed. */
#include "config.h"

#include "tests/search/random_pattern.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DECLARED = 32 };

struct writer {
    const struct reference_file *file;
    const struct reference_predicate *predicate;
    uint64_t *draw; /* NULL = nothing redundant */
    FILE *out;
    char last; /* last character written */
    struct {
        char name[REFERENCE_WORD + 1];
        int predicate;
    } declared[DECLARED];
    int declared_count;
};

static const char signs[] = {'\0', '$', '~', '*', '\0'};

static bool chance(const struct writer *writer, unsigned percent)
{
    return writer->draw && random_percent(writer->draw, percent);
}

/* --- Tokens ----------------------------------------------------------------------- */

static bool is_word(char sign)
{
    return isalnum((unsigned char)sign) || sign == '_';
}

static void write_blank(struct writer *writer)
{
    static const char *const blanks[] = {" ",         "  ",          "\t",
                                         "\n",        "/* A --> */", " # \"it\"\n",
                                         "// &x *\n", "\r\n",        "/**/"};

    fputs(blanks[random_below(writer->draw, 9)], writer->out);
}

/* Whether usually no blank is written between the last character and a token. */
static bool is_close(char last, char first)
{
    return strchr("([\n", last) || strchr(")];,", first);
}

static void write_token(struct writer *writer, const char *token)
{
    bool is_needed = (is_word(writer->last) && is_word(token[0])) ||
                     (writer->last == '=' && token[0] == '~'); /* else "=~" */

    if (chance(writer, 12))
        write_blank(writer);
    else if (is_needed || (!is_close(writer->last, token[0]) && !chance(writer, 15)))
        putc(' ', writer->out);
    fputs(token, writer->out);
    writer->last = token[strlen(token) - 1];
}

static void write_string(struct writer *writer, const char *text)
{
    char token[REFERENCE_WORD + 3];

    snprintf(token, sizeof token, "\"%s\"", text);
    write_token(writer, token);
}

/* Writes the number, in a unit if it is a whole multiple of one. */
static void write_number(struct writer *writer, int64_t number, bool is_time)
{
    char token[32];

    if (is_time && number % 1000 == 0 && !chance(writer, 30))
        snprintf(token, sizeof token, "%" PRId64 "us", number / 1000);
    else if (is_time)
        snprintf(token, sizeof token, "%" PRId64 "ns", number);
    else if (number && number % 1024 == 0 && chance(writer, 70))
        snprintf(token, sizeof token, "%" PRId64 "KiB", number / 1024);
    else if (number && number % 1000 == 0 && chance(writer, 70))
        snprintf(token, sizeof token, "%" PRId64 "%s", number / 1000,
                 chance(writer, 50) ? "us" : "kB");
    else
        snprintf(token, sizeof token, "%" PRId64 "%s", number,
                 chance(writer, 10)   ? "B"
                 : chance(writer, 10) ? "ns"
                                      : "");
    write_token(writer, token);
}

/* --- Classes ---------------------------------------------------------------------- */

/* Writes the test and its right side. */
static void write_test(struct writer *writer,
                       const struct reference_condition *condition)
{
    static const char *const tests[][2] = {{"=", "!="}, {"=~", "!~"}, {"=", "!="},
                                           {"<", ""},   {"<=", ""},   {">", ""},
                                           {">=", ""}};

    write_token(writer, tests[condition->test][condition->is_negated]);
    if (condition->test == REFERENCE_GLOB || condition->test == REFERENCE_REGEX)
        write_string(writer, condition->text);
    else
        write_number(writer, condition->number, false);
}

static void write_part(struct writer *writer, const struct reference_class *class)
{
    if (class->named != REFERENCE_NONE) {
        write_token(writer, writer->file->predicates[class->named].name);
        return;
    }
    write_token(writer, "[");
    for (int i = 0; i < class->condition_count; i++) {
        const struct reference_condition *condition = &class->conditions[i];

        if (i > 0)
            write_token(writer, ",");
        if (class->is_triple) {
            write_string(writer, condition->text);
            continue;
        }
        if (chance(writer, 30))
            write_string(writer, condition->name);
        else
            write_token(writer, condition->name);
        write_test(writer, condition);
    }
    write_token(writer, "]");
}

static void write_class(struct writer *writer, int number)
{
    const struct reference_class *class = &writer->file->classes[number];

    write_part(writer, class);
    if (class->partner_count == 0)
        return;
    putc('.', writer->out);
    writer->last = '(';
    write_part(writer, &writer->file->classes[class->partners[0]]);
}

/* --- Predicates ------------------------------------------------------------------- */

static void write_occurrence(struct writer *writer, int number, const char *attribute)
{
    const struct reference_occurrence *occurrence =
        &writer->predicate->occurrences[number];
    char token[2 * REFERENCE_WORD + 4];

    if (occurrence->name[0] != '\0') {
        snprintf(token, sizeof token, "%c%s%s%s", signs[occurrence->sign],
                 occurrence->name, *attribute ? "." : "", attribute);
        write_token(writer, token);
    } else if (occurrence->class_number != REFERENCE_NONE) {
        write_class(writer, occurrence->class_number);
    } else {
        write_token(writer, writer->file->predicates[occurrence->predicate].name);
    }
}

static void write_count(struct writer *writer, const struct reference_node *node)
{
    char token[16];

    write_token(writer, "at");
    write_token(writer, node->at_most ? "most" : "least");
    snprintf(token, sizeof token, "%d", node->number);
    write_token(writer, token);
    write_token(writer, "of");
    write_occurrence(writer, node->occurrence, "");
}

static void write_compare(struct writer *writer, const struct reference_node *node)
{
    struct reference_condition between = {.test = node->test,
                                          .is_negated = node->is_negated};
    static const char *const tests[] = {"=", "<", "<=", ">", ">="};

    write_occurrence(writer, node->occurrence, node->attribute);
    if (node->right_occurrence == REFERENCE_NONE) {
        write_test(writer, &node->constant);
        return;
    }
    write_token(writer,
                between.is_negated ? "!=" : tests[between.test - REFERENCE_EQUAL]);
    write_occurrence(writer, node->right_occurrence, node->other);
}

static void write_operator(struct writer *writer, const struct reference_node *node)
{
    static const char *const operators[] = {"-->", "||", "<->", "=>"};
    char token[8];

    if (node->kind == REFERENCE_LIMITED) {
        write_token(writer, "-(");
        write_occurrence(writer, node->occurrence, "");
        write_token(writer, chance(writer, 30) ? ")-->" : ")->");
        return;
    }
    snprintf(token, sizeof token, "%s%s", node->is_negated ? "!" : "",
             node->op == REFERENCE_BEFORE && chance(writer, 30) ? "->"
                                                                : operators[node->op]);
    write_token(writer, token);
}

/* Precedence of a node: 0 = |, 1 = &, 2 = relations, 3 = terms (D2). */
static int level_of(const struct reference_node *node)
{
    switch (node->kind) {
    case REFERENCE_OR:
        return 0;
    case REFERENCE_AND:
        return 1;
    case REFERENCE_RELATION:
    case REFERENCE_LIMITED:
    case REFERENCE_COMPARE:
        return 2;
    default:
        return 3;
    }
}

static void write_node(struct writer *writer, int number, int level);

/* Operators of the same precedence are right-associative. */
static void write_bare(struct writer *writer, const struct reference_node *node)
{
    int level = level_of(node);
    char token[32];

    switch (node->kind) {
    case REFERENCE_TERM:
        write_occurrence(writer, node->occurrence, "");
        return;
    case REFERENCE_COUNT:
        write_count(writer, node);
        return;
    case REFERENCE_COMPARE:
        write_compare(writer, node);
        return;
    case REFERENCE_WITHIN:
        write_token(writer, "(");
        write_node(writer, node->left, 0);
        write_token(writer, ")");
        write_token(writer, "within");
        write_number(writer, node->within_ns, true);
        return;
    default:
        break;
    }
    write_node(writer, node->left, level + 1);
    snprintf(token, sizeof token, "%s", node->kind == REFERENCE_AND ? "&" : "|");
    if (level == 2)
        write_operator(writer, node);
    else
        write_token(writer, token);
    write_node(writer, node->right, level);
}

static void write_node(struct writer *writer, int number, int level)
{
    const struct reference_node *node = &writer->predicate->nodes[number];
    bool has_brackets =
        level_of(node) < level || (node->kind != REFERENCE_COUNT && chance(writer, 12));

    if (has_brackets)
        write_token(writer, "(");
    write_bare(writer, node);
    if (has_brackets)
        write_token(writer, ")");
}

/* --- Files ------------------------------------------------------------------------ */

/* Whether the variable is already declared for this predicate;
 * declares it otherwise. */
static bool is_declared(struct writer *writer,
                        const struct reference_occurrence *occurrence)
{
    char name[REFERENCE_WORD + 1];
    int i;

    snprintf(name, sizeof name, "%c%s", signs[occurrence->sign], occurrence->name);
    for (i = 0; i < writer->declared_count; i++)
        if (strcmp(writer->declared[i].name, name) == 0)
            break;
    if (i < writer->declared_count &&
        writer->declared[i].predicate == occurrence->predicate)
        return true;
    if (i == DECLARED)
        abort();
    writer->declared_count += i == writer->declared_count;
    strcpy(writer->declared[i].name, name);
    writer->declared[i].predicate = occurrence->predicate;
    return false;
}

static void write_declarations(struct writer *writer)
{
    const char *class = NULL; /* class of the current declaration */

    for (int i = 0; i < writer->predicate->occurrence_count; i++) {
        const struct reference_occurrence *occurrence =
            &writer->predicate->occurrences[i];
        const char *name;

        if (occurrence->name[0] == '\0' ||
            (is_declared(writer, occurrence) && !chance(writer, 20)))
            continue;
        name = writer->file->predicates[occurrence->predicate].name;
        if (class)
            write_token(writer, class == name ? "," : ";\n");
        if (class != name)
            write_token(writer, name);
        class = name;
        write_occurrence(writer, i, "");
    }
    if (class)
        write_token(writer, ";\n");
}

static void write_predicate(struct writer *writer, int number)
{
    writer->predicate = &writer->file->predicates[number];
    write_declarations(writer);
    write_token(writer, writer->predicate->name);
    write_token(writer, ":=");
    write_node(writer, writer->predicate->root, 0);
    write_token(writer, ";\n");
}

/* Marks a predicate and those it needs. */
static void reach(const struct reference_file *file, int predicate, bool *is_needed);

static void reach_class(const struct reference_file *file,
                        int class_number,
                        bool *is_needed)
{
    const struct reference_class *class = &file->classes[class_number];

    if (class->named != REFERENCE_NONE)
        reach(file, class->named, is_needed);
    for (int i = 0; i < class->partner_count; i++)
        reach_class(file, class->partners[i], is_needed);
}

static void reach(const struct reference_file *file, int predicate, bool *is_needed)
{
    const struct reference_predicate *of = &file->predicates[predicate];

    is_needed[predicate] = true;
    for (int i = 0; i < of->occurrence_count; i++) {
        if (of->occurrences[i].predicate != REFERENCE_NONE)
            reach(file, of->occurrences[i].predicate, is_needed);
        if (of->occurrences[i].class_number != REFERENCE_NONE)
            reach_class(file, of->occurrences[i].class_number, is_needed);
    }
}

void random_pattern_write(const struct reference_file *file,
                          int predicate,
                          uint64_t *draw,
                          FILE *out)
{
    struct writer writer = {.file = file, .draw = draw, .out = out, .last = '\n'};
    bool is_needed[REFERENCE_PREDICATES] = {false};

    if (predicate != REFERENCE_NONE)
        reach(file, predicate, is_needed);
    for (int i = 0; i < file->predicate_count; i++)
        if (predicate == REFERENCE_NONE || is_needed[i])
            write_predicate(&writer, i);
}

char *random_pattern_text(const struct reference_file *file,
                          int predicate,
                          uint64_t *draw)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        abort();
    random_pattern_write(file, predicate, draw, out);
    if (fclose(out) != 0)
        abort();
    return text;
}
