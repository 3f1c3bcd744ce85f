/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Parses pattern files: statements, and clauses of `|`, `&` and relations. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/input.h"
#include "monitors/search/language/pattern_parse_private.h"

/* --- Tokens ----------------------------------------------------------------------- */

int esi_unexpected(struct esi_parser *parser, const char *expected)
{
    char words[ESI_TOKEN_WORDS];

    return esi_fault(parser, parser->token.place, "found %s, expected %s",
                     esi_token_words(&parser->token, words), expected);
}

int esi_advance(struct esi_parser *parser)
{
    return esi_lexer_next(&parser->lexer, &parser->token);
}

int esi_expect(struct esi_parser *parser,
               enum esi_token_kind kind,
               const char *expected)
{
    if (parser->token.kind != kind)
        return esi_unexpected(parser, expected);
    return esi_advance(parser);
}

int esi_enter(struct esi_parser *parser)
{
    if (parser->depth == ESI_PARSER_DEPTH)
        return esi_fault(parser, parser->token.place,
                         "too many brackets and operators around each other, expected "
                         "at most %d",
                         ESI_PARSER_DEPTH);
    parser->depth++;
    return 0;
}

int esi_raise(struct esi_parser *parser, uint32_t left, struct esi_pattern_place place)
{
    if (left > parser->height)
        parser->height = left;
    if (parser->height == ES_PATTERN_HEIGHT)
        return esi_fault(parser, place,
                         "too many operators around each other, expected at most %d",
                         ES_PATTERN_HEIGHT);
    parser->height++;
    return 0;
}

/* --- Relations -------------------------------------------------------------------- */

static bool is_relation(enum esi_token_kind kind)
{
    return kind == ESI_TOKEN_NOT || kind == ESI_TOKEN_LIMIT ||
           (kind >= ESI_TOKEN_BEFORE && kind <= ESI_TOKEN_RECEIVED);
}

/* Parses the rest after "-(". */
static int parse_limited(struct esi_parser *parser, struct esi_pattern_node *node)
{
    int code = esi_advance(parser);

    node->kind = ES_NODE_LIMITED;
    if (code == 0)
        code = esi_parse_limit(parser, &node->occurrence);
    if (code == 0)
        code = esi_expect(parser, ESI_TOKEN_RIGHT_ROUND, "')'");
    return code < 0 ? code : esi_expect(parser, ESI_TOKEN_BEFORE, "'->' or '-->'");
}

static int parse_operator(struct esi_parser *parser, struct esi_pattern_node *node)
{
    static const enum esi_pattern_operator operators[] = {
        [ESI_TOKEN_BEFORE - ESI_TOKEN_BEFORE] = ES_OPERATOR_BEFORE,
        [ESI_TOKEN_CONCURRENT - ESI_TOKEN_BEFORE] = ES_OPERATOR_CONCURRENT,
        [ESI_TOKEN_ENTANGLED - ESI_TOKEN_BEFORE] = ES_OPERATOR_ENTANGLED,
        [ESI_TOKEN_RECEIVED - ESI_TOKEN_BEFORE] = ES_OPERATOR_RECEIVED,
    };
    int code = 0;

    if (parser->token.kind == ESI_TOKEN_LIMIT)
        return parse_limited(parser, node);
    if (parser->token.kind == ESI_TOKEN_NOT) {
        node->is_negated = true;
        code = esi_advance(parser);
    }
    if (code < 0)
        return code;
    if (parser->token.kind == ESI_TOKEN_LIMIT)
        return esi_fault(parser, node->place,
                         "the limited operator has no negation, expected '-(' without "
                         "'!'");
    if (!is_relation(parser->token.kind) || parser->token.kind == ESI_TOKEN_NOT)
        return esi_unexpected(parser, "-->, ||, <-> or => after '!'");
    node->op = operators[parser->token.kind - ESI_TOKEN_BEFORE];
    return esi_advance(parser);
}

static int check_operand(struct esi_parser *parser, const struct esi_pattern_node *node)
{
    if (node->kind != ES_NODE_COMPARE)
        return 0;
    return esi_fault(parser, node->place,
                     "a comparison cannot be an operand of a relation, expected it "
                     "beside '&' or '|'");
}

static int check_relation(struct esi_parser *parser,
                          const struct esi_pattern_node *node)
{
    bool is_left = node->left->kind == ES_NODE_COUNT;
    bool is_right = node->right->kind == ES_NODE_COUNT;

    if (is_left && is_right)
        return esi_fault(parser, node->right->place,
                         "a count on both sides of a relation, expected one on one "
                         "side");
    if (node->kind == ES_NODE_LIMITED && (is_left || is_right))
        return esi_fault(parser, node->place,
                         "a count beside the limited operator, expected one of -->, "
                         "||, <->, =>");
    return check_operand(parser, node->right);
}

