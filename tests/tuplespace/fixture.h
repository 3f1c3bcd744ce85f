/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the tests of the tuple space share: segments of their own, tuples that check
 * themselves. */
#ifndef ES_TESTS_TUPLESPACE_FIXTURE_H
#define ES_TESTS_TUPLESPACE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/run.h"
#include "tuplespace/segment.h"

/* A run id that no other test process has. */
const char *fixture_run(const char *test, char out[64]);

/* Makes a segment with a small arena; ends the test when that fails. */
struct es_segment *fixture_segment(const char *run, int rank);

/* The usual element: trace, discarding, enabled. */
struct esi_element_config fixture_config(const char *name, uint32_t threshold);

/* Adds one to the segment; ends the test when that fails. */
void fixture_element(struct es_segment *segment,
                     const char *name,
                     uint32_t threshold,
                     struct esi_writer *ret_writer);

/* Opens the run; ends the test when that fails. */
struct es_run *fixture_open(const char *run);

/* The element of that name, or NULL. */
struct es_element_view *fixture_find(const struct es_run *run, const char *name);

/* The tuple that belongs at a position: all fields follow from it. */
struct es_tuple fixture_tuple(uint64_t position);

/* Whether all fields belong together; an open tuple has stop 0 instead. */
bool fixture_is_whole(const struct es_tuple *tuple, bool open);

/* The position a whole tuple was made for. */
uint64_t fixture_position(const struct es_tuple *tuple);

/* Random numbers of a seed that is printed, or taken from $ES_TEST_SEED. */
uint64_t fixture_seed(void);
uint64_t fixture_random(uint64_t *state);

uint64_t fixture_now_ns(void);
void fixture_sleep_ns(uint64_t ns);

#endif
