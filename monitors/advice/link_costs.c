/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* link_costs.c - samples of messages of each order of magnitude, and a line through
 * their times. */
#include "config.h"

#include "monitors/advice/link_costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZES = 34,   /* 0, 1, 2 to 3, 4 to 7, ... bytes */
    SAMPLES = 64, /* kept per size */
    FASTEST = 8,  /* one in so many counts */
    AWAITED = 8,  /* so many are better than any number of others */
};

/* Pairs of sizes are used for the time per byte if they differ by this many bytes and
 * by this factor. */
#define LEAST_SPAN 512.0
#define LEAST_RATIO 4.0
/* Default overhead, as a part of the latency. */
#define OVERHEAD_PART 0.25
#define OVERHEAD_MOST 500.0

struct sample {
    double bytes;
    double ns;
    double error_ns;
};

struct sizes {
    uint64_t seen;
    struct sample samples[SAMPLES];
};

struct link {
    struct sizes sizes[SIZES];
    struct sizes awaited[SIZES]; /* messages that were awaited */
    uint64_t round_trip_ns;      /* minimum; 0 = none */
    uint64_t round_trips;
    struct sizes overheads; /* bytes and errors are not used */
};

struct esi_link_costs {
    struct link links[ES_LINK_CLASSES];
    uint64_t state; /* of the random selection of samples */
};

enum esi_link_class esi_link_class_of(const struct esi_location *x,
                                      const struct esi_location *y)
{
    if (x->host >= 0 && x->host == y->host)
        return ES_LINK_HOST;
    return x->cluster == y->cluster ? ES_LINK_CLUSTER : ES_LINK_WIDE;
}

const char *esi_link_class_name(enum esi_link_class link)
{
    static const char *const names[] = {[ES_LINK_HOST] = "within hosts",
                                        [ES_LINK_CLUSTER] = "between hosts",
                                        [ES_LINK_WIDE] = "between clusters"};

    return names[link];
}

int esi_link_costs_create(struct esi_link_costs **ret_costs)
{
    struct esi_link_costs *costs = calloc(1, sizeof *costs);

    if (!costs)
        return -ENOMEM;
    costs->state = UINT64_C(0x9E3779B97F4A7C15);
    *ret_costs = costs;
    return 0;
}

void esi_link_costs_destroy(struct esi_link_costs *costs)
{
    free(costs);
}

static unsigned size_of(uint64_t bytes)
{
    unsigned size = 0;

    while (bytes > 0 && size < SIZES - 1) {
        bytes >>= 1;
        size++;
    }
    return size;
}

/* Stores a sample with its size.  If full, it replaces a random one, so that old
 * samples fade out. */
static void keep_sample(struct esi_link_costs *costs,
                        struct sizes *of_size,
                        uint64_t bytes,
                        int64_t ns,
                        uint64_t error_ns)
{
    struct sizes *sizes = &of_size[size_of(bytes)];
    uint64_t at = sizes->seen++;

    if (at >= SAMPLES) {
        costs->state = costs->state * UINT64_C(6364136223846793005) + 1;
        at = (costs->state >> 33) % SAMPLES;
    }
    sizes->samples[at] = (struct sample){
        .bytes = (double)bytes, .ns = (double)ns, .error_ns = (double)error_ns};
}

void esi_link_costs_add(struct esi_link_costs *costs,
                        enum esi_link_class link,
                        uint64_t bytes,
                        int64_t ns,
                        uint64_t error_ns)
{
    keep_sample(costs, costs->links[link].sizes, bytes, ns, error_ns);
}

void esi_link_costs_add_awaited(struct esi_link_costs *costs,
                                enum esi_link_class link,
                                uint64_t bytes,
                                int64_t ns,
                                uint64_t error_ns)
{
    keep_sample(costs, costs->links[link].awaited, bytes, ns, error_ns);
}

void esi_link_costs_add_round_trip(struct esi_link_costs *costs,
                                   enum esi_link_class link,
                                   uint64_t ns)
{
    struct link *of = &costs->links[link];

    if (of->round_trips++ == 0 || ns < of->round_trip_ns)
        of->round_trip_ns = ns;
}

void esi_link_costs_add_overhead(struct esi_link_costs *costs,
                                 enum esi_link_class link,
                                 uint64_t ns)
{
    keep_sample(costs, &costs->links[link].overheads, 0, (int64_t)ns, 0);
}

/* --- Estimating ------------------------------------------------------------------- */

static int compare_samples(const void *x, const void *y)
{
    const struct sample *a = x;
    const struct sample *b = y;

    return (a->ns > b->ns) - (a->ns < b->ns);
}

static int compare_numbers(const void *x, const void *y)
{
    double a = *(const double *)x;
    double b = *(const double *)y;

    return (a > b) - (a < b);
}

static struct sample mean_of(const struct sample *samples, size_t count)
{
    struct sample mean = {0};

