/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Classes in pattern files: literals, names, and partners. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/search/language/pattern_parse_private.h"

/* --- Literals --------------------------------------------------------------------- */

/* Conditions collected while a literal is parsed. */
struct conditions {
    struct esi_pattern_condition *items;
    size_t count;
    size_t room;
};

static int add_condition(struct conditions *conditions,
                         const struct esi_pattern_condition *condition)
{
    if (ESI_ARRAY_RESERVE(conditions->items, conditions->room, conditions->count + 1) <
        0)
        return -ENOMEM;
    conditions->items[conditions->count++] = *condition;
    return 0;
}

static int parse_triple(struct esi_parser *parser, struct conditions *conditions)
{
    static const enum esi_pattern_field fields[] = {ES_FIELD_PROCESS, ES_FIELD_TYPE,
                                                    ES_FIELD_TEXT};
    static const char *const expected[] = {
        "a string for the process", "a string for the type", "a string for the text"};

    for (size_t i = 0; i < 3; i++) {
        struct esi_pattern_condition condition = {.field = fields[i],
                                                  .attribute = ES_PATTERN_NONE,
                                                  .test = ES_TEST_GLOB,
                                                  .place = parser->token.place};
        struct esi_glob glob;
        int code = i > 0 ? esi_expect(parser, ESI_TOKEN_COMMA,
                                      "',' (a class is [\"process\", \"type\", "
                                      "\"text\"] or [name = \"value\", ...])")
                         : 0;

        if (code < 0)
            return code;
        if (parser->token.kind != ESI_TOKEN_STRING)
            return esi_unexpected(parser, expected[i]);
        condition.place = condition.value_place = parser->token.place;
        code = esi_parse_glob(parser, &glob);
        condition.pieces = glob.pieces;
        condition.piece_count = glob.count;
        if (code == 0)
            code = add_condition(conditions, &condition);
        if (code < 0)
            return code;
    }
    return 0;
}

/* Parses the rest after = or !=. */
static int parse_equal(struct esi_parser *parser,
                       struct esi_pattern_condition *condition)
{
    struct esi_pattern_place place = parser->token.place;
    struct esi_glob glob;
    int code;

    if (parser->token.kind == ESI_TOKEN_NUMBER) {
        condition->test = ES_TEST_EQUAL;
        condition->value.is_number = true;
        return esi_parse_number(parser, ESI_UNITS_ANY, &condition->value.number);
    }
    if (parser->token.kind != ESI_TOKEN_STRING)
        return esi_unexpected(parser, "a string or a number");
    code = esi_parse_glob(parser, &glob);
    if (code < 0)
        return code;
    if (condition->is_negated && glob.count == 0)
        return esi_fault(parser, place,
                         "\"\" restricts nothing, so != \"\" would hold for no event; "
                         "write =~ \".\" for a text that is not empty");
    condition->pieces = glob.pieces;
    condition->piece_count = glob.count;
    return 0;
}

static int parse_value(struct esi_parser *parser,
                       struct esi_pattern_condition *condition)
{
    condition->value_place = parser->token.place;
    if (condition->test == ES_TEST_GLOB)
        return parse_equal(parser, condition);
    if (condition->test == ES_TEST_REGEX) {
        if (parser->token.kind != ESI_TOKEN_STRING)
            return esi_unexpected(parser, "a regular expression in double quotes");
        return esi_parse_regex(parser, &condition->value.text);
    }
    condition->value.is_number = true;
    if (parser->token.kind == ESI_TOKEN_STRING)
        return esi_unexpected(parser, "a number, without quotes");
    return esi_parse_number(parser, ESI_UNITS_ANY, &condition->value.number);
}

static bool is_equality(const struct esi_pattern_condition *condition)
{
    return !condition->is_negated &&
           (condition->test == ES_TEST_GLOB || condition->test == ES_TEST_EQUAL);
}

/* Rejects a second equality for one name (D15); ranges such as `bytes > 10, bytes < 20`
 * are allowed. */
static int check_twice(struct esi_parser *parser,
                       const struct conditions *conditions,
                       const struct esi_pattern_condition *condition,
                       const char *name)
{
    for (size_t i = 0; i < conditions->count; i++) {
        const struct esi_pattern_condition *other = &conditions->items[i];

        if (other->field == condition->field &&
            other->attribute == condition->attribute && is_equality(other) &&
            is_equality(condition))
            return esi_fault(parser, condition->place,
                             "'%.40s' is given twice, expected each name once", name);
    }
    return 0;
}

