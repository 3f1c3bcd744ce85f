/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Synthetic event streams of any length, which are not kept in memory: the sends,
 * receives and collective operations of programs of known shapes, passed to a sink as
 * an ordered stream.
 *
 * The order in which ranks are visited changes with each step, as if they were not
 * synchronized.  The same configuration produces the same stream.  Collective
 * operations are all-to-all operations with their own trace (the last), as in event
 * sets of MPI programs.
 */
#ifndef ES_BENCH_ORDER_LOAD_H
#define ES_BENCH_ORDER_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct order_load_config {
    const char *pattern; /* borrowed; of order_load_patterns() */
    uint32_t ranks;      /* 2 or more */
    uint64_t events;     /* rounded up to the end of a step */
    uint32_t every;      /* steps between all-to-all operations; 0 for none */
    uint32_t rooted;     /* steps between pairs of a reduce and a bcast; 0 for none */
    uint64_t seed;
};

struct order_load_help {
    const char *name;
    const char *help;
};

/* Terminated by a row with name NULL. */
const struct order_load_help *order_load_patterns(void);

/* For getopt: sets the option of a load.  Returns false if its argument is invalid. */
#define ORDER_LOAD_OPTIONS "p:n:e:k:r:s:"
#define ORDER_LOAD_USAGE                                                               \
    "[-p PATTERN] [-n RANKS] [-e EVENTS] [-k EVERY] [-r EVERY] [-s SEED]"
bool order_load_option(struct order_load_config *config, int option, const char *text);
bool order_load_number(const char *text, uint64_t *ret_number);

/* Length of rows of ranks that communicate mostly with each other, for questions about
 * near events. */
enum { ORDER_LOAD_NEAR = 8 };

/* Includes the trace of collective operations. */
uint32_t order_load_traces(const struct order_load_config *config);

/* Streams all traces, then all events.  Returns 0, the error of the sink, -EINVAL with
 * a text, or -ENOMEM. */
int order_load_stream(const struct order_load_config *config,
                      const struct es_set_sink *sink,
                      struct es_error *error);

#endif
