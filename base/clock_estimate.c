/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What is known of one host's clock against the home server's: a line of knots. */
#include "config.h"

#include "base/clock_estimate.h"

#include <math.h>
#include <string.h>

#define PPB 1e9
#define NS_PER_S 1e9

/* The newest knots are left alone: most tuples are converted by them. */
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

/* The bow of the segment that remains when `middle` is taken out.  Both lines are
 * straight on either side of it, so it is there that they differ most. */
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

/* Takes out the knot that is missed least. */
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

void esi_clock_estimate_append(struct esi_clock_estimate *estimate,
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

/* Whether the clock runs forward fast enough between two knots. */
static bool is_forward(const struct esi_clock_knot *before,
                       const struct esi_clock_knot *after)
{
    return before->offset_ns - after->offset_ns <=
           (int64_t)((after->local_ns - before->local_ns) / 2);
}

/* The part of the knot's range that can be reached back from the last knot. */
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

void esi_clock_estimate_tighten(struct esi_clock_estimate *estimate)
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

/* The drift at the first knot is that of the line to the second, but for the errors of
 * both and what it has changed meanwhile. */
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
    /* The slope is below 1, so that rounding keeps the order.  The sum of the whole
     * parts wraps, which is what two's complement is for. */
    uint64_t offset =
        (uint64_t)stretch->offset_ns + (uint64_t)esi_clock_round(away * stretch->slope);
    uint64_t home = local_ns + offset;

    if (ret_error_ns)
        *ret_error_ns = clock_estimate_add(esi_clock_bound(off), stretch->bow_ns);
    if ((int64_t)offset < 0)
        return home > local_ns ? 0 : home;
    return home < local_ns ? UINT64_MAX : home;
}
