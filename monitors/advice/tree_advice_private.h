/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_advice_private.h - data structures of tree_advice.c that tree_propose.c
 * reads. */
#ifndef ES_MONITORS_ADVICE_TREE_ADVICE_PRIVATE_H
#define ES_MONITORS_ADVICE_TREE_ADVICE_PRIVATE_H

#include <stdio.h>

#include "monitors/advice/tree_advice.h"

/* One instance. */
struct esi_advice_sample {
    double *enters_ns; /* owned; per rank, relative to the first */
    int root;
    uint64_t bytes;
    bool tree;
    uint32_t version;
    double measured_ns;
    double error_ns;
};

enum { ESI_ADVICE_PASTS = 4, ESI_ADVICE_PAST_KEPT = 128 };

/* Measurements with one tree or algorithm. */
struct esi_advice_past {
    bool tree;
    uint32_t version;
    uint64_t count;
    uint64_t touched;
    double measured_ns[ESI_ADVICE_PAST_KEPT]; /* the newest, unordered */
    double error_ns[ESI_ADVICE_PAST_KEPT];
};

struct esi_advice_group {
    uint64_t key[2];
    char communicator[64];
    uint32_t operation;
    unsigned order; /* order of magnitude; bytes are below 2^order */
    int size;
    bool tree; /* of the newest instance, like `version` */
    uint32_t version;
    int *world_ranks; /* owned */
    struct esi_advice_past pasts[ESI_ADVICE_PASTS];
    uint64_t instances;
    uint64_t touched;
    struct esi_advice_sample *samples; /* owned; capacity as configured */
    size_t count;
};

struct esi_tree_advisor {
    struct esi_tree_advisor_config config;
    struct esi_advice_group *groups; /* owned */
    size_t count;
    size_t capacity;
    uint64_t touches;
    uint64_t state; /* of the random selection of samples */
};

/* Mean without the smallest and largest eighth, and its standard error (may be NULL),
 * computed as if these were as close as the others.  Sorts the numbers. */
double esi_advice_typical(double *numbers, size_t count, double *ret_error);

#endif
