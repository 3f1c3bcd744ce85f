/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What a test gets out of causality: the events of a stream, checked as they come, and
 * happened-before among them by brute force.
 */
#ifndef ES_TESTS_CAUSALITY_MADE_STREAM_H
#define ES_TESTS_CAUSALITY_MADE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"

struct made_event {
    struct es_event_id id;
    enum es_event_kind kind;
    char type[48];
    int64_t bytes;   /* attribute; -1 = none */
    int64_t tag;     /* attribute; -1 = none */
    bool any_source; /* attribute */
    size_t partner_count;
    size_t *partners; /* positions in the stream; owned */
};

struct made_stream {
    struct made_event *events; /* owned, in the order in which they came */
    size_t count;
    char (*names)[64]; /* of traces, owned */
    size_t trace_count;
};

/* Checks that the stream is ordered: cmocka assertions. */
struct es_set_sink made_stream_sink(struct made_stream *stream);
void made_stream_fini(struct made_stream *stream);

/* The event of this trace and index, or NULL. */
const struct made_event *made_stream_at(const struct made_stream *stream,
                                        const char *trace,
                                        uint32_t index);
/* First event of a type on a trace, or NULL. */
const struct made_event *made_stream_find(const struct made_stream *stream,
                                          const char *trace,
                                          const char *type);
/* Whether `event` names `partner`. */
bool made_event_names(const struct made_stream *stream,
                      const struct made_event *event,
                      const struct made_event *partner);

/* A relation on [0, count): edges are added, then closed. */
struct made_relation {
    size_t count;
    size_t words;
    uint64_t *rows; /* owned; row a has bit b: a precedes b */
};

void made_relation_init(struct made_relation *relation, size_t count);
void made_relation_fini(struct made_relation *relation);
void made_relation_add(struct made_relation *relation, size_t a, size_t b);
bool made_relation_has(const struct made_relation *relation, size_t a, size_t b);
void made_relation_close(struct made_relation *relation);

/* Happened-before of a stream, by positions; halves of a sync have the same
 * predecessors and successors. */
void made_stream_relate(const struct made_stream *stream,
                        struct made_relation *ret_relation);

#endif
