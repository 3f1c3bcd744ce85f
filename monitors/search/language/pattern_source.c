/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Messages about faults in pattern files, with their positions. */
#include "config.h"

#include "monitors/search/language/pattern_source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    SENTENCE_BYTES = 200,
    SHOWN_BYTES = 100,  /* of a longer line */
    SHOWN_BEFORE = 60,  /* number of these before the fault */
    SHOWN_BUFFER = 112, /* including dots at both ends */
};

/* Part of a line. */
struct piece {
    const char *begin;
    const char *fault;
    const char *end;
    bool is_cut_before;
    bool is_cut_behind;
};

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static struct piece find_line(const struct esi_source *source,
                              struct esi_pattern_place place)
{
    const char *end = source->text + source->length;
    struct piece piece = {.begin = source->text};
    const char *stop;

    for (uint32_t line = 1; line < place.line; line++) {
        const char *feed = memchr(piece.begin, '\n', (size_t)(end - piece.begin));

        if (!feed)
            break;
        piece.begin = feed + 1;
    }
    stop = memchr(piece.begin, '\n', (size_t)(end - piece.begin));
    piece.end = stop ? stop : end;
    if (piece.end > piece.begin && piece.end[-1] == '\r')
        piece.end--;
    piece.fault = piece.begin + (place.column - 1);
    if (piece.fault > piece.end)
        piece.fault = piece.end;
    return piece;
}

/* Cuts between characters. */
static void cut_line(struct piece *piece)
{
    if (piece->end - piece->begin <= SHOWN_BYTES)
        return;
    if (piece->fault - piece->begin > SHOWN_BEFORE) {
        piece->begin = piece->fault - SHOWN_BEFORE;
        piece->is_cut_before = true;
    }
    while (piece->begin < piece->fault && is_continuation(*piece->begin))
        piece->begin++;
    if (piece->end - piece->begin > SHOWN_BYTES) {
        piece->end = piece->begin + SHOWN_BYTES;
        piece->is_cut_behind = true;
    }
    while (piece->is_cut_behind && piece->end > piece->fault &&
           is_continuation(*piece->end))
        piece->end--;
}

/* Replaces control characters, which could disturb a terminal. */
static void show_line(const struct piece *piece, char out[SHOWN_BUFFER])
{
    if (piece->is_cut_before)
        out = stpcpy(out, "...");
    for (const char *at = piece->begin; at < piece->end; at++)
        *out++ = ((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f ? '?' : *at;
    strcpy(out, piece->is_cut_behind ? "..." : "");
}

/* Copies the width of the line before the fault: tabs stay tabs. */
static void show_indent(const struct piece *piece, char out[SHOWN_BUFFER])
{
    if (piece->is_cut_before)
        out = stpcpy(out, "   ");
    for (const char *at = piece->begin; at < piece->fault; at++) {
        if (!is_continuation(*at))
            *out++ = *at == '\t' ? '\t' : ' ';
    }
    *out = '\0';
}

int esi_source_fault(const struct esi_source *source,
                     struct esi_pattern_place place,
                     const char *format,
                     ...)
{
    char sentence[SENTENCE_BYTES];
    char line[SHOWN_BUFFER];
    char indent[SHOWN_BUFFER];
    struct piece piece = find_line(source, place);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    cut_line(&piece);
    show_line(&piece, line);
    show_indent(&piece, indent);
    return es_error_set_at(source->error, -EINVAL, source->name, (int)place.line,
                           (int)place.column, "%s\n    %s\n    %s^", sentence, line,
                           indent);
}

/* --- UTF-8 ------------------------------------------------------------------------ */

/* Number of bytes of the character at `at`; 0 if it is invalid (RFC 3629: no
 * surrogates, no overlong forms, nothing above U+10FFFF). */
static size_t character_bytes(const unsigned char *at, size_t left)
{
    size_t bytes = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;

    if (at[0] == 0 || (at[0] >= 0x80 && at[0] < 0xc2) || at[0] > 0xf4 || bytes > left)
        return 0;
    if (at[0] == 0xe0)
        low = 0xa0;
    else if (at[0] == 0xed)
        high = 0x9f;
    else if (at[0] == 0xf0)
        low = 0x90;
    else if (at[0] == 0xf4)
        high = 0x8f;
    if (bytes > 1 && (at[1] < low || at[1] > high))
        return 0;
    for (size_t i = 2; i < bytes; i++) {
        if (at[i] < 0x80 || at[i] > 0xbf)
            return 0;
    }
    return bytes;
}

int esi_source_check(const struct esi_source *source)
{
    const unsigned char *at = (const unsigned char *)source->text;
    const unsigned char *end = at + source->length;
    const unsigned char *line_begin = at;
    int line = 1;

    if (source->length > ESI_SOURCE_BYTES)
        return es_error_set_at(source->error, -EINVAL, source->name, 0, 0,
                               "%zu bytes are too many for patterns, %d are allowed",
                               source->length, ESI_SOURCE_BYTES);
    while (at < end) {
        size_t bytes = character_bytes(at, (size_t)(end - at));

        if (bytes == 0)
            return es_error_set_at(source->error, -EINVAL, source->name, line,
                                   (int)(at - line_begin) + 1,
                                   "byte 0x%02x is %s, expected text in UTF-8", *at,
                                   *at == 0 ? "a NUL" : "not a character of UTF-8");
        if (*at == '\n') {
            line++;
            line_begin = at + 1;
        }
        at += bytes;
    }
    return 0;
}
