/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* fields.c - tables of fields: lookup, expected values, defaults, and conversion to and
 * from text. */
#include "config.h"

#include "base/fields.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/duration.h"
#include "base/nearest.h"
#include "eventspace/stage_property.h"

/* --- Texts ------------------------------------------------------------------------ */

struct esi_text_span esi_text_span_of(const char *text)
{
    return (struct esi_text_span){text, strlen(text)};
}

struct esi_text_span esi_text_span_split(struct esi_text_span *rest, char separator)
{
    const char *found = memchr(rest->text, separator, rest->length);
    struct esi_text_span piece = *rest;

    if (!found) {
        *rest = (struct esi_text_span){.text = NULL};
        return piece;
    }
    piece.length = (size_t)(found - piece.text);
    rest->text = found + 1;
    rest->length -= piece.length + 1;
    return piece;
}

bool esi_text_span_number(struct esi_text_span span,
                          uint64_t maximum,
                          uint64_t *ret_number)
{
    uint64_t number = 0;

    for (size_t i = 0; i < span.length; i++) {
        uint64_t digit = (uint64_t)(span.text[i] - '0');

        if (span.text[i] < '0' || span.text[i] > '9' || number > maximum / 10 ||
            digit > maximum - number * 10)
            return false;
        number = number * 10 + digit;
    }
    if (span.length == 0)
        return false;
    *ret_number = number;
    return true;
}

/* --- Tables ----------------------------------------------------------------------- */

size_t esi_fields_count(const struct esi_fields *fields)
{
    return fields->row_count + (fields->base ? esi_fields_count(fields->base) : 0);
}

const struct esi_field *esi_fields_at(const struct esi_fields *fields, size_t index)
{
    size_t first = fields->base ? esi_fields_count(fields->base) : 0;

    return index < first ? esi_fields_at(fields->base, index)
                         : &fields->rows[index - first];
}

const struct esi_field *esi_fields_find(const struct esi_fields *fields,
                                        const char *name)
{
    for (size_t i = 0; i < fields->row_count; i++)
        if (strcmp(fields->rows[i].name, name) == 0)
            return &fields->rows[i];
    return fields->base ? esi_fields_find(fields->base, name) : NULL;
}

const char *esi_fields_nearest(const struct esi_fields *fields, const char *name)
{
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < esi_fields_count(fields); i++)
        esi_nearest_try(&nearest, esi_fields_at(fields, i)->name);
    return nearest.name;
}

static void init_field(const struct esi_field *field, void *record)
{
    char *place = (char *)record + field->offset;

    switch (field->kind) {
    case ESI_FIELD_INTEGER:
    case ESI_FIELD_DURATION:
    case ESI_FIELD_BOOLEAN:
    case ESI_FIELD_CHOICE:
    case ESI_FIELD_FLAGS:
        esi_field_set(field, record, field->initial);
        return;
    case ESI_FIELD_OBJECT:
        esi_fields_init(field->fields, place);
        return;
    default:
        if ((field->flags & ESI_FIELD_IN_PLACE) != 0)
            strcpy(place, field->initial_text ? field->initial_text : "");
    }
}

void esi_fields_init(const struct esi_fields *fields, void *record)
{
    for (size_t i = 0; i < esi_fields_count(fields); i++)
        init_field(esi_fields_at(fields, i), record);
}

/* --- Expectations ----------------------------------------------------------------- */

/* "one of 'a', 'b'" in JSON, 'one of a b' in text. */
static void expect_choice(const struct esi_field *field,
                          const char *words,
                          enum esi_field_form form,
                          char *out,
                          size_t size)
{
    bool is_json = form == ESI_FORM_JSON;
    int64_t last = is_json && field->maximum > 0 ? field->maximum : INT64_MAX;
    int64_t first = field->kind == ESI_FIELD_FLAGS ? field->minimum : 0;
    size_t used = (size_t)snprintf(out, size, "%s", words);

    for (int64_t i = first; field->choices[i] && i <= last && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, is_json ? "%s '%s'" : "%s %s",
                                 is_json && i > first ? "," : "", field->choices[i]);
    for (size_t i = 0;
         !is_json && field->groups && field->groups[i].name && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, " %s", field->groups[i].name);
}

static void expect_integer(const struct esi_field *field,
                           const char *what,
                           char *out,
                           size_t size)
{
    long long maximum = field->maximum;

    if (field->minimum == maximum)
        snprintf(out, size, "%lld", maximum);
    else if (maximum == INT64_MAX)
        snprintf(out, size, "%s from %" PRId64, what, field->minimum);
    else
        snprintf(out, size, "%s from %" PRId64 " to %lld", what, field->minimum,
                 maximum);
}

