/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The estimate of a host's clock relative to the home server's: a sequence of knots. */
#include "config.h"

#include "base/clock_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PPB 1e9
#define NS_PER_S 1e9

/* The newest knots are not removed, because most tuples are converted with them. */
enum { KNOTS_KEPT = 8 };

static double clock_estimate_distance(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns >= from_ns ? (double)(to_ns - from_ns) : -(double)(from_ns - to_ns);
}

static uint64_t clock_estimate_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

void esi_clock_estimate_be_home(struct esi_clock_estimate *estimate,
                                uint64_t run_base_ns)
{
    memset(estimate, 0, sizeof *estimate);
    estimate->run_base_ns = run_base_ns;
    estimate->count = 1;
}

bool esi_clock_estimate_is_home(const struct esi_clock_estimate *estimate)
{
    return estimate->count == 1 && estimate->drift.wander_ppb == 0 &&
           estimate->knots[0].local_ns == 0 && estimate->knots[0].offset_ns == 0;
}

/* --- Knots -------------------------------------------------------------------- */

/* The bow of the segment that remains if `middle` is removed.  Both lines are straight
 * on either side of it, so the difference is largest there. */
static uint64_t bow_without(const struct esi_clock_knot *before,
                            const struct esi_clock_knot *middle,
                            const struct esi_clock_knot *after)
{
    double part = clock_estimate_distance(before->local_ns, middle->local_ns) /
                  clock_estimate_distance(before->local_ns, after->local_ns);
    double offset = (double)(after->offset_ns - before->offset_ns) * part;
    double apart = fabs((double)(middle->offset_ns - before->offset_ns) - offset);
    double error =
        (double)before->error_ns * (1 - part) + (double)after->error_ns * part;
    double more = apart + (double)middle->error_ns - error + 1;
    uint64_t bow = middle->bow_ns > after->bow_ns ? middle->bow_ns : after->bow_ns;

    return more > 0 ? clock_estimate_add(bow, esi_clock_bound(more)) : bow;
}

/* Removes the knot with the smallest loss. */
static void take_one_out(struct esi_clock_estimate *estimate)
{
    struct esi_clock_knot *knots = estimate->knots;
    uint64_t least = UINT64_MAX;
    uint64_t chosen = 1;

    for (uint64_t i = 1; i + KNOTS_KEPT < estimate->count; i++) {
        uint64_t bow = bow_without(&knots[i - 1], &knots[i], &knots[i + 1]);

        if (bow < least) {
            least = bow;
            chosen = i;
        }
    }
    knots[chosen + 1].bow_ns =
        bow_without(&knots[chosen - 1], &knots[chosen], &knots[chosen + 1]);
    estimate->count--;
    memmove(knots + chosen, knots + chosen + 1,
            (estimate->count - chosen) * sizeof *knots);
}

/* Appends a knot; ignores one that is not later than the last.  Removes an old one if
 * there are too many.  Moves its offset and increases its error if the clock would run
 * backward otherwise. */
static void append_estimate(struct esi_clock_estimate *estimate,
                            const struct esi_clock_knot *knot)
{
    struct esi_clock_knot added = *knot;

    if (estimate->count > 0) {
        const struct esi_clock_knot *last = &estimate->knots[estimate->count - 1];
        uint64_t span_ns = added.local_ns - last->local_ns;
        int64_t least;

        if (added.local_ns <= last->local_ns)
            return;
        least = last->offset_ns - (int64_t)(span_ns / 2);
        if (added.offset_ns < least) {
            added.error_ns =
                clock_estimate_add(added.error_ns, (uint64_t)(least - added.offset_ns));
            added.offset_ns = least;
        }
    }
    if (estimate->count == ES_CLOCK_KNOTS_MAX)
        take_one_out(estimate);
    estimate->knots[estimate->count++] = added;
}

/* Returns whether the clock runs forward fast enough between two knots. */
static bool is_forward(const struct esi_clock_knot *before,
                       const struct esi_clock_knot *after)
{
    return before->offset_ns - after->offset_ns <=
           (int64_t)((after->local_ns - before->local_ns) / 2);
}

