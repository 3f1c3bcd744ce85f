/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A host's clock as many threads read it: converts while a new estimate is put in.
 *
 * | thread          | calls                     | at the same time as          |
 * | --------------- | ------------------------- | ---------------------------- |
 * | any             | esi_host_clock_run_ns()    | everything                   |
 * | one at a time   | esi_host_clock_set()       | readers                      |
 *
 * There are two copies of the estimate and a count: a writer announces which copy it
 * leaves alone, so readers never wait for one, and only those who were overtaken by two
 * writes begin anew.
 */
#ifndef ES_BASE_HOST_CLOCK_H
#define ES_BASE_HOST_CLOCK_H

#include "base/clock_estimate.h"

struct es_host_clock;

/* One that knows nothing yet.  -ENOMEM. */
int esi_host_clock_create(struct es_host_clock **ret_clock);
/* Accepts NULL. */
void esi_host_clock_destroy(struct es_host_clock *clock);

/* Takes over what is known by now. */
void esi_host_clock_set(struct es_host_clock *clock,
                        const struct esi_clock_estimate *estimate);

/* Run time, in nanoseconds since 1970, of a time that CLOCK_MONOTONIC showed on the
 * host; `ret_error_ns` (may be NULL) gets the bound of the error.  False: nothing is
 * known yet, and nothing is returned. */
bool esi_host_clock_run_ns(const struct es_host_clock *clock,
                           uint64_t monotonic_ns,
                           uint64_t *ret_run_ns,
                           uint64_t *ret_error_ns);

/* Run time now, by the clock of the host where the caller is; CLOCK_REALTIME where it
 * is not known or NULL. */
uint64_t esi_host_clock_now_ns(const struct es_host_clock *clock);

#endif
