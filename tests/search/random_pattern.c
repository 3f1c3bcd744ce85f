/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* random_pattern.c - random pattern files that follow the grammar. */
#include "config.h"

#include "tests/search/random_pattern.h"

#include <stdlib.h>
#include <string.h>

void random_pattern_options_init(struct random_pattern_options *options)
{
    *options = (struct random_pattern_options){
        .terms = 5, .universals = 2, .predicates = 3, .is_extended = true};
}

struct maker {
    uint64_t *draw;
    const struct random_pattern_options *options;
    struct reference_file *file;
    struct reference_predicate *predicate; /* being made */
    int classes;                           /* predicates that stand for classes */
    int universals;                        /* of the predicate so far */
    int to_come;                           /* occurrences still planned in it */
};

static bool percent(const struct maker *maker, unsigned percentage)
{
    return random_percent(maker->draw, percentage);
}

static int below(const struct maker *maker, int limit)
{
    return random_int(maker->draw, limit);
}

/* Draws an index with probabilities in proportion to the weights. */
static int weighted(const struct maker *maker, const int *weights, int count)
{
    int sum = 0, drawn, i;

    for (i = 0; i < count; i++)
        sum += weights[i];
    drawn = below(maker, sum);
    for (i = 0; drawn >= weights[i]; i++)
        drawn -= weights[i];
    return i;
}

static void copy_word(char target[REFERENCE_WORD], const char *word)
{
    if (strlen(word) >= REFERENCE_WORD)
        abort();
    strcpy(target, word);
}

/* --- Classes ---------------------------------------------------------------------- */

/* An attribute of events, and patterns for its values. */
struct vocabulary {
    const char *name;
    const char *globs[8]; /* NULL ends the list */
    const char *regex;
    int64_t numbers[4]; /* -1 first = not a number */
};

static const struct vocabulary vocabulary[] = {
    {"process", {"", "", "P", "P*", "*Q*", "P.1"}, "^P|R$", {-1}},
    {"type", {"A", "B", "C", "A*", "*B", "*", "a.b"}, "^(A|a.b)", {-1}},
    {"text", {"", "", "x", "M1(*)", "\\*", "q\\\"\\\\", "*"}, "^[xy]?$", {-1}},
    {"kind", {"send", "receive", "unary", "s*"}, "(se|sy)n", {-1}},
    {"tag", {"1", "0", "*", "x", ""}, "[0-9a]", {0, 1, 2, 1}},
    {"bytes", {"0", "*", "1*", "512"}, "0$", {0, 512, 1024, 2048}},
    {"host", {"n*", "n1", "*1", "m\\*"}, "^n", {-1}},
    {"duration", {"*", "1000", "*00"}, "^1", {0, 1000, 1500, 2000}},
    {"start", {"*000", "*"}, "[2-6]000", {3000, 5000, 8000, 1024}},
    {"absent", {"*", "", "x"}, "x*", {0, 1, 2, 3}},
};

enum { TRIPLE = 3, WORDS = sizeof vocabulary / sizeof vocabulary[0] };

static const char *some_glob(const struct maker *maker, const struct vocabulary *of)
{
    int count = 0;

    while (count < 8 && of->globs[count])
        count++;
    return of->globs[below(maker, count)];
}

static void make_glob(const struct maker *maker,
                      const struct vocabulary *of,
                      struct reference_condition *condition)
{
    condition->test = REFERENCE_GLOB;
    copy_word(condition->text, some_glob(maker, of));
}

/* Makes any test of a value: a condition, or a comparison with a constant. */
static void make_test(const struct maker *maker,
                      const struct vocabulary *of,
                      struct reference_condition *condition)
{
    make_glob(maker, of, condition);
    if (!maker->options->is_extended || percent(maker, 40))
        return;
    if (of->numbers[0] >= 0 && percent(maker, 70)) {
        condition->text[0] = '\0';
        condition->test = (enum reference_test)(REFERENCE_EQUAL + below(maker, 5));
        condition->number = of->numbers[below(maker, 4)];
    } else if (percent(maker, 50)) {
        condition->test = REFERENCE_REGEX;
        copy_word(condition->text, of->regex);
    } else if (condition->text[0] == '\0') {
        return; /* a negated missing restriction is undefined */
    }
    condition->is_negated = condition->test <= REFERENCE_EQUAL && percent(maker, 50);
}

