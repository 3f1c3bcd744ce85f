/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * set_line.c - parses the lines of an event set: common ones in one pass, all others
 * with jansson, which is used only here.
 */
#include "config.h"

#include "monitors/eventset/set_line.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/library_words.h"

/*
 * Memory for the content of a line, shared by both parsers.
 */

struct esi_line_room {
    struct es_event_id *partners;
    size_t partner_count;
    size_t partner_capacity;
    struct es_event_attribute *attributes;
    size_t attribute_count;
    size_t attribute_capacity;
};

static int line_add_attribute(struct esi_line_room *room,
                              const char *name,
                              const char *value,
                              size_t length);
static int line_add_partner(struct esi_line_room *room, struct es_event_id partner);
static void line_complete(const struct esi_line_room *room, struct es_set_event *event);
static bool line_find_kind(const char *name,
                           size_t length,
                           enum es_event_kind *ret_kind);

/* === Canonical decimal numbers ==================================================== */

bool esi_set_number_parse(const char *text, size_t length, int64_t *ret_number)
{
    bool negative = length > 0 && text[0] == '-';
    size_t at = negative ? 1 : 0;
    uint64_t most = negative ? UINT64_C(1) << 63 : (UINT64_C(1) << 63) - 1;
    uint64_t value = 0;

    if (at == length || length >= ES_SET_NUMBER_LENGTH ||
        (text[at] == '0' && length > 1))
        return false;
    for (; at < length; at++) {
        unsigned digit = (unsigned)(text[at] - '0');
        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *ret_number = (int64_t)(negative ? 0 - value : value);
    return true;
}

size_t esi_set_number_format(int64_t number, char out[ES_SET_NUMBER_LENGTH])
{
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char digits[ES_SET_NUMBER_LENGTH];
    size_t at = sizeof digits;
    size_t length;

    digits[--at] = '\0';
    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0)
        digits[--at] = '-';
    length = sizeof digits - 1 - at;
    memcpy(out, digits + at, length + 1);
    return length;
}

/* === Common lines ================================================================= */

/*
 * Parses the common lines of event sets in one pass.
 *
 * Accepts a subset of JSON and leaves everything else to the JSON library, which gives
 * the same result for all lines accepted here (tests/fuzz/fuzz_event_set.c compares
 * them). Strings are borrowed from the line: they are terminated when the whole line
 * has been accepted.
 *
 * The byte after the line is 0, which no rule accepts, so the end of the line need not
 * be checked separately.
 */

enum { ATTRIBUTES_MAX = 32, ENDS_MAX = 2 * ATTRIBUTES_MAX + 2 };

enum member {
    MEMBER_TRACE,
    MEMBER_INDEX,
    MEMBER_KIND,
    MEMBER_TYPE,
    MEMBER_TEXT,
    MEMBER_PARTNERS,
    MEMBER_ATTRIBUTES,
    MEMBER_COUNT,
};

static const struct {
    const char *name;
    size_t length;
} members[MEMBER_COUNT] = {
    [MEMBER_TRACE] = {"trace", 5},
    [MEMBER_INDEX] = {"index", 5},
    [MEMBER_KIND] = {"kind", 4},
    [MEMBER_TYPE] = {"type", 4},
    [MEMBER_TEXT] = {"text", 4},
    [MEMBER_PARTNERS] = {"partners", 8},
    [MEMBER_ATTRIBUTES] = {"attributes", 10},
};

/* A part of the line. */
struct span {
    char *text;
    size_t length;
};

struct scan {
    char *at;
    struct esi_line_room *room;
    struct es_set_event event;
    struct span names[ATTRIBUTES_MAX];
    char *ends[ENDS_MAX]; /* where the borrowed strings end */
    size_t end_count;
    bool is_out_of_memory;
};

