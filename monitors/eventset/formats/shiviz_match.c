/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Regular expressions with the semantics of ShiViz. */
#include "config.h"

#include "monitors/eventset/formats/shiviz_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/library_words.h"

enum {
    MATCH_LIMIT = 1000000, /* steps of one match */
    HEAP_LIMIT_KIB = 65536,
};

struct esi_shiviz_pair {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    uint32_t names;
    uint32_t name_bytes; /* of a row of the table: number in two bytes, then the name */
    PCRE2_SPTR table;
};

static pcre2_code *compile_expression(const char *expression,
                                      const char *what,
                                      struct es_error *error,
                                      int *ret_code)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_code *code;
    PCRE2_SIZE at;
    int fault;
    char text[160], words[160];

    *ret_code = -ENOMEM;
    if (!context)
        return NULL;
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                         PCRE2_UTF | PCRE2_MULTILINE | PCRE2_ALT_BSUX |
                             PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
                             PCRE2_NEVER_BACKSLASH_C,
                         &fault, &at, context);
    pcre2_compile_context_free(context);
    if (!code) {
        pcre2_get_error_message(fault, (PCRE2_UCHAR *)text, sizeof text);
        *ret_code = es_error_set(error, -EINVAL, "%s: %s, at character %zu of '%s'",
                                 what, esi_library_words(text, words, sizeof words),
                                 (size_t)at + 1, expression);
    }
    return code;
}

int esi_match_create(const char *expression,
                     const char *what,
                     struct es_error *error,
                     struct esi_shiviz_pair **ret_match)
{
    struct esi_shiviz_pair *match = calloc(1, sizeof *match);
    int result;

    if (!match)
        return -ENOMEM;
    match->code = compile_expression(expression, what, error, &result);
    if (match->code) {
        match->data = pcre2_match_data_create_from_pattern(match->code, NULL);
        match->context = pcre2_match_context_create(NULL);
    }
    if (!match->data || !match->context) {
        esi_match_destroy(match);
        return result;
    }
    pcre2_set_match_limit(match->context, MATCH_LIMIT);
    pcre2_set_heap_limit(match->context, HEAP_LIMIT_KIB);
    pcre2_pattern_info(match->code, PCRE2_INFO_NAMECOUNT, &match->names);
    pcre2_pattern_info(match->code, PCRE2_INFO_NAMEENTRYSIZE, &match->name_bytes);
    pcre2_pattern_info(match->code, PCRE2_INFO_NAMETABLE, &match->table);
    *ret_match = match;
    return 0;
}

void esi_match_destroy(struct esi_shiviz_pair *match)
{
    if (!match)
        return;
    pcre2_match_context_free(match->context);
    pcre2_match_data_free(match->data);
    pcre2_code_free(match->code);
    free(match);
}

size_t esi_match_names(const struct esi_shiviz_pair *match)
{
    return match->names;
}

const char *esi_match_name(const struct esi_shiviz_pair *match, size_t name)
{
    return (const char *)match->table + name * match->name_bytes + 2;
}

int esi_match_find_name(const struct esi_shiviz_pair *match, const char *name)
{
    for (size_t i = 0; i < match->names; i++)
        if (strcmp(esi_match_name(match, i), name) == 0)
            return (int)i;
    return -1;
}

int esi_match_next(struct esi_shiviz_pair *match,
                   const char *text,
                   size_t start,
                   size_t end,
                   struct esi_shiviz_piece *ret_whole)
{
    int result = pcre2_match(match->code, (PCRE2_SPTR)text, end, start,
                             PCRE2_NO_UTF_CHECK, match->data, match->context);
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(match->data);

    if (result == PCRE2_ERROR_NOMATCH)
        return 0;
    if (result == PCRE2_ERROR_NOMEMORY)
        return -ENOMEM;
    /* \K may put the start after the end. */
    if (result < 0 || places[0] > places[1])
        return -E2BIG;
    *ret_whole = (struct esi_shiviz_piece){places[0], places[1] - places[0]};
    return 1;
}

size_t esi_match_step(const char *text, size_t at, size_t end)
{
    do
        at++;
    while (at < end && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

struct esi_shiviz_piece esi_match_group(const struct esi_shiviz_pair *match,
                                        size_t name)
{
    PCRE2_SPTR row = match->table + name * match->name_bytes;
    size_t group = (size_t)row[0] << 8 | row[1];
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(match->data) + 2 * group;

    if (places[0] == PCRE2_UNSET || places[0] > places[1])
        return (struct esi_shiviz_piece){0, SIZE_MAX};
    return (struct esi_shiviz_piece){places[0], places[1] - places[0]};
}

bool esi_match_check_text(struct esi_shiviz_pair *match,
                          const char *text,
                          size_t length,
                          size_t *ret_at)
{
    /* The whole text is checked, however little of it is matched. */
    int result = pcre2_match(match->code, (PCRE2_SPTR)text, length, 0, PCRE2_ANCHORED,
                             match->data, match->context);

    if (result > PCRE2_ERROR_UTF8_ERR1 || result < PCRE2_ERROR_UTF8_ERR21)
        return true;
    *ret_at = pcre2_get_startchar(match->data);
    return false;
}
