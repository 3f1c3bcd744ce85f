/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* pattern_data.h - a synthetic event set in memory, with the classes of a pattern
 * file. */
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
    uint64_t load_ns;   /* time to create the set, order it and classify its events */
    int64_t heap_bytes; /* growth of the heap */
};

/* Keeps all classes of the pattern file.  `store` NULL: the default of the order.
 * Successors are only needed for closures computed by walking forward. */
int pattern_data_load(const struct pattern_set_config *set,
                      const char *pattern_path,
                      const char *store,
                      bool has_successors,
                      struct pattern_data *ret_data,
                      struct es_error *error);
/* Accepts a zeroed struct. */
void pattern_data_fini(struct pattern_data *data);

#endif
