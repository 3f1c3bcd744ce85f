/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Static greedy clustering (Ward, Huang & Taylor, figure 3, with errata 20).
 *
 * Repeatedly merges, of all pairs of clusters that communicate and are small enough
 * together, the pair with the most communications relative to its combined size, until
 * no pair is left.  Among equal pairs, the one whose smallest traces, lesser first,
 * come first is taken.  Levels are built one by one; the clusters of a level are the
 * initial clusters of the next.
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTERING_GREEDY_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTERING_GREEDY_H

#include "monitors/order/cluster/communications.h"

/*
 * Sets *ret_smallest[level * traces + trace], levels from 0, to the smallest trace of
 * that trace's cluster; the caller frees it.  Ignores counts of traces beyond `traces`.
 *
 * The result is that of the paper's cubic loops, in O((P + U) log (P + U)) time and O(P
 * + U) memory, where P is the number of pairs that communicate and U the sum, over all
 * unions, of the number of clusters that the united cluster communicates with: at most
 * P times the size of a cluster.  Quotients are exact as long as the number of all
 * communications times the square of a size is below 2^64.  Returns 0 or -ENOMEM.
 */
int esi_clustering_greedy(const struct esi_communications *counts,
                          uint32_t traces,
                          unsigned levels,
                          const uint32_t *max_sizes,
                          uint32_t **ret_smallest);

#endif