static int parse_pair(struct esi_parser *parser, struct conditions *conditions)
{
    struct esi_pattern_condition condition = {.place = parser->token.place};
    struct esi_comparison comparison;
    const char *name;
    int code = esi_parse_name(parser, &name);

    if (code == 0)
        code = esi_parse_comparison(parser, &comparison);
    if (code < 0)
        return code;
    condition.test = comparison.test;
    condition.is_negated = comparison.is_negated;
    code = esi_resolve_field(parser, name, &condition.field, &condition.attribute);
    if (code == 0)
        code = parse_value(parser, &condition);
    if (code == 0)
        code = check_twice(parser, conditions, &condition, name);
    return code < 0 ? code : add_condition(conditions, &condition);
}

static int parse_pairs(struct esi_parser *parser, struct conditions *conditions)
{
    int code = parse_pair(parser, conditions);

    while (code == 0 && parser->token.kind == ESI_TOKEN_COMMA) {
        code = esi_advance(parser);
        if (code == 0)
            code = parse_pair(parser, conditions);
    }
    return code;
}

/* Whether a string follows that is not part of a comparison. */
static bool is_triple(const struct esi_parser *parser)
{
    struct esi_source silent = *parser->lexer.source;
    struct esi_lexer ahead = parser->lexer;
    struct esi_token token;

    silent.error = NULL;
    ahead.source = &silent;
    return parser->token.kind == ESI_TOKEN_STRING &&
           (esi_lexer_next(&ahead, &token) < 0 || !esi_is_comparison(token.kind));
}

/* One side of a dot, or the whole class. */
struct class_side {
    const char *name;      /* NULL for a literal */
    uint32_t class_number; /* of the name */
    const struct esi_pattern_condition *conditions;
    size_t condition_count;
    const uint32_t *partners;
    size_t partner_count;
    struct esi_pattern_place place;
};

/* Copies the conditions that restrict (D14) into memory of the file. */
static int keep_conditions(struct esi_parser *parser,
                           const struct conditions *conditions,
                           struct class_side *side)
{
    struct esi_pattern_condition *kept =
        esi_arena_alloc(&parser->file->memory, conditions->count * sizeof *kept);

    if (!kept)
        return -ENOMEM;
    for (size_t i = 0; i < conditions->count; i++) {
        const struct esi_pattern_condition *condition = &conditions->items[i];

        if (condition->test != ES_TEST_GLOB || condition->piece_count > 0)
            kept[side->condition_count++] = *condition;
    }
    side->conditions = kept;
    return 0;
}

static int parse_literal(struct esi_parser *parser, struct class_side *side)
{
    struct conditions conditions = {0};
    int code = esi_advance(parser);

    if (code == 0)
        code = is_triple(parser) ? parse_triple(parser, &conditions)
                                 : parse_pairs(parser, &conditions);
    if (code == 0)
        code = esi_expect(parser, ESI_TOKEN_RIGHT_SQUARE, "',' or ']'");
    if (code == 0)
        code = keep_conditions(parser, &conditions, side);
    free(conditions.items);
    return code;
}

/* --- Names ------------------------------------------------------------------------ */

int esi_find_name(struct esi_parser *parser,
                  const struct esi_token *id,
                  struct esi_symbol *ret_symbol)
{
    const struct esi_symbol *symbol =
        esi_symbols_find(&parser->file->names, id->text, id->length);
    char words[ESI_TOKEN_WORDS];

    if (!symbol)
        return esi_fault(parser, id->place,
                         "%s is not defined, expected the name of a class or predicate "
                         "above its use",
                         esi_token_words(id, words));
    *ret_symbol = *symbol;
    return 0;
}

static int name_side(struct esi_parser *parser,
                     const struct esi_token *id,
                     struct class_side *side)
{
    char words[ESI_TOKEN_WORDS];
    struct esi_symbol symbol;
    int code = esi_find_name(parser, id, &symbol);
    const struct esi_pattern_class *class;

    if (code < 0)
        return code;
    if (symbol.class_number == ES_PATTERN_NONE)
        return esi_fault(parser, id->place,
                         "%s stands for more than a class, expected a class beside the "
                         "partner dot",
                         esi_token_words(id, words));
    class = esi_pattern_class(parser->file, symbol.class_number);
    *side = (struct class_side){.name = symbol.name,
                                .class_number = symbol.class_number,
                                .conditions = class->conditions,
                                .condition_count = class->condition_count,
                                .partners = class->partners,
                                .partner_count = class->partner_count,
                                .place = id->place};
    return 0;
}