static void skip_blanks(struct scan *scan)
{
    while (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r')
        scan->at++;
}

/* Consumes the next character if it is `wanted`. */
static bool scan_take(struct scan *scan, char wanted)
{
    skip_blanks(scan);
    if (*scan->at != wanted)
        return false;
    scan->at++;
    return true;
}

/* Plain characters in quotes. */
static bool take_string(struct scan *scan, struct span *ret_span)
{
    char *at;

    if (!scan_take(scan, '"'))
        return false;
    for (at = scan->at; *at != '"'; at++)
        if (*at < 0x20 || *at == '\\' || *(unsigned char *)at >= 0x80)
            return false;
    *ret_span = (struct span){scan->at, (size_t)(at - scan->at)};
    scan->at = at + 1;
    return true;
}

/* A string that the event borrows. */
static bool take_text(struct scan *scan, struct span *ret_span)
{
    if (!take_string(scan, ret_span))
        return false;
    scan->ends[scan->end_count++] = ret_span->text + ret_span->length;
    return true;
}

static bool take_number(struct scan *scan, uint32_t least, uint32_t *ret_number)
{
    uint64_t number = 0;
    const char *first;

    skip_blanks(scan);
    first = scan->at;
    for (; *scan->at >= '0' && *scan->at <= '9' && number < UINT32_MAX; scan->at++)
        number = 10 * number + (unsigned)(*scan->at - '0');
    if (scan->at == first || (*first == '0' && scan->at > first + 1) ||
        number >= UINT32_MAX || number < least)
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

/* --- Members ---------------------------------------------------------------------- */

static bool take_partners(struct scan *scan)
{
    if (!scan_take(scan, '['))
        return false;
    if (scan_take(scan, ']'))
        return true;
    do {
        struct es_event_id id;
        if (!scan_take(scan, '[') || !take_number(scan, 0, &id.trace) ||
            !scan_take(scan, ',') || !take_number(scan, 1, &id.index) ||
            !scan_take(scan, ']'))
            return false;
        if (line_add_partner(scan->room, id) < 0) {
            scan->is_out_of_memory = true;
            return false;
        }
    } while (scan_take(scan, ','));
    return scan_take(scan, ']');
}

static bool is_repeated(const struct scan *scan, size_t count)
{
    const struct span *last = &scan->names[count];

    for (size_t i = 0; i < count; i++)
        if (scan->names[i].length == last->length &&
            memcmp(scan->names[i].text, last->text, last->length) == 0)
            return true;
    return false;
}

static bool take_attributes(struct scan *scan)
{
    size_t count = 0;

    if (!scan_take(scan, '{'))
        return false;
    if (scan_take(scan, '}'))
        return true;
    do {
        struct span value;
        if (count == ATTRIBUTES_MAX || !take_text(scan, &scan->names[count]) ||
            is_repeated(scan, count) || !scan_take(scan, ':') ||
            !take_text(scan, &value))
            return false;
        if (line_add_attribute(scan->room, scan->names[count].text, value.text,
                               value.length) < 0) {
            scan->is_out_of_memory = true;
            return false;
        }
        count++;
    } while (scan_take(scan, ','));
    return scan_take(scan, '}');
}

static bool take_value(struct scan *scan, enum member member)
{
    struct span span;

    switch (member) {
    case MEMBER_TRACE:
        return take_number(scan, 0, &scan->event.id.trace);
    case MEMBER_INDEX:
        return take_number(scan, 1, &scan->event.id.index);
    case MEMBER_KIND:
        return take_string(scan, &span) &&
               line_find_kind(span.text, span.length, &scan->event.kind);
    case MEMBER_TYPE:
        if (!take_text(scan, &span))
            return false;
        scan->event.type = span.text;
        return true;
    case MEMBER_TEXT:
        if (!take_text(scan, &span))
            return false;
        scan->event.text = span.text;
        return true;
    case MEMBER_PARTNERS:
        return take_partners(scan);
    case MEMBER_ATTRIBUTES:
        return take_attributes(scan);
    default:
        return false;
    }
}

static bool take_member(struct scan *scan, unsigned *seen)
{
    struct span name;

    if (!take_string(scan, &name) || !scan_take(scan, ':'))
        return false;
    for (unsigned i = 0; i < MEMBER_COUNT; i++)
        if (members[i].length == name.length &&
            memcmp(members[i].name, name.text, name.length) == 0) {
            if (*seen & (1u << i))
                return false;
            *seen |= 1u << i;
            return take_value(scan, (enum member)i);
        }
    return false;
}

/* An object with only a trace and an index. */
static bool take_event(struct scan *scan, const char *end)
{
    unsigned seen = 0, needed = 1u << MEMBER_TRACE | 1u << MEMBER_INDEX;

    if (!scan_take(scan, '{'))
        return false;
    do
        if (!take_member(scan, &seen))
            return false;
    while (scan_take(scan, ','));
    if (!scan_take(scan, '}') || (seen & needed) != needed)
        return false;
    skip_blanks(scan);
    return scan->at == end;
}

/* Parses typical lines without building a tree: only known members, each once, and
 * strings without escapes.  Returns 1 and the event; 0 if the line is not of this form
 * (`text` is unchanged); or -ENOMEM. */
static int line_scan(struct esi_line_room *room,
                     char *text,
                     size_t length,
                     struct es_set_event *ret_event)
{
    struct scan scan;

    scan.at = text;
    scan.room = room;
    scan.event = (struct es_set_event){.kind = ES_EVENT_UNARY, .type = "", .text = ""};
    scan.end_count = 0;
    scan.is_out_of_memory = false;
    room->partner_count = room->attribute_count = 0;
    if (!take_event(&scan, text + length))
        return scan.is_out_of_memory ? -ENOMEM : 0;
    for (size_t i = 0; i < scan.end_count; i++)
        *scan.ends[i] = '\0';
    line_complete(room, &scan.event);
    *ret_event = scan.event;
    return 1;
}

/* === All lines ==================================================================== */

#define FORMAT "eventspace-events"
enum { FORMAT_VERSION = 1 };

struct esi_set_line {
    struct esi_line_room room;
    json_t *json; /* of the last line, from which texts were borrowed */
};

int esi_set_line_create(struct esi_set_line **ret_line)
{
    struct esi_set_line *line = calloc(1, sizeof *line);

    if (!line)
        return -ENOMEM;
    *ret_line = line;
    return 0;
}

void esi_set_line_destroy(struct esi_set_line *line)
{
    if (!line)
        return;
    json_decref(line->json);
    free(line->room.partners);
    free(line->room.attributes);
    free(line);
}

int esi_set_place_line(const struct esi_set_place *place)
{
    return place->line > INT_MAX ? INT_MAX : (int)place->line;
}

/* --- Room ------------------------------------------------------------------------- */

/* Returns 0 or -ENOMEM. */
static int line_add_partner(struct esi_line_room *room, struct es_event_id partner)
{
    if (ESI_ARRAY_RESERVE(room->partners, room->partner_capacity,
                          room->partner_count + 1) < 0)
        return -ENOMEM;
    room->partners[room->partner_count++] = partner;
    return 0;
}

/* A text in canonical number form becomes a number. */
static int line_add_attribute(struct esi_line_room *room,
                              const char *name,
                              const char *value,
                              size_t length)
{
    struct es_event_attribute attribute = {.name = name, .text = value};

    if (ESI_ARRAY_RESERVE(room->attributes, room->attribute_capacity,
                          room->attribute_count + 1) < 0)
        return -ENOMEM;
    if (esi_set_number_parse(value, length, &attribute.number))
        attribute.text = NULL;
    room->attributes[room->attribute_count++] = attribute;
    return 0;
}

static const char *const kind_names[] = {
    [ES_EVENT_UNARY] = "unary",
    [ES_EVENT_SEND] = "send",
    [ES_EVENT_RECEIVE] = "receive",
    [ES_EVENT_SYNC] = "sync",
};

enum { KINDS = sizeof kind_names / sizeof kind_names[0] };

const char *esi_event_kind_name(size_t kind)
{
    return kind < KINDS ? kind_names[kind] : NULL;
}

/* Finds the kind with this name; false if there is none. */
static bool line_find_kind(const char *name,
                           size_t length,
                           enum es_event_kind *ret_kind)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strlen(kind_names[i]) == length &&
            memcmp(kind_names[i], name, length) == 0) {
            *ret_kind = (enum es_event_kind)i;
            return true;
        }
    return false;
}

