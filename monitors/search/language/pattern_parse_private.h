/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The parser of pattern files: recursive descent, one token ahead.
 *
 *   pattern_parse.c    statements, `|`, `&` and relations
 *   pattern_fold.c     predicates with very many sides of `|`
 *   pattern_term.c     operands of relations: terms, counts, comparisons
 *   pattern_class.c    classes: literals and partners
 *   pattern_value.c    strings, numbers and names
 *
 * All functions return 0, -EINVAL with words, or -ENOMEM.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_PARSE_PRIVATE_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_PARSE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/language/pattern.h"
#include "monitors/search/language/pattern_lexer.h"
#include "monitors/search/language/pattern_private.h"

/* Brackets and operators around each other: bounds the recursion.  What was printed
 * with all brackets has at most twice as many as the tree is high. */
enum { ESI_PARSER_DEPTH = 2 * ES_PATTERN_HEIGHT };

/* Caller's memory. */
struct esi_parser {
    struct esi_lexer lexer;
    struct esi_token token; /* the next one */
    struct es_pattern_file *file;
    struct esi_symbols variables;
    uint32_t depth;
    uint32_t height; /* of the tree that was parsed last */

    /* Of the predicate that is being parsed. */
    struct esi_pattern_occurrence *occurrences;
    uint32_t occurrence_count;
    size_t occurrence_room;
};

/* So many are parsed; what is more than ES_PATTERN_OCCURRENCES has to be folded. */
enum { ESI_PARSER_OCCURRENCES = 1 << 17 };

/* --- Tokens ----------------------------------------------------------------------- */

#define esi_fault(parser, place, ...)                                                  \
    esi_source_fault((parser)->lexer.source, place, __VA_ARGS__)

/* "found '...', expected ...", at the next token. */
int esi_unexpected(struct esi_parser *parser, const char *expected);
/* Goes on by one token. */
int esi_advance(struct esi_parser *parser);
/* Takes the next token, if it is of that kind. */
int esi_expect(struct esi_parser *parser,
               enum esi_token_kind kind,
               const char *expected);

/* --- Values ----------------------------------------------------------------------- */

/* A name of an attribute, at the next token: a string or an id. */
int esi_parse_name(struct esi_parser *parser, const char **ret_name);
/* Which field a name means; a new attribute gets a number. */
int esi_resolve_field(struct esi_parser *parser,
                      const char *name,
                      enum esi_pattern_field *ret_field,
                      uint32_t *ret_attribute);

/* A string with wildcards (D13): what stands between them.  None: an empty string. */
struct esi_glob {
    const char *const *pieces;
    size_t count;
};
int esi_parse_glob(struct esi_parser *parser, struct esi_glob *ret_glob);
/* What a string matches if it has no wildcards; pieces are joined with '*'. */
int esi_glob_text(struct esi_parser *parser,
                  const struct esi_glob *glob,
                  const char **ret_text);
/* The regular expression that matches just what the string does. */
int esi_glob_regex(struct esi_parser *parser,
                   const struct esi_glob *glob,
                   const char **ret_expression);

/* A string as regular expression; it is one. */
int esi_parse_regex(struct esi_parser *parser, const char **ret_expression);

enum esi_units {
    ESI_UNITS_ANY,   /* of time, of size, or none */
    ESI_UNITS_TIME,  /* must be there */
    ESI_UNITS_COUNT, /* none, not negative */
};
int esi_parse_number(struct esi_parser *parser,
                     enum esi_units units,
                     int64_t *ret_number);

/* A comparison's sign, at the next token, as a test. */
struct esi_comparison {
    enum esi_pattern_test test; /* GLOB for = and != */
    bool is_negated;
};
bool esi_is_comparison(enum esi_token_kind kind);
int esi_parse_comparison(struct esi_parser *parser,
                         struct esi_comparison *ret_comparison);

/* --- Classes ---------------------------------------------------------------------- */

/* What a class expression or a name stands for. */
struct esi_reference {
    const char *name;      /* "Send", "Send.Recv", "[...]" */
    uint32_t class_number; /* or ES_PATTERN_NONE */
    uint32_t predicate;    /* or ES_PATTERN_NONE */
    struct esi_pattern_place place;
};

/* NAME, literal, or two of these with a dot; `id` is a name that was taken already, or
 * NULL. */
int esi_parse_class(struct esi_parser *parser,
                    const struct esi_token *id,
                    struct esi_reference *ret_reference);
/* A name that is defined. */
int esi_find_name(struct esi_parser *parser,
                  const struct esi_token *id,
                  struct esi_symbol *ret_symbol);
/* --- Clauses ---------------------------------------------------------------------- */

int esi_parse_clause(struct esi_parser *parser,
                     const struct esi_pattern_node **ret_node);

/* One of several between `|`. */
struct esi_side {
    const struct esi_pattern_node *node;
    struct esi_pattern_place place; /* of the operator behind it */
    uint32_t height;
};
/* The tree of these: it groups to the right, or is as low as can be where they are
 * many.  At least one. */
int esi_join_sides(struct esi_parser *parser,
                   const struct esi_side *sides,
                   size_t count,
                   const struct esi_pattern_node **ret_node);
/* Makes predicates of sides of `|` until the one that was parsed has at most
 * ES_PATTERN_OCCURRENCES occurrences. */
int esi_fold_predicate(struct esi_parser *parser,
                       const struct esi_token *id,
                       const struct esi_pattern_node **root);
int esi_add_occurrence(struct esi_parser *parser,
                       enum esi_pattern_sign sign,
                       const struct esi_reference *reference,
                       uint32_t *ret_occurrence);

/* A term, a count or a comparison. */
int esi_parse_operand(struct esi_parser *parser, struct esi_pattern_node **ret_node);
/* What stands between -( and )->: the number of a universal occurrence. */
int esi_parse_limit(struct esi_parser *parser, uint32_t *ret_occurrence);

/* Zeroed but for what is no number of anything; NULL: -ENOMEM. */
struct esi_pattern_node *esi_node_create(struct esi_parser *parser,
                                         enum esi_pattern_node_kind kind,
                                         struct esi_pattern_place place);

/* One level down, at the next token; back up by parser->depth--. */
int esi_enter(struct esi_parser *parser);
/* The tree that was parsed last, and one of height `left`, are below a new node. */
int esi_raise(struct esi_parser *parser, uint32_t left, struct esi_pattern_place place);

#endif
