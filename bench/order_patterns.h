/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_patterns.h - the patterns of order_load.c, and their state. */
#ifndef ES_BENCH_ORDER_PATTERNS_H
#define ES_BENCH_ORDER_PATTERNS_H

#include <stdbool.h>

#include "bench/order_load.h"

enum {
    ORDER_DIRECTIONS = 8,
    ORDER_REQUESTS = 64,
    ORDER_HOPS = 8,
    ORDER_NEIGHBOURS = 24
};

/* A request that is passed from trace to trace, in the pattern "web". */
struct order_request {
    uint32_t hops[ORDER_HOPS];
    uint32_t count, at;
};

/* The blocks of "balance"; all arrays but the first are indexed by position on the
 * curve. */
struct order_plane {
    uint32_t side;
    uint32_t *curve; /* [y][x]: position */
    uint32_t *weights, *owners;
    uint32_t *near; /* [rank][1 + ORDER_NEIGHBOURS]: number, then neighbours */
};

struct order_stream {
    const struct order_load_config *config;
    const struct es_set_sink *sink;
    uint32_t ranks;
    uint32_t *counts; /* events of each trace */
    uint64_t made;
    uint64_t draw;
    int code;                       /* the first failure; no events follow it */
    uint32_t sizes[3];              /* ranks as a grid; the last index varies fastest */
    uint32_t stride, offset;        /* of the order in which ranks are visited */
    uint32_t *sends;                /* [rank][direction]: index of the send */
    uint32_t *targets;              /* by rank; of "random" and "drift" */
    struct es_event_id *partners;   /* room for all ranks */
    struct order_request *requests; /* of "web" */
    struct order_plane plane;       /* of "balance", created in its first step */
};

struct order_pattern {
    struct order_load_help help;
    unsigned dimensions; /* of the grid; 0 for none */
    uint32_t every;      /* default distance of all-to-all operations */
    bool has_lines;      /* communicators of rows, then columns, after the ranks */
    void (*step)(struct order_stream *stream, uint64_t number);
};

/* Terminated by a row with name NULL. */
extern const struct order_pattern order_patterns[];

uint32_t order_draw_below(struct order_stream *stream, uint32_t limit);
/* The rank with number i in this step. */
uint32_t order_visit(const struct order_stream *stream, uint32_t i);
struct es_event_id order_emit(struct order_stream *stream,
                              uint32_t trace,
                              enum es_event_kind kind,
                              const struct es_event_id *partners,
                              uint32_t partner_count);

#endif
