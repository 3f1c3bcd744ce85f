/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Calibration and conversion of clock ticks.
 *
 * A *pairing* reads the kernel's clocks between two tick reads; half of their distance
 * bounds its error, so the best of several is kept.  Two pairings yield a frequency
 * with an error bound; if the processor reports its frequency, the two are combined.
 * The bounds hold as long as the kernel's clock runs at a constant rate and is not set.
 */
#include "config.h"

#include "eventspace/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/clock_each.h"
#include "base/now.h"

#define NS_PER_S UINT64_C(1000000000)
#define PPB UINT64_C(1000000000)
/* Assumed maximum for a crystal and a disciplined kernel clock together: 200 ppm. */
#define NOMINAL_ERROR_PPB UINT64_C(200000)
#define PAIRING_TRIES 16
/* Two closer pairings do not determine the frequency usefully. */
#define SHORTEST_SPAN_NS UINT64_C(200000)

struct pairing {
    uint64_t ticks;
    uint64_t bracket; /* ticks between first and last read */
    uint64_t realtime_ns;
    uint64_t monotonic_ns;
};

struct frequency {
    uint64_t hz; /* 0 if not known */
    uint64_t error_ppb;
};

/* --- Which clock ----------------------------------------------------------------- */

#if defined(__x86_64__)
/* The kernel removes "tsc" from this list when it finds the counters unstable.  The
 * clock that it uses may still be another one (kvm-clock, hyperv...), derived from the
 * same counter.  An unreadable /sys is no evidence against the counter. */
static bool kernel_trusts_tsc(void)
{
    const char *path =
        "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    char text[256];
    ssize_t length;
    char *word;
    char *rest = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return true;
    length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return true;
    text[length] = '\0';
    for (word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
        if (strcmp(word, "tsc") == 0)
            return true;
    return false;
}

static bool cpu_has_invariant_tsc(void)
{
    unsigned int eax, ebx, ecx, edx;

    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 &&
           (edx & (1u << 8)) != 0;
}

static bool process_may_read_tsc(void)
{
    int mode = PR_TSC_ENABLE;

    return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
}

static enum es_clock_kind choose_kind(void)
{
    const char *wanted = getenv("EVENTSPACE_CLOCK");

    if (wanted && strcmp(wanted, "monotonic") == 0)
        return ES_CLOCK_MONOTONIC;
    if (cpu_has_invariant_tsc() && process_may_read_tsc() && kernel_trusts_tsc())
        return ES_CLOCK_TSC;
    return ES_CLOCK_MONOTONIC;
}
#else
static enum es_clock_kind choose_kind(void)
{
    return ES_CLOCK_MONOTONIC;
}
#endif

enum es_clock_kind es_clock_kind(void)
{
    static _Atomic int chosen;
    int kind = atomic_load_explicit(&chosen, memory_order_relaxed);

    /* Threads that race here get the same result. */
    if (kind == 0) {
        kind = (int)choose_kind();
        atomic_store_explicit(&chosen, kind, memory_order_relaxed);
    }
    return (enum es_clock_kind)kind;
}

/* --- Arithmetic ------------------------------------------------------------------ */

/* a * b / c, rounded to nearest, saturating. */
static uint64_t clock_scale(uint64_t a, uint64_t b, uint64_t c)
{
    unsigned __int128 product = (unsigned __int128)a * b + c / 2;

    if (c == 0 || product / c > UINT64_MAX)
        return UINT64_MAX;
    return (uint64_t)(product / c);
}

/* Like clock_scale(), rounded up, for error bounds. */
static uint64_t scale_up(uint64_t a, uint64_t b, uint64_t c)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    if (c == 0 || (product + (c - 1)) / c > UINT64_MAX)
        return UINT64_MAX;
    return (uint64_t)((product + (c - 1)) / c);
}

static uint64_t clock_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* --- Pairing --------------------------------------------------------------------- */

/* Reads the ticks exactly here: the fences keep rdtsc from being reordered. */
static uint64_t ordered_ticks(enum es_clock_kind kind)
{
    uint64_t ticks;

#if defined(__x86_64__)
    _mm_lfence();
#endif
    ticks = es_clock_ticks_of(kind);
#if defined(__x86_64__)
    _mm_lfence();
#endif
    return ticks;
}

static void take_pairing(enum es_clock_kind kind, struct pairing *ret_pairing)
{
    struct pairing best = {.bracket = UINT64_MAX};

    for (int i = 0; i < PAIRING_TRIES; i++) {
        uint64_t before = ordered_ticks(kind);
        uint64_t realtime = esi_now_ns(CLOCK_REALTIME);
        uint64_t monotonic = esi_now_ns(CLOCK_MONOTONIC);
        uint64_t bracket = ordered_ticks(kind) - before;

        if (bracket < best.bracket)
            best = (struct pairing){.ticks = before + bracket / 2,
                                    .bracket = bracket,
                                    .realtime_ns = realtime,
                                    .monotonic_ns = monotonic};
    }
    *ret_pairing = best;
}

