/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Static greedy clustering (Ward, Huang & Taylor, figure 3, with errata 20).
 *
 * Of the pairs of clusters that communicate and are small enough together, the one with
 * the most communications for its combined size is united, until there is none; of
 * equal ones that whose smallest traces, lesser first, come first.  Level by level, the
 * clusters of a level being the beginning of the next.
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTERING_GREEDY_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTERING_GREEDY_H

#include "monitors/order/cluster/communications.h"

/* Fills *ret_smallest[level * traces + trace], level from 0, with the smallest trace of
 * that trace's cluster; the caller frees it.  Counts of traces beyond `traces` are left
 * out.  The same result as the paper's cubic loops in O((P + U) log (P + U)) time and
 * O(P + U) memory, where P are the pairs that communicate and U the sum over all unions
 * of the clusters that the united one communicates with: at most P times the size of a
 * cluster.  Quotients are exact as long as the number of all communications times the
 * square of a size stays below 2^64.  0 or -ENOMEM. */
int esi_clustering_greedy(const struct esi_communications *counts,
                          uint32_t traces,
                          unsigned levels,
                          const uint32_t *max_sizes,
                          uint32_t **ret_smallest);

#endif
