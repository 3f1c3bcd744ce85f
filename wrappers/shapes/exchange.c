/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* exchange.c - the partners of recursive doubling. */
#include "config.h"

#include "wrappers/shapes/exchange.h"

struct esi_exchange esi_exchange_of(int size, int rank)
{
    struct esi_exchange exchange = {.neighbour = -1};

    while (size >> exchange.rounds > 1)
        exchange.rounds++;
    exchange.leaves = size - (1 << exchange.rounds);
    exchange.number = rank - exchange.leaves;
    if (rank < 2 * exchange.leaves) {
        exchange.number = rank / 2;
        exchange.neighbour = rank ^ 1;
        exchange.is_leaf = rank % 2 != 0;
    }
    if (exchange.is_leaf)
        exchange.rounds = 0;
    return exchange;
}

int esi_exchange_rank(const struct esi_exchange *exchange, int number)
{
    return number + (number < exchange->leaves ? number : exchange->leaves);
}

struct esi_exchange_ranks esi_exchange_range(const struct esi_exchange *exchange,
                                             int number,
                                             int round)
{
    int width = 1 << round;
    int begin = number & ~(width - 1);
    int first = esi_exchange_rank(exchange, begin);

    return (struct esi_exchange_ranks){
        .first = first, .count = esi_exchange_rank(exchange, begin + width) - first};
}