/* Error bound of a pairing: half its bracket, and a nanosecond for each of two
 * roundings. */
static uint64_t pairing_error_ns(const struct pairing *pairing, uint64_t hz)
{
    return clock_add(scale_up(pairing->bracket / 2 + 1, NS_PER_S, hz), 2);
}

/* --- Frequency ------------------------------------------------------------------- */

/* The frequency reported by the processor in CPUID leaf 0x15: crystal * numerator /
 * denominator. */
static struct frequency nominal_frequency(void)
{
    struct frequency nominal = {.hz = 0, .error_ppb = UINT64_MAX};

#if defined(__x86_64__)
    unsigned int denominator, numerator, crystal, unused;

    if (__get_cpuid(0x15, &denominator, &numerator, &crystal, &unused) != 0 &&
        denominator != 0 && numerator != 0 && crystal != 0) {
        nominal.hz = clock_scale(crystal, numerator, denominator);
        nominal.error_ppb = NOMINAL_ERROR_PPB;
    }
#endif
    return nominal;
}

/* The frequency measured by two pairings; none if they are too close. */
static struct frequency measured_frequency(const struct pairing *first,
                                           const struct pairing *last)
{
    struct frequency measured = {.hz = 0, .error_ppb = UINT64_MAX};
    uint64_t span_ns = last->monotonic_ns - first->monotonic_ns;

    if (last->monotonic_ns <= first->monotonic_ns || span_ns < SHORTEST_SPAN_NS)
        return measured;
    measured.hz = clock_scale(last->ticks - first->ticks, NS_PER_S, span_ns);
    if (measured.hz == 0)
        return measured;
    measured.error_ppb =
        clock_add(scale_up(clock_add(pairing_error_ns(first, measured.hz),
                                     pairing_error_ns(last, measured.hz)),
                           PPB, span_ns),
                  1);
    return measured;
}

/* Combines two values of one frequency into the one with the tightest bound. */
static struct frequency clock_combine(struct frequency nominal,
                                      struct frequency measured)
{
    uint64_t apart_ppb;

    if (nominal.hz == 0)
        return measured;
    if (measured.hz == 0)
        return nominal;
    apart_ppb = scale_up(nominal.hz > measured.hz ? nominal.hz - measured.hz
                                                  : measured.hz - nominal.hz,
                         PPB, measured.hz);
    /* A reported value that contradicts the measurement is wrong (some virtual
     * machines). */
    if (apart_ppb > clock_add(nominal.error_ppb, measured.error_ppb))
        return measured;
    /* The true frequency is within the measured bound, so this far from the nominal
     * value at most. */
    if (clock_add(apart_ppb, measured.error_ppb) < nominal.error_ppb)
        nominal.error_ppb = clock_add(apart_ppb, measured.error_ppb);
    return nominal.error_ppb < measured.error_ppb ? nominal : measured;
}

static void sleep_ns(uint64_t ns)
{
    struct timespec rest = {.tv_sec = (time_t)(ns / NS_PER_S),
                            .tv_nsec = (long)(ns % NS_PER_S)};

    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        ;
}

static struct frequency find_frequency(const struct pairing *first, uint64_t budget_ns)
{
    struct frequency nominal = nominal_frequency();
    struct pairing last;

    /* Without a reported frequency it must be measured. */
    if (nominal.hz == 0 && budget_ns < 2 * SHORTEST_SPAN_NS)
        budget_ns = 2 * SHORTEST_SPAN_NS;
    if (budget_ns < SHORTEST_SPAN_NS)
        return nominal;
    sleep_ns(budget_ns);
    take_pairing(ES_CLOCK_TSC, &last);
    return clock_combine(nominal, measured_frequency(first, &last));
}

void es_clock_calibrate(uint64_t budget_ns, struct es_clock *ret_clock)
{
    enum es_clock_kind kind = es_clock_kind();
    struct frequency frequency = {.hz = NS_PER_S, .error_ppb = 0};
    struct pairing pairing;

    take_pairing(kind, &pairing);
    if (kind == ES_CLOCK_TSC)
        frequency = find_frequency(&pairing, budget_ns);
    if (frequency.hz == 0)
        /* The kernel's clock did not advance: keep the record usable, with an error
         * bound that shows that it is worthless. */
        frequency = (struct frequency){.hz = NS_PER_S, .error_ppb = PPB};
    *ret_clock = (struct es_clock){
        .kind = (uint32_t)kind,
        .frequency_hz = frequency.hz,
        .frequency_error_ppb = frequency.error_ppb,
        .base_ticks = pairing.ticks,
        .base_realtime_ns = pairing.realtime_ns,
        .base_monotonic_ns = pairing.monotonic_ns,
        .base_error_ns = pairing_error_ns(&pairing, frequency.hz),
    };
}

/* Returns whether the record and the measurement can both be true. */
static bool is_possible(const struct es_clock *clock, const struct frequency *measured)
{
    uint64_t apart_hz = clock->frequency_hz > measured->hz
                            ? clock->frequency_hz - measured->hz
                            : measured->hz - clock->frequency_hz;

    return scale_up(apart_hz, PPB, measured->hz) <=
           clock_add(clock->frequency_error_ppb, measured->error_ppb);
}

