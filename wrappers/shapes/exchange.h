/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Partners of recursive doubling (Thakur, Rabenseifner, Gropp: Optimization of
 * Collective Communication Operations in MPICH, 2005).
 *
 * In round k, ranks whose numbers differ in bit k only exchange their data, so all have
 * everything after log2(ranks) rounds.  Ranks beyond the largest power of two are
 * leaves: among the first ranks, each odd one sends its value to the even one before
 * it, and receives the result from it.  The data of a rank thus always belongs to
 * consecutive ranks, and values can be combined in rank order.
 *
 *   may run at the same time: everything.
 */
#ifndef ES_WRAPPERS_SHAPES_EXCHANGE_H
#define ES_WRAPPERS_SHAPES_EXCHANGE_H

#include <stdbool.h>

/* The role of one rank. */
struct esi_exchange {
    int leaves;    /* number of ranks beyond the largest power of two */
    int rounds;    /* 0 for a leaf */
    int number;    /* among the ranks that exchange; for
                      a leaf, that of its neighbour */
    int neighbour; /* the leaf of this rank, or vice versa; -1 if none */
    bool is_leaf;
};

struct esi_exchange_ranks {
    int first;
    int count;
};

/* The role of `rank` among `size` ranks, at least one. */
struct esi_exchange esi_exchange_of(int size, int rank);

/* The rank with a number. */
int esi_exchange_rank(const struct esi_exchange *exchange, int number);

/* The ranks whose values the rank with the number has before a round. */
struct esi_exchange_ranks esi_exchange_range(const struct esi_exchange *exchange,
                                             int number,
                                             int round);

#endif
