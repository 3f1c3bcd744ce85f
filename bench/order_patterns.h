/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_patterns.h - the patterns of order_load.c, and what they are made with. */
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

/* A request on its way from trace to trace, of the pattern "web". */
struct order_request {
    uint32_t hops[ORDER_HOPS];
    uint32_t count, at;
};

/* The blocks of "balance"; arrays by position on the curve but for the first. */
struct order_plane {
    uint32_t side;
    uint32_t *curve; /* [y][x]: position */
    uint32_t *weights, *owners;
    uint32_t *near; /* [rank][1 + ORDER_NEIGHBOURS]: their number, then they */
};

struct order_stream {
    const struct order_load_config *config;
    const struct es_set_sink *sink;
    uint32_t ranks;
    uint32_t *counts; /* events of each trace */
    uint64_t made;
    uint64_t draw;
    int code;                       /* the first failure; nothing is made after it */
    uint32_t sizes[3];              /* ranks as a grid; the last one varies fastest */
    uint32_t stride, offset;        /* of the order in which ranks are visited */
    uint32_t *sends;                /* [rank][direction]: index of what was sent */
    uint32_t *targets;              /* of each rank; of "random" and "drift" */
    struct es_event_id *partners;   /* room for all ranks */
    struct order_request *requests; /* of "web" */
    struct order_plane plane;       /* of "balance", from its first step on */
};

struct order_pattern {
    struct order_load_help help;
    unsigned dimensions; /* of the grid; 0 = none */
    uint32_t every;      /* all-to-all operations if none are asked for */
    bool has_lines;      /* communicators of rows, then of columns, after the ranks */
    void (*step)(struct order_stream *stream, uint64_t number);
};

/* Ended by a name that is NULL. */
extern const struct order_pattern order_patterns[];

uint32_t order_draw_below(struct order_stream *stream, uint32_t limit);
/* Rank number i of this step. */
uint32_t order_visit(const struct order_stream *stream, uint32_t i);
struct es_event_id order_emit(struct order_stream *stream,
                              uint32_t trace,
                              enum es_event_kind kind,
                              const struct es_event_id *partners,
                              uint32_t partner_count);

#endif