/* The part of the knot's range that is consistent with the last knot. */
static struct esi_clock_knot clock_estimate_narrow(const struct esi_clock_drift *drift,
                                                   const struct esi_clock_knot *last,
                                                   const struct esi_clock_knot *knot)
{
    double span = clock_estimate_distance(knot->local_ns, last->local_ns);
    double middle =
        (double)(last->offset_ns - knot->offset_ns) - drift->ppb / PPB * span;
    double most_off = (double)last->error_ns + drift->error_ppb / PPB * span +
                      drift->wander_ppb / PPB / NS_PER_S * span * span / 2;
    double most = esi_clock_lesser((double)knot->error_ns, middle + most_off);
    double least = esi_clock_greater(-(double)knot->error_ns, middle - most_off);
    struct esi_clock_knot narrowed = *knot;

    if (most < least)
        return narrowed;
    narrowed.offset_ns += esi_clock_round((most + least) / 2);
    narrowed.error_ns = esi_clock_bound((most - least) / 2) + 1;
    return narrowed;
}

/* Moves knots to where the last one and the drift require, if that at least halves
 * their error.  Not after knots were removed, because their neighbours then represent
 * them. */
static void tighten_estimate(struct esi_clock_estimate *estimate)
{
    struct esi_clock_knot *knots = estimate->knots;

    if (estimate->count == ES_CLOCK_KNOTS_MAX || estimate->breaks > 0)
        return;
    for (uint64_t i = estimate->count; i-- > 1;) {
        struct esi_clock_knot *knot = &knots[i - 1];
        struct esi_clock_knot narrowed =
            clock_estimate_narrow(&estimate->drift, &knots[estimate->count - 1], knot);

        if (narrowed.error_ns <= knot->error_ns / 2 &&
            is_forward(&narrowed, &knots[i]) &&
            (i < 2 || is_forward(&knots[i - 2], &narrowed)))
            *knot = narrowed;
    }
}

bool esi_clock_estimate_is_valid(const struct esi_clock_estimate *estimate)
{
    const struct esi_clock_knot *knots = estimate->knots;

    if (estimate->count > ES_CLOCK_KNOTS_MAX ||
        !(fabs(estimate->drift.ppb) <= ES_CLOCK_DRIFT_MOST_PPB) ||
        !(estimate->drift.error_ppb >= 0 && estimate->drift.wander_ppb >= 0))
        return false;
    for (uint64_t i = 0; i < estimate->count; i++)
        if (knots[i].local_ns > INT64_MAX || knots[i].offset_ns > INT64_MAX / 2 ||
            knots[i].offset_ns < INT64_MIN / 2)
            return false;
    for (uint64_t i = 1; i < estimate->count; i++)
        if (knots[i].local_ns <= knots[i - 1].local_ns ||
            knots[i - 1].offset_ns - knots[i].offset_ns >
                (int64_t)(knots[i].local_ns - knots[i - 1].local_ns))
            return false;
    return true;
}

/* --- Conversion --------------------------------------------------------------- */

struct esi_clock_stretch esi_clock_stretch_between(const struct esi_clock_knot *before,
                                                   const struct esi_clock_knot *after)
{
    double span = clock_estimate_distance(before->local_ns, after->local_ns);

    return (struct esi_clock_stretch){
        .from_ns = before->local_ns,
        .offset_ns = before->offset_ns,
        .error_ns = before->error_ns,
        .bow_ns = after->bow_ns,
        .slope = (double)(after->offset_ns - before->offset_ns) / span,
        .error_slope = ((double)after->error_ns - (double)before->error_ns) / span,
    };
}

struct esi_clock_stretch esi_clock_stretch_behind(const struct esi_clock_drift *drift,
                                                  const struct esi_clock_knot *last)
{
    return (struct esi_clock_stretch){
        .from_ns = last->local_ns,
        .offset_ns = last->offset_ns,
        .error_ns = last->error_ns,
        .slope = drift->ppb / PPB,
        .error_slope = drift->error_ppb / PPB,
        .wander = drift->wander_ppb / PPB / NS_PER_S,
    };
}