/* Completes the event with the partners and attributes in the room. */
static void line_complete(const struct esi_line_room *room, struct es_set_event *event)
{
    event->partners = room->partner_count > 0 ? room->partners : NULL;
    event->partner_count = (uint32_t)room->partner_count;
    event->attributes = room->attributes;
    event->attribute_count = room->attribute_count;
}

/* --- JSON ------------------------------------------------------------------------- */

static const char *type_name(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number that is not an integer";
    case JSON_NULL:
        return "null";
    default:
        return json_is_true(json) ? "true" : "false";
    }
}

/* The state of parsing a line. */
struct line_reading {
    struct esi_set_line *line;
    const struct esi_set_place *place;
    struct es_error *error;
};

static int fail_type(const struct line_reading *reading,
                     const char *name,
                     const char *expected,
                     const json_t *found)
{
    return es_error_set_at(reading->error, -EINVAL, reading->place->source,
                           esi_set_place_line(reading->place), 0,
                           "%s: expected %s, found %s", name, expected,
                           type_name(found));
}

/* Loads the line's object, which `line` keeps until the next one. */
static int line_load(const struct line_reading *reading,
                     const char *text,
                     size_t length)
{
    struct esi_set_line *line = reading->line;
    const struct esi_set_place *place = reading->place;
    char words[JSON_ERROR_TEXT_LENGTH];
    json_error_t fault = {0};

    json_decref(line->json);
    line->json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    if (line->json && json_is_object(line->json))
        return 0;
    if (line->json)
        return fail_type(reading, "line", "an object", line->json);
    /* When out of memory, the parser usually has no text either. */
    if (fault.text[0] == '\0' || json_error_code(&fault) == json_error_out_of_memory)
        return es_error_set_at(reading->error, -ENOMEM, place->source,
                               esi_set_place_line(place), 0,
                               "no memory left for the line");
    return es_error_set_at(reading->error, -EINVAL, place->source,
                           esi_set_place_line(place),
                           fault.position > 0 ? fault.position : 1, "JSON: %s",
                           esi_library_words(fault.text, words, sizeof words));
}

