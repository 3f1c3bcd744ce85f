/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* measure.c - running statistics of one quantity. */
#include "config.h"

#include "monitors/collectives/measure.h"

#include <errno.h>

#include "base/rows.h"

void esi_measure_fini(struct esi_measure *measure)
{
    esi_quantiles_fini(&measure->quantiles);
    *measure = (struct esi_measure){.count = 0};
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static void widen_measure(struct esi_measure *measure,
                          uint64_t least,
                          uint64_t greatest)
{
    if (measure->count == 0 || least < measure->least)
        measure->least = least;
    if (greatest > measure->greatest)
        measure->greatest = greatest;
}

int esi_measure_add(struct esi_measure *measure, uint64_t value)
{
    double distance = (double)value - measure->mean;

    if (esi_quantiles_add(&measure->quantiles, value) < 0)
        return -ENOMEM;
    widen_measure(measure, value, value);
    measure->count++;
    measure->sum = add_up(measure->sum, value);
    measure->mean += distance / (double)measure->count;
    measure->squares += distance * ((double)value - measure->mean);
    return 0;
}

int esi_measure_merge(struct esi_measure *measure, const struct esi_measure *other)
{
    double distance = other->mean - measure->mean;
    double mine = (double)measure->count;
    double theirs = (double)other->count;

    if (other->count == 0)
        return 0;
    if (esi_quantiles_merge(&measure->quantiles, &other->quantiles) < 0)
        return -ENOMEM;
    widen_measure(measure, other->least, other->greatest);
    measure->count += other->count;
    measure->sum = add_up(measure->sum, other->sum);
    measure->mean += distance * theirs / (mine + theirs);
    measure->squares +=
        other->squares + distance * distance * mine * theirs / (mine + theirs);
    return 0;
}

/* Newton's method, which avoids linking libm. */
static double square_root(double value)
{
    double root = value > 1 ? value : 1;

    if (value <= 0)
        return 0;
    for (;;) {
        double next = (root + value / root) / 2;

        if (next >= root)
            return root;
        root = next;
    }
}

double esi_measure_deviation(const struct esi_measure *measure)
{
    if (measure->count < 2)
        return 0;
    return square_root(measure->squares / (double)measure->count);
}

static void describe_quantile(struct esi_row *row,
                              const char *name,
                              const struct esi_measure *measure,
                              double part,
                              double unit)
{
    esi_row_real(row, name, NULL,
                 (double)esi_quantiles_at(&measure->quantiles, part) / unit);
}

void esi_measure_describe(struct esi_row *row,
                          const char *name,
                          const struct esi_measure *measure,
                          double unit)
{
    if (!esi_row_begin_object(row, name))
        return;
    esi_row_unsigned(row, "count", NULL, measure->count);
    esi_row_real(row, "sum", NULL, (double)measure->sum / unit);
    esi_row_real(row, "mean", NULL, measure->mean / unit);
    esi_row_real(row, "deviation", NULL, esi_measure_deviation(measure) / unit);
    esi_row_real(row, "min", NULL, (double)measure->least / unit);
    esi_row_real(row, "max", NULL, (double)measure->greatest / unit);
    describe_quantile(row, "p50", measure, 0.5, unit);
    describe_quantile(row, "p95", measure, 0.95, unit);
    describe_quantile(row, "p99", measure, 0.99, unit);
    esi_row_end(row);
}
