/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_stream.c - stores and checks a stream of events. */
#include "config.h"

#include "tests/causality/made_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct made_stream *stream = data;

    assert_int_equal(trace, stream->trace_count);
    stream->names = realloc(stream->names, (trace + 1) * sizeof *stream->names);
    assert_non_null(stream->names);
    snprintf(stream->names[trace], sizeof stream->names[trace], "%s", name);
    for (uint32_t i = 0; i < trace; i++)
        assert_string_not_equal(stream->names[i], name);
    stream->trace_count++;
    return 0;
}

static size_t find_position(const struct made_stream *stream, struct es_event_id id)
{
    for (size_t i = stream->count; i-- > 0;)
        if (stream->events[i].id.trace == id.trace &&
            stream->events[i].id.index == id.index)
            return i;
    return SIZE_MAX;
}

static uint32_t last_index(const struct made_stream *stream, uint32_t trace)
{
    for (size_t i = stream->count; i-- > 0;)
        if (stream->events[i].id.trace == trace)
            return stream->events[i].id.index;
    return 0;
}

/* Checks that the two halves of a sync are adjacent. */
static void check_sync(const struct made_stream *stream,
                       const struct es_set_event *event)
{
    const struct made_event *before =
        stream->count > 0 ? &stream->events[stream->count - 1] : NULL;

    assert_int_equal(event->partner_count, 1);
    assert_int_not_equal(event->partners[0].trace, event->id.trace);
    if (before && before->kind == ES_EVENT_SYNC && before->partners[0] == SIZE_MAX)
        assert_int_equal(find_position(stream, event->partners[0]), stream->count - 1);
}

static void take_partners(struct made_stream *stream,
                          struct made_event *made,
                          const struct es_set_event *event)
{
    made->partners = calloc(event->partner_count + 1, sizeof *made->partners);
    assert_non_null(made->partners);
    made->partner_count = event->partner_count;
    for (uint32_t i = 0; i < event->partner_count; i++) {
        size_t at = find_position(stream, event->partners[i]);

        made->partners[i] = at;
        if (event->kind == ES_EVENT_RECEIVE) {
            assert_true(at < stream->count);
            assert_int_equal(stream->events[at].kind, ES_EVENT_SEND);
        } else if (at < stream->count) {
            assert_int_equal(event->kind, ES_EVENT_SYNC);
            stream->events[at].partners[0] = stream->count;
        }
    }
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct made_stream *stream = data;
    struct made_event made = {
        .id = event->id, .kind = event->kind, .bytes = -1, .tag = -1};

    assert_true(event->id.trace < stream->trace_count);
    assert_int_equal(event->id.index, last_index(stream, event->id.trace) + 1);
    assert_non_null(event->type);
    assert_non_null(event->text);
    if (event->kind == ES_EVENT_UNARY || event->kind == ES_EVENT_SEND)
        assert_int_equal(event->partner_count, 0);
    if (event->kind == ES_EVENT_SYNC)
        check_sync(stream, event);
    else if (stream->count > 0 &&
             stream->events[stream->count - 1].kind == ES_EVENT_SYNC)
        assert_true(stream->events[stream->count - 1].partners[0] != SIZE_MAX);
    snprintf(made.type, sizeof made.type, "%s", event->type);
    for (size_t i = 0; i < event->attribute_count; i++) {
        if (strcmp(event->attributes[i].name, "bytes") == 0)
            made.bytes = event->attributes[i].number;
        if (strcmp(event->attributes[i].name, "tag") == 0)
            made.tag = event->attributes[i].number;
        if (strcmp(event->attributes[i].name, "source") == 0)
            made.any_source = strcmp(event->attributes[i].text, "any") == 0;
    }
    take_partners(stream, &made, event);
    assert_int_equal(
        ESI_ARRAY_RESERVE(stream->events, stream->capacity, stream->count + 1), 0);
    stream->events[stream->count++] = made;
    return 0;
}

