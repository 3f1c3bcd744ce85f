/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A measure: what is known of a quantity of which many values come, such as how long
 * operations take.  Count, mean and deviation (Welford, 1962; merged after Chan, Golub
 * and LeVeque, 1979), extremes, sum and quantiles.
 *
 *   one measure is one thread's at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_MEASURE_H
#define ES_MONITORS_COLLECTIVES_MEASURE_H

#include "monitors/collectives/quantiles.h"

struct esi_json_out;

/* Caller's memory; all zero is the empty measure. */
struct es_measure {
    uint64_t count;
    uint64_t sum; /* saturates */
    uint64_t least;
    uint64_t greatest;
    double mean;
    double squares; /* of the distances from the mean, added up */
    struct es_quantiles quantiles;
};

void es_measure_fini(struct es_measure *measure);
/* Adds a value.  -ENOMEM: it was not added. */
int es_measure_add(struct es_measure *measure, uint64_t value);
/* Adds all of `other`.  -ENOMEM: nothing was added. */
int es_measure_merge(struct es_measure *measure, const struct es_measure *other);
/* Standard deviation of the values; 0 of fewer than two. */
double es_measure_deviation(const struct es_measure *measure);
/* Writes all of it as a JSON object, values divided by `unit`. */
void es_measure_write(struct esi_json_out *out,
                      const char *key,
                      const struct es_measure *measure,
                      double unit);

#endif
