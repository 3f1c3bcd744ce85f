/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Output functions for the makers of event sets (pattern_sets.h): traces and events are
 * passed on at once; the first failure is kept and suppresses the rest.
 */
#ifndef ES_BENCH_PATTERN_SET_MAKER_H
#define ES_BENCH_PATTERN_SET_MAKER_H

#include <stdint.h>

#include "bench/pattern_sets.h"

struct pattern_set_maker {
    const struct pattern_set_config *config;
    const struct es_set_sink *sink;
    uint32_t *counts; /* number of events of each trace */
    uint32_t traces;
    uint64_t made;
    uint64_t draw;
    int code; /* the first failure; no events are created after it */
};

/* A random number below `limit`. */
uint32_t set_draw(struct pattern_set_maker *maker, uint32_t limit);

/* The next trace; traces are numbered from 0. */
uint32_t set_trace(struct pattern_set_maker *maker, const char *name);

/* The next event of a trace.  `text` may be NULL. */
void set_unary(struct pattern_set_maker *maker,
               uint32_t trace,
               const char *type,
               const char *text);
struct es_event_id set_send(struct pattern_set_maker *maker,
                            uint32_t trace,
                            const char *type,
                            const char *text);
void set_receive(struct pattern_set_maker *maker,
                 uint32_t trace,
                 const char *type,
                 const char *text,
                 struct es_event_id from);
/* Any event; this function sets its index. */
struct es_event_id set_event(struct pattern_set_maker *maker,
                             struct es_set_event *event);

/* A message that is received before any other event. */
void set_message(struct pattern_set_maker *maker,
                 uint32_t from,
                 const char *send_type,
                 uint32_t to,
                 const char *receive_type);

/* The makers, each in its own file; pattern_sets.c has their names. */
void make_tcp_set(struct pattern_set_maker *maker);
void make_ucpp_set(struct pattern_set_maker *maker);
void make_pvm_merge_set(struct pattern_set_maker *maker);
void make_pvm_life_set(struct pattern_set_maker *maker);
void make_large_set(struct pattern_set_maker *maker);

#endif
