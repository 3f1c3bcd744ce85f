/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cluster_tuning.h - what can be chosen of the store "cluster". */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTER_TUNING_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTER_TUNING_H

#include <stddef.h>
#include <stdint.h>

#include "monitors/order/order.h"

struct esi_communications; /* communications.h */

/* Everything is borrowed until esi_order_create() returns. */
struct esi_cluster_tuning {
    const char *strategy; /* see esi_strategy_find() */
    unsigned levels;      /* from 1 to ES_ORDER_LEVELS */
    /* largest size of a cluster by level, lowest level first, increasing */
    uint32_t max_sizes[ES_ORDER_LEVELS];
    double threshold; /* of "merge-nth" and "migrate"; normalized (errata 21) */
    uint64_t prefix;  /* of "collect": number of events before clusters are made */
    /* of "static": counts of the whole set */
    const struct esi_communications *communications;
    const uint32_t *seeds; /* one number for each of `seed_count` traces; traces with
                              equal numbers start in the same cluster; NULL = each trace
                              starts alone */
    size_t seed_count;
};
/* "merge-nth" with threshold 10, one level of clusters of 13 traces. */
extern const struct esi_cluster_tuning esi_cluster_defaults;

#endif
