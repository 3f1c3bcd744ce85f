/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The other byte order, of tuples that come over the wire or leave through `convert`.
 *
 * Segments are read in the machine's own byte order only.  Pure logic.
 */
#ifndef ES_TUPLESPACE_BYTE_ORDER_H
#define ES_TUPLESPACE_BYTE_ORDER_H

#include <stddef.h>

#include "eventspace/tuple.h"

/* Turns every field of `count` tuples in place.  Turning twice gives what it was. */
void esi_byte_order_swap_tuples(struct es_tuple *tuples, size_t count);

#endif
