/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Who exchanges with whom: recursive doubling (Thakur, Rabenseifner, Gropp:
 * Optimization of Collective Communication Operations in MPICH, 2005).
 *
 * In round k a rank and the one whose number differs in bit k alone give each other
 * what they have, so all have everything after log2(ranks) rounds.  Ranks beyond the
 * largest power of two are leaves: of the first ranks each odd one hands its value to
 * the even one before it and takes the result from it.  So what a rank has is always of
 * consecutive ranks, and values can be combined in rank order.
 *
 *   may run at the same time: everything.
 */
#ifndef ES_WRAPPERS_SHAPES_EXCHANGE_H
#define ES_WRAPPERS_SHAPES_EXCHANGE_H

#include <stdbool.h>

/* The part of one rank. */
struct esi_exchange {
    int leaves;    /* ranks beyond the largest power of two */
    int rounds;    /* 0 of a leaf */
    int number;    /* among those that exchange; of a leaf: its neighbour's */
    int neighbour; /* the rank that is joined to this one; -1 = none */
    bool is_leaf;
};

struct esi_exchange_ranks {
    int first;
    int count;
};

/* The part of `rank` among `size` ranks, at least one. */
struct esi_exchange esi_exchange_of(int size, int rank);

/* The rank with a number. */
int esi_exchange_rank(const struct esi_exchange *exchange, int number);

/* The ranks whose values the one with the number has before a round. */
struct esi_exchange_ranks esi_exchange_range(const struct esi_exchange *exchange,
                                             int number,
                                             int round);

#endif
