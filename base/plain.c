/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Text from untrusted sources, for terminals, logs and messages. */
#include "config.h"

#include "base/plain.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ESCAPE_BYTES = 12 }; /* including the terminating 0 */

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

/* Number of bytes at the start of `text` that need no escape. */
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

/* Escapes the character or byte at the start of `text`.  Returns its length. */
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

/* Line breaks at the end of a format. */
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
        line_ends = 0; /* truncated if out of memory */
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

/* --- CSV -------------------------------------------------------------------------- */

/* Returns whether a spreadsheet would evaluate the text. */
static bool is_calculated(const char *text)
{
    if (*text == '+' || *text == '-')
        return text[1] == '\0' || text[1 + strspn(text + 1, "0123456789.")] != '\0';
    return *text == '=' || *text == '@';
}

void esi_csv_text(FILE *stream, const char *text)
{
    bool is_formula = is_calculated(text);

    if (!is_formula && !strpbrk(text, ",\"")) {
        esi_plain_write(stream, text);
        return;
    }
    char *plain = esi_plain_duplicate(text);
    fputs(is_formula ? "\"'" : "\"", stream);
    for (const char *next = plain ? plain : ""; *next; next++) {
        if (*next == '"')
            fputc('"', stream);
        fputc(*next, stream);
    }
    fputc('"', stream);
    free(plain);
}

/* --- XML -------------------------------------------------------------------------- */

static void write_xml_character(FILE *stream, const char *text, size_t bytes)
{
    switch (*text) {
    case '&':
        fputs("&amp;", stream);
        break;
    case '<':
        fputs("&lt;", stream);
        break;
    case '>':
        fputs("&gt;", stream);
        break;
    case '"':
        fputs("&quot;", stream);
        break;
    default:
        fwrite(text, 1, bytes, stream);
    }
}

void esi_xml_text(FILE *stream, const char *text, size_t most)
{
    char *plain = esi_plain_duplicate(text);
    const char *next = plain ? plain : "";

    for (size_t done = 0; *next; done++) {
        size_t bytes = esi_utf8_length((const unsigned char *)next);

        if (done + 1 >= most && next[bytes]) {
            fputs("\u2026", stream);
            break;
        }
        write_xml_character(stream, next, bytes);
        next += bytes;
    }
    free(plain);
}

/* --- UTF-8 ------------------------------------------------------------------------ */

size_t esi_utf8_length(const unsigned char *text)
{
    unsigned char first = text[0];
    unsigned char low = 0x80, high = 0xbf; /* range of the second byte */
    size_t length;

    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        length = 2;
    else if (first >= 0xe0 && first <= 0xef)
        length = 3;
    else if (first >= 0xf0 && first <= 0xf4)
        length = 4;
    else
        return 0;
    if (first == 0xe0)
        low = 0xa0;
    else if (first == 0xed)
        high = 0x9f;
    else if (first == 0xf0)
        low = 0x90;
    else if (first == 0xf4)
        high = 0x8f;
    /* A terminating 0 fails each comparison, so nothing after it is read. */
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

uint32_t esi_utf8_value(const unsigned char *text, size_t length)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t value = text[0] & first_bits[length];

    for (size_t i = 1; i < length; i++)
        value = value << 6 | (text[i] & 0x3f);
    return value;
}
