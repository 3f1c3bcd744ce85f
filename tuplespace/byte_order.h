/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The other byte order: which bytes of a segment's structs are numbers, and how wide.
 *
 * Turning a struct twice gives what it was.  Text stays, bit fields there are none.
 * Pure logic; what is turned must be nobody else's at the time.
 */
#ifndef ES_TUPLESPACE_BYTE_ORDER_H
#define ES_TUPLESPACE_BYTE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/tuple.h"
#include "tuplespace/layout.h"

struct es_tree_board_layout;
struct es_tree_log_entry;

void es_byte_order_turn_tuples(struct es_tuple *tuples, size_t count);
/* 32-bit numbers. */
void es_byte_order_turn_words(uint32_t *words, size_t count);
void es_byte_order_turn_header(struct es_segment_layout *header);
/* All but the writers' lock, which means nothing on another machine. */
void es_byte_order_turn_element(struct es_element_layout *element);
/* Both groups too, but no lists. */
void es_byte_order_turn_communicator(struct es_communicator_layout *communicator);
/* Its header only. */
void es_byte_order_turn_tree_board(struct es_tree_board_layout *board);
void es_byte_order_turn_tree_log_entry(struct es_tree_log_entry *entry);

#endif
