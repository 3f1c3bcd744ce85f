/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Text for terminals, logs and sentences, however it came about. */
#include "config.h"

#include "base/plain.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { ESCAPE_BYTES = 12 }; /* with the 0 */

static bool is_printable(uint32_t character)
{
    static const uint32_t hidden[][2] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
        {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
        {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xfffe, 0xffff},
    };

    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (character >= hidden[i][0] && character <= hidden[i][1])
            return false;
    return true;
}

/* Bytes at the beginning of `text` that are shown as they are. */
static size_t span_plain(const unsigned char *text)
{
    size_t span = 0;

    for (;;) {
        while (text[span] >= 0x20 && text[span] < 0x7f)
            span++;
        size_t length = esi_utf8_length(text + span);
        if (length == 0 || !is_printable(esi_utf8_value(text + span, length)))
            return span;
        span += length;
    }
}

/* Escapes the character or byte that `text` begins with.  Returns its length. */
static size_t plain_escape(const unsigned char *text, char out[ESCAPE_BYTES])
{
    static const char letters[] = "abtnvfr";
    size_t length = esi_utf8_length(text);
    uint32_t value = length > 0 ? esi_utf8_value(text, length) : text[0];

    if (length > 1)
        snprintf(out, ESCAPE_BYTES, "\\u%04" PRIx32, value);
    else if (value >= '\a' && value <= '\r')
        snprintf(out, ESCAPE_BYTES, "\\%c", letters[value - '\a']);
    else if (value == 0x1b)
        snprintf(out, ESCAPE_BYTES, "\\e");
    else
        snprintf(out, ESCAPE_BYTES, "\\x%02" PRIx32, value);
    return length > 0 ? length : 1;
}

int esi_plain_is(const char *text)
{
    return text[span_plain((const unsigned char *)text)] == '\0';
}

void esi_plain_write(FILE *stream, const char *text)
{
    const unsigned char *next = (const unsigned char *)text;
    char escaped[ESCAPE_BYTES];

    for (;;) {
        size_t span = span_plain(next);
        fwrite(next, 1, span, stream);
        next += span;
        if (*next == '\0')
            return;
        next += plain_escape(next, escaped);
        fputs(escaped, stream);
    }
}

void esi_plain_write_quoted(FILE *stream, const char *text)
{
    const unsigned char *next = (const unsigned char *)text;
    char escaped[ESCAPE_BYTES];

    while (*next) {
        size_t span = span_plain(next);
        for (size_t i = 0; i < span; i++) {
            if (next[i] == '"' || next[i] == '\\')
                fputc('\\', stream);
            fputc(next[i], stream);
        }
        next += span;
        if (*next) {
            next += plain_escape(next, escaped);
            fprintf(stream, "\\%s", escaped);
        }
    }
}

/* Line ends that a format ends with. */
static size_t count_line_ends(const char *format)
{
    size_t length = strlen(format), count = 0;

    while (count < length && format[length - count - 1] == '\n')
        count++;
    return count;
}

void esi_plain_vprint(FILE *stream, const char *format, va_list arguments)
{
    size_t line_ends = count_line_ends(format);
    char brief[512], *text = brief;
    va_list again;

    va_copy(again, arguments);
    int length = vsnprintf(brief, sizeof brief, format, arguments);
    if (length >= (int)sizeof brief && vasprintf(&text, format, again) < 0)
        text = brief;
    va_end(again);
    if (length < 0)
        return;
    size_t used = strlen(text);
    if (text == brief && length >= (int)sizeof brief)
        line_ends = 0; /* without memory it is cut */
    text[used - line_ends] = '\0';
    char *line = text;
    for (; *format == '\n' && *line == '\n'; format++)
        fputc(*line++, stream);
    esi_plain_write(stream, line);
    while (line_ends-- > 0)
        fputc('\n', stream);
    if (text != brief)
        free(text);
}

void esi_plain_print(FILE *stream, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    esi_plain_vprint(stream, format, arguments);
    va_end(arguments);
}

char *esi_plain_copy(char *out, size_t size, const char *text)
{
    const unsigned char *next = (const unsigned char *)text;
    char escaped[ESCAPE_BYTES];
    size_t used = 0;

    while (*next) {
        size_t length = esi_utf8_length(next);
        bool plain = length > 0 && is_printable(esi_utf8_value(next, length));
        if (plain)
            snprintf(escaped, sizeof escaped, "%.*s", (int)length, (const char *)next);
        else
            length = plain_escape(next, escaped);
        size_t bytes = strlen(escaped);
        if (used + bytes >= size)
            break;
        memcpy(out + used, escaped, bytes);
        used += bytes;
        next += length;
    }
    if (size > 0)
        out[used] = '\0';
    return out;
}

char *esi_plain_duplicate(const char *text)
{
    size_t size = strlen(text) * (ESCAPE_BYTES / 2) + 1;
    char *copy = malloc(size);

    return copy ? esi_plain_copy(copy, size, text) : NULL;
}
