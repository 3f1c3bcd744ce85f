/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A store with its configuration, as written on a command line:
 *
 *   cluster:strategy=merge-nth,max=13,threshold=10     max=13/50: two levels
 *   epoch:memory=64                                    megabytes
 */
#ifndef ES_BENCH_ORDER_CHOICE_H
#define ES_BENCH_ORDER_CHOICE_H

#include "bench/order_load.h"
#include "monitors/order/cluster/cluster_tuning.h"
#include "monitors/order/order.h"

enum { ORDER_CHOICE_BYTES = 160 };

struct order_choice {
    const char *text; /* borrowed */
    struct esi_order_config config;
    struct esi_cluster_tuning cluster; /* if `config` has this store */
    char words[ORDER_CHOICE_BYTES];    /* holds the texts of the configuration */
};

/* Returns 0, or -EINVAL with a text.  The choice must not be moved afterwards: it
 * contains pointers to itself. */
int order_choice_parse(const char *text,
                       struct order_choice *ret_choice,
                       struct es_error *error);

/* Creates an order for a load and fills it.  "static" reads the whole load beforehand,
 * in a separate stream: `ret_ns` is the time of the second stream only.  The caller
 * destroys the order. */
int order_choice_fill(const struct order_choice *choice,
                      const struct order_load_config *load,
                      struct es_error *error,
                      struct es_order **ret_order,
                      uint64_t *ret_ns);

#endif
