/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Statistics of a quantity with many values, such as the duration of operations: count,
 * mean and deviation (Welford, 1962; merged after Chan, Golub and LeVeque, 1979),
 * extremes, sum and quantiles.
 *
 * A measure may be used by one thread at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_MEASURE_H
#define ES_MONITORS_COLLECTIVES_MEASURE_H

#include "monitors/collectives/quantiles.h"

struct esi_row;

/* Caller's memory; a zeroed struct is an empty measure. */
struct esi_measure {
    uint64_t count;
    uint64_t sum; /* saturates */
    uint64_t least;
    uint64_t greatest;
    double mean;
    double squares; /* sum of squared distances from the mean */
    struct esi_quantiles quantiles;
};

void esi_measure_fini(struct esi_measure *measure);
/* Adds a value.  -ENOMEM: it was not added. */
int esi_measure_add(struct esi_measure *measure, uint64_t value);
/* Adds all of `other`.  -ENOMEM: nothing was added. */
int esi_measure_merge(struct esi_measure *measure, const struct esi_measure *other);
/* Standard deviation of the values; 0 for fewer than two. */
double esi_measure_deviation(const struct esi_measure *measure);
/* Adds the measure as a JSON object, with values divided by `unit`. */
void esi_measure_describe(struct esi_row *row,
                          const char *name,
                          const struct esi_measure *measure,
                          double unit);

#endif