/* Operators group to the right (D2).  A count may only stand alone after an
 * operator. */
static int parse_relation(struct esi_parser *parser,
                          bool is_operand,
                          const struct esi_pattern_node **ret_node)
{
    struct esi_pattern_node *node;
    struct esi_pattern_node *left;
    int code = esi_parse_operand(parser, &left);
    uint32_t height = parser->height;

    if (code < 0)
        return code;
    if (!is_relation(parser->token.kind)) {
        if (left->kind == ES_NODE_COUNT && !is_operand)
            return esi_fault(parser, left->place,
                             "a count stands alone, expected it on one side of a "
                             "relation: A --> at least 3 of B");
        *ret_node = left;
        return 0;
    }
    node = esi_node_create(parser, ES_NODE_RELATION, parser->token.place);
    code = node ? check_operand(parser, left) : -ENOMEM;
    if (code == 0)
        code = parse_operator(parser, node);
    if (code == 0)
        code = esi_enter(parser);
    if (code < 0)
        return code;
    node->left = left;
    code = parse_relation(parser, true, &node->right);
    parser->depth--;
    if (code == 0)
        code = check_relation(parser, node);
    if (code == 0)
        code = esi_raise(parser, height, node->place);
    if (code == 0)
        *ret_node = node;
    return code;
}

/* --- Clauses ---------------------------------------------------------------------- */

/* Parses operands of `&`, grouped to the right. */
static int parse_conjunction(struct esi_parser *parser,
                             const struct esi_pattern_node **ret_node)
{
    const struct esi_pattern_node *left;
    struct esi_pattern_node *node;
    int code = parse_relation(parser, false, &left);
    uint32_t height = parser->height;

    if (code < 0)
        return code;
    if (parser->token.kind != ESI_TOKEN_AND) {
        *ret_node = left;
        return 0;
    }
    node = esi_node_create(parser, ES_NODE_AND, parser->token.place);
    if (!node)
        return -ENOMEM;
    node->left = left;
    code = esi_enter(parser);
    if (code == 0)
        code = esi_advance(parser);
    if (code == 0)
        code = parse_conjunction(parser, &node->right);
    parser->depth--;
    if (code == 0)
        code = esi_raise(parser, height, node->place);
    if (code == 0)
        *ret_node = node;
    return code;
}

/* The sides of a `|`. */
struct side_list {
    struct esi_side *sides;
    size_t count, room;
};

static int add_side(struct side_list *list, const struct esi_side *side)
{
    if (ESI_ARRAY_RESERVE(list->sides, list->room, list->count + 1) < 0)
        return -ENOMEM;
    list->sides[list->count++] = *side;
    return 0;
}

int esi_join_sides(struct esi_parser *parser,
                   const struct esi_side *sides,
                   size_t count,
                   const struct esi_pattern_node **ret_node)
{
    enum { MOST_TO_THE_RIGHT = ES_PATTERN_OCCURRENCES };
    size_t left = count > MOST_TO_THE_RIGHT ? count / 2 : 1;
    struct esi_pattern_node *node;
    uint32_t height;
    int code;

    if (count == 1) {
        parser->height = sides[0].height;
        *ret_node = sides[0].node;
        return 0;
    }
    node = esi_node_create(parser, ES_NODE_OR, sides[left - 1].place);
    if (!node)
        return -ENOMEM;
    code = esi_join_sides(parser, sides, left, &node->left);
    height = parser->height;
    if (code == 0)
        code = esi_join_sides(parser, sides + left, count - left, &node->right);
    if (code == 0)
        code = esi_raise(parser, height, node->place);
    *ret_node = node;
    return code;
}

static int parse_sides(struct esi_parser *parser, struct side_list *list)
{
    for (;;) {
        struct esi_side side;
        int code = parse_conjunction(parser, &side.node);

        if (code < 0)
            return code;
        side.place = parser->token.place;
        side.height = parser->height;
        code = add_side(list, &side);
        if (code < 0 || parser->token.kind != ESI_TOKEN_OR)
            return code;
        code = esi_advance(parser);
        if (code < 0)
            return code;
    }
}

int esi_parse_clause(struct esi_parser *parser,
                     const struct esi_pattern_node **ret_node)
{
    struct side_list list = {.count = 0};
    int code = parse_sides(parser, &list);

    if (code == 0)
        code = esi_join_sides(parser, list.sides, list.count, ret_node);
    free(list.sides);
    return code;
}

/* --- Statements ------------------------------------------------------------------- */