static void expect_in_text(const struct esi_field *field, char *out, size_t size)
{
    switch (field->kind) {
    case ESI_FIELD_INTEGER:
        expect_integer(field, "a whole number", out, size);
        break;
    case ESI_FIELD_DURATION:
        expect_integer(field, "a time in ns", out, size);
        break;
    case ESI_FIELD_BOOLEAN:
        snprintf(out, size, "yes or no");
        break;
    case ESI_FIELD_CHOICE:
        expect_choice(field, "one of", ESI_FORM_TEXT, out, size);
        break;
    case ESI_FIELD_FLAGS:
        expect_choice(field, "some of", ESI_FORM_TEXT, out, size);
        break;
    default:
        snprintf(out, size, "a text of a length from %" PRId64 " to %" PRId64,
                 field->minimum, field->maximum);
    }
}

static void expect_in_json(const struct esi_field *field, char *out, size_t size)
{
    long long maximum = field->maximum;

    switch (field->kind) {
    case ESI_FIELD_STRING:
        snprintf(out, size, "a text of 1 to %lld bytes", maximum);
        break;
    case ESI_FIELD_NAME:
        snprintf(out, size, "a name of 1 to %lld letters, digits, '_', '.', '-'",
                 maximum);
        break;
    case ESI_FIELD_HOST:
        snprintf(out, size, "a name of 1 to %lld letters, digits, '_', '.', '-', ':'",
                 maximum);
        break;
    case ESI_FIELD_PATTERN:
        snprintf(out, size, "a text of 1 to %lld bytes without spaces", maximum);
        break;
    case ESI_FIELD_RANGES:
    case ESI_FIELD_RANKS:
        snprintf(out, size, "numbers such as '0-3,7', or '*'");
        break;
    case ESI_FIELD_INTEGER:
    case ESI_FIELD_DURATION:
        expect_integer(field, "an integer", out, size);
        break;
    case ESI_FIELD_BOOLEAN:
        snprintf(out, size, "true or false");
        break;
    case ESI_FIELD_CHOICE:
        expect_choice(field, "one of", ESI_FORM_JSON, out, size);
        break;
    case ESI_FIELD_FLAGS:
        snprintf(out, size, "a list of names such as [\"%s\"]",
                 field->choices[field->minimum]);
        break;
    case ESI_FIELD_EDGES:
        snprintf(out, size, "a list of edges such as [[0, 1], [0, 2]]");
        break;
    case ESI_FIELD_INTEGERS:
        snprintf(out, size, "a list of integers");
        break;
    case ESI_FIELD_OBJECTS:
        snprintf(out, size, "a list of objects");
        break;
    default:
        snprintf(out, size, "an object");
    }
}

const char *esi_field_expected(const struct esi_field *field,
                               enum esi_field_form form,
                               char *out,
                               size_t size)
{
    if (form == ESI_FORM_JSON)
        expect_in_json(field, out, size);
    else if (field->text)
        snprintf(out, size, "%s", field->text->expected);
    else
        expect_in_text(field, out, size);
    return out;
}

/* --- Values ----------------------------------------------------------------------- */

int esi_field_choice(const struct esi_field *field, struct esi_text_span name)
{
    for (int i = 0; field->choices[i]; i++)
        if (esi_text_span_is(name, field->choices[i]))
            return i;
    return -1;
}

static bool kind_has_char(enum esi_field_kind kind, unsigned char c)
{
    bool plain = c < 0x80 && (isalnum(c) || strchr("_.-", c));

    switch (kind) {
    case ESI_FIELD_NAME:
        return plain;
    case ESI_FIELD_HOST:
        return plain || c == ':';
    case ESI_FIELD_PATTERN:
        return c > ' ' && c != 0x7f;
    default:
        return c >= ' ' && c != 0x7f;
    }
}

bool esi_field_has_text(const struct esi_field *field, const char *text)
{
    size_t length = strlen(text);

    if (length == 0 || length > (uint64_t)field->maximum)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!kind_has_char(field->kind, (unsigned char)text[i]))
            return false;
    return true;
}

static size_t number_size(const struct esi_field *field)
{
    if (field->size)
        return field->size;
    switch (field->kind) {
    case ESI_FIELD_BOOLEAN:
        return sizeof(bool);
    case ESI_FIELD_CHOICE:
    case ESI_FIELD_FLAGS:
        return sizeof(int);
    default:
        return sizeof(int64_t);
    }
}

