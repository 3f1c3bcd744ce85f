/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* pattern_data.h - a made event set in memory, sorted for the patterns of a file. */
#ifndef ES_BENCH_PATTERN_DATA_H
#define ES_BENCH_PATTERN_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/pattern_sets.h"
#include "monitors/order/order.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/thesis/successors.h"

struct pattern_data {
    struct es_pattern_file *file;
    struct es_order *order;
    struct esi_domains *domains;
    struct esi_successors *successors; /* or NULL */
    uint64_t events;
    uint64_t load_ns;   /* making the set, ordering and sorting */
    int64_t heap_bytes; /* by which the heap grew */
};

/* All classes of the pattern file are kept.  `store` NULL: the order's default.
 * Successors are for closures that are walked forward only. */
int pattern_data_load(const struct pattern_set_config *set,
                      const char *pattern_path,
                      const char *store,
                      bool has_successors,
                      struct pattern_data *ret_data,
                      struct es_error *error);
/* Also of zeroes. */
void pattern_data_fini(struct pattern_data *data);

#endif
