/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Calls on elements beside those of eventspace/run.h: for stages and for the tuple
 * server.  Thread safe. */
#ifndef ES_TUPLESPACE_ELEMENT_VIEW_H
#define ES_TUPLESPACE_ELEMENT_VIEW_H

#include <stdint.h>

#include "eventspace/run.h"
#include "tuplespace/layout.h"

/* The addresses of calls, where the element has them (else 0 = not known), beside what
 * es_element_read(), es_element_latest() and es_element_open() give.  `ret_sites` has
 * room for `max`, or is NULL.  An open tuple comes with the position at which it will
 * be published; all is from one consistent sample of the element. */
size_t esi_element_view_read_sites(const struct es_element_view *element,
                                   struct es_cursor *cursor,
                                   struct es_tuple *ret_tuples,
                                   uint64_t *ret_sites,
                                   size_t max);
int esi_element_view_latest_site(const struct es_element_view *element,
                                 struct es_tuple *ret_tuple,
                                 uint64_t *ret_position,
                                 uint64_t *ret_site);
int esi_element_view_open_site(const struct es_element_view *element,
                               struct es_tuple *ret_tuple,
                               uint64_t *ret_position,
                               uint64_t *ret_site);

/* When the newest tuple of each element completed, 0 where there is none.  Reads no
 * more of the tuples: for who wants only the last of them, by es_element_latest(). */
void esi_element_view_latest_stops(const struct es_element_view *const *elements,
                                   size_t count,
                                   uint64_t *ret_stops);

/* Number of tuples ever published.  One load. */
uint64_t esi_element_view_head(const struct es_element_view *element);

/* --- For the tuple server --------------------------------------------------------- */

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
