/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What is known of one host's clock against the home server's: a line of knots.
 *
 * All times are nanoseconds of CLOCK_MONOTONIC: "local" of the host, "home" of the home
 * server's host.  The offset is home - local.  Between two knots it is taken to run
 * straight, behind the last one with the drift that was seen last.  What was once
 * converted between two knots stays, unless later exchanges at least halve their error,
 * as they do in the first seconds.  Old knots are taken out where that costs least, and
 * what it costs is added to the error bound.
 */
#ifndef ES_BASE_CLOCK_ESTIMATE_H
#define ES_BASE_CLOCK_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bounds hold while the drift between two hosts is below the first and changes by
 * less than the second in a second. */
#define ES_CLOCK_DRIFT_MOST_PPB 1000000.0
#define ES_CLOCK_WANDER_PPB 50.0

enum { ES_CLOCK_KNOTS_MAX = 128 };

/* 32 bytes of eight-byte members: they are copied as words (host_clock.c). */
struct esi_clock_knot {
    uint64_t local_ns;
    int64_t offset_ns; /* home - local at that time ... */
    uint64_t error_ns; /* ... give or take so much */
    uint64_t bow_ns;   /* by how much more it may be off since the knot before */
};

/* How the offset goes on behind the last knot. */
struct esi_clock_drift {
    double ppb;        /* nanoseconds a second: the home clock's gain ... */
    double error_ppb;  /* ... give or take so much at the knot ... */
    double wander_ppb; /* ... and so much more for each second since */
};

/* A value; its text form is that of scopes/remote/clock_registry.h. */
struct esi_clock_estimate {
    uint64_t run_base_ns; /* run time - home time: never changes in a run */
    uint64_t breaks;      /* how often exchanges contradicted the stated rates */
    struct esi_clock_drift drift;
    uint64_t count; /* 0 = nothing is known */
    struct esi_clock_knot knots[ES_CLOCK_KNOTS_MAX];
};

/* The home server's own: run time is its clock and a constant, without error. */
void esi_clock_estimate_be_home(struct esi_clock_estimate *estimate,
                                uint64_t run_base_ns);

bool esi_clock_estimate_is_home(const struct esi_clock_estimate *estimate);

/* Whether it could have been made by the calls above: times ascend, the clock never
 * runs backward.  For estimates that come from elsewhere. */
bool esi_clock_estimate_is_valid(const struct esi_clock_estimate *estimate);

/* The nearest whole number, as the linker finds it without the mathematical library. */
static inline int64_t esi_clock_round(double number)
{
    return (int64_t)(number < 0 ? number - 0.5 : number + 0.5);
}

/* A bound as a whole number: rounded up, never overflowing. */
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

/* A stretch of a clock over which the conversion is one formula. */
struct esi_clock_stretch {
    uint64_t from_ns; /* local time at which the rest holds */
    int64_t offset_ns;
    uint64_t error_ns;
    uint64_t bow_ns;
    double slope;       /* of the offset */
    double error_slope; /* of the error, away from `from_ns` */
    double wander;      /* per nanosecond */
};

/* Between two neighbouring knots. */
struct esi_clock_stretch esi_clock_stretch_between(const struct esi_clock_knot *before,
                                                   const struct esi_clock_knot *after);
/* Before the first two knots (`second` NULL: there is one only). */
struct esi_clock_stretch esi_clock_stretch_before(const struct esi_clock_drift *drift,
                                                  const struct esi_clock_knot *first,
                                                  const struct esi_clock_knot *second);
/* Behind the last knot. */
struct esi_clock_stretch esi_clock_stretch_behind(const struct esi_clock_drift *drift,
                                                  const struct esi_clock_knot *last);

/* Home time, saturating at both ends; `ret_error_ns` may be NULL.  Never falls with
 * rising `local_ns`. */
uint64_t esi_clock_stretch_convert(const struct esi_clock_stretch *stretch,
                                   uint64_t local_ns,
                                   uint64_t *ret_error_ns);

/* --- From messages that went there and back --------------------------------------- */

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
