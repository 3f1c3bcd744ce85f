/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The parser of pattern files: recursive descent, one token of lookahead.
 *
 *   pattern_parse.c    statements, `|`, `&` and relations
 *   pattern_fold.c     predicates with very many sides of `|`
 *   pattern_term.c     operands of relations: terms, counts, comparisons
 *   pattern_class.c    classes: literals and partners
 *   pattern_value.c    strings, numbers and names
 *
 * All functions return 0, -EINVAL with a message, or -ENOMEM.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_PARSE_PRIVATE_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_PARSE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/language/pattern.h"
#include "monitors/search/language/pattern_lexer.h"
#include "monitors/search/language/pattern_private.h"

/* Limits the nesting of brackets and operators, and so the recursion.  A predicate
 * printed with all brackets has at most twice as many levels as its tree. */
enum { ESI_PARSER_DEPTH = 2 * ES_PATTERN_HEIGHT };

/* Memory of the caller. */
struct esi_parser {
    struct esi_lexer lexer;
    struct esi_token token; /* next token */
    struct es_pattern_file *file;
    struct esi_symbols variables;
    uint32_t depth;
    uint32_t height; /* of the tree parsed last */

    /* The predicate being parsed. */
    struct esi_pattern_occurrence *occurrences;
    uint32_t occurrence_count;
    size_t occurrence_room;
};

/* Limit while parsing; more than ES_PATTERN_OCCURRENCES have to be folded. */
enum { ESI_PARSER_OCCURRENCES = 1 << 17 };

/* --- Tokens ----------------------------------------------------------------------- */

#define esi_fault(parser, place, ...)                                                  \
    esi_source_fault((parser)->lexer.source, place, __VA_ARGS__)

/* Reports "found '...', expected ..." at the next token. */
int esi_unexpected(struct esi_parser *parser, const char *expected);
/* Moves to the next token. */
int esi_advance(struct esi_parser *parser);
/* Consumes the next token, which must be of this kind. */
int esi_expect(struct esi_parser *parser,
               enum esi_token_kind kind,
               const char *expected);

/* --- Values ----------------------------------------------------------------------- */

/* Parses the name of an attribute: a string or an identifier. */
int esi_parse_name(struct esi_parser *parser, const char **ret_name);
/* Finds the field with this name.  A new attribute receives a number. */
int esi_resolve_field(struct esi_parser *parser,
                      const char *name,
                      enum esi_pattern_field *ret_field,
                      uint32_t *ret_attribute);

/* The pieces of a string between its wildcards (D13).  No pieces: an empty string. */
struct esi_glob {
    const char *const *pieces;
    size_t count;
};
int esi_parse_glob(struct esi_parser *parser, struct esi_glob *ret_glob);
/* The text of a string without wildcards.  If there are wildcards, joins the pieces
 * with '*'. */
int esi_glob_text(struct esi_parser *parser,
                  const struct esi_glob *glob,
                  const char **ret_text);
/* Creates a regular expression that matches the same texts as the string. */
int esi_glob_regex(struct esi_parser *parser,
                   const struct esi_glob *glob,
                   const char **ret_expression);

/* Parses a string as a regular expression, and checks it. */
int esi_parse_regex(struct esi_parser *parser, const char **ret_expression);

enum esi_units {
    ESI_UNITS_ANY,   /* time, size or no unit */
    ESI_UNITS_TIME,  /* a unit of time is required */
    ESI_UNITS_COUNT, /* no unit, not negative */
};
int esi_parse_number(struct esi_parser *parser,
                     enum esi_units units,
                     int64_t *ret_number);

/* A comparison operator as a test. */
struct esi_comparison {
    enum esi_pattern_test test; /* GLOB for = and != */
    bool is_negated;
};
bool esi_is_comparison(enum esi_token_kind kind);
int esi_parse_comparison(struct esi_parser *parser,
                         struct esi_comparison *ret_comparison);

/* --- Classes ---------------------------------------------------------------------- */

/* What a class expression or a name refers to. */
struct esi_reference {
    const char *name;      /* "Send", "Send.Recv", "[...]" */
    uint32_t class_number; /* or ES_PATTERN_NONE */
    uint32_t predicate;    /* or ES_PATTERN_NONE */
    struct esi_pattern_place place;
};

/* Parses NAME, a literal, or two of these with a dot.  `id` is a name that was consumed
 * already, or NULL. */
int esi_parse_class(struct esi_parser *parser,
                    const struct esi_token *id,
                    struct esi_reference *ret_reference);
/* Finds a defined name. */
int esi_find_name(struct esi_parser *parser,
                  const struct esi_token *id,
                  struct esi_symbol *ret_symbol);
/* --- Clauses ---------------------------------------------------------------------- */

int esi_parse_clause(struct esi_parser *parser,
                     const struct esi_pattern_node **ret_node);

/* One side of `|`. */
struct esi_side {
    const struct esi_pattern_node *node;
    struct esi_pattern_place place; /* of the operator after it */
    uint32_t height;
};
/* Joins the sides into a tree: grouped to the right, or of minimal height if there are
 * many.  There must be at least one side. */
int esi_join_sides(struct esi_parser *parser,
                   const struct esi_side *sides,
                   size_t count,
                   const struct esi_pattern_node **ret_node);
/* Splits sides of `|` off into predicates of their own until the predicate has at most
 * ES_PATTERN_OCCURRENCES occurrences. */
int esi_fold_predicate(struct esi_parser *parser,
                       const struct esi_token *id,
                       const struct esi_pattern_node **root);
int esi_add_occurrence(struct esi_parser *parser,
                       enum esi_pattern_sign sign,
                       const struct esi_reference *reference,
                       uint32_t *ret_occurrence);

/* Parses a term, a count or a comparison. */
int esi_parse_operand(struct esi_parser *parser, struct esi_pattern_node **ret_node);
/* Parses the text between -( and )->, and returns the number of a universal
 * occurrence. */
int esi_parse_limit(struct esi_parser *parser, uint32_t *ret_occurrence);

/* Creates a zeroed node, except that its numbers are ES_PATTERN_NONE.  NULL if there is
 * no memory. */
struct esi_pattern_node *esi_node_create(struct esi_parser *parser,
                                         enum esi_pattern_node_kind kind,
                                         struct esi_pattern_place place);

/* Enters a nesting level at the next token.  The caller leaves it by
 * parser->depth--. */
int esi_enter(struct esi_parser *parser);
/* Computes the height of a new node above the tree parsed last and one of height
 * `left`. */
int esi_raise(struct esi_parser *parser, uint32_t left, struct esi_pattern_place place);

#endif
