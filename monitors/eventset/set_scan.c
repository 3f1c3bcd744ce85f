/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * set_scan.c - reads the common lines of event sets in one pass.
 *
 * Takes a part of JSON and leaves everything else to the JSON library: what is taken
 * here is taken there with the same result (tests/fuzz/fuzz_event_set.c compares).
 * Strings are borrowed from the line: they get their ends once it is known that the
 * whole line is taken.
 *
 * The byte behind the line is 0, which no rule takes: so nothing needs a second look at
 * where the line ends.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "monitors/eventset/set_line_private.h"

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
    char *ends[ENDS_MAX]; /* where strings that are kept end */
    size_t end_count;
    bool is_out_of_memory;
};

static void skip_blanks(struct scan *scan)
{
    while (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r')
        scan->at++;
}

/* Whether the next character is `wanted`, which is then behind us. */
static bool take(struct scan *scan, char wanted)
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

    if (!take(scan, '"'))
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
    if (!take(scan, '['))
        return false;
    if (take(scan, ']'))
        return true;
    do {
        struct es_event_id id;
        if (!take(scan, '[') || !take_number(scan, 0, &id.trace) || !take(scan, ',') ||
            !take_number(scan, 1, &id.index) || !take(scan, ']'))
            return false;
        if (esi_line_add_partner(scan->room, id) < 0) {
            scan->is_out_of_memory = true;
            return false;
        }
    } while (take(scan, ','));
    return take(scan, ']');
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

    if (!take(scan, '{'))
        return false;
    if (take(scan, '}'))
        return true;
    do {
        struct span value;
        if (count == ATTRIBUTES_MAX || !take_text(scan, &scan->names[count]) ||
            is_repeated(scan, count) || !take(scan, ':') || !take_text(scan, &value))
            return false;
        if (esi_line_add_attribute(scan->room, scan->names[count].text, value.text,
                                   value.length) < 0) {
            scan->is_out_of_memory = true;
            return false;
        }
        count++;
    } while (take(scan, ','));
    return take(scan, '}');
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
               esi_line_find_kind(span.text, span.length, &scan->event.kind);
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

    if (!take_string(scan, &name) || !take(scan, ':'))
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

/* An object with a trace and an index, and nothing behind it. */
static bool take_event(struct scan *scan, const char *end)
{
    unsigned seen = 0, needed = 1u << MEMBER_TRACE | 1u << MEMBER_INDEX;

    if (!take(scan, '{'))
        return false;
    do
        if (!take_member(scan, &seen))
            return false;
    while (take(scan, ','));
    if (!take(scan, '}') || (seen & needed) != needed)
        return false;
    skip_blanks(scan);
    return scan->at == end;
}

int esi_line_scan(struct esi_line_room *room,
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
    esi_line_complete(room, &scan.event);
    *ret_event = scan.event;
    return 1;
}
