/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Operands of relations in pattern files: terms, counts and comparisons. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "monitors/search/language/pattern_parse_private.h"

struct esi_pattern_node *esi_node_create(struct esi_parser *parser,
                                         enum esi_pattern_node_kind kind,
                                         struct esi_pattern_place place)
{
    struct esi_pattern_node *node =
        esi_arena_alloc(&parser->file->memory, sizeof *node);

    if (!node)
        return NULL;
    node->kind = kind;
    node->place = place;
    node->occurrence = ES_PATTERN_NONE;
    for (size_t i = 0; i < 2; i++) {
        node->operands[i].occurrence = ES_PATTERN_NONE;
        node->operands[i].attribute = ES_PATTERN_NONE;
    }
    return node;
}

/* --- Occurrences ------------------------------------------------------------------ */

int esi_add_occurrence(struct esi_parser *parser,
                       enum esi_pattern_sign sign,
                       const struct esi_reference *reference,
                       uint32_t *ret_occurrence)
{
    if (parser->occurrence_count == ESI_PARSER_OCCURRENCES)
        return esi_fault(parser, reference->place,
                         "too many classes, names and variables in one predicate, "
                         "expected at most %d",
                         ESI_PARSER_OCCURRENCES);
    if (ESI_ARRAY_RESERVE(parser->occurrences, parser->occurrence_room,
                          parser->occurrence_count + 1u) < 0)
        return -ENOMEM;
    *ret_occurrence = parser->occurrence_count++;
    parser->occurrences[*ret_occurrence] =
        (struct esi_pattern_occurrence){.sign = sign,
                                        .class_number = reference->class_number,
                                        .predicate = reference->predicate,
                                        .name = reference->name,
                                        .place = reference->place};
    return 0;
}

static enum esi_pattern_sign sign_of(char c)
{
    return c == '$' ? ES_SIGN_RETURNED : c == '*' ? ES_SIGN_UNIVERSAL : ES_SIGN_HIDDEN;
}

/* Finds a declared variable. */
static int find_variable(struct esi_parser *parser,
                         const struct esi_token *variable,
                         struct esi_symbol *ret_symbol)
{
    const struct esi_symbol *symbol =
        esi_symbols_find(&parser->variables, variable->text, variable->length);
    char words[ESI_TOKEN_WORDS];

    if (!symbol)
        return esi_fault(parser, variable->place,
                         "%s is not declared, expected a declaration above its use: "
                         "NAME %.*s;",
                         esi_token_words(variable, words),
                         (int)(variable->length < 40 ? variable->length : 40),
                         variable->text);
    *ret_symbol = *symbol;
    return 0;
}

/* All uses of a variable in one predicate are one occurrence. */
static int use_variable(struct esi_parser *parser,
                        const struct esi_token *variable,
                        uint32_t *ret_occurrence)
{
    struct esi_symbol symbol = {0};
    struct esi_reference reference;
    int code = find_variable(parser, variable, &symbol);

    if (code < 0)
        return code;
    for (uint32_t i = 0; i < parser->occurrence_count; i++) {
        if (strcmp(parser->occurrences[i].name, symbol.name) == 0) {
            *ret_occurrence = i;
            return 0;
        }
    }
    reference = (struct esi_reference){symbol.name, symbol.class_number, symbol.number,
                                       variable->place};
    if (symbol.class_number != ES_PATTERN_NONE)
        reference.predicate = ES_PATTERN_NONE;
    return esi_add_occurrence(parser, sign_of(variable->text[0]), &reference,
                              ret_occurrence);
}

int esi_parse_limit(struct esi_parser *parser, uint32_t *ret_occurrence)
{
    struct esi_token token = parser->token;
    struct esi_reference reference;
    int code;

    if (token.kind != ESI_TOKEN_ID && token.kind != ESI_TOKEN_LEFT_SQUARE &&
        (token.kind != ESI_TOKEN_VARIABLE || token.text[0] != '*'))
        return esi_unexpected(parser, "a class, a name or a variable with '*'");
    if (token.kind == ESI_TOKEN_VARIABLE) {
        code = use_variable(parser, &token, ret_occurrence);
        return code < 0 ? code : esi_advance(parser);
    }
    code = token.kind == ESI_TOKEN_ID ? esi_advance(parser) : 0;
    if (code == 0)
        code = esi_parse_class(parser, token.kind == ESI_TOKEN_ID ? &token : NULL,
                               &reference);
    return code < 0 ? code
                    : esi_add_occurrence(parser, ES_SIGN_UNIVERSAL, &reference,
                                         ret_occurrence);
}

/* --- Comparisons of attributes ---------------------------------------------------- */

/* Parses the attribute after the dot of a variable. */
static int parse_attribute(struct esi_parser *parser,
                           const struct esi_token *variable,
                           uint32_t occurrence,
                           struct esi_pattern_operand *operand)
{
    char words[ESI_TOKEN_WORDS];
    const char *name;
    int code;