/* The number of a trace or an event. */
static int get_number(const struct line_reading *reading,
                      const json_t *json,
                      const char *name,
                      json_int_t least,
                      uint32_t *ret_number)
{
    json_int_t number;

    if (!json_is_integer(json))
        return fail_type(reading, name, "an integer", json);
    number = json_integer_value(json);
    if (number < least || number >= UINT32_MAX)
        return es_error_set_at(reading->error, -EINVAL, reading->place->source,
                               esi_set_place_line(reading->place), 0,
                               "%s: %" JSON_INTEGER_FORMAT
                               " is out of range, expected %" JSON_INTEGER_FORMAT
                               " to 4294967294",
                               name, number, least);
    *ret_number = (uint32_t)number;
    return 0;
}

static int get_member_number(const struct line_reading *reading,
                             const char *name,
                             json_int_t least,
                             uint32_t *ret_number)
{
    const json_t *json = json_object_get(reading->line->json, name);

    if (!json)
        return es_error_set_at(reading->error, -EINVAL, reading->place->source,
                               esi_set_place_line(reading->place), 0,
                               "an event without '%s'", name);
    return get_number(reading, json, name, least, ret_number);
}

/* A string member, or `absent` if there is none. */
static int get_string(const struct line_reading *reading,
                      const char *name,
                      const char *absent,
                      const char **ret_text)
{
    const json_t *json = json_object_get(reading->line->json, name);

    if (json && !json_is_string(json))
        return fail_type(reading, name, "a string", json);
    *ret_text = json ? json_string_value(json) : absent;
    return 0;
}

/* --- The header ------------------------------------------------------------------- */

static int check_format(const struct line_reading *reading)
{
    const json_t *json = reading->line->json;
    const json_t *format = json_object_get(json, "format");
    const json_t *version = json_object_get(json, "version");
    const char *source = reading->place->source;
    int line = esi_set_place_line(reading->place);

    if (!json_is_string(format) || strcmp(json_string_value(format), FORMAT) != 0)
        return es_error_set_at(reading->error, -EINVAL, source, line, 0,
                               "not an event set: expected a header with "
                               "\"format\": \"" FORMAT "\"");
    if (!version)
        return es_error_set_at(reading->error, -EINVAL, source, line, 0,
                               "a header without 'version'");
    if (!json_is_integer(version))
        return fail_type(reading, "version", "an integer", version);
    if (json_integer_value(version) != FORMAT_VERSION)
        return es_error_set_at(reading->error, -EINVAL, source, line, 0,
                               "version %" JSON_INTEGER_FORMAT
                               " of the format is not known, expected %d",
                               json_integer_value(version), FORMAT_VERSION);
    return 0;
}

int esi_set_line_header(struct esi_set_line *line,
                        const char *text,
                        size_t length,
                        const struct esi_set_place *place,
                        const struct es_set_sink *sink,
                        struct es_error *error)
{
    const struct line_reading reading = {line, place, error};
    const json_t *traces;
    int code = line_load(&reading, text, length);

