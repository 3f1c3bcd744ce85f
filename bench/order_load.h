/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Made event streams of any length, which are nowhere in memory: what programs of known
 * shape would send, receive and do together, given to a sink as an ordered stream.
 *
 * Ranks are visited in another order in each step, as if they were not quite abreast.
 * The same configuration gives the same stream.  Collective operations are all-to-all
 * ones with a trace of their own (the last), as event sets of MPI programs have them.
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
    uint64_t events;     /* some more come, to the end of a step */
    uint32_t every;      /* steps between all-to-all operations; 0 = none */
    uint32_t rooted;     /* steps between a reduce with a bcast; 0 = none */
    uint64_t seed;
};

struct order_load_help {
    const char *name;
    const char *help;
};

/* Ended by a name that is NULL. */
const struct order_load_help *order_load_patterns(void);

/* For getopt: sets what an option of a load says.  False: its argument is none. */
#define ORDER_LOAD_OPTIONS "p:n:e:k:r:s:"
#define ORDER_LOAD_USAGE                                                               \
    "[-p PATTERN] [-n RANKS] [-e EVENTS] [-k EVERY] [-r EVERY] [-s SEED]"
bool order_load_option(struct order_load_config *config, int option, const char *text);
bool order_load_number(const char *text, uint64_t *ret_number);

/* Rows of ranks that talk most with each other, for questions about what is near. */
enum { ORDER_LOAD_NEAR = 8 };

/* With that of collective operations. */
uint32_t order_load_traces(const struct order_load_config *config);

/* All traces, then all events.  0, what the sink gave, -EINVAL with words, -ENOMEM. */
int order_load_stream(const struct order_load_config *config,
                      const struct es_set_sink *sink,
                      struct es_error *error);

#endif
