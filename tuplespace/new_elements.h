/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Detects new elements without scanning all segments.
 *
 * A process that adds an element wakes those who wait on its element count, so that
 * readers find the elements of short-lived threads before their rings are full.  New
 * segments are only found by es_run_refresh().
 *
 * Not thread safe with other calls on the same run, including its refresh.
 */
#ifndef ES_TUPLESPACE_NEW_ELEMENTS_H
#define ES_TUPLESPACE_NEW_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/run.h"

/* Returns whether attached segments have elements that es_run_refresh() has not added
 * yet.  One load per segment. */
bool esi_run_has_new_elements(const struct es_run *run);

/* Sleeps until an element is added, or for `timeout_ns`.  May return spuriously.
 * Sleeps the full time if the kernel cannot wait for several words (before Linux 5.16).
 * Waits only for the first 128 segments of a run. */
void esi_run_wait_for_elements(const struct es_run *run, uint64_t timeout_ns);

#endif
