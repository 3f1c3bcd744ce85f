/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The estimate of a host's clock relative to the home server's: a sequence of knots.
 *
 * All times are nanoseconds of CLOCK_MONOTONIC: "local" on the host, "home" on the home
 * server's host.  The offset is home - local.  It is linear between two knots, and
 * follows the last observed drift after the last knot.  Conversions between two knots
 * do not change, unless later exchanges at least halve their error, as happens in the
 * first seconds.  Old knots are removed where the loss is smallest, and the loss is
 * added to the error bound.
 */
#ifndef ES_BASE_CLOCK_ESTIMATE_H
#define ES_BASE_CLOCK_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The error bounds hold while the drift between two hosts is below the first value and
 * changes by less than the second per second. */
#define ES_CLOCK_DRIFT_MOST_PPB 1000000.0
#define ES_CLOCK_WANDER_PPB 50.0

enum { ES_CLOCK_KNOTS_MAX = 128 };

/* 32 bytes, all members of eight bytes, because knots are copied as words
 * (host_clock.c). */
struct esi_clock_knot {
    uint64_t local_ns;
    int64_t offset_ns; /* home - local at that time, */
    uint64_t error_ns; /* with this error bound */
    uint64_t bow_ns;   /* additional error since the previous knot */
};

/* How the offset continues after the last knot. */
struct esi_clock_drift {
    double ppb;        /* nanoseconds per second by which the home clock gains, */
    double error_ppb;  /* with this error bound at the knot, */
    double wander_ppb; /* which grows by this much per second */
};

/* A value type; scopes/remote/clock_registry.h has its text form. */
struct esi_clock_estimate {
    uint64_t run_base_ns; /* run time - home time; constant during a run */
    uint64_t breaks;      /* number of exchanges that contradicted the assumed rates */
    struct esi_clock_drift drift;
    uint64_t count; /* 0 if nothing is known */
    struct esi_clock_knot knots[ES_CLOCK_KNOTS_MAX];
};

/* Initializes the home server's own estimate: run time is its clock plus a constant,
 * without error. */
void esi_clock_estimate_be_home(struct esi_clock_estimate *estimate,
                                uint64_t run_base_ns);

bool esi_clock_estimate_is_home(const struct esi_clock_estimate *estimate);

/* Checks an estimate from another process: times must ascend, and the clock must never
 * run backward. */
bool esi_clock_estimate_is_valid(const struct esi_clock_estimate *estimate);

/* Rounds to the nearest integer without the mathematical library. */
static inline int64_t esi_clock_round(double number)
{
    return (int64_t)(number < 0 ? number - 0.5 : number + 0.5);
}

/* Converts an error bound to an integer: rounds up and saturates. */
static inline uint64_t esi_clock_bound(double number)
{
    if (!(number < (double)INT64_MAX))
        return UINT64_MAX;
    return number > 0 ? (uint64_t)number + 1 : 0;
}

static inline double esi_clock_lesser(double a, double b)
{
    return a < b ? a : b;
}

static inline double esi_clock_greater(double a, double b)
{
    return a > b ? a : b;
}

/* A section of a clock in which one formula applies. */
struct esi_clock_stretch {
    uint64_t from_ns; /* local time from which it applies */
    int64_t offset_ns;
    uint64_t error_ns;
    uint64_t bow_ns;
    double slope;       /* of the offset */
    double error_slope; /* of the error, with the distance from `from_ns` */
    double wander;      /* per nanosecond */
};

/* The section between two adjacent knots. */
struct esi_clock_stretch esi_clock_stretch_between(const struct esi_clock_knot *before,
                                                   const struct esi_clock_knot *after);
/* The section before the first two knots; `second` is NULL if there is only one. */
struct esi_clock_stretch esi_clock_stretch_before(const struct esi_clock_drift *drift,
                                                  const struct esi_clock_knot *first,
                                                  const struct esi_clock_knot *second);
/* The section after the last knot. */
struct esi_clock_stretch esi_clock_stretch_behind(const struct esi_clock_drift *drift,
                                                  const struct esi_clock_knot *last);

/* Converts to home time, saturating at both ends.  `ret_error_ns` may be NULL.  The
 * result never decreases as `local_ns` increases. */
uint64_t esi_clock_stretch_convert(const struct esi_clock_stretch *stretch,
                                   uint64_t local_ns,
                                   uint64_t *ret_error_ns);

/* --- From round trips ------------------------------------------------------------- */

/*
 * Offset and drift between two clocks, estimated from round trips.
 *
 *     local   t1 ─────╲               ╱──── t4        offset = home - local
 *     home             ╲── t2   t3 ──╱
 *
 * A message arrives after it was sent, so the offset is at most t2 - t1 at t1, and at
 * least t3 - t4 at t4 (Cristian 1989).  Together, the exchanges leave a corridor
 * through which the line of the offset must run (Duda et al. 1987).  Because the drift
 * may change, the corridor widens with the age of an exchange.  Its ends at the time of
 * the last exchange are the error bound.  The estimate within it is a line through the
 * exchanges with the smallest round trips, by medians, which are not affected by a
 * minority of outliers (Theil and Sen).
 *
 * Performs no I/O and no allocation.  Not thread safe.
 */

enum { ES_CLOCK_FIT_WINDOW = 64 };

/* A message and its reply, in nanoseconds of CLOCK_MONOTONIC. */
struct esi_clock_exchange {
    uint64_t sent_ns;     /* t1, local */
    uint64_t arrived_ns;  /* t2, home */
    uint64_t answered_ns; /* t3, home */
    uint64_t received_ns; /* t4, local */
};

/* In caller's memory; zero is an empty one.  Fields are private. */
struct esi_clock_fit {
    struct esi_clock_exchange window[ES_CLOCK_FIT_WINDOW]; /* oldest first */
    size_t count;
};

/* Adds an exchange.  Returns false if it is impossible or older than the last one. */
bool esi_clock_fit_add(struct esi_clock_fit *fit,
                       const struct esi_clock_exchange *exchange);

/* Possible lines of the offset at the time of the last exchange. */
struct esi_clock_corridor {
    double offset_least; /* relative to the last exchange's t2 - t1 */
    double offset_most;
    double drift_least; /* 1 means that the home clock runs twice as fast */
    double drift_most;
};

/* The corridor of the exchanges from `first` on.  Returns false if no line fits.  O(n *
 * n). */
bool esi_clock_fit_corridor(const struct esi_clock_fit *fit,
                            size_t first,
                            struct esi_clock_corridor *ret_corridor);

/* Appends a knot at the time of the last exchange to the estimate, and updates its
 * drift.  If no line fits all exchanges, the assumed rates did not hold: discards the
 * older exchanges and counts a break.  Returns false if there is nothing new. */
bool esi_clock_fit_update(struct esi_clock_fit *fit,
                          struct esi_clock_estimate *estimate);

#endif
