/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Offset and drift between two clocks, from messages that went there and back.
 *
 *     local   t1 ─────╲               ╱──── t4        offset = home - local
 *     home             ╲── t2   t3 ──╱
 *
 * The message arrives after it was sent, so the offset at t1 is t2 - t1 at most, and at
 * t4 it is t3 - t4 at least (Cristian 1989).  All exchanges together leave a corridor,
 * through which the offset's line must run (Duda et al. 1987); as the drift may change,
 * the corridor gets wider with the age of an exchange.  Its ends at the time of the
 * last exchange are the bound of the error.  The estimate within is the line through
 * the exchanges with the smallest round trips, by medians, which take no notice of a
 * minority of bad ones (Theil and Sen).
 *
 * No input or output, no allocation.  Not for several threads at once.
 */
#ifndef ES_BASE_CLOCK_FIT_H
#define ES_BASE_CLOCK_FIT_H

#include <stddef.h>

#include "base/clock_estimate.h"

enum { ES_CLOCK_FIT_WINDOW = 64 };

/* One message and its answer: nanoseconds of CLOCK_MONOTONIC. */
struct esi_clock_exchange {
    uint64_t sent_ns;     /* t1, local */
    uint64_t arrived_ns;  /* t2, home */
    uint64_t answered_ns; /* t3, home */
    uint64_t received_ns; /* t4, local */
};

/* Caller's memory; all 0 is one that knows nothing.  Fields are private. */
struct esi_clock_fit {
    struct esi_clock_exchange window[ES_CLOCK_FIT_WINDOW]; /* the oldest first */
    size_t count;
};

/* Takes an exchange into account.  False: it cannot be, or lies before the last one. */
bool esi_clock_fit_add(struct esi_clock_fit *fit,
                       const struct esi_clock_exchange *exchange);

/* Where the offset's line may run at the time of the last exchange. */
struct esi_clock_corridor {
    double offset_least; /* relative to the last exchange's t2 - t1 */
    double offset_most;
    double drift_least; /* 1 = the home clock runs twice as fast */
    double drift_most;
};

/* The corridor of the exchanges from `first` on.  False: no line goes through.
 * O(n * n). */
bool esi_clock_fit_corridor(const struct esi_clock_fit *fit,
                            size_t first,
                            struct esi_clock_corridor *ret_corridor);

/* Appends a knot at the time of the last exchange to the estimate, and gives it the
 * drift.  Where no line goes through all exchanges, the stated rates did not hold: the
 * older ones are forgotten and the break is counted.  False: there is nothing new. */
bool esi_clock_fit_update(struct esi_clock_fit *fit,
                          struct esi_clock_estimate *estimate);

#endif
