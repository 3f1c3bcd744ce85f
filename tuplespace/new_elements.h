/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Elements that have just been made, without a scan of all segments.
 *
 * A process that adds an element wakes who waits for its count of elements, so that a
 * reader finds the elements of a thread that lives for milliseconds before their rings
 * are full.  Segments that are new themselves are found by es_run_refresh() alone.
 *
 * Calls on one run must not run at the same time, nor together with its refresh.
 */
#ifndef ES_TUPLESPACE_NEW_ELEMENTS_H
#define ES_TUPLESPACE_NEW_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/run.h"

/* Whether attached segments have elements that es_run_refresh() has not taken in: one
 * load for each segment. */
bool esi_run_has_new_elements(const struct es_run *run);

/* Sleeps until one is added, or for `timeout_ns`.  It returns early for no reason, too,
 * and for the full time where the kernel cannot wait for several words (before Linux
 * 5.16); of a run with more than 128 segments it waits for the first 128. */
void esi_run_wait_for_elements(const struct es_run *run, uint64_t timeout_ns);

#endif
