/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * element_view.h - reading calls of elements that the stages need beside
 * eventspace/run.h.
 *
 * Thread safe.
 */
#ifndef ES_TUPLESPACE_ELEMENT_VIEW_H
#define ES_TUPLESPACE_ELEMENT_VIEW_H

#include <stdint.h>

#include "eventspace/run.h"

/* As es_element_open(), with the position at which the operation will be published.
 * Tuple and position come from one consistent look at the element. */
int esi_element_view_open(const struct es_element_view *element,
                          struct es_tuple *ret_tuple,
                          uint64_t *ret_position);

/* Number of tuples ever published.  One load. */
uint64_t esi_element_view_head(const struct es_element_view *element);

#endif