    for (size_t i = 0; i < count; i++) {
        mean.bytes += samples[i].bytes / (double)count;
        mean.ns += samples[i].ns / (double)count;
        mean.error_ns += samples[i].error_ns / (double)count;
    }
    return mean;
}

/* Sorts the kept samples; returns their number. */
static size_t sort_samples(const struct sizes *sizes, struct sample *ret_sorted)
{
    size_t count = sizes->seen < SAMPLES ? (size_t)sizes->seen : SAMPLES;

    memcpy(ret_sorted, sizes->samples, count * sizeof *ret_sorted);
    qsort(ret_sorted, count, sizeof *ret_sorted, compare_samples);
    return count;
}

/* Mean without the fastest and the slowest eighth. */
static struct sample middle_of(const struct sizes *sizes)
{
    struct sample sorted[SAMPLES];
    size_t count = sort_samples(sizes, sorted);

    return mean_of(sorted + count / 8, count - 2 * (count / 8));
}

/* Mean of the fastest samples.  If there are many, the very fastest is ignored, since
 * its clocks may have the largest error. */
static struct sample fastest_of(const struct sizes *sizes)
{
    struct sample sorted[SAMPLES];
    size_t count = sort_samples(sizes, sorted);
    size_t from = count >= 16 ? 1 : 0;

    return mean_of(sorted + from, (count + FASTEST - 1) / FASTEST);
}

static double median_of(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return count % 2 ? numbers[count / 2]
                     : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

/* Median slope of all pairs that are far enough apart. */
static double slope_of(const struct sample *points, size_t count)
{
    double slopes[SIZES * SIZES / 2];
    size_t found = 0;
    double slope;

    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (points[j].bytes >= LEAST_RATIO * points[i].bytes &&
                points[j].bytes - points[i].bytes >= LEAST_SPAN)
                slopes[found++] =
                    (points[j].ns - points[i].ns) / (points[j].bytes - points[i].bytes);
    if (found == 0)
        return 0;
    slope = median_of(slopes, found);
    return slope > 0 ? slope : 0;
}

/* Uses the smaller half of the sizes, which determine the latency best. */
static double latency_of(const struct sample *points, size_t count, double slope)
{
    double rests[SIZES];
    size_t half = (count + 1) / 2;
    double latency;

    for (size_t i = 0; i < half; i++)
        rests[i] = points[i].ns - slope * points[i].bytes;
    latency = median_of(rests, half);
    return latency > 0 ? latency : 0;
}

/* Because of clock errors, low quantiles are too short.  Half of the round-trip time by
 * one clock corrects the latency within the error bound. */
static double bound_latency(const struct link *link, const struct esi_link_cost *cost)
{
    double half_ns = (double)link->round_trip_ns / 2;
    double least_ns = cost->latency_ns - cost->error_ns;
    double most_ns = cost->latency_ns + cost->error_ns;

    if (link->round_trips == 0)
        return cost->latency_ns;
    if (half_ns > most_ns)
        return most_ns;
    if (half_ns >= least_ns)
        return half_ns;
    return least_ns > 0 ? least_ns : 0;
}

/* Both ends together cannot have been busy for longer than the whole message. */
static double overhead_of(const struct link *link, double latency_ns)
{
    double guess = OVERHEAD_PART * latency_ns;

    if (link->overheads.seen > 0) {
        double least_ns = fastest_of(&link->overheads).ns;

        return least_ns < latency_ns / 2 ? least_ns : latency_ns / 2;
    }
    return guess < OVERHEAD_MOST ? guess : OVERHEAD_MOST;
}

struct esi_link_cost esi_link_costs_get(const struct esi_link_costs *costs,
                                        enum esi_link_class link)
{
    const struct link *of = &costs->links[link];
    struct sample points[SIZES];
    struct esi_link_cost cost = {.known = of->round_trips > 0};
    size_t count = 0;

    for (unsigned i = 0; i < SIZES; i++) {
        cost.samples += of->sizes[i].seen + of->awaited[i].seen;
        if (of->awaited[i].seen >= AWAITED)
            points[count++] = middle_of(&of->awaited[i]);
        else if (of->sizes[i].seen > 0)
            points[count++] = fastest_of(&of->sizes[i]);
    }
    if (count > 0) {
        cost.known = true;
        cost.ns_per_byte = slope_of(points, count);
        cost.latency_ns = latency_of(points, count, cost.ns_per_byte);
        cost.error_ns = points[0].error_ns;
        cost.latency_ns = bound_latency(of, &cost);
    } else if (cost.known) {
        cost.samples = of->round_trips;
        cost.latency_ns = (double)of->round_trip_ns / 2;
    }
    cost.overhead_ns = overhead_of(of, cost.latency_ns);
    /* The measured time includes the overheads of both ends. */
    cost.latency_ns -= 2 * cost.overhead_ns;
    if (cost.latency_ns < 0)
        cost.latency_ns = 0;
    return cost;
}
