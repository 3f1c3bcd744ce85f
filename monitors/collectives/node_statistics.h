/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Running statistics of the internal nodes of collective trees: one row for each node,
 * communicator, operation and version of the tree.
 *
 * Statistics may be used by one thread at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_NODE_STATISTICS_H
#define ES_MONITORS_COLLECTIVES_NODE_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include "monitors/collectives/measure.h"
#include "monitors/collectives/tree_nodes.h"

/* How often a child was the last to arrive. */
struct esi_node_child {
    int rank; /* in the communicator */
    uint64_t times_last;
};

struct esi_node_row {
    uint64_t key[2];
    char communicator[64];
    uint16_t operation;
    uint32_t version;
    int world_rank;
    int rank;
    char host[64];
    uint64_t count;            /* operations */
    struct esi_measure wait;   /* for children, in ns; of operations with an upward
                                  phase */
    struct esi_measure spread; /* of the children's arrivals */
    struct esi_measure up;
    struct esi_measure down;
    struct esi_node_child *children; /* owned; by rank */
    size_t child_count;
    size_t child_capacity;
};

struct esi_node_statistics;

int esi_node_statistics_create(struct esi_node_statistics **ret_statistics);
/* Accepts NULL. */
void esi_node_statistics_destroy(struct esi_node_statistics *statistics);

/* Adds a result.  Returns 0 or -ENOMEM. O(log rows), plus constant time for the
 * measures. */
int esi_node_statistics_add(struct esi_node_statistics *statistics,
                            const struct esi_tree_node_result *result);

/* Rows by communicator key, operation, version and world rank.  Borrowed until the next
 * result is added. */
size_t esi_node_statistics_count(const struct esi_node_statistics *statistics);
const struct esi_node_row *esi_node_statistics_at(
    const struct esi_node_statistics *statistics,
    size_t index);

/* The child that was last most often; NULL if none was. */
const struct esi_node_child *esi_node_row_slowest(const struct esi_node_row *row);

#endif