    if (parser->occurrences[occurrence].class_number == ES_PATTERN_NONE)
        return esi_fault(parser, variable->place,
                         "%s stands for matches of a predicate; only an event has "
                         "attributes, expected a variable of a class",
                         esi_token_words(variable, words));
    operand->occurrence = occurrence;
    code = esi_advance(parser);
    operand->place = parser->token.place;
    if (code == 0)
        code = esi_parse_name(parser, &name);
    return code < 0
               ? code
               : esi_resolve_field(parser, name, &operand->field, &operand->attribute);
}

static int parse_right_variable(struct esi_parser *parser,
                                struct esi_pattern_operand *operand)
{
    struct esi_token variable = parser->token;
    uint32_t occurrence;
    int code = use_variable(parser, &variable, &occurrence);

    if (code == 0)
        code = esi_advance(parser);
    if (code == 0 && parser->token.kind != ESI_TOKEN_DOT)
        code = esi_unexpected(parser, "'.' and an attribute after the variable");
    return code < 0 ? code : parse_attribute(parser, &variable, occurrence, operand);
}

/* A string with wildcards becomes a regular expression. */
static int parse_right_string(struct esi_parser *parser, struct esi_pattern_node *node)
{
    struct esi_glob glob;
    int code = esi_parse_glob(parser, &glob);

    if (code < 0)
        return code;
    if (glob.count > 1) {
        node->test = ES_TEST_REGEX;
        return esi_glob_regex(parser, &glob, &node->operands[1].constant.text);
    }
    return esi_glob_text(parser, &glob, &node->operands[1].constant.text);
}

/* "x =~b.tag" looks like the beginning of a regular expression. */
static int parse_right_regex(struct esi_parser *parser, struct esi_pattern_node *node)
{
    if (parser->token.kind == ESI_TOKEN_ID)
        return esi_unexpected(parser, "a regular expression in double quotes; before a "
                                      "variable with '~' write '= ~'");
    if (parser->token.kind != ESI_TOKEN_STRING)
        return esi_unexpected(parser, "a regular expression in double quotes");
    return esi_parse_regex(parser, &node->operands[1].constant.text);
}

static int parse_right(struct esi_parser *parser, struct esi_pattern_node *node)
{
    struct esi_pattern_operand *right = &node->operands[1];

    right->place = parser->token.place;
    if (node->test == ES_TEST_REGEX)
        return parse_right_regex(parser, node);
    if (parser->token.kind == ESI_TOKEN_VARIABLE)
        return parse_right_variable(parser, right);
    if (parser->token.kind == ESI_TOKEN_STRING && node->test == ES_TEST_EQUAL)
        return parse_right_string(parser, node);
    if (parser->token.kind != ESI_TOKEN_NUMBER)
        return esi_unexpected(parser, node->test == ES_TEST_EQUAL
                                          ? "a variable's attribute, a number or a "
                                            "string"
                                          : "a variable's attribute or a number");
    right->constant.is_number = true;
    return esi_parse_number(parser, ESI_UNITS_ANY, &right->constant.number);
}

/* Parses a comparison from the dot after a variable on. */
static int parse_compared(struct esi_parser *parser,
                          const struct esi_token *variable,
                          uint32_t occurrence,
                          struct esi_pattern_node **ret_node)
{
    struct esi_pattern_node *node =
        esi_node_create(parser, ES_NODE_COMPARE, variable->place);
    struct esi_comparison comparison;
    struct esi_pattern_place place;
    int code;

    if (!node)
        return -ENOMEM;
    code = parse_attribute(parser, variable, occurrence, &node->operands[0]);
    place = parser->token.place;
    if (code == 0)
        code = esi_parse_comparison(parser, &comparison);
    if (code < 0)
        return code;
    node->place = place;
    node->test = comparison.test == ES_TEST_GLOB ? ES_TEST_EQUAL : comparison.test;
    node->is_negated = comparison.is_negated;
    code = parse_right(parser, node);
    if (code == 0)
        *ret_node = node;
    return code;
}

/* --- Terms ------------------------------------------------------------------------ */

static int make_term(struct esi_parser *parser,
                     uint32_t occurrence,
                     struct esi_pattern_place place,
                     struct esi_pattern_node **ret_node)
{
    struct esi_pattern_node *node = esi_node_create(parser, ES_NODE_TERM, place);

    if (!node)
        return -ENOMEM;
    node->occurrence = occurrence;
    *ret_node = node;
    return 0;
}

static int parse_variable(struct esi_parser *parser, struct esi_pattern_node **ret_node)
{
    struct esi_token variable = parser->token;
    uint32_t occurrence;
    int code = use_variable(parser, &variable, &occurrence);

    if (code == 0)
        code = esi_advance(parser);
    if (code < 0)
        return code;
    if (parser->token.kind == ESI_TOKEN_DOT)
        return parse_compared(parser, &variable, occurrence, ret_node);
    return make_term(parser, occurrence, variable.place, ret_node);
}

/* Parses a count such as "at least 3 of B"; `at` was consumed, and `least` or `most` is
 * next. */
