/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* lines.c - the line codec.  The observed process uses it when it starts. */
#include "config.h"

#include "tuplespace/plan/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"

/* --- Lines and words -------------------------------------------------------------- */

int esi_lines_fault(const struct esi_lines *lines,
                    struct esi_text_span span,
                    const char *what,
                    const char *expected)
{
    const char *at = span.text ? span.text : lines->rest;
    int column = (int)(at - lines->line) + 1;

    if (!span.text)
        return es_error_set_at(lines->error, -EINVAL, lines->source, lines->number,
                               column, "%s: expected %s", what, expected);
    return es_error_set_at(lines->error, -EINVAL, lines->source, lines->number, column,
                           "%s '%.*s': expected %s", what,
                           (int)(span.length < 64 ? span.length : 64), span.text,
                           expected);
}

static bool next_line(struct esi_lines *lines)
{
    const char *text = lines->text;

    if (*text == '\0')
        return false;
    lines->line = lines->rest = text;
    lines->end = text + strcspn(text, *text == '#' ? "\n" : lines->line_end);
    lines->text = *lines->end != '\0' ? lines->end + 1 : lines->end;
    lines->number++;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct esi_text_span esi_lines_word(struct esi_lines *lines)
{
    const char *c = lines->rest;
    struct esi_text_span word;

    while (c < lines->end && is_blank(*c))
        c++;
    word.text = c;
    while (c < lines->end && !is_blank(*c))
        c++;
    word.length = (size_t)(c - word.text);
    lines->rest = c;
    return word;
}

int esi_lines_head(struct esi_lines *lines, const char *head)
{
    struct esi_text_span word;
    char expected[48];

    snprintf(expected, sizeof expected, "'%s 1'", head);
    if (!next_line(lines))
        return es_error_set_at(lines->error, -EINVAL, lines->source, 1, 1,
                               "empty: expected %s", expected);
    word = esi_lines_word(lines);
    if (!esi_text_span_is(word, head))
        return esi_lines_fault(lines, word, "first word", expected);
    word = esi_lines_word(lines);
    return esi_text_span_is(word, "1") ? 0
                                       : esi_lines_fault(lines, word, "version", "1");
}

int esi_lines_next(struct esi_lines *lines, struct esi_text_span *ret_word)
{
    while (next_line(lines)) {
        *ret_word = esi_lines_word(lines);
        if (esi_text_span_is(*ret_word, "end"))
            return 0;
        if (ret_word->length > 0 && ret_word->text[0] != '#')
            return 1;
    }
    return es_error_set_at(lines->error, -EINVAL, lines->source, lines->number, 1,
                           "the last line is missing: expected 'end'");
}

/* --- Texts ------------------------------------------------------------------------ */

/* The byte represented by %XX; -1 for an invalid escape or a zero byte. */
static int escaped_byte(struct esi_text_span span, size_t at)
{
    int high, low;

    if (span.length - at < 3)
        return -1;
    high = esi_wire_hex_digit(span.text[at + 1]);
    low = esi_wire_hex_digit(span.text[at + 2]);
    return high < 0 || low < 0 || high + low == 0 ? -1 : high * 16 + low;
}

/* Returns -EINVAL for an invalid escape, an empty text, or more than size - 1 bytes. */
static int lines_unescape(struct esi_text_span span, char *out, size_t size)
{
    size_t used = 0;

    for (size_t at = 0; at < span.length; at++) {
        int byte = (unsigned char)span.text[at];

        if (byte == '%') {
            byte = escaped_byte(span, at);
            at += 2;
        }
        if (byte < 0 || used + 1 >= size)
            return -EINVAL;
        out[used++] = (char)byte;
    }
    out[used] = '\0';
    return used > 0 ? 0 : -EINVAL;
}

static int read_text(const struct esi_lines *lines,
                     struct esi_text_span span,
                     const char *what,
                     char *out,
                     size_t size)
{
    char expected[64];

    if (lines_unescape(span, out, size) == 0)
        return 0;
    snprintf(expected, sizeof expected, "1 to %zu characters, %%XX for special ones",
             size - 1);
    return esi_lines_fault(lines, span, what, expected);
}

int esi_lines_text(struct esi_lines *lines, const char *what, char *out, size_t size)
{
    return read_text(lines, esi_lines_word(lines), what, out, size);
}

/* --- Members ---------------------------------------------------------------------- */

static const char *key_of(const struct esi_field *field)
{
    return field->line_name ? field->line_name : field->name;
}

static bool is_in_lines(const struct esi_field *field)
{
    return (field->flags & ESI_FIELD_JSON_ONLY) == 0;
}

int esi_lines_value(const struct esi_lines *lines,
                    const struct esi_field *field,
                    struct esi_text_span value,
                    void *record)
{
    char *place = (char *)record + field->offset;
    struct esi_field_fault fault;
    int code;

    /* A host "*" means none. */
    if (field->kind == ESI_FIELD_HOST && esi_text_span_is(value, "*")) {
        place[0] = '\0';
        return 0;
    }
    if ((field->flags & ESI_FIELD_IN_PLACE) != 0)
        return read_text(lines, value, key_of(field), place,
                         (size_t)field->maximum + 1);
    code = esi_field_parse(field, value, &fault, record);
    return code == -EINVAL
               ? esi_lines_fault(lines, fault.at, key_of(field), fault.expected)
               : code;
}

static int fault_unknown(const struct esi_lines *lines,
                         const struct esi_fields *fields,
                         struct esi_text_span key)
{
    char names[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < fields->row_count && used < sizeof names; i++) {
        const struct esi_field *field = &fields->rows[i];

        if (is_in_lines(field))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     used > 0 ? ", " : "one of ", key_of(field));
    }
    return esi_lines_fault(lines, key, "member", names);
}