    if (code == 0)
        code = check_format(&reading);
    if (code < 0)
        return code;
    traces = json_object_get(line->json, "traces");
    if (!traces)
        return es_error_set_at(error, -EINVAL, place->source, esi_set_place_line(place),
                               0, "a header without 'traces'");
    if (!json_is_array(traces))
        return fail_type(&reading, "traces", "an array", traces);
    for (size_t i = 0; code >= 0 && i < json_array_size(traces); i++) {
        const json_t *name = json_array_get(traces, i);
        if (!json_is_string(name))
            return fail_type(&reading, "traces", "strings", name);
        code = sink->trace(sink->data, (uint32_t)i, json_string_value(name));
    }
    return code < 0 ? code : 0;
}

/* --- Events ----------------------------------------------------------------------- */

static int get_kind(const struct line_reading *reading, enum es_event_kind *ret_kind)
{
    const char *name = "";
    int code = get_string(reading, "kind", "unary", &name);

    if (code == 0 && !line_find_kind(name, strlen(name), ret_kind))
        code = es_error_set_at(
            reading->error, -EINVAL, reading->place->source,
            esi_set_place_line(reading->place), 0,
            "kind: expected 'unary', 'send', 'receive' or 'sync', found '%s'", name);
    return code;
}

static int get_partners(const struct line_reading *reading)
{
    const json_t *partners = json_object_get(reading->line->json, "partners");
    int code = 0;

    if (partners && !json_is_array(partners))
        return fail_type(reading, "partners", "an array", partners);
    for (size_t i = 0; code == 0 && i < json_array_size(partners); i++) {
        const json_t *pair = json_array_get(partners, i);
        struct es_event_id id = {.index = 0};

        if (!json_is_array(pair) || json_array_size(pair) != 2)
            return es_error_set_at(reading->error, -EINVAL, reading->place->source,
                                   esi_set_place_line(reading->place), 0,
                                   "partners: expected pairs [trace, index]");
        code = get_number(reading, json_array_get(pair, 0), "partners: trace", 0,
                          &id.trace);
        if (code == 0)
            code = get_number(reading, json_array_get(pair, 1), "partners: index", 1,
                              &id.index);
        if (code == 0)
            code = line_add_partner(&reading->line->room, id);
    }
    return code;
}

static int get_attributes(const struct line_reading *reading)
{
    json_t *attributes = json_object_get(reading->line->json, "attributes");
    const char *name = "";
    json_t *value;
    int code = 0;

    if (attributes && !json_is_object(attributes))
        return fail_type(reading, "attributes", "an object", attributes);
    json_object_foreach(attributes, name, value)
    {
        if (!json_is_string(value))
            return fail_type(reading, "attributes", "strings", value);
        code = line_add_attribute(&reading->line->room, name, json_string_value(value),
                                  json_string_length(value));
        if (code < 0)
            break;
    }
    return code;
}

int esi_set_line_event_slowly(struct esi_set_line *line,
                              const char *text,
                              size_t length,
                              const struct esi_set_place *place,
                              struct es_set_event *ret_event,
                              struct es_error *error)
{
    const struct line_reading reading = {line, place, error};
    struct es_set_event event = {.kind = ES_EVENT_UNARY};
    int code = line_load(&reading, text, length);

    line->room.partner_count = line->room.attribute_count = 0;
    if (code == 0)
        code = get_member_number(&reading, "trace", 0, &event.id.trace);
    if (code == 0)
        code = get_member_number(&reading, "index", 1, &event.id.index);
    if (code == 0)
        code = get_kind(&reading, &event.kind);
    if (code == 0)
        code = get_string(&reading, "type", "", &event.type);
    if (code == 0)
        code = get_string(&reading, "text", "", &event.text);
    if (code == 0)
        code = get_partners(&reading);
    if (code == 0)
        code = get_attributes(&reading);
    if (code < 0)
        return code;
    line_complete(&line->room, &event);
    *ret_event = event;
    return 0;
}

int esi_set_line_event(struct esi_set_line *line,
                       char *text,
                       size_t length,
                       const struct esi_set_place *place,
                       struct es_set_event *ret_event,
                       struct es_error *error)
{
    int code = line_scan(&line->room, text, length, ret_event);

    if (code != 0)
        return code < 0 ? code : 0;
    return esi_set_line_event_slowly(line, text, length, place, ret_event, error);
}
