/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Receives the events of causality for a test: checks the stream as it comes, and
 * computes happened-before by brute force.
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
    struct made_event *events; /* owned, in the order of the stream */
    size_t count;
    size_t capacity;   /* of events */
    char (*names)[64]; /* of traces, owned */
    size_t trace_count;
};

/* Returns a sink that stores the events and asserts that the stream is ordered. */
struct es_set_sink made_stream_sink(struct made_stream *stream);
void made_stream_fini(struct made_stream *stream);

/* Returns the event of this trace and index, or NULL. */
const struct made_event *made_stream_at(const struct made_stream *stream,
                                        const char *trace,
                                        uint32_t index);
/* Returns the first event of a type on a trace, or NULL. */
const struct made_event *made_stream_find(const struct made_stream *stream,
                                          const char *trace,
                                          const char *type);
/* Whether `event` names `partner`. */
bool made_event_names(const struct made_stream *stream,
                      const struct made_event *event,
                      const struct made_event *partner);

/* A relation on [0, count). Edges are added, then the transitive closure is
 * computed. */
struct made_relation {
    size_t count;
    size_t words;
    uint64_t *rows; /* owned; bit b of row a is set if a precedes b */
};

void made_relation_init(struct made_relation *relation, size_t count);
void made_relation_fini(struct made_relation *relation);
void made_relation_add(struct made_relation *relation, size_t a, size_t b);
bool made_relation_has(const struct made_relation *relation, size_t a, size_t b);
void made_relation_close(struct made_relation *relation);

/* Computes happened-before of a stream, by positions. The halves of a sync have the
 * same predecessors and successors. */
void made_stream_relate(const struct made_stream *stream,
                        struct made_relation *ret_relation);

#endif
