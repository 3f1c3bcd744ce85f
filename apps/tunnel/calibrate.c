/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Measures the speed at which the ranks move cells; see calibrate.h. */
#include "calibrate.h"

#include <math.h>

enum { PROBE_ROWS = 384, PROBE_MATRICES = 2 };

/* Nanoseconds per cell of the slowest rank; infinite if one could not run. */
static double measure_cell(const struct tunnel *tunnel,
                           const struct exchange_layout *layout,
                           int threads)
{
    struct tunnel probe = *tunnel;
    struct exchange_layout alone = {MPI_COMM_SELF, threads, threads};
    const struct crew_plan plan = {
        .iterations = 1L << 40, .seconds = 0.2, .check_every = 1000};
    struct crew_result result;
    struct crew *crew = NULL;
    double cost, slowest;

    probe.rows = PROBE_ROWS;
    probe.columns = 2 * PROBE_ROWS;
    probe.matrices = PROBE_MATRICES;
    int error = crew_create(&probe, &alone, threads, &crew);
    if (!error)
        error = crew_run(crew, &plan, &result);
    crew_destroy(crew);

    double cells = 2.0 * PROBE_ROWS * PROBE_ROWS * PROBE_MATRICES;
    cost = error ? INFINITY : result.seconds * 1e9 / (double)result.iterations / cells;
    MPI_Allreduce(&cost, &slowest, 1, MPI_DOUBLE, MPI_MAX, layout->comm);
    return slowest;
}

long calibrate_rows(const struct tunnel *tunnel,
                    const struct exchange_layout *layout,
                    int threads,
                    double milliseconds)
{
    double cost = measure_cell(tunnel, layout, threads);
    int ranks = layout->slice_count / layout->slices_per_rank;

    if (isinf(cost))
        return -1;
    double cells = milliseconds * 1e6 / cost * ranks;
    return (long)sqrt(cells / 2 / tunnel->matrices);
}