int64_t esi_field_get(const struct esi_field *field, const void *record)
{
    const char *place = (const char *)record + field->offset;
    int64_t wide;
    int32_t narrow;
    bool truth;

    if (number_size(field) == sizeof wide) {
        memcpy(&wide, place, sizeof wide);
        return wide == -1 && (field->flags & ESI_FIELD_ENDLESS) ? field->maximum : wide;
    }
    if (number_size(field) == sizeof narrow) {
        memcpy(&narrow, place, sizeof narrow);
        return field->kind == ESI_FIELD_FLAGS ? (int64_t)(uint32_t)narrow : narrow;
    }
    memcpy(&truth, place, sizeof truth);
    return truth;
}

void esi_field_set(const struct esi_field *field, void *record, int64_t value)
{
    char *place = (char *)record + field->offset;
    bool is_end = (field->flags & ESI_FIELD_ENDLESS) && value == field->maximum;
    int64_t wide = is_end ? -1 : value;
    int32_t narrow = (int32_t)value;
    bool truth = value != 0;

    if (number_size(field) == sizeof wide)
        memcpy(place, &wide, sizeof wide);
    else if (number_size(field) == sizeof narrow)
        memcpy(place, &narrow, sizeof narrow);
    else
        memcpy(place, &truth, sizeof truth);
}

/* --- From text -------------------------------------------------------------------- */

static int parse_integer(const struct esi_field *field,
                         struct esi_text_span text,
                         int64_t *ret_value)
{
    char digits[32];
    char *end;

    if (text.length == 0 || text.length >= sizeof digits)
        return -EINVAL;
    memcpy(digits, text.text, text.length);
    digits[text.length] = '\0';
    errno = 0;
    *ret_value = strtoll(digits, &end, 10);
    return errno != 0 || *end != '\0' || *ret_value < field->minimum ||
                   *ret_value > field->maximum
               ? -EINVAL
               : 0;
}

static int parse_duration(const struct esi_field *field,
                          struct esi_text_span text,
                          struct esi_field_fault *fault,
                          int64_t *ret_value)
{
    char written[64];
    uint64_t ns;
    int code = -EINVAL;

    if (text.length < sizeof written) {
        memcpy(written, text.text, text.length);
        written[text.length] = '\0';
        code = es_duration_parse(written, &ns);
    }
    if (code == -EINVAL)
        snprintf(fault->expected, sizeof fault->expected,
                 "a number with ns, us, ms or s");
    if (code < 0 || ns > (uint64_t)field->maximum || (int64_t)ns < field->minimum)
        return -EINVAL;
    *ret_value = (int64_t)ns;
    return 0;
}

static int parse_boolean(struct esi_text_span text, int64_t *ret_value)
{
    static const char *const words[] = {"0",     "1",    "no",  "yes",
                                        "false", "true", "off", "on"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) != text.length ||
            strncasecmp(text.text, words[i], text.length) != 0)
            continue;
        *ret_value = (int64_t)(i % 2);
        return 0;
    }
    return -EINVAL;
}

/* 0 if there is no such name. */
static uint32_t bits_of(const struct esi_field *field, struct esi_text_span name)
{
    int choice = esi_field_choice(field, name);

    if (choice >= field->minimum)
        return UINT32_C(1) << choice;
    for (size_t i = 0; field->groups && field->groups[i].name; i++)
        if (esi_text_span_is(name, field->groups[i].name))
            return field->groups[i].bits;
    return 0;
}

static int parse_flags(const struct esi_field *field,
                       struct esi_text_span text,
                       struct esi_field_fault *fault,
                       int64_t *ret_value)
{
    uint32_t flags = 0;

    while (text.text) {
        uint32_t bits;

        fault->at = esi_text_span_split(&text, ',');
        bits = bits_of(field, fault->at);
        if (bits == 0)
            return -EINVAL;
        flags |= bits;
    }
    *ret_value = flags;
    return 0;
}

static int parse_text(const struct esi_field *field,
                      struct esi_text_span text,
                      void *record)
{
    char *place = (char *)record + field->offset;
    char *copy, *old;

    if (text.length < (uint64_t)field->minimum ||
        text.length > (uint64_t)field->maximum)
        return -EINVAL;
    if ((field->flags & ESI_FIELD_IN_PLACE) != 0) {
        memcpy(place, text.text, text.length);
        place[text.length] = '\0';
        return 0;
    }
    copy = strndup(text.text, text.length);
    if (!copy)
        return -ENOMEM;
    memcpy(&old, place, sizeof old);
    free(old);
    memcpy(place, &copy, sizeof copy);
    return 0;
}

