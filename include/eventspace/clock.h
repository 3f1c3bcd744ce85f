/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Clock ticks: the invariant TSC where the CPU has one, CLOCK_MONOTONIC elsewhere.
 *
 * A process reads raw ticks; its segment holds the clock record by which anybody
 * converts them to nanoseconds of real time.  Several clock records of one host agree
 * on the order of times as far as their error bounds allow.
 */
#ifndef EVENTSPACE_CLOCK_H
#define EVENTSPACE_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "eventspace/api.h"

enum es_clock_kind {
    ES_CLOCK_MONOTONIC = 1, /* one tick is one nanosecond of CLOCK_MONOTONIC */
    ES_CLOCK_TSC = 2,       /* the processor's invariant time stamp counter */
};

/* How to convert ticks; a layout (it lies in segments and archives), so its fields are
 * open. */
struct es_clock {
    uint32_t kind;                /* enum es_clock_kind */
    uint32_t reserved;            /* 0 */
    uint64_t frequency_hz;        /* ticks per second, rounded */
    uint64_t frequency_error_ppb; /* bound of the frequency's error, parts per 10^9 */
    uint64_t base_ticks;          /* the pairing: at this tick count ... */
    uint64_t base_realtime_ns;  /* ... CLOCK_REALTIME showed this (ns since 1970) ... */
    uint64_t base_monotonic_ns; /* ... and CLOCK_MONOTONIC this ... */
    uint64_t base_error_ns;     /* ... give or take so much */
};

_Static_assert(sizeof(struct es_clock) == 56, "the clock record has 56 bytes");

/* The kind this machine allows: TSC only if the CPU says invariant and the kernel has
 * not marked it unstable.  EVENTSPACE_CLOCK=monotonic in the environment forces the
 * other. Cheap after the first call; thread safe. */
ES_API enum es_clock_kind es_clock_kind(void);

/* Fills `ret_clock` for this process's clock: calibrates the frequency (kernel's or
 * CPUID's value where it can be had, else measured against CLOCK_MONOTONIC for at most
 * `budget_ns`) and pairs ticks with real time.  Never fails; a poor calibration shows
 * in the error fields. */
ES_API void es_clock_calibrate(uint64_t budget_ns, struct es_clock *ret_clock);

/* Takes a second pairing now and narrows frequency and error by the time gone by since
 * the record was made.  Any process on the same host may do so on its own copy. Nothing
 * changes where that says less than the record, or cannot be true together with it. */
ES_API void es_clock_refine(struct es_clock *clock);

/* Nanoseconds since 1970 of a tick count, rounded; `ret_error_ns` (may be NULL) gets
 * the error bound, which grows with the distance from the pairing.  Exact integer
 * arithmetic. */
ES_API uint64_t es_clock_realtime_ns(const struct es_clock *clock,
                                     uint64_t ticks,
                                     uint64_t *ret_error_ns);

/* What CLOCK_MONOTONIC of the process's host showed at a tick count; otherwise the
 * same. */
ES_API uint64_t es_clock_monotonic_ns(const struct es_clock *clock,
                                      uint64_t ticks,
                                      uint64_t *ret_error_ns);

/* Length of a span of ticks in nanoseconds, rounded, saturating at UINT64_MAX. */
ES_API uint64_t es_clock_span_ns(const struct es_clock *clock, uint64_t ticks);

/* Ticks now, of the given kind.  One plain rdtsc: not ordered against neighbouring
 * loads and stores, which is far below an operation's length. */
static inline uint64_t es_clock_ticks_of(enum es_clock_kind kind)
{
    struct timespec now;

#if defined(__x86_64__)
    if (__builtin_expect(kind == ES_CLOCK_TSC, 1))
        return __rdtsc();
#else
    (void)kind;
#endif
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