/* --- Partners --------------------------------------------------------------------- */

static int add_class(struct esi_parser *parser,
                     const struct class_side *side,
                     struct esi_class **ret_class,
                     uint32_t *ret_number)
{
    int code = esi_pattern_add_class(parser->file, ret_class, ret_number);

    if (code < 0)
        return code;
    (*ret_class)->left_name = side->name;
    (*ret_class)->data = (struct esi_pattern_class){
        .conditions = side->conditions,
        .condition_count = side->condition_count,
        .partners = side->partners,
        .partner_count = side->partner_count,
        .place = side->place,
    };
    return 0;
}

/* Parses the class after the dot. */
static int parse_partner(struct esi_parser *parser, struct class_side *side)
{
    struct esi_token token = parser->token;
    struct esi_class *class;
    int code;

    if (token.kind == ESI_TOKEN_ID) {
        code = name_side(parser, &token, side);
        return code < 0 ? code : esi_advance(parser);
    }
    if (token.kind != ESI_TOKEN_LEFT_SQUARE)
        return esi_unexpected(parser, "a class after the partner dot");
    *side = (struct class_side){.place = token.place};
    code = parse_literal(parser, side);
    return code < 0 ? code : add_class(parser, side, &class, &side->class_number);
}

/* Combines the partners of the left side with one more. */
static int add_partner(struct esi_parser *parser,
                       struct class_side *left,
                       uint32_t partner)
{
    uint32_t *partners = esi_arena_alloc(&parser->file->memory,
                                         (left->partner_count + 1) * sizeof *partners);

    if (!partners)
        return -ENOMEM;
    for (size_t i = 0; i < left->partner_count; i++)
        partners[i] = left->partners[i];
    partners[left->partner_count++] = partner;
    left->partners = partners;
    return 0;
}

/* Returns a name such as "Send.[...]". */
static const char *dotted_name(struct esi_parser *parser,
                               const char *left,
                               const char *right)
{
    char *name;

    left = left ? left : "[...]";
    right = right ? right : "[...]";
    name = esi_arena_alloc(&parser->file->memory, strlen(left) + strlen(right) + 2);
    if (name)
        stpcpy(stpcpy(stpcpy(name, left), "."), right);
    return name;
}

static int parse_dotted(struct esi_parser *parser,
                        struct class_side *left,
                        struct esi_reference *reference)
{
    struct class_side right;
    struct esi_class *class;
    int code = esi_advance(parser);

    if (code == 0)
        code = parse_partner(parser, &right);
    if (code == 0 && parser->token.kind == ESI_TOKEN_DOT)
        code =
            esi_unexpected(parser, "one partner dot; give the class after the first a "
                                   "name");
    if (code == 0)
        code = add_partner(parser, left, right.class_number);
    if (code == 0)
        code = add_class(parser, left, &class, &reference->class_number);
    if (code < 0)
        return code;
    class->right = right.class_number;
    class->right_name = right.name;
    reference->name = dotted_name(parser, left->name, right.name);
    return reference->name ? 0 : -ENOMEM;
}

int esi_parse_class(struct esi_parser *parser,
                    const struct esi_token *id,
                    struct esi_reference *ret_reference)
{
    struct class_side side = {.place = id ? id->place : parser->token.place};
    struct esi_reference reference = {.name = "[...]",
                                      .class_number = ES_PATTERN_NONE,
                                      .predicate = ES_PATTERN_NONE,
                                      .place = side.place};
    struct esi_symbol symbol;
    struct esi_class *class;
    int code;

    if (id && parser->token.kind != ESI_TOKEN_DOT) {
        code = esi_find_name(parser, id, &symbol);
        if (code < 0)
            return code;
        reference.name = symbol.name;
        reference.class_number = symbol.class_number;
        if (symbol.class_number == ES_PATTERN_NONE)
            reference.predicate = symbol.number;
    } else {
        code = id ? name_side(parser, id, &side) : parse_literal(parser, &side);
        if (code == 0 && parser->token.kind == ESI_TOKEN_DOT)
            code = parse_dotted(parser, &side, &reference);
        else if (code == 0)
            code = add_class(parser, &side, &class, &reference.class_number);
    }
    if (code == 0)
        *ret_reference = reference;
    return code;
}