static int parse_value(const struct esi_field *field,
                       struct esi_text_span text,
                       struct esi_field_fault *fault,
                       int64_t *ret_value)
{
    switch (field->kind) {
    case ESI_FIELD_INTEGER:
        return parse_integer(field, text, ret_value);
    case ESI_FIELD_DURATION:
        return parse_duration(field, text, fault, ret_value);
    case ESI_FIELD_BOOLEAN:
        return parse_boolean(text, ret_value);
    case ESI_FIELD_CHOICE:
        *ret_value = esi_field_choice(field, text);
        return *ret_value < 0 ? -EINVAL : 0;
    default:
        return parse_flags(field, text, fault, ret_value);
    }
}

/* Appends the similar word, if any, to what was expected. */
static void add_nearest(const struct esi_field *field, struct esi_field_fault *fault)
{
    size_t used = strlen(fault->expected);
    struct esi_nearest nearest;
    char word[64];

    if (fault->at.length == 0 || fault->at.length >= sizeof word)
        return;
    memcpy(word, fault->at.text, fault->at.length);
    word[fault->at.length] = '\0';
    esi_nearest_init(&nearest, word);
    for (int i = field->kind == ESI_FIELD_FLAGS ? (int)field->minimum : 0;
         field->choices[i]; i++)
        esi_nearest_try(&nearest, field->choices[i]);
    for (size_t i = 0; field->groups && field->groups[i].name; i++)
        esi_nearest_try(&nearest, field->groups[i].name);
    if (nearest.name)
        snprintf(fault->expected + used, sizeof fault->expected - used,
                 "; did you mean '%s'?", nearest.name);
}

static bool is_number(const struct esi_field *field)
{
    return field->kind >= ESI_FIELD_INTEGER && field->kind <= ESI_FIELD_FLAGS;
}

int esi_field_parse(const struct esi_field *field,
                    struct esi_text_span text,
                    struct esi_field_fault *fault,
                    void *record)
{
    int64_t value = 0;
    int code;

    fault->at = text;
    fault->expected[0] = '\0';
    if (field->text)
        code = field->text->parse(field, text, fault, record);
    else if (is_number(field))
        code = parse_value(field, text, fault, &value);
    else
        code = parse_text(field, text, record);
    if (code == -EINVAL && fault->expected[0] == '\0') {
        esi_field_expected(field, ESI_FORM_TEXT, fault->expected,
                           sizeof fault->expected);
        if (!field->text &&
            (field->kind == ESI_FIELD_CHOICE || field->kind == ESI_FIELD_FLAGS))
            add_nearest(field, fault);
    }
    if (code == 0 && !field->text && is_number(field))
        esi_field_set(field, record, value);
    return code;
}

/* --- To text ---------------------------------------------------------------------- */

static void format_flags(const struct esi_field *field, uint32_t flags, FILE *out)
{
    const char *separator = "";

    for (size_t i = 0; field->groups && field->groups[i].name; i++) {
        if (field->groups[i].bits != flags)
            continue;
        fputs(field->groups[i].name, out);
        return;
    }
    for (int i = (int)field->minimum; field->choices[i]; i++) {
        if ((flags & UINT32_C(1) << i) == 0)
            continue;
        fprintf(out, "%s%s", separator, field->choices[i]);
        separator = ",";
    }
}

static void format_text(const struct esi_field *field, const void *record, FILE *out)
{
    const char *text = (const char *)record + field->offset;

    if ((field->flags & ESI_FIELD_IN_PLACE) == 0)
        memcpy(&text, (const char *)record + field->offset, sizeof text);
    fputs(text ? text : "", out);
}

static void format_value(const struct esi_field *field, int64_t value, FILE *out)
{
    char duration[32];

    switch (field->kind) {
    case ESI_FIELD_DURATION:
        esi_duration_format((uint64_t)value, duration, sizeof duration);
        fputs(duration, out);
        return;
    case ESI_FIELD_BOOLEAN:
        fputs(value ? "yes" : "no", out);
        return;
    case ESI_FIELD_CHOICE:
        fputs(field->choices[value], out);
        return;
    case ESI_FIELD_FLAGS:
        format_flags(field, (uint32_t)value, out);
        return;
    default:
        fprintf(out, "%" PRId64, value);
    }
}

void esi_field_format(const struct esi_field *field, const void *record, FILE *out)
{
    if (field->text)
        field->text->format(field, record, out);
    else if (is_number(field))
        format_value(field, esi_field_get(field, record), out);
    else if (field->kind <= ESI_FIELD_RANGES)
        format_text(field, record, out);
}