/* The base is kept: a longer span improves the frequency, and the error at any time
 * between the two pairings stays close to that of the pairings. */
void es_clock_refine(struct es_clock *clock)
{
    struct pairing first = {
        .ticks = clock->base_ticks,
        .bracket = scale_up(clock->base_error_ns, 2 * clock->frequency_hz, NS_PER_S),
        .monotonic_ns = clock->base_monotonic_ns};
    struct pairing last;
    struct frequency measured;

    if (clock->kind != ES_CLOCK_TSC || es_clock_kind() != ES_CLOCK_TSC)
        return;
    take_pairing(ES_CLOCK_TSC, &last);
    measured = measured_frequency(&first, &last);
    /* A measurement that contradicts the record is no better: one of the clocks has
     * stopped, as when a machine sleeps, or it is the clock of another machine. */
    if (measured.hz == 0 || measured.error_ppb >= clock->frequency_error_ppb ||
        !is_possible(clock, &measured))
        return;
    clock->frequency_hz = measured.hz;
    clock->frequency_error_ppb = measured.error_ppb;
}

/* --- Conversion ------------------------------------------------------------------ */

/* Below this number of ticks a conversion can be guessed: twelve days, whose
 * nanoseconds are exact in floating point to a quarter. */
static inline uint64_t clock_near_ticks(const struct es_clock *clock)
{
    return clock->frequency_hz >> 42 ? 0 : clock->frequency_hz << 20;
}

/* Nanoseconds per tick.  Numbers are signed here and below, because processors convert
 * those in one step. */
static inline double clock_step_ns(const struct es_clock *clock)
{
    return (double)NS_PER_S / (double)(int64_t)clock->frequency_hz;
}

/* A wide division takes longer than everything else done with a tuple.  Therefore the
 * result is guessed in floating point, where the error is at most one, and corrected by
 * the difference to the exact product: modulo 2^64, as it is small. */
static inline uint64_t clock_guess_ns(uint64_t hz, double step_ns, uint64_t ticks)
{
    int64_t guess = (int64_t)((double)(int64_t)ticks * step_ns + 0.5);
    int64_t rest = (int64_t)(ticks * NS_PER_S + hz / 2 - (uint64_t)guess * hz);

    return (uint64_t)(guess - (rest < 0) + (rest >= (int64_t)hz));
}

static inline uint64_t clock_span_ns(const struct es_clock *clock, uint64_t ticks)
{
    uint64_t hz = clock->frequency_hz;

    return ticks < clock_near_ticks(clock)
               ? clock_guess_ns(hz, clock_step_ns(clock), ticks)
               : clock_scale(ticks, NS_PER_S, hz);
}

/* The time at `ticks` on the clock that showed `base_ns` at the pairing. */
static inline uint64_t clock_convert(const struct es_clock *clock,
                                     uint64_t base_ns,
                                     uint64_t ticks,
                                     uint64_t *ret_error_ns)
{
    bool later = ticks >= clock->base_ticks;
    uint64_t span = later ? ticks - clock->base_ticks : clock->base_ticks - ticks;
    uint64_t span_ns = clock_span_ns(clock, span);

    if (ret_error_ns)
        *ret_error_ns = clock_add(clock_add(clock->base_error_ns, 1),
                                  scale_up(span_ns, clock->frequency_error_ppb, PPB));
    if (later)
        return clock_add(base_ns, span_ns);
    return span_ns > base_ns ? 0 : base_ns - span_ns;
}

uint64_t es_clock_realtime_ns(const struct es_clock *clock,
                              uint64_t ticks,
                              uint64_t *ret_error_ns)
{
    return clock_convert(clock, clock->base_realtime_ns, ticks, ret_error_ns);
}

uint64_t es_clock_monotonic_ns(const struct es_clock *clock,
                               uint64_t ticks,
                               uint64_t *ret_error_ns)
{
    return clock_convert(clock, clock->base_monotonic_ns, ticks, ret_error_ns);
}

void esi_clock_realtime_each(const struct es_clock *clock,
                             uint64_t *times,
                             size_t count)
{
    /* A copy, which stores to `times` cannot change. */
    const struct es_clock own = *clock;
    const double step_ns = clock_step_ns(clock);
    uint64_t near = clock_near_ticks(clock);

    /* Spans of times before the pairing wrap around, to above `near` if not: */
    if (own.base_ticks > UINT64_MAX - near)
        near = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t span = times[i] - own.base_ticks;

        if (span < near)
            times[i] = clock_add(own.base_realtime_ns,
                                 clock_guess_ns(own.frequency_hz, step_ns, span));
        else
            times[i] = clock_convert(&own, own.base_realtime_ns, times[i], NULL);
    }
}

uint64_t es_clock_span_ns(const struct es_clock *clock, uint64_t ticks)
{
    return clock_span_ns(clock, ticks);
}
