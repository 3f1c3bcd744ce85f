/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * compare_profiles.c - compares the profiles of two runs.
 *
 * A profile contains sums over the whole run.  Their variation by chance is estimated
 * from the event series; operations that are not calls there (MPI_Irecv) have none.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "monitors/compare/compare_private.h"

/* The same operation or line of both runs; NULL if a run does not have it. */
struct profile_pair {
    enum esi_delay_group group;
    const char *name;
    const char *operation; /* of a line */
    const struct esi_profile_sums *sums[ESI_COMPARE_RUNS];
    const struct esi_delay_row *rows[ESI_COMPARE_RUNS];
};

static double value_of(const struct esi_profile_sums *sums,
                       enum esi_compare_metric metric)
{
    if (!sums)
        return 0;
    switch (metric) {
    case ESI_COMPARE_CALLS:
        return (double)sums->calls;
    case ESI_COMPARE_BYTES:
        return (double)sums->bytes;
    default:
        return (double)sums->time_ns;
    }
}

/* A difference of more than 1 %. */
static bool is_large(const struct esi_compare_row *row)
{
    return fabs(row->b - row->a) * 100 > row->a;
}

static bool has_series(const struct profile_pair *pair)
{
    return pair->rows[ESI_COMPARE_A] || pair->rows[ESI_COMPARE_B];
}

/* `calls` is the row of the same pair's calls. */
static bool is_beyond_chance(const struct esi_compare *compare,
                             const struct profile_pair *pair,
                             const struct esi_compare_row *row,
                             const struct esi_compare_row *calls)
{
    switch (row->metric) {
    case ESI_COMPARE_CALLS:
        return is_large(row) &&
               (!has_series(pair) || esi_bootstrap_is_clear(&row->noise));
    case ESI_COMPARE_BYTES: /* significant if calls are */
        return is_large(row) && (calls->differs || !is_large(calls));
    default:
        return esi_bootstrap_is_clear(&row->noise) &&
               fabs(row->b - row->a) * 100 > esi_compare_whole(compare) &&
               (row->b > row->a) == (row->noise.low > 0);
    }
}

static struct esi_compare_row make_row(const struct esi_compare *compare,
                                       const struct profile_pair *pair,
                                       enum esi_compare_metric metric,
                                       const struct esi_compare_row *calls)
{
    struct esi_compare_row row = {
        .group = pair->group,
        .rank = -1,
        .name = pair->name,
        .operation = pair->operation,
        .metric = metric,
        .a = value_of(pair->sums[ESI_COMPARE_A], metric),
        .b = value_of(pair->sums[ESI_COMPARE_B], metric),
    };
    const struct esi_delay_row *a = pair->rows[ESI_COMPARE_A];
    const struct esi_delay_row *b = pair->rows[ESI_COMPARE_B];

    if (has_series(pair) && metric == ESI_COMPARE_CALLS)
        row.noise =
            esi_compare_noise(compare, a, b, ESI_DELAY_CALLS, ESI_DELAY_METRICS);
    if (has_series(pair) && metric == ESI_COMPARE_TIME)
        row.noise =
            esi_compare_noise(compare, a, b, ESI_DELAY_WAITED, ESI_DELAY_CALLED);
    row.noise.difference = row.b - row.a;
    row.differs = is_beyond_chance(compare, pair, &row, calls);
    return row;
}

static int add_pair(struct esi_compare *compare, struct profile_pair *pair)
{
    const struct esi_delay_row like = {
        .name = pair->name, .operation = pair->operation, .rank = -1};
    struct esi_compare_row calls = {.name = ""};
    int result = 0;

    for (int run = 0; run < ESI_COMPARE_RUNS; run++)
        pair->rows[run] =
            esi_compare_find_like(compare->sides[run].delay, pair->group, &like);
    for (int i = ESI_COMPARE_TIMES; i < ESI_COMPARE_METRICS && result == 0; i++) {
        struct esi_compare_row row =
            make_row(compare, pair, (enum esi_compare_metric)i, &calls);

        if (i == ESI_COMPARE_CALLS)
            calls = row;
        if (row.a == 0 && row.b == 0)
            continue;
        compare->totals.profile_differing += row.differs;
        result = esi_compare_table_add(&compare->profiles, &row);
    }
    return result;
}