struct es_set_sink made_stream_sink(struct made_stream *stream)
{
    return (struct es_set_sink){
        .trace = take_trace, .event = take_event, .data = stream};
}

void made_stream_fini(struct made_stream *stream)
{
    for (size_t i = 0; i < stream->count; i++)
        free(stream->events[i].partners);
    free(stream->events);
    free(stream->names);
    *stream = (struct made_stream){.count = 0};
}

const struct made_event *made_stream_at(const struct made_stream *stream,
                                        const char *trace,
                                        uint32_t index)
{
    for (size_t i = 0; i < stream->count; i++)
        if (stream->events[i].id.index == index &&
            strcmp(stream->names[stream->events[i].id.trace], trace) == 0)
            return &stream->events[i];
    return NULL;
}

const struct made_event *made_stream_find(const struct made_stream *stream,
                                          const char *trace,
                                          const char *type)
{
    for (size_t i = 0; i < stream->count; i++)
        if (strcmp(stream->events[i].type, type) == 0 &&
            strcmp(stream->names[stream->events[i].id.trace], trace) == 0)
            return &stream->events[i];
    return NULL;
}

bool made_event_names(const struct made_stream *stream,
                      const struct made_event *event,
                      const struct made_event *partner)
{
    for (size_t i = 0; i < event->partner_count; i++)
        if (&stream->events[event->partners[i]] == partner)
            return true;
    return false;
}

/* --- Relations -------------------------------------------------------------------- */

void made_relation_init(struct made_relation *relation, size_t count)
{
    relation->count = count;
    relation->words = count / 64 + 1;
    relation->rows = calloc((count + 1) * relation->words, sizeof *relation->rows);
    assert_non_null(relation->rows);
}

void made_relation_fini(struct made_relation *relation)
{
    free(relation->rows);
}

void made_relation_add(struct made_relation *relation, size_t a, size_t b)
{
    relation->rows[a * relation->words + b / 64] |= UINT64_C(1) << b % 64;
}

bool made_relation_has(const struct made_relation *relation, size_t a, size_t b)
{
    return relation->rows[a * relation->words + b / 64] >> b % 64 & 1;
}

/* Warshall's algorithm. */
void made_relation_close(struct made_relation *relation)
{
    size_t words = relation->words;

    for (size_t k = 0; k < relation->count; k++)
        for (size_t a = 0; a < relation->count; a++) {
            if (!made_relation_has(relation, a, k))
                continue;
            for (size_t w = 0; w < words; w++)
                relation->rows[a * words + w] |= relation->rows[k * words + w];
        }
}

/* Returns the position that represents an event; for a sync that of its first half. */
static size_t unit_of(const struct made_stream *stream, size_t at)
{
    const struct made_event *event = &stream->events[at];

    return event->kind == ES_EVENT_SYNC && event->partners[0] < at ? event->partners[0]
                                                                   : at;
}

void made_stream_relate(const struct made_stream *stream,
                        struct made_relation *ret_relation)
{
    struct made_relation units;
    size_t *last = calloc(stream->trace_count + 1, sizeof *last);

    assert_non_null(last);
    made_relation_init(&units, stream->count);
    made_relation_init(ret_relation, stream->count);
    for (size_t i = 0; i < stream->count; i++) {
        const struct made_event *event = &stream->events[i];
        size_t *before = &last[event->id.trace];

        if (*before > 0)
            made_relation_add(&units, unit_of(stream, *before - 1), unit_of(stream, i));
        *before = i + 1;
        for (size_t k = 0; event->kind == ES_EVENT_RECEIVE && k < event->partner_count;
             k++)
            made_relation_add(&units, unit_of(stream, event->partners[k]), i);
    }
    made_relation_close(&units);
    for (size_t a = 0; a < stream->count; a++) {
        assert_false(made_relation_has(&units, a, a));
        for (size_t b = 0; b < stream->count; b++)
            if (made_relation_has(&units, unit_of(stream, a), unit_of(stream, b)))
                made_relation_add(ret_relation, a, b);
    }
    made_relation_fini(&units);
    free(last);
}
