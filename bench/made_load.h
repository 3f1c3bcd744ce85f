/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A run without MPI: host names, and ranks as segments, threads and elements in the
 * real tuple space, written through the interface of collectors.
 *
 * Element number i belongs to thread i / elements of its rank; ranks are assigned to
 * hosts in blocks.  Tuple number p of an element has sequence p, so that readers can
 * detect lost tuples; its tag is the element's number.
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
    bool here; /* all on one host, with the name of this host */
    int ranks;
    int first_rank;     /* number of the first rank, if the run also has others */
    int threads;        /* per rank */
    int elements;       /* per thread */
    size_t total;       /* most elements; 0 = ranks * threads * elements */
    uint32_t threshold; /* tuples kept in each */
    bool block;         /* writers wait for registered readers */
};

/* 1 host, 1 rank, 1 thread, 14 elements that keep 63 tuples. */
void made_load_config_init(struct made_load_config *config);

struct made_load;

/* Creates all segments and elements. Returns 0, -EINVAL with a text, or an error of the
 * segments. */
int made_load_create(const struct made_load_config *config,
                     struct es_error *error,
                     struct made_load **ret_load);
/* Stops writing and removes the segments.  Accepts NULL. */
void made_load_destroy(struct made_load *load);

size_t made_load_count(const struct made_load *load);
/* Memory used by the segments. */
uint64_t made_load_bytes(const struct made_load *load);

/* Name of a host.  Borrowed until the next call. */
const char *made_load_host(const struct made_load *load, int index);

struct made_load_element {
    const char *host; /* borrowed until the next call, also of made_load_host() */
    int rank;
    const char *name;
    uint64_t written;
};
/* The numbers of written tuples are exact while nobody writes. */
void made_load_element(const struct made_load *load,
                       size_t index,
                       struct made_load_element *ret_element);

/* Writes `tuples` tuples to each element at once, in the calling thread. */
void made_load_write(struct made_load *load, uint64_t tuples);

/* Starts writer threads: `rate` tuples per second to each element, at most `count`
 * tuples (0: no limit).  Elements are written in turn, so that the elements of one
 * writer never differ by more than one tuple. */
int made_load_start(struct made_load *load, int writers, double rate, uint64_t count);
/* Returns true if all writers have reached their count. */
bool made_load_is_done(const struct made_load *load);
/* Stops the writers and waits for their ends; all started tuples are complete. */
void made_load_stop(struct made_load *load);

#endif
