/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Helpers shared by the tests of the tuple space: private segments, and tuples whose
 * contents can be verified. */
#ifndef ES_TESTS_TUPLESPACE_FIXTURE_H
#define ES_TESTS_TUPLESPACE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/run.h"
#include "tuplespace/segment.h"

/* Writes a run id that no other test process has to `out` and returns it. */
const char *fixture_run(const char *test, char out[64]);

/* Creates a segment with a small arena.  Ends the test if that fails. */
struct es_segment *fixture_segment(const char *run, int rank);

/* Returns the usual configuration: a trace element that discards and is enabled. */
struct esi_element_config fixture_config(const char *name, uint32_t threshold);

/* Adds such an element to the segment.  Ends the test if that fails. */
void fixture_element(struct es_segment *segment,
                     const char *name,
                     uint32_t threshold,
                     struct esi_writer *ret_writer);

/* Opens the run.  Ends the test if that fails. */
struct es_run *fixture_open(const char *run);

/* Returns the element of that name, or NULL. */
struct es_element_view *fixture_find(const struct es_run *run, const char *name);

/* Returns the tuple for a position.  All its fields are derived from the position. */
struct es_tuple fixture_tuple(uint64_t position);

/* Whether all fields of the tuple agree.  An open tuple has stop 0. */
bool fixture_is_whole(const struct es_tuple *tuple, bool open);

/* Returns the position that a whole tuple was made for. */
uint64_t fixture_position(const struct es_tuple *tuple);

uint64_t fixture_now_ns(void);
void fixture_sleep_ns(uint64_t ns);

#endif
