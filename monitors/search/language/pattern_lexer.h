/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tokens of the pattern language.  White space and comments separate them. */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_LEXER_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/language/pattern.h"
#include "monitors/search/language/pattern_source.h"

enum esi_token_kind {
    ESI_TOKEN_END, /* end of the file */
    ESI_TOKEN_ID,
    ESI_TOKEN_VARIABLE, /* with its sign */
    ESI_TOKEN_STRING,   /* with its quotes and escapes */
    ESI_TOKEN_NUMBER,   /* "-12.5ms": sign, digits, fraction and an adjacent unit */
    ESI_TOKEN_DEFINE,   /* := */
    ESI_TOKEN_SEMICOLON,
    ESI_TOKEN_COMMA,
    ESI_TOKEN_DOT,
    ESI_TOKEN_LEFT_ROUND,
    ESI_TOKEN_RIGHT_ROUND,
    ESI_TOKEN_LEFT_SQUARE,
    ESI_TOKEN_RIGHT_SQUARE,
    ESI_TOKEN_AND,
    ESI_TOKEN_OR,
    ESI_TOKEN_NOT,
    ESI_TOKEN_BEFORE,     /* -> or --> */
    ESI_TOKEN_CONCURRENT, /* || */
    ESI_TOKEN_ENTANGLED,  /* <-> */
    ESI_TOKEN_RECEIVED,   /* => */
    ESI_TOKEN_LIMIT,      /* -( */
    ESI_TOKEN_EQUAL,
    ESI_TOKEN_NOT_EQUAL,
    ESI_TOKEN_LESS,
    ESI_TOKEN_LESS_EQUAL,
    ESI_TOKEN_GREATER,
    ESI_TOKEN_GREATER_EQUAL,
    ESI_TOKEN_MATCH,     /* =~ */
    ESI_TOKEN_NOT_MATCH, /* !~ */
};

struct esi_token {
    enum esi_token_kind kind;
    const char *text; /* points into the source */
    size_t length;
    struct esi_pattern_place place;
};

/* Memory of the caller, initialized as {source, source->text, source->text, 1}. */
struct esi_lexer {
    const struct esi_source *source;
    const char *at;
    const char *line_begin;
    uint32_t line;
};

/* Returns 0, or -EINVAL with a message. */
int esi_lexer_next(struct esi_lexer *lexer, struct esi_token *ret_token);

bool esi_token_is(const struct esi_token *token, const char *text);

enum { ESI_TOKEN_WORDS = 64 };

/* Formats a token for a message: "'-->'", truncated if long, or "the end of the
 * file". */
const char *esi_token_words(const struct esi_token *token, char out[ESI_TOKEN_WORDS]);

#endif
