/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Offset and drift between two clocks, from messages that went there and back. */
#include "config.h"

#include "base/clock_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRIFT_MOST (ES_CLOCK_DRIFT_MOST_PPB / 1e9)
/* Change of the drift, per nanosecond. */
#define WANDER (ES_CLOCK_WANDER_PPB / 1e9 / 1e9)

/* The line goes through so many exchanges at most, of those with the smallest round
 * trips: a third of all, but some at least. */
enum { FITTED_LEAST = 8, FITTED_MOST = 24, FITTED_PART = 3 };
/* Exchanges closer together than this say nothing about the drift. */
#define SPAN_LEAST_NS 1e8

/* One exchange as its bounds of the offset, seen from the last one. */
struct bounds {
    double most;     /* of the offset ... */
    double most_age; /* ... so long before the last exchange came back */
    double least;    /* the same */
    double least_age;
    double trip; /* without the time between arrival and answer */
};

bool esi_clock_fit_add(struct esi_clock_fit *fit,
                       const struct esi_clock_exchange *exchange)
{
    uint64_t away = exchange->received_ns - exchange->sent_ns;
    uint64_t there = exchange->answered_ns - exchange->arrived_ns;

    if (exchange->received_ns < exchange->sent_ns ||
        exchange->answered_ns < exchange->arrived_ns || away < there ||
        exchange->received_ns > INT64_MAX || exchange->answered_ns > INT64_MAX)
        return false;
    if (fit->count > 0 && exchange->sent_ns < fit->window[fit->count - 1].received_ns)
        return false;
    if (fit->count == ES_CLOCK_FIT_WINDOW)
        memmove(fit->window, fit->window + 1, --fit->count * sizeof *fit->window);
    fit->window[fit->count++] = *exchange;
    return true;
}

/* What offsets are counted from, so that they are small numbers. */
static int64_t reference_of(const struct esi_clock_fit *fit)
{
    const struct esi_clock_exchange *last = &fit->window[fit->count - 1];

    return (int64_t)(last->arrived_ns - last->sent_ns);
}

/* Without what the drift may have changed since. */
static struct bounds look_at(const struct esi_clock_fit *fit, size_t index)
{
    const struct esi_clock_exchange *exchange = &fit->window[index];
    const struct esi_clock_exchange *last = &fit->window[fit->count - 1];
    int64_t reference = reference_of(fit);
    int64_t most = (int64_t)(exchange->arrived_ns - exchange->sent_ns);
    int64_t least = (int64_t)(exchange->answered_ns - exchange->received_ns);

    return (struct bounds){
        .most = (double)(most - reference),
        .most_age = (double)(last->received_ns - exchange->sent_ns),
        .least = (double)(least - reference),
        .least_age = (double)(last->received_ns - exchange->received_ns),
        .trip = (double)(most - least),
    };
}

/* --- The corridor ------------------------------------------------------------- */

/* The bounds with what the drift may have changed, and what rounding may. */
static struct bounds clock_fit_widen(struct bounds bounds)
{
    bounds.most += WANDER * bounds.most_age * bounds.most_age / 2 + 1;
    bounds.least -= WANDER * bounds.least_age * bounds.least_age / 2 + 1;
    return bounds;
}

/* The line stays below one exchange's upper bound and above another one's lower bound:
 * o - d * age <= most, o - d * age >= least.  Eliminating the drift bounds the offset,
 * and the other way round. */
static void clock_fit_cut(const struct bounds *above,
                          const struct bounds *below,
                          struct esi_clock_corridor *corridor)
{
    double apart = below->least_age - above->most_age;
    double drift = (above->most - below->least) / apart;
    double offset =
        (above->most * below->least_age - below->least * above->most_age) / apart;

    if (apart > 0) {
        corridor->offset_most = esi_clock_lesser(corridor->offset_most, offset);
        corridor->drift_most = esi_clock_lesser(corridor->drift_most, drift);
    } else if (apart < 0) {
        corridor->offset_least = esi_clock_greater(corridor->offset_least, offset);
        corridor->drift_least = esi_clock_greater(corridor->drift_least, drift);
    }
}

bool esi_clock_fit_corridor(const struct esi_clock_fit *fit,
                            size_t first,
                            struct esi_clock_corridor *ret_corridor)
{
    struct esi_clock_corridor corridor = {.offset_least = -INFINITY,
                                          .offset_most = INFINITY,
                                          .drift_least = -DRIFT_MOST,
                                          .drift_most = DRIFT_MOST};
    struct bounds bounds[ES_CLOCK_FIT_WINDOW];

    for (size_t i = first; i < fit->count; i++) {
        bounds[i] = clock_fit_widen(look_at(fit, i));
        corridor.offset_most = esi_clock_lesser(
            corridor.offset_most, bounds[i].most + DRIFT_MOST * bounds[i].most_age);
        corridor.offset_least = esi_clock_greater(
            corridor.offset_least, bounds[i].least - DRIFT_MOST * bounds[i].least_age);
    }
    for (size_t i = first; i < fit->count; i++)
        for (size_t j = first; j < fit->count; j++)
            clock_fit_cut(&bounds[i], &bounds[j], &corridor);
    *ret_corridor = corridor;
    return corridor.offset_least <= corridor.offset_most &&
           corridor.drift_least <= corridor.drift_most;
}

/* --- The line ------------------------------------------------------------------ */

/* The middle of an exchange's bounds, at the middle of its time. */
struct point {
    double age;
    double offset;
    double trip;
};

