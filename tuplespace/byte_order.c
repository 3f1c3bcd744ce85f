/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* byte_order.c - swaps the bytes of tuple fields. */
#include "config.h"

#include "tuplespace/byte_order.h"

void esi_byte_order_swap_tuples(struct es_tuple *tuples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tuples[i] = (struct es_tuple){
            .stop = __builtin_bswap64(tuples[i].stop),
            .operation = __builtin_bswap16(tuples[i].operation),
            .communicator = __builtin_bswap16(tuples[i].communicator),
            .start = __builtin_bswap64(tuples[i].start),
            .sequence = __builtin_bswap32(tuples[i].sequence),
            .peer = (int32_t)__builtin_bswap32((uint32_t)tuples[i].peer),
            .tag = (int32_t)__builtin_bswap32((uint32_t)tuples[i].tag),
            .bytes = __builtin_bswap32(tuples[i].bytes),
        };
}
