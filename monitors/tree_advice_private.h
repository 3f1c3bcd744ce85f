/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_advice_private.h - what tree_advice.c keeps and tree_propose.c reads. */
#ifndef ES_MONITORS_TREE_ADVICE_PRIVATE_H
#define ES_MONITORS_TREE_ADVICE_PRIVATE_H

#include <stdio.h>

#include "monitors/tree_advice.h"

/* One instance. */
struct esi_advice_sample {
    double *enters_ns; /* owned; of each rank, since the first */
    int root;
    uint64_t bytes;
    uint32_t version;
    double measured_ns;
    double error_ns;
};

struct esi_advice_group {
    uint64_t key[2];
    char communicator[64];
    uint32_t operation;
    unsigned order; /* of size; bytes below 2^order */
    int size;
    uint32_t version; /* of the newest instance */
    uint64_t instances;
    uint64_t touched;
    struct esi_advice_sample *samples; /* owned; room for as many as are kept */
    size_t count;
};

struct es_tree_advisor {
    struct es_tree_advisor_config config;
    struct esi_advice_group *groups; /* owned */
    size_t count;
    uint64_t touches;
    uint64_t state; /* of the choice of samples */
};

#endif