static int parse_count(struct esi_parser *parser,
                       struct esi_pattern_place place,
                       struct esi_pattern_node **ret_node)
{
    struct esi_pattern_node *node = esi_node_create(parser, ES_NODE_COUNT, place);
    struct esi_pattern_place number_place;
    struct esi_reference reference;
    struct esi_token id;
    int64_t number;
    int code;

    if (!node)
        return -ENOMEM;
    node->at_most = esi_token_is(&parser->token, "most");
    code = esi_advance(parser);
    number_place = parser->token.place;
    if (code == 0)
        code = esi_parse_number(parser, ESI_UNITS_COUNT, &number);
    if (code == 0 && number > UINT32_MAX)
        code = esi_fault(parser, number_place,
                         "the number is too large, expected at most 2^32 - 1");
    if (code == 0 &&
        (parser->token.kind != ESI_TOKEN_ID || !esi_token_is(&parser->token, "of")))
        code = esi_unexpected(parser, "'of'");
    if (code == 0)
        code = esi_advance(parser);
    id = parser->token;
    if (code == 0 && id.kind != ESI_TOKEN_ID && id.kind != ESI_TOKEN_LEFT_SQUARE)
        code = esi_unexpected(parser, "a class or a name to count");
    if (code == 0 && id.kind == ESI_TOKEN_ID)
        code = esi_advance(parser);
    if (code == 0)
        code =
            esi_parse_class(parser, id.kind == ESI_TOKEN_ID ? &id : NULL, &reference);
    if (code < 0)
        return code;
    node->number = (uint32_t)number;
    *ret_node = node;
    return esi_add_occurrence(parser, ES_SIGN_COUNTED, &reference, &node->occurrence);
}

/* Parses a class or a name; `at` is an ordinary name unless `least` or `most`
 * follows. */
static int parse_named(struct esi_parser *parser, struct esi_pattern_node **ret_node)
{
    struct esi_token token = parser->token;
    bool is_id = token.kind == ESI_TOKEN_ID;
    struct esi_reference reference;
    uint32_t occurrence;
    int code = is_id ? esi_advance(parser) : 0;

    if (code < 0)
        return code;
    if (is_id && esi_token_is(&token, "at") && parser->token.kind == ESI_TOKEN_ID &&
        (esi_token_is(&parser->token, "least") || esi_token_is(&parser->token, "most")))
        return parse_count(parser, token.place, ret_node);
    code = esi_parse_class(parser, is_id ? &token : NULL, &reference);
    if (code == 0)
        code = esi_add_occurrence(parser, ES_SIGN_NONE, &reference, &occurrence);
    return code < 0 ? code : make_term(parser, occurrence, token.place, ret_node);
}

/* --- Brackets --------------------------------------------------------------------- */

static bool is_within(const struct esi_parser *parser)
{
    return parser->token.kind == ESI_TOKEN_ID && esi_token_is(&parser->token, "within");
}

static int parse_within(struct esi_parser *parser,
                        const struct esi_pattern_node *inner,
                        struct esi_pattern_node **ret_node)
{
    struct esi_pattern_node *node =
        esi_node_create(parser, ES_NODE_WITHIN, parser->token.place);
    int code;

    if (!node)
        return -ENOMEM;
    node->left = inner;
    code = esi_advance(parser);
    if (code == 0)
        code = esi_parse_number(parser, ESI_UNITS_TIME, &node->within_ns);
    if (code == 0)
        code = esi_raise(parser, 0, node->place);
    if (code == 0)
        *ret_node = node;
    return code;
}

static int parse_brackets(struct esi_parser *parser, struct esi_pattern_node **ret_node)
{
    const struct esi_pattern_node *inner;
    int code = esi_enter(parser);

    if (code == 0)
        code = esi_advance(parser);
    if (code == 0)
        code = esi_parse_clause(parser, &inner);
    if (code == 0)
        code = esi_expect(parser, ESI_TOKEN_RIGHT_ROUND, "')' or an operator");
    if (code < 0)
        return code;
    parser->depth--;
    if (is_within(parser))
        return parse_within(parser, inner, ret_node);
    *ret_node = (struct esi_pattern_node *)inner;
    return 0;
}

int esi_parse_operand(struct esi_parser *parser, struct esi_pattern_node **ret_node)
{
    int code;

    parser->height = 0;
    switch (parser->token.kind) {
    case ESI_TOKEN_LEFT_ROUND:
        return parse_brackets(parser, ret_node);
    case ESI_TOKEN_VARIABLE:
        code = parse_variable(parser, ret_node);
        break;
    case ESI_TOKEN_ID:
    case ESI_TOKEN_LEFT_SQUARE:
        code = parse_named(parser, ret_node);
        break;
    default:
        return esi_unexpected(parser, "a class, a name, a variable or '('");
    }
    if (code == 0 && is_within(parser))
        return esi_unexpected(parser, "brackets around the part within a time: "
                                      "(A --> B) within 5ms");
    return code;
}
