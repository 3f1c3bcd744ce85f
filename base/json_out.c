/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Writes JSON Lines (RFC 8259, one value per line). */
#include "config.h"

#include "base/json_out.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

void esi_json_out_init(struct esi_json_out *out, FILE *stream)
{
    *out = (struct esi_json_out){.stream = stream};
}

static void write_escaped(FILE *stream, uint32_t character)
{
    static const char letters[] = "btn\vfr"; /* \v has no short form */

    if (character == '"' || character == '\\')
        fprintf(stream, "\\%c", (int)character);
    else if (character >= '\b' && character <= '\r' && character != '\v')
        fprintf(stream, "\\%c", letters[character - '\b']);
    else
        fprintf(stream, "\\u%04" PRIx32, character);
}

/* Non-ASCII control characters that terminals obey, in two bytes. */
static bool is_c1(const unsigned char *text, size_t length)
{
    return length == 2 && text[0] == 0xc2 && text[1] < 0xa0;
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static void write_quoted(FILE *stream, const char *text)
{
    const unsigned char *next = (const unsigned char *)text;

    putc_unlocked('"', stream);
    while (*next) {
        const unsigned char *plain = next;
        size_t length;

        while (is_plain(*next))
            next++;
        fwrite_unlocked(plain, 1, (size_t)(next - plain), stream);
        if (!*next)
            break;
        length = esi_utf8_length(next);
        if (length == 0)
            fwrite_unlocked("\xef\xbf\xbd", 1, 3, stream);
        else if (length == 1 || is_c1(next, length))
            write_escaped(stream, esi_utf8_value(next, length));
        else
            fwrite_unlocked(next, 1, length, stream);
        next += length > 0 ? length : 1;
    }
    putc_unlocked('"', stream);
}

/* Writes the comma and the key before a value. */
static void begin_value(struct esi_json_out *out, const char *key)
{
    bool in_object = out->depth > 0 && out->level[out->depth - 1].object;

    assert(in_object == (key != NULL));
    if (out->depth > 0) {
        if (out->level[out->depth - 1].filled)
            putc_unlocked(',', out->stream);
        out->level[out->depth - 1].filled = true;
    }
    if (in_object && key) {
        write_quoted(out->stream, key);
        putc_unlocked(':', out->stream);
    }
}

static void end_value(struct esi_json_out *out)
{
    if (out->depth == 0)
        putc_unlocked('\n', out->stream);
}

static void begin_level(struct esi_json_out *out, const char *key, bool object)
{
    begin_value(out, key);
    assert(out->depth < ES_JSON_OUT_DEPTH);
    out->level[out->depth].object = object;
    out->level[out->depth].filled = false;
    out->depth++;
    putc_unlocked(object ? '{' : '[', out->stream);
}

void esi_json_out_begin_object(struct esi_json_out *out, const char *key)
{
    begin_level(out, key, true);
}

void esi_json_out_begin_array(struct esi_json_out *out, const char *key)
{
    begin_level(out, key, false);
}

bool esi_json_out_is_in_array(const struct esi_json_out *out)
{
    return out->depth > 0 && !out->level[out->depth - 1].object;
}

void esi_json_out_end(struct esi_json_out *out)
{
    assert(out->depth > 0);
    out->depth--;
    putc_unlocked(out->level[out->depth].object ? '}' : ']', out->stream);
    end_value(out);
}

void esi_json_out_string(struct esi_json_out *out, const char *key, const char *text)
{
    if (!text) {
        esi_json_out_null(out, key);
        return;
    }
    begin_value(out, key);
    write_quoted(out->stream, text);
    end_value(out);
}

static void write_digits(FILE *stream, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    fwrite_unlocked(digits + at, 1, sizeof digits - at, stream);
}

void esi_json_out_signed(struct esi_json_out *out, const char *key, int64_t value)
{
    begin_value(out, key);
    if (value < 0)
        putc_unlocked('-', out->stream);
    write_digits(out->stream, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    end_value(out);
}

void esi_json_out_unsigned(struct esi_json_out *out, const char *key, uint64_t value)
{
    begin_value(out, key);
    write_digits(out->stream, value);
    end_value(out);
}

/* printf and strtod use the program's locale; JSON does not. */
static void write_real(FILE *stream, double value)
{
    enum { FEWEST_DIGITS = 15, ENOUGH_DIGITS = 17 };
    const char *point = localeconv()->decimal_point;
    char digits[48];

    for (int precision = FEWEST_DIGITS; precision <= ENOUGH_DIGITS; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    char *found = *point ? strstr(digits, point) : NULL;
    if (found) {
        *found = '.';
        char *rest = found + strlen(point);
        memmove(found + 1, rest, strlen(rest) + 1);
    }
    fputs(digits, stream);
}

void esi_json_out_real(struct esi_json_out *out, const char *key, double value)
{
    if (!isfinite(value)) {
        esi_json_out_null(out, key);
        return;
    }
    begin_value(out, key);
    write_real(out->stream, value);
    end_value(out);
}

void esi_json_out_bool(struct esi_json_out *out, const char *key, bool value)
{
    begin_value(out, key);
    fputs(value ? "true" : "false", out->stream);
    end_value(out);
}

void esi_json_out_null(struct esi_json_out *out, const char *key)
{
    begin_value(out, key);
    fputs("null", out->stream);
    end_value(out);
}

void esi_json_out_raw(struct esi_json_out *out, const char *key, const char *json)
{
    begin_value(out, key);
    fputs(json, out->stream);
    end_value(out);
}

/* --- As a text in memory ---------------------------------------------------------- */

int esi_json_text_begin(struct esi_json_text *json)
{
    json->text = NULL;
    json->length = 0;
    json->stream = open_memstream(&json->text, &json->length);
    if (!json->stream)
        return -ENOMEM;
    esi_json_out_init(&json->out, json->stream);
    return 0;
}

int esi_json_text_finish(struct esi_json_text *json,
                         char **ret_text,
                         size_t *ret_length)
{
    int is_lost = ferror(json->stream);

    if (fclose(json->stream) != 0 || is_lost) {
        free(json->text);
        *ret_text = NULL;
        return -ENOMEM;
    }
    *ret_text = json->text;
    if (ret_length)
        *ret_length = json->length;
    return 0;
}
