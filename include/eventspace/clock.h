/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Clock ticks: the invariant TSC if the CPU has one, otherwise CLOCK_MONOTONIC.
 *
 * Processes record raw ticks.  The segment of each process holds a clock record that
 * converts them to nanoseconds of real time.  Clock records of the same host order
 * events consistently within their error bounds.
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

/* How to convert ticks.  The fields are public because the struct is a memory layout,
 * used in segments and archives. */
struct es_clock {
    uint32_t kind;                /* enum es_clock_kind */
    uint32_t reserved;            /* 0 */
    uint64_t frequency_hz;        /* ticks per second, rounded */
    uint64_t frequency_error_ppb; /* bound of the frequency error, in parts per 10^9 */
    uint64_t base_ticks;          /* the pairing: at this tick count, */
    uint64_t base_realtime_ns;    /* CLOCK_REALTIME showed this (ns since 1970), */
    uint64_t base_monotonic_ns;   /* CLOCK_MONOTONIC showed this, */
    uint64_t base_error_ns;       /* and both are off by at most this much */
};

_Static_assert(sizeof(struct es_clock) == 56, "the clock record has 56 bytes");

/* The clock of this machine: ES_CLOCK_TSC if the CPU reports an invariant TSC and the
 * kernel has not marked it unstable.  EVENTSPACE_CLOCK=monotonic in the environment
 * forces ES_CLOCK_MONOTONIC.  Cheap after the first call.  Thread safe. */
ES_API enum es_clock_kind es_clock_kind(void);

/* Fills `ret_clock` for this process: determines the frequency and pairs ticks with
 * real time.  The frequency comes from the kernel or CPUID if they provide it;
 * otherwise it is measured against CLOCK_MONOTONIC for at most `budget_ns`.  Never
 * fails; a poor calibration shows in the error fields. */
ES_API void es_clock_calibrate(uint64_t budget_ns, struct es_clock *ret_clock);

/* Pairs ticks with real time again and uses the time since the first pairing to reduce
 * the error of the frequency.  Any process on the same host may do this on its own
 * copy.  Leaves the record unchanged if the new measurement is less precise or
 * contradicts the record. */
ES_API void es_clock_refine(struct es_clock *clock);

/* Converts a tick count to nanoseconds since 1970, rounded.  *ret_error_ns (may be
 * NULL) receives the error bound, which grows with the distance from the pairing.  Uses
 * exact integer arithmetic. */
ES_API uint64_t es_clock_realtime_ns(const struct es_clock *clock,
                                     uint64_t ticks,
                                     uint64_t *ret_error_ns);

/* Like es_clock_realtime_ns(), but converts to CLOCK_MONOTONIC of the process's
 * host. */
ES_API uint64_t es_clock_monotonic_ns(const struct es_clock *clock,
                                      uint64_t ticks,
                                      uint64_t *ret_error_ns);

/* Converts a number of ticks to nanoseconds, rounded; saturates at UINT64_MAX. */
ES_API uint64_t es_clock_span_ns(const struct es_clock *clock, uint64_t ticks);

/* Reads the clock of the given kind.  The TSC is read with a plain rdtsc, which is not
 * ordered against neighbouring loads and stores; the difference is far shorter than an
 * operation. */
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