/* Turns the parsed tree and its occurrences into a predicate. */
static int keep_predicate(struct esi_parser *parser,
                          const struct esi_token *id,
                          const struct esi_pattern_node *root)
{
    struct es_pattern_file *file = parser->file;
    size_t bytes = parser->occurrence_count * sizeof *parser->occurrences;
    struct esi_pattern_occurrence *occurrences = esi_arena_alloc(&file->memory, bytes);
    char *name = esi_arena_text(&file->memory, id->text, id->length);
    struct esi_symbol symbol = {
        .name = name, .number = file->predicate_count, .line = id->place.line};
    struct esi_pattern_predicate *predicate;

    if (!occurrences || !name || esi_pattern_add_predicate(file, &predicate) < 0)
        return -ENOMEM;
    memcpy(occurrences, parser->occurrences, bytes);
    *predicate =
        (struct esi_pattern_predicate){.name = name,
                                       .place = id->place,
                                       .root = root,
                                       .occurrences = occurrences,
                                       .occurrence_count = parser->occurrence_count};
    symbol.class_number = esi_pattern_alias(predicate);
    return esi_symbols_put(&file->names, &symbol);
}

/* Parses the rest after ":=". */
static int parse_definition(struct esi_parser *parser, const struct esi_token *id)
{
    const struct esi_symbol *known =
        esi_symbols_find(&parser->file->names, id->text, id->length);
    const struct esi_pattern_node *root;
    char words[ESI_TOKEN_WORDS];
    int code;

    if (known)
        return esi_fault(parser, id->place,
                         "%s is already defined in line %u, expected another name",
                         esi_token_words(id, words), (unsigned)known->line);
    parser->occurrence_count = 0;
    parser->depth = 0;
    code = esi_advance(parser);
    if (code == 0)
        code = esi_parse_clause(parser, &root);
    if (code == 0 && parser->token.kind != ESI_TOKEN_SEMICOLON)
        code = esi_unexpected(parser, "an operator or ';'");
    if (code == 0)
        code = esi_fold_predicate(parser, id, &root);
    if (code == 0)
        code = keep_predicate(parser, id, root);
    return code < 0 ? code : esi_advance(parser);
}

static int parse_declared(struct esi_parser *parser, const struct esi_symbol *of)
{
    struct esi_symbol symbol = *of;

    if (parser->token.kind != ESI_TOKEN_VARIABLE)
        return esi_unexpected(parser, "a variable such as $x, *x or ~x");
    symbol.line = parser->token.place.line;
    symbol.name =
        esi_arena_text(&parser->file->memory, parser->token.text, parser->token.length);
    if (!symbol.name || esi_symbols_put(&parser->variables, &symbol) < 0)
        return -ENOMEM;
    return esi_advance(parser);
}

/* Parses the rest after the name of a class or predicate. */
static int parse_declaration(struct esi_parser *parser, const struct esi_token *id)
{
    struct esi_symbol symbol;
    int code = esi_find_name(parser, id, &symbol);

    if (code == 0)
        code = parse_declared(parser, &symbol);
    while (code == 0 && parser->token.kind == ESI_TOKEN_COMMA) {
        code = esi_advance(parser);
        if (code == 0)
            code = parse_declared(parser, &symbol);
    }
    return code < 0 ? code : esi_expect(parser, ESI_TOKEN_SEMICOLON, "',' or ';'");
}

static int parse_statement(struct esi_parser *parser)
{
    struct esi_token id = parser->token;
    int code = esi_expect(parser, ESI_TOKEN_ID,
                          "a name that begins a definition, NAME := ...;, or a "
                          "declaration, NAME $x;");

    if (code < 0)
        return code;
    if (parser->token.kind == ESI_TOKEN_DEFINE)
        return parse_definition(parser, &id);
    if (parser->token.kind == ESI_TOKEN_VARIABLE)
        return parse_declaration(parser, &id);
    return esi_unexpected(parser, "':=' or a variable");
}

int es_pattern_file_parse(const char *text,
                          size_t length,
                          const char *name,
                          struct es_pattern_file **ret_file,
                          struct es_error *error)
{
    size_t mark = esi_input_mark(text, length); /* written by some editors */
    struct esi_source source = {name, text + mark, length - mark, error};
    struct esi_parser parser = {.lexer = {&source, source.text, source.text, 1}};
    int code = esi_input_check(source.text, source.length, name, error);

    if (code == 0)
        code = esi_source_check(&source);
    if (code == 0)
        code = esi_pattern_file_create(name, source.text, source.length, &parser.file);
    if (code == 0)
        code = esi_advance(&parser);
    while (code == 0 && parser.token.kind != ESI_TOKEN_END)
        code = parse_statement(&parser);
    esi_symbols_fini(&parser.variables);
    free(parser.occurrences);
    if (code < 0) {
        es_pattern_file_destroy(parser.file);
        return code == -ENOMEM ? es_error_set(error, code, "%s", strerror(ENOMEM))
                               : code;
    }
    *ret_file = parser.file;
    return 0;
}
