/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tokens of the pattern language. */
#include "config.h"

#include "monitors/search/language/pattern_lexer.h"

#include <stdio.h>
#include <string.h>

/* ASCII only, in any locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char *source_end(const struct esi_lexer *lexer)
{
    return lexer->source->text + lexer->source->length;
}

/* The byte at this distance; 0 after the end. */
static char look_ahead(const struct esi_lexer *lexer, size_t ahead)
{
    return (size_t)(source_end(lexer) - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static struct esi_pattern_place place_here(const struct esi_lexer *lexer)
{
    return (struct esi_pattern_place){lexer->line,
                                      (uint32_t)(lexer->at - lexer->line_begin) + 1};
}

static void step_character(struct esi_lexer *lexer)
{
    if (*lexer->at++ == '\n') {
        lexer->line++;
        lexer->line_begin = lexer->at;
    }
}

/* --- Between tokens --------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static int skip_comment(struct esi_lexer *lexer)
{
    struct esi_pattern_place place = place_here(lexer);

    lexer->at += 2;
    while (lexer->at < source_end(lexer) &&
           !(look_ahead(lexer, 0) == '*' && look_ahead(lexer, 1) == '/'))
        step_character(lexer);
    if (lexer->at == source_end(lexer))
        return esi_source_fault(lexer->source, place,
                                "a comment has no end, expected '*/'");
    lexer->at += 2;
    return 0;
}

static void skip_line(struct esi_lexer *lexer)
{
    while (lexer->at < source_end(lexer) && *lexer->at != '\n')
        lexer->at++;
}

static int skip_blanks(struct esi_lexer *lexer)
{
    int code = 0;

    while (code == 0 && lexer->at < source_end(lexer)) {
        if (is_blank(*lexer->at))
            step_character(lexer);
        else if (*lexer->at == '#' ||
                 (*lexer->at == '/' && look_ahead(lexer, 1) == '/'))
            skip_line(lexer);
        else if (*lexer->at == '/' && look_ahead(lexer, 1) == '*')
            code = skip_comment(lexer);
        else
            break;
    }
    return code;
}

/* --- Tokens with a text ----------------------------------------------------------- */

static size_t id_length(const struct esi_lexer *lexer, size_t from)
{
    size_t length = from;

    while (is_letter(look_ahead(lexer, length)) || is_digit(look_ahead(lexer, length)))
        length++;
    return length;
}

static size_t number_length(const struct esi_lexer *lexer)
{
    size_t length = look_ahead(lexer, 0) == '-';

    while (is_digit(look_ahead(lexer, length)))
        length++;
    if (look_ahead(lexer, length) == '.' && is_digit(look_ahead(lexer, length + 1))) {
        length++;
        while (is_digit(look_ahead(lexer, length)))
            length++;
    }
    return id_length(lexer, length);
}

static int string_length(const struct esi_lexer *lexer, size_t *ret_length)
{
    size_t length = 1;

    while (look_ahead(lexer, length) != '"') {
        if (look_ahead(lexer, length) == '\\' && look_ahead(lexer, length + 1) != '\n')
            length++;
        if (look_ahead(lexer, length) == '\0' || look_ahead(lexer, length) == '\n')
            return esi_source_fault(lexer->source, place_here(lexer),
                                    "a string has no end, expected '\"' on its line");
        length++;
    }
    *ret_length = length + 1;
    return 0;
}

/* --- Signs ------------------------------------------------------------------------ */

struct sign {
    const char *text;
    enum esi_token_kind kind;
};

/* Longer signs come before those that are their prefix. */
static const struct sign signs[] = {
    {":=", ESI_TOKEN_DEFINE},     {";", ESI_TOKEN_SEMICOLON},
    {",", ESI_TOKEN_COMMA},       {".", ESI_TOKEN_DOT},
    {"(", ESI_TOKEN_LEFT_ROUND},  {")", ESI_TOKEN_RIGHT_ROUND},
    {"[", ESI_TOKEN_LEFT_SQUARE}, {"]", ESI_TOKEN_RIGHT_SQUARE},
    {"&", ESI_TOKEN_AND},         {"||", ESI_TOKEN_CONCURRENT},
    {"|", ESI_TOKEN_OR},          {"-->", ESI_TOKEN_BEFORE},
    {"->", ESI_TOKEN_BEFORE},     {"-(", ESI_TOKEN_LIMIT},
    {"<->", ESI_TOKEN_ENTANGLED}, {"<=", ESI_TOKEN_LESS_EQUAL},
    {"<", ESI_TOKEN_LESS},        {">=", ESI_TOKEN_GREATER_EQUAL},
    {">", ESI_TOKEN_GREATER},     {"=>", ESI_TOKEN_RECEIVED},
    {"=~", ESI_TOKEN_MATCH},      {"=", ESI_TOKEN_EQUAL},
    {"!~", ESI_TOKEN_NOT_MATCH},
};

static bool begins_with(const struct esi_lexer *lexer, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(source_end(lexer) - lexer->at) >= length &&
           memcmp(lexer->at, text, length) == 0;
}

/* "!=>" is a negated "=>", not "!=" and ">". */
static size_t find_sign(const struct esi_lexer *lexer, enum esi_token_kind *ret_kind)
{
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (begins_with(lexer, signs[i].text)) {
            *ret_kind = signs[i].kind;
            return strlen(signs[i].text);
        }
    }
    if (look_ahead(lexer, 0) != '!')
        return 0;
    *ret_kind = ESI_TOKEN_NOT;
    if (look_ahead(lexer, 1) != '=' || look_ahead(lexer, 2) == '>')
        return 1;
    *ret_kind = ESI_TOKEN_NOT_EQUAL;
    return 2;
}

