/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Configuration and memory statistics of an order.  The functions that append events
 * and answer queries are in eventspace/order.h.
 *
 *   struct esi_order_config config = {.store = "dense"};
 *
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

/* Texts and `tuning` are borrowed until esi_order_create() returns. */
struct esi_order_config {
    /* One of esi_order_stores().  NULL = the first, which never takes more than 1.2
     * times the memory of the vectors of "dense", plus 3 KB per trace and 128 KB
     * (docs/epochs.md). */
    const char *store;
    const void *tuning; /* of the store, a struct of its own; NULL = its defaults */
    /* Of stores that can forget: what they hold beyond `memory_bytes` is spilled or
     * forgotten; 0 = no limit. */
    uint64_t memory_bytes;
    const char *spill_folder; /* NULL = nothing is spilled */
    uint32_t fixed_vector;    /* length of a vector in the accounting "fixed"; 0 = the
                                 number of traces */
};

enum { ES_ORDER_STORES = 128 };

/* Writes the names of the stores: "one DEFAULT, another or a third".  Returns `out`. */
const char *esi_order_stores(const char *after_default, char out[ES_ORDER_STORES]);

/* Returns 0, -EINVAL if the configuration is invalid (see `error`), or -ENOMEM. */
int esi_order_create(const struct esi_order_config *config,
                     struct es_error *error,
                     struct es_order **ret_order);

/* --- Statistics ------------------------------------------------------------------- */

/* Elements are vector entries, counted as in the papers (docs/order.md,
 * "What is counted").  They are counted over all events, or, if the name contains
 * `communication`, over sends, receives and syncs only. */
struct esi_order_statistics {
    const char *store;
    uint32_t traces;
    uint64_t events;
    uint64_t communication_events;
    uint64_t clusters[ES_ORDER_LEVELS];         /* current number by level; 0 for unused
                                                   levels */
    uint32_t max_sizes[ES_ORDER_LEVELS];        /* of these clusters */
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