/* The drift at the first knot is the slope of the line to the second, except for the
 * errors of both and the change of the drift between them. */
struct esi_clock_stretch esi_clock_stretch_before(const struct esi_clock_drift *drift,
                                                  const struct esi_clock_knot *first,
                                                  const struct esi_clock_knot *second)
{
    struct esi_clock_stretch stretch = esi_clock_stretch_behind(drift, first);
    const double most = ES_CLOCK_DRIFT_MOST_PPB / PPB;

    if (second) {
        double span = clock_estimate_distance(first->local_ns, second->local_ns);
        double apart = (double)first->error_ns + (double)second->error_ns;

        stretch.slope = (double)(second->offset_ns - first->offset_ns) / span;
        stretch.slope = esi_clock_lesser(esi_clock_greater(stretch.slope, -most), most);
        stretch.error_slope =
            (apart + 4 * (double)second->bow_ns) / span + stretch.wander * span / 2;
    }
    stretch.error_slope =
        esi_clock_lesser(stretch.error_slope, most + fabs(stretch.slope));
    return stretch;
}

uint64_t esi_clock_stretch_convert(const struct esi_clock_stretch *stretch,
                                   uint64_t local_ns,
                                   uint64_t *ret_error_ns)
{
    double away = clock_estimate_distance(stretch->from_ns, local_ns);
    double off = (double)stretch->error_ns + stretch->error_slope * fabs(away) +
                 stretch->wander * away * away / 2;
    /* The slope is below 1, so rounding preserves the order.  The sum of the integer
     * parts wraps in two's complement. */
    uint64_t offset =
        (uint64_t)stretch->offset_ns + (uint64_t)esi_clock_round(away * stretch->slope);
    uint64_t home = local_ns + offset;

    if (ret_error_ns)
        *ret_error_ns = clock_estimate_add(esi_clock_bound(off), stretch->bow_ns);
    if ((int64_t)offset < 0)
        return home > local_ns ? 0 : home;
    return home < local_ns ? UINT64_MAX : home;
}

/* --- From round trips ------------------------------------------------------------- */

#define DRIFT_MOST (ES_CLOCK_DRIFT_MOST_PPB / 1e9)
/* Change of the drift, per nanosecond. */
#define WANDER (ES_CLOCK_WANDER_PPB / 1e9 / 1e9)

/* Number of exchanges used for the line, those with the smallest round trips: a third
 * of all, but at least some. */
enum { FITTED_LEAST = 8, FITTED_MOST = 24, FITTED_PART = 3 };
/* Closer exchanges do not determine the drift. */
#define SPAN_LEAST_NS 1e8

/* One exchange as bounds of the offset, relative to the last one. */
struct bounds {
    double most;     /* of the offset, */
    double most_age; /* this long before the last exchange returned */
    double least;    /* likewise */
    double least_age;
    double trip; /* without the time between arrival and reply */
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

/* The reference of offsets, which keeps them small. */
static int64_t reference_of(const struct esi_clock_fit *fit)
{
    const struct esi_clock_exchange *last = &fit->window[fit->count - 1];

    return (int64_t)(last->arrived_ns - last->sent_ns);
}

/* Without the possible change of the drift since. */
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

/* Widens the bounds by the possible change of the drift and by rounding. */
static struct bounds clock_fit_widen(struct bounds bounds)
{
    bounds.most += WANDER * bounds.most_age * bounds.most_age / 2 + 1;
    bounds.least -= WANDER * bounds.least_age * bounds.least_age / 2 + 1;
    return bounds;
}

/* The line is below the upper bound of one exchange and above the lower bound of
 * another: o - d * age <= most, o - d * age >= least.  Eliminating the drift bounds the
 * offset, and vice versa. */
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

/* Selects the exchanges with the smallest round trips.  Returns their number. */
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

/* The median of the slopes of all pairs; `fallback` if they are too close. */
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

/* Discards exchanges until a line fits the others; a single one always has one. */
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

/* How far the offset may be from the straight line between two knots with correct
 * offsets, because the drift changes.  After a break, the size of the jump. */
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
    append_estimate(estimate, &knot);
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
    tighten_estimate(estimate);
    return true;
}
