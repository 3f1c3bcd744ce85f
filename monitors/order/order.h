/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * How an order is kept and what that costs; eventspace/order.h has what is appended and
 * asked.
 *
 *   esi_order_config_init(&config);
 *   esi_order_create(&config, &error, &order);
 */
#ifndef ES_MONITORS_ORDER_ORDER_H
#define ES_MONITORS_ORDER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/order.h"

enum { ES_ORDER_LEVELS = 8 }; /* of clusters below the top, at most */

struct esi_communications; /* communications.h */

/* Texts and `communications` are borrowed until esi_order_create() returns, unless
 * said.
 */
struct esi_order_config {
    /* NULL = "epoch", which never takes more than 1.2 times the vectors of "dense", 3
     * KB for each trace and 128 KB (docs/epochs.md). */
    const char *store;

    /* Of "cluster". */
    const char *strategy; /* "fixed", "merge-first", "merge-nth", "static", "collect",
                             "migrate"; NULL = "merge-nth" */
    unsigned levels;      /* 1 to ES_ORDER_LEVELS */
    uint32_t
        max_sizes[ES_ORDER_LEVELS]; /* of a cluster, the lowest level first, rising */
    double threshold;               /* of "merge-nth": normalized (errata 21) */
    uint64_t prefix; /* of "collect": events after which clusters are made */
    const struct esi_communications *communications; /* of "static": of the whole set */
    const uint32_t *seeds; /* a number for each of `seed_count` traces: those with the
                              same one begin in one cluster; NULL = each alone */
    size_t seed_count;
    uint32_t fixed_vector; /* entries of a vector in the accounting "fixed"; 0 = as many
                              as there are traces */

    /* Of "epoch". */
    uint64_t
        memory_bytes; /* sealed epochs beyond are spilled or forgotten; 0 = no limit */
    const char *spill_folder; /* where to; NULL = forgotten */
    uint32_t seal_entries;    /* a log of so many is packed; 0 = the store's choice */
    bool is_tight;            /* as if it took as much as vectors would; for tests */
};

/* One level of clusters of 13 traces, threshold 10. */
void esi_order_config_init(struct esi_order_config *config);

/* -EINVAL with words where the configuration makes no sense; -ENOMEM. */
int esi_order_create(const struct esi_order_config *config,
                     struct es_error *error,
                     struct es_order **ret_order);

/* --- What it costs ---------------------------------------------------------------- */

/* Elements are entries of vectors as the papers count them (cluster-timestamps,
 * "Sizes"). The population is all events, or with `communication` in the name sends,
 * receives and syncs only. */
struct esi_order_statistics {
    uint32_t traces;
    uint64_t events;
    uint64_t communication_events;
    uint64_t clusters[ES_ORDER_LEVELS];         /* now, per level; 0 where none */
    uint64_t cluster_receives[ES_ORDER_LEVELS]; /* of level k and above */
    uint64_t cuts;                              /* global ones; of "epoch" */
    uint64_t derived_cuts;    /* that were concluded from rooted pairs and the like */
    uint64_t actual_elements; /* stored vectors, as long as they are */
    uint64_t fixed_elements;  /* each as long as its level's largest cluster */
    uint64_t communication_actual_elements;
    uint64_t communication_fixed_elements;
    uint64_t vector_elements; /* of a Fidge/Mattern vector: traces, or fixed_vector */
    uint64_t
        stored_bytes; /* really held in memory for stamps, with all that is slack */
    uint64_t writer_bytes;  /* really held to append the next event */
    uint64_t spilled_bytes; /* on disk */
    uint64_t forgotten_events;
    int spill_error; /* negative errno: something was forgotten, as it could not be
                        spilled; 0 = all was */
};

/* May run together with appending: then figures may be one event apart. */
void esi_order_statistics(const struct es_order *order,
                          struct esi_order_statistics *ret_statistics);

/* Parts of Fidge/Mattern vectors, 0 where there are no events.  "actual" is of vectors
 * with an entry for each trace, "fixed" of vectors of `vector_elements`. */
struct esi_order_ratios {
    double actual;
    double fixed;
    double communication_actual;
    double communication_fixed;
    double stored; /* stored_bytes, of vectors of four bytes a trace */
};

void esi_order_ratios(const struct esi_order_statistics *statistics,
                      struct esi_order_ratios *ret_ratios);

#endif
