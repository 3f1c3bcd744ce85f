/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Byte swapping of tuples that come over the network or leave through the stage
 * `convert`.
 *
 * Segments are only read in native byte order.  Pure logic.
 */
#ifndef ES_TUPLESPACE_BYTE_ORDER_H
#define ES_TUPLESPACE_BYTE_ORDER_H

#include <stddef.h>

#include "eventspace/tuple.h"

/* Swaps the bytes of every field of `count` tuples in place. */
void esi_byte_order_swap_tuples(struct es_tuple *tuples, size_t count);

#endif
