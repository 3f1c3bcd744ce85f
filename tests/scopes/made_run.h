/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A run created by the test: real segments in shared memory, written through the
 * interface of collectors and read through that of consumers.
 */
#ifndef ES_TESTS_MADE_RUN_H
#define ES_TESTS_MADE_RUN_H

#include "eventspace/operation.h"
#include "eventspace/run.h"
#include "tuplespace/segment.h"

enum { MADE_SEGMENTS = 8, MADE_ELEMENTS = 100 };

struct made_element {
    struct es_segment *segment;
    struct esi_writer writer;
};

struct made_run {
    char name[64];
    struct es_segment *segments[MADE_SEGMENTS];
    size_t segment_count;
    struct made_element elements[MADE_ELEMENTS];
    size_t element_count;
    enum es_clock_kind clock;
};

/* Begins an empty run with a unique name. */
void made_run_begin(struct made_run *run);
/* Removes all segments of the run. */
void made_run_end(struct made_run *run);

/* Adds the process of a rank (of `size`) with a world communicator as the first one. */
struct es_segment *made_run_add_rank(struct made_run *run, int rank, int size);
struct es_segment *made_run_add_rank_on(struct made_run *run,
                                        const char *host,
                                        int rank,
                                        int size);

/* Adds an element and returns its writer, whose address does not change. */
struct esi_writer *made_run_add_element(struct made_run *run,
                                        struct es_segment *segment,
                                        int rank,
                                        int thread,
                                        const char *collector,
                                        uint32_t classes,
                                        uint32_t threshold);

/* A tuple of the named operation on the world communicator, from
 * `start` to `stop` ticks. */
struct es_tuple made_tuple(const char *operation, uint64_t start, uint64_t stop);

/* The ticks of the run's clock `ago_ns` nanoseconds ago. */
uint64_t made_ticks(const struct made_run *run, uint64_t ago_ns);

#endif