/* --- Pairs ------------------------------------------------------------------------ */

static const struct esi_profile_sums *find_operation(
    const struct esi_profile_report *report,
    uint16_t code)
{
    for (size_t i = 0; i < report->operation_count; i++)
        if (report->operations[i].code == code)
            return &report->operations[i].sums;
    return NULL;
}

static const struct esi_profile_sums *find_site(const struct esi_profile_report *report,
                                                const struct esi_profile_site *site)
{
    for (size_t i = 0; i < report->site_count; i++)
        if (report->sites[i].code == site->code &&
            esi_compare_is_text(report->sites[i].text, site->text))
            return &report->sites[i].sums;
    return NULL;
}

/* Adds the rows of `run`; of B only those that A does not have. */
static int add_operations(struct esi_compare *compare, enum esi_compare_run run)
{
    const struct esi_profile_report *report = compare->sides[run].profile;
    enum esi_compare_run other = run == ESI_COMPARE_A ? ESI_COMPARE_B : ESI_COMPARE_A;
    int result = 0;

    for (size_t i = 0; i < report->operation_count && result == 0; i++) {
        const struct esi_profile_operation *operation = &report->operations[i];
        struct profile_pair pair = {.group = ESI_DELAY_BY_OPERATION,
                                    .name = es_operation_name(operation->code)};

        pair.sums[run] = &operation->sums;
        pair.sums[other] =
            find_operation(compare->sides[other].profile, operation->code);
        if (!operation->is_outer && (run == ESI_COMPARE_A || !pair.sums[other]))
            result = add_pair(compare, &pair);
    }
    return result;
}

static int add_sites(struct esi_compare *compare, enum esi_compare_run run)
{
    const struct esi_profile_report *report = compare->sides[run].profile;
    enum esi_compare_run other = run == ESI_COMPARE_A ? ESI_COMPARE_B : ESI_COMPARE_A;
    int result = 0;

    for (size_t i = 0; i < report->site_count && result == 0; i++) {
        const struct esi_profile_site *site = &report->sites[i];
        struct profile_pair pair = {.group = ESI_DELAY_BY_LINE,
                                    .name = site->text,
                                    .operation = es_operation_name(site->code)};

        pair.sums[run] = &site->sums;
        pair.sums[other] = find_site(compare->sides[other].profile, site);
        if (!site->is_outer && (run == ESI_COMPARE_A || !pair.sums[other]))
            result = add_pair(compare, &pair);
    }
    return result;
}

static int compare_rows(const void *left, const void *right)
{
    const struct esi_compare_row *a = left;
    const struct esi_compare_row *b = right;
    double a_size = fabs(a->noise.difference);
    double b_size = fabs(b->noise.difference);

    if (a->differs != b->differs)
        return a->differs ? -1 : 1;
    if (a->metric != b->metric)
        return (int)b->metric - (int)a->metric;
    return a_size != b_size ? (a_size > b_size ? -1 : 1) : 0;
}

int esi_compare_profiles(struct esi_compare *compare)
{
    struct esi_compare_table *table = &compare->profiles;
    int result = 0;

    compare->totals.profiled =
        compare->sides[ESI_COMPARE_A].profile && compare->sides[ESI_COMPARE_B].profile;
    if (!compare->totals.profiled)
        return 0;
    for (int run = 0; run < ESI_COMPARE_RUNS && result == 0; run++) {
        result = add_operations(compare, (enum esi_compare_run)run);
        if (result == 0)
            result = add_sites(compare, (enum esi_compare_run)run);
    }
    if (table->count > 0)
        qsort(table->rows, table->count, sizeof *table->rows, compare_rows);
    return result;
}
