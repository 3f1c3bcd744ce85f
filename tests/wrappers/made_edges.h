/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random operations on collective trees as one rank records them, and the expected
 * results.
 *
 * There are four elements: contributions, arrivals, departures, and the MPI operations
 * themselves.  Ticks are nanoseconds.
 */
#ifndef ES_TEST_MADE_EDGES_H
#define ES_TEST_MADE_EDGES_H

#include "eventspace/tuple.h"
#include "wrappers/stages/node_edges.h"

enum { MADE_CONTRIBUTE, MADE_ARRIVAL, MADE_DEPARTURE, MADE_COLLECTIVE, MADE_KINDS };
enum { MADE_INSTANCES = 400, MADE_CHILDREN = 5, MADE_COMMUNICATORS = 3 };
enum { MADE_EDGES = MADE_INSTANCES * (2 * MADE_CHILDREN + 4) };

/* An operation and its expected results. */
struct made_instance {
    uint16_t communicator;
    uint32_t sequence;
    int children;
    struct es_tuple results[2];
    size_t result_count;
};

struct made_edges {
    struct made_instance instances[MADE_INSTANCES];
    size_t instance_count;
    struct es_tuple tuples[MADE_KINDS][MADE_EDGES];
    size_t counts[MADE_KINDS];
    int order[MADE_EDGES]; /* elements in the order of recording */
    size_t published;      /* tuples in all elements */
};

/* At most `overlap` operations are in progress at a time; 1 makes blocking ones. */
void made_edges_make(struct made_edges *made,
                     size_t instances,
                     size_t overlap,
                     uint64_t *random);

/* Returns the operation that a tuple belongs to, or NULL. */
struct made_instance *made_edges_find(struct made_edges *made,
                                      const struct es_tuple *tuple);

#endif