static void make_triple(const struct maker *maker, struct reference_class *class)
{
    class->is_triple = true;
    class->condition_count = TRIPLE;
    for (int i = 0; i < TRIPLE; i++) {
        copy_word(class->conditions[i].name, vocabulary[i].name);
        class->conditions[i].test = REFERENCE_GLOB;
        if (percent(maker, i == 1 ? 80 : 8))
            make_glob(maker, &vocabulary[i], &class->conditions[i]);
    }
    if (percent(maker, 4))
        copy_word(class->conditions[1].text, "nothing");
}

/* Names are taken in turn from a random one on, so none occurs twice. */
static void make_pairs(const struct maker *maker, struct reference_class *class)
{
    int first = below(maker, WORDS), step = 1 + below(maker, 2);

    class->condition_count = percent(maker, 70) ? 1 : 2;
    for (int i = 0; i < class->condition_count; i++) {
        const struct vocabulary *of = &vocabulary[(first + i * step) % WORDS];

        copy_word(class->conditions[i].name, of->name);
        make_test(maker, of, &class->conditions[i]);
    }
}

/* Makes a literal, or uses a name if the language allows it. */
static int make_part(const struct maker *maker)
{
    int number = reference_add_class(maker->file);
    struct reference_class *class = &maker->file->classes[number];

    if (maker->options->is_extended && maker->classes > 0 && percent(maker, 40))
        class->named = below(maker, maker->classes);
    else if (percent(maker, 60))
        make_triple(maker, class);
    else
        make_pairs(maker, class);
    return number;
}

/* Partner dots are rare, so that not all classes are empty. */
static int make_class(const struct maker *maker, unsigned partners)
{
    int partner = percent(maker, partners) ? make_part(maker) : REFERENCE_NONE;
    int number = make_part(maker);
    struct reference_class *class = &maker->file->classes[number];

    if (partner != REFERENCE_NONE)
        class->partners[class->partner_count++] = partner;
    if (class->partner_count > 0 || class->named == REFERENCE_NONE)
        return number;
    class->named = REFERENCE_NONE; /* a lone name would be an occurrence */
    make_triple(maker, class);
    return number;
}

/* --- Occurrences ------------------------------------------------------------------ */

/* Mostly one of the simple classes, since others are often empty. */
static int some_class(const struct maker *maker)
{
    return below(maker, maker->classes > 3 && percent(maker, 80) ? 3 : maker->classes);
}

/* A predicate for a name to stand for, mostly a class. */
static int some_predicate(const struct maker *maker)
{
    int made = maker->file->predicate_count - 1; /* all but the current one */

    if (made > maker->classes && percent(maker, 25))
        return maker->classes + below(maker, made - maker->classes);
    return some_class(maker);
}

static int find_variable(const struct maker *maker,
                         enum reference_sign sign,
                         const char *name)
{
    for (int i = 0; i < maker->predicate->occurrence_count; i++) {
        const struct reference_occurrence *occurrence =
            &maker->predicate->occurrences[i];
        if (occurrence->sign == sign && strcmp(occurrence->name, name) == 0)
            return i;
    }
    return REFERENCE_NONE;
}

/* Whether `occurrences` more occurrences fit beside those still planned. */
static bool has_room(const struct maker *maker, int occurrences)
{
    return maker->predicate->occurrence_count + maker->to_come + occurrences <=
           REFERENCE_OCCURRENCES;
}

/* Uses the variable of a drawn name, or adds it. */
static int make_variable(struct maker *maker,
                         enum reference_sign sign,
                         bool is_of_class)
{
    static const char *const names[] = {"a", "b", "c", "x_1", "_y"};
    const char *name = names[below(maker, 5)];
    int number = find_variable(maker, sign, name);
    struct reference_occurrence *occurrence;

    if (number != REFERENCE_NONE &&
        (!is_of_class ||
         reference_is_class(maker->file,
                            maker->predicate->occurrences[number].predicate)))
        return number;
    if (number != REFERENCE_NONE)
        return REFERENCE_NONE;
    number = reference_add_occurrence(maker->predicate, sign);
    occurrence = &maker->predicate->occurrences[number];
    copy_word(occurrence->name, name);
    occurrence->predicate = is_of_class ? some_class(maker) : some_predicate(maker);
    maker->universals += sign == REFERENCE_UNIVERSAL;
    return number;
}

