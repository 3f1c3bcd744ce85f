/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What only the tuple server does with elements: what it notes where it moves tuples to
 * another host, and appending that ends. */
#ifndef ES_TUPLESPACE_MOVING_H
#define ES_TUPLESPACE_MOVING_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/run.h"

/* Whether readers find the tuples elsewhere: es_run_select() leaves such elements out.
 */
void es_element_set_moved(const struct es_element_view *element, bool moved);

/* Tuples that were overwritten before they could be moved. */
void es_element_set_lost_moving(const struct es_element_view *element, uint64_t lost);

/* Of an element that was moved here: the original's position of the next tuple. */
uint64_t es_element_next_moved(const struct es_element_view *element);

/* As es_element_append(), but -EAGAIN where the registered reader of a blocking element
 * has not made room within `timeout_ns`. */
int es_element_append_within(const struct es_element_view *element,
                             const void *tuple,
                             uint32_t tuple_bytes,
                             uint64_t timeout_ns);

#endif