static int fault_missing(const struct esi_lines *lines, const struct esi_field *field)
{
    char expected[64];

    snprintf(expected, sizeof expected, "%s=VALUE", key_of(field));
    return esi_lines_fault(lines, (struct esi_text_span){.text = NULL}, "end of line",
                           expected);
}

static bool has_key(const struct esi_field *field, struct esi_text_span key)
{
    return is_in_lines(field) &&
           (esi_text_span_is(key, key_of(field)) || esi_text_span_is(key, field->name));
}

/* Records the location of the member "KEY=VALUE".  Members usually come in the order of
 * the rows, so the search starts at row *next, after the last one found. */
static int find_member(const struct esi_lines *lines,
                       const struct esi_fields *fields,
                       struct esi_text_span word,
                       size_t *next,
                       struct esi_line_members *members)
{
    struct esi_text_span value = word;
    struct esi_text_span key = esi_text_span_split(&value, '=');
    size_t i = *next;

    if (!value.text)
        return esi_lines_fault(lines, word, "member", "KEY=VALUE");
    for (size_t tried = 0; tried < fields->row_count; tried++, i++) {
        i = i < fields->row_count ? i : 0;
        if (!has_key(&fields->rows[i], key))
            continue;
        if (members->keys[i].text)
            return esi_lines_fault(lines, key, "member", "each only once");
        members->keys[i] = key;
        members->values[i] = value;
        *next = i + 1;
        return 0;
    }
    return fault_unknown(lines, fields, key);
}

int esi_lines_members(struct esi_lines *lines,
                      const struct esi_fields *fields,
                      void *record,
                      struct esi_line_members *ret_members)
{
    struct esi_text_span word;
    size_t next = 0;
    int code = 0;

    memset(ret_members->keys, 0, fields->row_count * sizeof *ret_members->keys);
    while (code == 0 && (word = esi_lines_word(lines)).length > 0)
        code = find_member(lines, fields, word, &next, ret_members);
    for (size_t i = 0; i < fields->row_count && code == 0; i++) {
        const struct esi_field *field = &fields->rows[i];

        if (ret_members->keys[i].text)
            code = esi_lines_value(lines, field, ret_members->values[i], record);
        else if (is_in_lines(field) && (field->flags & ESI_FIELD_REQUIRED) != 0)
            code = fault_missing(lines, field);
    }
    return code;
}

/* --- Writing ---------------------------------------------------------------------- */

void esi_lines_print_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c <= ' ' || c == '%' || c == ';' || c == 0x7f)
            fprintf(out, "%%%02X", c);
        else
            fputc(c, out);
    }
}

static void print_value(FILE *out, const struct esi_field *field, const void *record)
{
    const char *text = (const char *)record + field->offset;

    if ((field->flags & ESI_FIELD_IN_PLACE) != 0)
        esi_lines_print_text(out, text[0] != '\0' ? text : "*");
    else if (field->kind == ESI_FIELD_BOOLEAN)
        fputc('0' + (int)esi_field_get(field, record), out);
    else
        esi_field_format(field, record, out);
}

/* The default of arrays is empty. */
static bool is_default(const struct esi_field *field,
                       const void *record,
                       const void *defaults)
{
    const char *a = (const char *)record + field->offset;
    const char *b = (const char *)defaults + field->offset;
    size_t count;

    switch (field->kind) {
    case ESI_FIELD_RANKS:
    case ESI_FIELD_EDGES:
        memcpy(&count, (const char *)record + field->count_offset, sizeof count);
        return count == 0;
    case ESI_FIELD_OTHER:
        return memcmp(a, b, field->size) == 0;
    default:
        return (field->flags & ESI_FIELD_IN_PLACE) != 0
                   ? strcmp(a, b) == 0
                   : esi_field_get(field, record) == esi_field_get(field, defaults);
    }
}

/* A field of lines only, with its default value. */
static bool is_quiet(const struct esi_field *field, const void *record)
{
    const bool *value = (const void *)((const char *)record + field->offset);

    return field->kind == ESI_FIELD_BOOLEAN &&
           (field->flags & ESI_FIELD_LINE_ONLY) != 0 &&
           (field->flags & ESI_FIELD_QUIET) != 0 && *value == (field->initial != 0);
}

void esi_lines_print(FILE *out,
                     const struct esi_fields *fields,
                     const void *record,
                     const void *defaults)
{
    for (size_t i = 0; i < fields->row_count; i++) {
        const struct esi_field *field = &fields->rows[i];

        if (!is_in_lines(field) || is_quiet(field, record) ||
            (defaults && is_default(field, record, defaults)))
            continue;
        fprintf(out, " %s=", key_of(field));
        print_value(out, field, record);
    }
}

int esi_lines_format(const char *head,
                     void (*print)(FILE *out, const void *record),
                     const void *record,
                     char **ret_text)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    bool failed;

    if (!out)
        return -ENOMEM;
    fprintf(out, "%s 1\n", head);
    print(out, record);
    fputs("end\n", out);
    failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    return 0;
}
