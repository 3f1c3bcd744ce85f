/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Functions on elements in addition to eventspace/run.h, for stages and for the tuple
 * server.  Thread safe. */
#ifndef ES_TUPLESPACE_ELEMENT_VIEW_H
#define ES_TUPLESPACE_ELEMENT_VIEW_H

#include <stdint.h>

#include "eventspace/run.h"
#include "tuplespace/layout.h"

/* Like es_element_read(), es_element_latest() and es_element_open(), and also return
 * the call sites, 0 if the element does not record them.  `ret_sites` has room for
 * `max`, or is NULL.  For an open tuple, *ret_position is the position at which it will
 * be published; all outputs belong to one consistent sample of the element. */
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

/* Reads when the newest tuple of each element completed, 0 for an element without
 * tuples.  Touches nothing else of the tuples: for a caller that wants only the newest
 * of them all. */
void esi_element_view_latest_stops(const struct es_element_view *const *elements,
                                   size_t count,
                                   uint64_t *ret_stops);

/* Reads how many tuples were published and how many polls found nothing, since
 * creation.  Returns whether the element is enabled. */
bool esi_element_view_counters(const struct es_element_view *element,
                               uint64_t *ret_head,
                               uint64_t *ret_polls);

/* Number of tuples published since creation.  One load. */
uint64_t esi_element_view_head(const struct es_element_view *element);

/* --- For the tuple server --------------------------------------------------------- */

/* Where readers find the tuples.  es_run_select() omits elements whose tuples are on
 * another host. */
enum es_element_location esi_element_location(const struct es_element_view *element);

/* Changes the location from `before` to `now`; returns false if it was not `before`. */
bool esi_element_relocate(const struct es_element_view *element,
                          enum es_element_location before,
                          enum es_element_location now);

/* For an element placed here by another host: the original's position of the next
 * tuple. */
uint64_t esi_element_next_placed(const struct es_element_view *element);

/* Like es_element_append(), but returns -EAGAIN if the element blocks and its
 * registered reader does not make room within `timeout_ns`. */
int esi_element_append_within(const struct es_element_view *element,
                              const void *tuple,
                              uint32_t tuple_bytes,
                              uint64_t timeout_ns);

#endif
