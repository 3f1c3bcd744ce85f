/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A host's clock shared by many threads, which convert times while it is updated.
 *
 * | thread          | calls                     | at the same time as          |
 * | --------------- | ------------------------- | ---------------------------- |
 * | any             | esi_host_clock_run_ns()    | everything                   |
 * | one at a time   | esi_host_clock_set()       | readers                      |
 *
 * There are two copies of the estimate and a counter.  The writer announces which copy
 * it does not modify, so readers never wait, and retry only if they were overtaken by
 * two writes.
 */
#ifndef ES_BASE_HOST_CLOCK_H
#define ES_BASE_HOST_CLOCK_H

#include "base/clock_estimate.h"

struct es_host_clock;

/* Creates a clock without an estimate.  Returns 0 or -ENOMEM. */
int esi_host_clock_create(struct es_host_clock **ret_clock);
/* Frees the clock.  Accepts NULL. */
void esi_host_clock_destroy(struct es_host_clock *clock);

/* Replaces the estimate by a copy of `estimate`. */
void esi_host_clock_set(struct es_host_clock *clock,
                        const struct esi_clock_estimate *estimate);

/* Converts a time of the host's CLOCK_MONOTONIC to run time, in nanoseconds since 1970.
 * `ret_error_ns` may be NULL.  Returns false, without setting the outputs, if there is
 * no estimate yet. */
bool esi_host_clock_run_ns(const struct es_host_clock *clock,
                           uint64_t monotonic_ns,
                           uint64_t *ret_run_ns,
                           uint64_t *ret_error_ns);

/* The current run time, by the clock of the caller's host; CLOCK_REALTIME if `clock` is
 * NULL or has no estimate. */
uint64_t esi_host_clock_now_ns(const struct es_host_clock *clock);

#endif
