/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Configuration and memory statistics of an order.  The functions that append events
 * and answer queries are in eventspace/order.h.
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

enum { ES_ORDER_LEVELS = 8 }; /* maximum number of levels below the top */

struct esi_communications; /* see communications.h */

/* Strings and `communications` are borrowed until esi_order_create() returns. */
struct esi_order_config {
    /* NULL = "epoch", which never takes more than 1.2 times the memory of the vectors
     * of "dense", plus 3 KB per trace and 128 KB (docs/epochs.md). */
    const char *store;

    /* Options of "cluster". */
    const char *strategy; /* "fixed", "merge-first", "merge-nth", "static", "collect",
                             "migrate"; NULL = "merge-nth" */
    unsigned levels;      /* from 1 to ES_ORDER_LEVELS */
    /* largest size of a cluster by level, lowest level first, increasing */
    uint32_t max_sizes[ES_ORDER_LEVELS];
    double threshold; /* of "merge-nth"; normalized (errata 21) */
    uint64_t prefix;  /* of "collect": number of events before clusters are made */
    /* of "static": counts of the whole set */
    const struct esi_communications *communications;
    const uint32_t *seeds; /* one number for each of `seed_count` traces; traces with
                              equal numbers start in the same cluster; NULL = each trace
                              starts alone */
    size_t seed_count;
    uint32_t fixed_vector; /* length of a vector in the accounting "fixed"; 0 = the
                              number of traces */

    /* Options of "epoch".  Sealed epochs beyond `memory_bytes` are spilled or
     * forgotten; 0 = no limit. */
    uint64_t memory_bytes;
    const char *spill_folder; /* folder for spilled epochs; NULL = they are forgotten */
    uint32_t seal_entries; /* length at which a log is packed; 0 = the store's choice */
    bool is_tight;         /* behave as if memory use were close to that of vectors; for
                              tests */
};

/* Sets the defaults: one level of clusters of 13 traces, threshold 10. */
void esi_order_config_init(struct esi_order_config *config);

/* Returns 0, -EINVAL if the configuration is invalid (see `error`), or -ENOMEM. */
int esi_order_create(const struct esi_order_config *config,
                     struct es_error *error,
                     struct es_order **ret_order);

/* --- Statistics ------------------------------------------------------------------- */

/* Elements are vector entries, counted as in the papers (docs/order.md,
 * "What is counted").  They are counted over all events, or, if the name contains
 * `communication`, over sends, receives and syncs only. */
struct esi_order_statistics {
    uint32_t traces;
    uint64_t events;
    uint64_t communication_events;
    uint64_t clusters[ES_ORDER_LEVELS];         /* current number by level; 0 for unused
                                                   levels */
    uint64_t cluster_receives[ES_ORDER_LEVELS]; /* of level k and above */
    uint64_t cuts;                              /* global cuts; of "epoch" */
    uint64_t derived_cuts; /* cuts derived from rooted pairs and similar structures */
    uint64_t actual_elements; /* stored vectors, with their actual lengths */
    uint64_t fixed_elements;  /* each vector as long as its level's largest cluster */
    uint64_t communication_actual_elements;
    uint64_t communication_fixed_elements;
    uint64_t vector_elements; /* entries of a Fidge/Mattern vector: traces, or
                                 fixed_vector */
    uint64_t stored_bytes;    /* memory held for timestamps, including unused space */
    uint64_t writer_bytes;    /* memory held for appending the next event */
    uint64_t spilled_bytes;   /* on disk */
    uint64_t forgotten_events;
    int spill_error; /* negative errno: something was forgotten because it could not be
                        spilled; 0 = no such error */
};

/* May run concurrently with appending; the figures may then be one event apart. */
void esi_order_statistics(const struct es_order *order,
                          struct esi_order_statistics *ret_statistics);

/* Sizes as fractions of Fidge/Mattern vectors; 0 if there are no events.  For "actual"
 * these vectors have one entry per trace, for "fixed" they have `vector_elements`
 * entries. */
struct esi_order_ratios {
    double actual;
    double fixed;
    double communication_actual;
    double communication_fixed;
    double stored; /* stored_bytes; relative to vectors of four bytes per trace */
};

void esi_order_ratios(const struct esi_order_statistics *statistics,
                      struct esi_order_ratios *ret_ratios);

#endif