/* Makes a class literal or a name. */
static int make_plain(struct maker *maker, enum reference_sign sign)
{
    int number = reference_add_occurrence(maker->predicate, sign);
    int class_number =
        percent(maker, 22) && maker->file->class_count < REFERENCE_CLASSES - 4
            ? make_class(maker, 20)
            : REFERENCE_NONE;

    if (class_number != REFERENCE_NONE)
        maker->predicate->occurrences[number].class_number = class_number;
    else
        maker->predicate->occurrences[number].predicate = some_predicate(maker);
    maker->universals += sign == REFERENCE_UNIVERSAL;
    return number;
}

static int make_term(struct maker *maker)
{
    static const int weights[] = {52, 24, 11, 13};
    int sign = weighted(maker, weights, 4);
    int node = reference_add_node(maker->predicate, REFERENCE_TERM);

    maker->to_come--;
    if (sign == REFERENCE_UNIVERSAL && maker->universals >= maker->options->universals)
        sign = REFERENCE_RETURNED;
    maker->predicate->nodes[node].occurrence =
        sign == REFERENCE_PLAIN
            ? make_plain(maker, REFERENCE_PLAIN)
            : make_variable(maker, (enum reference_sign)sign, false);
    return node;
}

/* --- Clauses ---------------------------------------------------------------------- */

static int make_clause(struct maker *maker, int terms);

static bool is_universal(const struct maker *maker, int number)
{
    const struct reference_node *node = &maker->predicate->nodes[number];

    return node->kind == REFERENCE_TERM &&
           maker->predicate->occurrences[node->occurrence].sign == REFERENCE_UNIVERSAL;
}

/* With universal variables mostly negated relations have a chance to hold. */
static void draw_operator(const struct maker *maker, struct reference_node *node)
{
    static const int weights[] = {50, 30, 12, 8};
    bool is_for_all =
        is_universal(maker, node->left) || is_universal(maker, node->right);

    node->op = (enum reference_operator)weighted(maker, weights,
                                                 maker->options->is_extended ? 4 : 3);
    node->is_negated = percent(maker, is_for_all                        ? 70
                                      : node->op == REFERENCE_ENTANGLED ? 50
                                                                        : 22);
}

/* Makes a pair of clauses with `terms` terms in total. */
static int make_pair(struct maker *maker, enum reference_kind kind, int terms)
{
    int lefts = 1 + below(maker, terms - 1);
    int left = make_clause(maker, lefts);
    int right = make_clause(maker, terms - lefts);
    int number = reference_add_node(maker->predicate, kind);
    struct reference_node *node = &maker->predicate->nodes[number];

    node->left = left;
    node->right = right;
    if (kind == REFERENCE_RELATION)
        draw_operator(maker, node);
    return number;
}

static int make_limited(struct maker *maker, int terms)
{
    int number, limit;

    maker->to_come++;
    number = make_pair(maker, REFERENCE_LIMITED, terms);
    maker->to_come--;
    limit = percent(maker, 30) ? make_variable(maker, REFERENCE_UNIVERSAL, false)
                               : make_plain(maker, REFERENCE_UNIVERSAL);
    maker->predicate->nodes[number].occurrence = limit;
    return number;
}

static int make_count(struct maker *maker, int terms)
{
    int other = make_clause(maker, terms - 1);
    int counted = reference_add_node(maker->predicate, REFERENCE_COUNT);
    int number = reference_add_node(maker->predicate, REFERENCE_RELATION);
    struct reference_node *nodes = maker->predicate->nodes;
    bool is_left = percent(maker, 50);

    nodes[counted].at_most = percent(maker, 40);
    nodes[counted].number =
        nodes[counted].at_most ? below(maker, 4) : 1 + below(maker, 3);
    maker->to_come--;
    nodes[counted].occurrence = make_plain(maker, REFERENCE_COUNTED);
    nodes[number].left = is_left ? counted : other;
    nodes[number].right = is_left ? other : counted;
    draw_operator(maker, &nodes[number]);
    return number;
}