static int compare_trips(const void *first, const void *second)
{
    const struct point *a = first;
    const struct point *b = second;

    return (a->trip > b->trip) - (a->trip < b->trip);
}

static int compare_numbers(const void *first, const void *second)
{
    const double *a = first;
    const double *b = second;

    return (*a > *b) - (*a < *b);
}

static double clock_fit_median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return count % 2 ? numbers[count / 2]
                     : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

/* The exchanges with the smallest round trips.  Returns their number. */
static size_t choose_points(const struct esi_clock_fit *fit,
                            struct point points[ES_CLOCK_FIT_WINDOW])
{
    size_t count = fit->count;
    size_t most = count / FITTED_PART;

    for (size_t i = 0; i < count; i++) {
        struct bounds bounds = look_at(fit, i);

        points[i] = (struct point){.age = (bounds.most_age + bounds.least_age) / 2,
                                   .offset = (bounds.most + bounds.least) / 2,
                                   .trip = bounds.trip};
    }
    qsort(points, count, sizeof *points, compare_trips);
    if (most > FITTED_MOST)
        most = FITTED_MOST;
    if (most < FITTED_LEAST)
        most = FITTED_LEAST;
    return count < most ? count : most;
}

/* The median of the slopes of all pairs; `fallback` where they are too close. */
static double fit_drift(const struct point *points, size_t count, double fallback)
{
    double slopes[FITTED_MOST * (FITTED_MOST - 1) / 2];
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double span = points[i].age - points[j].age;

            if (fabs(span) >= SPAN_LEAST_NS)
                slopes[found++] = (points[j].offset - points[i].offset) / span;
        }
    return found >= count ? clock_fit_median(slopes, found) : fallback;
}

static double fit_offset(const struct point *points, size_t count, double drift)
{
    double offsets[FITTED_MOST];

    for (size_t i = 0; i < count; i++)
        offsets[i] = points[i].offset + drift * points[i].age;
    return clock_fit_median(offsets, count);
}

static double clock_fit_clamp(double value, double least, double most)
{
    return esi_clock_lesser(esi_clock_greater(value, least), most);
}

/* --- Knots --------------------------------------------------------------------- */

/* Forgets exchanges until a line goes through the others; one alone always has one. */
static bool find_corridor(struct esi_clock_fit *fit,
                          struct esi_clock_corridor *corridor)
{
    bool has_broken = false;

    while (!esi_clock_fit_corridor(fit, 0, corridor) && fit->count > 1) {
        size_t forgotten = (fit->count + 1) / 2;

        fit->count -= forgotten;
        memmove(fit->window, fit->window + forgotten, fit->count * sizeof *fit->window);
        has_broken = true;
    }
    return has_broken;
}

/* By how much the offset may be off the straight line between two knots whose offsets
 * were right: by the change of the drift.  After a break, by what it has jumped. */
static uint64_t find_bow(const struct esi_clock_estimate *estimate,
                         uint64_t local_ns,
                         int64_t offset_ns,
                         bool has_broken)
{
    const struct esi_clock_knot *last;
    double span, bow;

    if (estimate->count == 0)
        return 0;
    last = &estimate->knots[estimate->count - 1];
    span = (double)(local_ns - last->local_ns);
    bow = WANDER * span * span / 8;
    if (has_broken)
        bow += fabs((double)(offset_ns - last->offset_ns) -
                    estimate->drift.ppb / 1e9 * span);
    return esi_clock_bound(bow) + 1;
}

static void append_knot(const struct esi_clock_fit *fit,
                        const struct esi_clock_corridor *corridor,
                        bool has_broken,
                        struct esi_clock_estimate *estimate)
{
    struct point points[ES_CLOCK_FIT_WINDOW];
    size_t count = choose_points(fit, points);
    double middle = (corridor->drift_least + corridor->drift_most) / 2;
    double drift = clock_fit_clamp(fit_drift(points, count, middle),
                                   corridor->drift_least, corridor->drift_most);
    double offset = clock_fit_clamp(fit_offset(points, count, drift),
                                    corridor->offset_least, corridor->offset_most);
    struct esi_clock_knot knot = {
        .local_ns = fit->window[fit->count - 1].received_ns,
        .offset_ns = reference_of(fit) + esi_clock_round(offset),
        .error_ns =
            esi_clock_bound(esi_clock_greater(corridor->offset_most - offset,
                                              offset - corridor->offset_least)) +
            1,
    };

    knot.bow_ns = find_bow(estimate, knot.local_ns, knot.offset_ns, has_broken);
    esi_clock_estimate_append(estimate, &knot);
    estimate->drift = (struct esi_clock_drift){
        .ppb = drift * 1e9,
        .error_ppb = esi_clock_greater(corridor->drift_most - drift,
                                       drift - corridor->drift_least) *
                     1e9,
        .wander_ppb = ES_CLOCK_WANDER_PPB,
    };
    estimate->breaks += has_broken;
}

bool esi_clock_fit_update(struct esi_clock_fit *fit,
                          struct esi_clock_estimate *estimate)
{
    struct esi_clock_corridor corridor;

    if (fit->count == 0 ||
        (estimate->count > 0 && fit->window[fit->count - 1].received_ns <=
                                    estimate->knots[estimate->count - 1].local_ns))
        return false;
    bool has_broken = find_corridor(fit, &corridor);
    append_knot(fit, &corridor, has_broken, estimate);
    esi_clock_estimate_tighten(estimate);
    return true;
}
