/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A run without MPI: hosts by name only, ranks as segments, threads and elements, all
 * in the real tuple space and written through the interface of collectors.
 *
 * Element number i belongs to thread i / elements of its rank; ranks stand on hosts in
 * blocks.  Tuple number p of an element has p as its sequence, so whoever reads can
 * tell what is missing; its tag is the element's number.
 */
#ifndef ES_BENCH_MADE_LOAD_H
#define ES_BENCH_MADE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

struct made_load_config {
    const char *run; /* borrowed */
    int hosts;       /* named HOST_PREFIX-0, ...; 1 to `ranks` */
    const char *host_prefix;
    bool here; /* all of it on one host, which has this host's name */
    int ranks;
    int first_rank;     /* number of the first, where the run has others, too */
    int threads;        /* of a rank */
    int elements;       /* of a thread */
    size_t total;       /* no more elements than this; 0 = ranks * threads * elements */
    uint32_t threshold; /* tuples kept in each */
    bool block;         /* writers wait for registered readers */
};

/* 1 host, 1 rank, 1 thread, 14 elements that keep 63 tuples. */
void made_load_config_init(struct made_load_config *config);

struct made_load;

/* Makes all segments and elements. -EINVAL with words, or as segments give it. */
int made_load_create(const struct made_load_config *config,
                     struct es_error *error,
                     struct made_load **ret_load);
/* Stops writing, removes the segments.  Accepts NULL. */
void made_load_destroy(struct made_load *load);

size_t made_load_count(const struct made_load *load);
/* Memory that the segments take. */
uint64_t made_load_bytes(const struct made_load *load);

/* Name of a host.  Borrowed until the next call. */
const char *made_load_host(const struct made_load *load, int index);

struct made_load_element {
    const char *host; /* borrowed until the next call of this or of made_load_host() */
    int rank;
    const char *name;
    uint64_t written;
};
/* Written counts are exact while nobody writes. */
void made_load_element(const struct made_load *load,
                       size_t index,
                       struct made_load_element *ret_element);

/* Writes `tuples` to each element, now, in the calling thread. */
void made_load_write(struct made_load *load, uint64_t tuples);

/* Starts writer threads: `rate` tuples a second to each element, `count` tuples at most
 * (0 = without end).  Elements are written in turn, so at any time none has more than
 * one tuple more than another of the same writer. */
int made_load_start(struct made_load *load, int writers, double rate, uint64_t count);
/* Whether all writers have written their count. */
bool made_load_is_done(const struct made_load *load);
/* Ends them and waits for it; what they wrote is whole. */
void made_load_stop(struct made_load *load);

#endif