/* With 0 terms it contains a single term. */
static int make_within(struct maker *maker, int terms)
{
    int inner = terms > 0 ? make_clause(maker, terms) : make_term(maker);
    int number = reference_add_node(maker->predicate, REFERENCE_WITHIN);

    maker->predicate->nodes[number].left = inner;
    maker->predicate->nodes[number].within_ns = 500 * (1 + below(maker, 40));
    return number;
}

static int make_side(struct maker *maker)
{
    static const enum reference_sign signs[] = {REFERENCE_RETURNED, REFERENCE_RETURNED,
                                                REFERENCE_HIDDEN, REFERENCE_UNIVERSAL};
    enum reference_sign sign = signs[below(maker, 4)];

    if (sign == REFERENCE_UNIVERSAL && maker->universals >= maker->options->universals)
        sign = REFERENCE_RETURNED;
    return make_variable(maker, sign, true);
}

/* Makes a comparison such as $a.tag = $b.tag; returns NONE if there is no room. */
static int make_compare(struct maker *maker)
{
    const struct vocabulary *of = &vocabulary[below(maker, WORDS)];
    int left = make_side(maker);
    int right = percent(maker, 65) ? make_side(maker) : REFERENCE_NONE;
    int number;
    struct reference_node *node;

    if (left == REFERENCE_NONE)
        return REFERENCE_NONE;
    number = reference_add_node(maker->predicate, REFERENCE_COMPARE);
    node = &maker->predicate->nodes[number];
    node->occurrence = left;
    copy_word(node->attribute, of->name);
    node->right_occurrence = right;
    if (right == REFERENCE_NONE) {
        do
            make_test(maker, of, &node->constant);
        while (node->constant.test == REFERENCE_GLOB && node->constant.text[0] == '\0');
        return number;
    }
    copy_word(node->other, percent(maker, 80) ? of->name : "tag");
    node->test = (enum reference_test)(REFERENCE_EQUAL + below(maker, 5));
    node->is_negated = node->test == REFERENCE_EQUAL && percent(maker, 40);
    return number;
}

/* Compares an attribute of one event with one of another: greater, or less. */
static int make_bound(const struct maker *maker, int of, int by, bool is_above)
{
    static const char *const numbers[] = {"tag", "bytes", "duration", "start"};
    int number = reference_add_node(maker->predicate, REFERENCE_COMPARE);
    struct reference_node *node = &maker->predicate->nodes[number];
    bool is_left = percent(maker, 50);

    node->occurrence = is_left ? of : by;
    node->right_occurrence = is_left ? by : of;
    copy_word(is_left ? node->attribute : node->other, "tag");
    copy_word(is_left ? node->other : node->attribute, numbers[below(maker, 4)]);
    node->test =
        is_above == is_left
            ? (percent(maker, 50) ? REFERENCE_GREATER : REFERENCE_GREATER_EQUAL)
            : (percent(maker, 50) ? REFERENCE_LESS : REFERENCE_LESS_EQUAL);
    return number;
}

/* Makes lower and upper bounds by attributes of two events, or of one. */
static int make_window(struct maker *maker)
{
    int of = make_variable(maker, REFERENCE_RETURNED, true);
    int from = make_side(maker);
    int to = percent(maker, 60) ? from : make_side(maker);
    int above, below, number;

    if (of == REFERENCE_NONE || from == REFERENCE_NONE || to == REFERENCE_NONE)
        return REFERENCE_NONE;
    above = make_bound(maker, of, from, true);
    below = make_bound(maker, of, to, false);
    number = reference_add_node(maker->predicate, REFERENCE_AND);
    maker->predicate->nodes[number].left = above;
    maker->predicate->nodes[number].right = below;
    return number;
}

/* Makes a comparison, sometimes with alternatives; returns NONE if there is no room. */
static int make_alternatives(struct maker *maker)
{
    enum { SIDES = 3 };
    bool fits =
        has_room(maker, SIDES) && maker->predicate->node_count < REFERENCE_NODES / 2;
    int compare = !fits                ? REFERENCE_NONE
                  : percent(maker, 12) ? make_window(maker)
                                       : make_compare(maker);
    int other = compare != REFERENCE_NONE && percent(maker, 30)
                    ? make_alternatives(maker)
                    : REFERENCE_NONE;
    int number;

    if (other == REFERENCE_NONE)
        return compare;
    number = reference_add_node(maker->predicate, REFERENCE_OR);
    maker->predicate->nodes[number].left = compare;
    maker->predicate->nodes[number].right = other;
    return number;
}