/* Number of bytes of the current character. */
static int character_length(const struct esi_lexer *lexer)
{
    int length = 1;

    while (((unsigned char)look_ahead(lexer, (size_t)length) & 0xc0) == 0x80)
        length++;
    return length;
}

static int refuse_character(const struct esi_lexer *lexer)
{
    char first = *lexer->at;

    if (first == '$' || first == '*' || first == '~')
        return esi_source_fault(lexer->source, place_here(lexer),
                                "'%c' stands alone, expected the variable's name right "
                                "after it, as in %cx",
                                first, first);
    if ((unsigned char)first < ' ' || first == 0x7f)
        return esi_source_fault(lexer->source, place_here(lexer),
                                "the control character 0x%02x means nothing here",
                                (unsigned)first);
    if (first == '\'')
        return esi_source_fault(lexer->source, place_here(lexer),
                                "a single quote means nothing here, expected strings "
                                "in double quotes");
    return esi_source_fault(
        lexer->source, place_here(lexer), "'%.*s' means nothing here%s",
        character_length(lexer), lexer->at,
        (unsigned char)first > 127 ? ", expected names of ASCII letters, digits and '_'"
                                   : "");
}

int esi_lexer_next(struct esi_lexer *lexer, struct esi_token *ret_token)
{
    struct esi_token token = {.kind = ESI_TOKEN_END};
    int code = skip_blanks(lexer);
    char first = look_ahead(lexer, 0);

    if (code < 0)
        return code;
    token.text = lexer->at;
    token.place = place_here(lexer);
    if (is_letter(first)) {
        token.kind = ESI_TOKEN_ID;
        token.length = id_length(lexer, 0);
    } else if ((first == '$' || first == '*' || first == '~') &&
               is_letter(look_ahead(lexer, 1))) {
        token.kind = ESI_TOKEN_VARIABLE;
        token.length = id_length(lexer, 1);
    } else if (is_digit(first) || (first == '-' && is_digit(look_ahead(lexer, 1)))) {
        token.kind = ESI_TOKEN_NUMBER;
        token.length = number_length(lexer);
    } else if (first == '"') {
        token.kind = ESI_TOKEN_STRING;
        code = string_length(lexer, &token.length);
    } else if (lexer->at < source_end(lexer)) {
        token.length = find_sign(lexer, &token.kind);
        code = token.length == 0 ? refuse_character(lexer) : 0;
    }
    if (code < 0)
        return code;
    lexer->at += token.length;
    *ret_token = token;
    return 0;
}

bool esi_token_is(const struct esi_token *token, const char *text)
{
    return strlen(text) == token->length &&
           memcmp(text, token->text, token->length) == 0;
}

const char *esi_token_words(const struct esi_token *token, char out[ESI_TOKEN_WORDS])
{
    int length = 40;

    if (token->kind == ESI_TOKEN_END)
        return strcpy(out, "the end of the file");
    if (token->length <= (size_t)length) {
        snprintf(out, ESI_TOKEN_WORDS, "'%.*s'", (int)token->length, token->text);
        return out;
    }
    while (((unsigned char)token->text[length] & 0xc0) == 0x80)
        length--;
    snprintf(out, ESI_TOKEN_WORDS, "'%.*s...'", length, token->text);
    return out;
}
