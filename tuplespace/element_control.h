/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What only the tuple server does with elements: it notes where their tuples are found,
 * and appends to them within a time.  Thread safe. */
#ifndef ES_TUPLESPACE_ELEMENT_CONTROL_H
#define ES_TUPLESPACE_ELEMENT_CONTROL_H

#include <stdint.h>

#include "eventspace/run.h"
#include "tuplespace/layout.h"

/* Where readers find the tuples: es_run_select() leaves elements out that lie on
 * another host. */
enum es_element_location esi_element_location(const struct es_element_view *element);

/* Changes that from `before`; false: it was another. */
bool esi_element_relocate(const struct es_element_view *element,
                          enum es_element_location before,
                          enum es_element_location now);

/* Of an element that is placed here: the original's position of the next tuple. */
uint64_t esi_element_next_placed(const struct es_element_view *element);

/* As es_element_append(), but -EAGAIN where the registered reader of a blocking element
 * has not made room within `timeout_ns`. */
int esi_element_append_within(const struct es_element_view *element,
                              const void *tuple,
                              uint32_t tuple_bytes,
                              uint64_t timeout_ns);

#endif