static int make_compared(struct maker *maker, enum reference_kind kind, int terms)
{
    int clause = make_clause(maker, terms);
    int compare = make_alternatives(maker);
    bool is_left = percent(maker, 20);
    int number;

    if (compare == REFERENCE_NONE)
        return clause;
    number = reference_add_node(maker->predicate, kind);
    maker->predicate->nodes[number].left = is_left ? compare : clause;
    maker->predicate->nodes[number].right = is_left ? clause : compare;
    return number;
}

static int make_clause(struct maker *maker, int terms)
{
    enum { PAIR, LIMITED, AND, OR, WITHIN, COUNT, COMPARED, COMPARED_OR };
    static const int weights[] = {52, 10, 17, 13, 7, 7, 14, 5};

    if (terms <= 1)
        return maker->options->is_extended && percent(maker, 2) ? make_within(maker, 0)
                                                                : make_term(maker);
    switch (weighted(maker, weights, maker->options->is_extended ? 8 : 4)) {
    case LIMITED:
        if (maker->universals < maker->options->universals && has_room(maker, 1))
            return make_limited(maker, terms);
        return make_pair(maker, REFERENCE_RELATION, terms);
    case AND:
        return make_pair(maker, REFERENCE_AND, terms);
    case OR:
        return make_pair(maker, REFERENCE_OR, terms);
    case WITHIN:
        return make_within(maker, terms);
    case COUNT:
        return make_count(maker, terms);
    case COMPARED:
        return make_compared(maker, REFERENCE_AND, terms);
    case COMPARED_OR:
        return make_compared(maker, REFERENCE_OR, terms);
    default:
        return make_pair(maker, REFERENCE_RELATION, terms);
    }
}

/* --- Files ------------------------------------------------------------------------ */

/* ["", "type", ""] */
static void make_of_type(struct reference_class *class, const char *type)
{
    *class = (struct reference_class){
        .named = REFERENCE_NONE, .is_triple = true, .condition_count = TRIPLE};
    for (int i = 0; i < TRIPLE; i++)
        copy_word(class->conditions[i].name, vocabulary[i].name);
    copy_word(class->conditions[1].text, type);
}

/* A := [...], or another name for a class; the first three are mostly simple. */
static void make_named_class(struct maker *maker, int number)
{
    static const char *const names[] = {"A", "B", "C", "D_1", "e"};
    int predicate = reference_add_predicate(maker->file, names[number]);
    int class_number, occurrence, node;

    maker->predicate = &maker->file->predicates[predicate];
    class_number = make_class(maker, number < 3 ? 0 : 50);
    if (number < 3 && percent(maker, 70))
        make_of_type(&maker->file->classes[class_number], names[number]);
    occurrence = reference_add_occurrence(maker->predicate, REFERENCE_PLAIN);
    if (number >= 3 && percent(maker, 15))
        maker->predicate->occurrences[occurrence].predicate = below(maker, number);
    else
        maker->predicate->occurrences[occurrence].class_number = class_number;
    node = reference_add_node(maker->predicate, REFERENCE_TERM);
    maker->predicate->nodes[node].occurrence = occurrence;
    maker->predicate->root = node;
    maker->classes = number + 1;
}

static void make_predicate(struct maker *maker, int number)
{
    static const char *const names[] = {"P1", "P2", "P3", "P4"};
    int predicate = reference_add_predicate(maker->file, names[number]);
    int terms = 1 + below(maker, maker->options->terms);

    maker->predicate = &maker->file->predicates[predicate];
    maker->universals = 0;
    if (terms == 1 && percent(maker, 70))
        terms = 2 + below(maker, maker->options->terms - 1);
    maker->to_come = terms;
    maker->predicate->root = make_clause(maker, terms);
}

void random_pattern_make(uint64_t *draw,
                         const struct random_pattern_options *options,
                         struct reference_file *ret_file)
{
    struct maker maker = {.draw = draw, .options = options, .file = ret_file};
    int classes = 3 + random_int(draw, 3);

    reference_file_init(ret_file);
    for (int i = 0; i < classes; i++)
        make_named_class(&maker, i);
    for (int i = 0; i < options->predicates; i++)
        make_predicate(&maker, i);
}
