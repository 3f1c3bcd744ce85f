/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* compare.c - rows of two runs side by side. */
#include "config.h"

#include "monitors/compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/compare/compare_private.h"

int esi_compare_create(struct esi_compare **ret_compare)
{
    static const struct esi_delay_config config = {.series = true};
    struct esi_compare *compare = calloc(1, sizeof *compare);
    int result = compare ? 0 : -ENOMEM;

    for (int i = 0; i < ESI_COMPARE_RUNS && result == 0; i++) {
        esi_sequences_init(&compare->sides[i].sequences);
        result = esi_delay_create(&config, &compare->sides[i].delay);
    }
    if (result < 0) {
        esi_compare_destroy(compare);
        return result;
    }
    *ret_compare = compare;
    return 0;
}

void esi_compare_destroy(struct esi_compare *compare)
{
    if (!compare)
        return;
    for (int i = 0; i < ESI_COMPARE_RUNS; i++) {
        esi_delay_destroy(compare->sides[i].delay);
        esi_sequences_fini(&compare->sides[i].sequences);
    }
    free(compare->times.rows);
    free(compare->profiles.rows);
    free(compare);
}

static int take_event(void *data,
                      const struct es_set_event *event,
                      const struct esi_causal_call *call)
{
    struct esi_compare_side *side = data;
    struct esi_causal_listener delay = esi_delay_listener(side->delay);
    int result = delay.told(delay.data, event, call);

    return result < 0 ? result : esi_sequences_told(&side->sequences, event, call);
}

static int take_gap(void *data, uint32_t trace, const struct esi_gap *gap)
{
    const struct esi_compare_side *side = data;
    struct esi_causal_listener delay = esi_delay_listener(side->delay);

    return delay.gap(delay.data, trace, gap);
}

struct esi_causal_listener esi_compare_listener(struct esi_compare *compare,
                                                enum esi_compare_run run)
{
    return (struct esi_causal_listener){
        .told = take_event, .gap = take_gap, .data = &compare->sides[run]};
}

void esi_compare_set_profile(struct esi_compare *compare,
                             enum esi_compare_run run,
                             const struct esi_profile_report *report)
{
    compare->sides[run].profile = report;
}

/* --- Rows ------------------------------------------------------------------------- */

bool esi_compare_is_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

const struct esi_delay_row *esi_compare_find_like(const struct esi_delay *delay,
                                                  enum esi_delay_group group,
                                                  const struct esi_delay_row *row)
{
    size_t count;
    const struct esi_delay_row *rows = esi_delay_rows(delay, group, &count);

    for (size_t i = 0; i < count; i++)
        if (rows[i].rank == row->rank && esi_compare_is_text(rows[i].name, row->name) &&
            esi_compare_is_text(rows[i].operation, row->operation))
            return &rows[i];
    return NULL;
}

static double value_of(const struct esi_delay_row *row, enum esi_compare_metric metric)
{
    if (!row)
        return 0;
    switch (metric) {
    case ESI_COMPARE_WAITED:
        return row->times.waited;
    case ESI_COMPARE_CAUSED:
        return row->times.caused;
    case ESI_COMPARE_COMPUTED:
        return row->times.computed;
    case ESI_COMPARE_CALLED:
        return row->times.called;
    default:
        return row->times.critical;
    }
}

/* Number of blocks of a run that contain calls. */
static size_t count_blocks(const struct esi_delay *delay)
{
    size_t count, blocks = 0;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);

    for (size_t i = 0; i < count; i++)
        for (size_t j = blocks; j < ESI_DELAY_BLOCKS; j++)
            if (rows[i].series->blocks[j][ESI_DELAY_CALLED] != 0 ||
                rows[i].series->blocks[j][ESI_DELAY_COMPUTED] != 0)
                blocks = j + 1;
    return blocks;
}

static void add_series(const struct esi_delay_row *row,
                       enum esi_delay_metric metric,
                       double values[ESI_DELAY_BLOCKS])
{
    for (size_t i = 0; row && metric != ESI_DELAY_METRICS && i < ESI_DELAY_BLOCKS; i++)
        values[i] += row->series->blocks[i][metric];
}

struct esi_bootstrap esi_compare_noise(const struct esi_compare *compare,
                                       const struct esi_delay_row *a,
                                       const struct esi_delay_row *b,
                                       enum esi_delay_metric metric,
                                       enum esi_delay_metric other)
{
    double values[ESI_COMPARE_RUNS][ESI_DELAY_BLOCKS] = {{0}};

    add_series(a, metric, values[ESI_COMPARE_A]);
    add_series(a, other, values[ESI_COMPARE_A]);
    add_series(b, metric, values[ESI_COMPARE_B]);
    add_series(b, other, values[ESI_COMPARE_B]);
    return esi_bootstrap_compare(
        values[ESI_COMPARE_A], count_blocks(compare->sides[ESI_COMPARE_A].delay),
        values[ESI_COMPARE_B], count_blocks(compare->sides[ESI_COMPARE_B].delay));
}

/* Metrics of times are those of series, in their order. */
_Static_assert((int)ESI_COMPARE_WAITED == (int)ESI_DELAY_WAITED &&
                   (int)ESI_COMPARE_CAUSED == (int)ESI_DELAY_CAUSED &&
                   (int)ESI_COMPARE_COMPUTED == (int)ESI_DELAY_COMPUTED &&
                   (int)ESI_COMPARE_CALLED == (int)ESI_DELAY_CALLED &&
                   (int)ESI_COMPARE_CRITICAL == (int)ESI_DELAY_CRITICAL,
               "metrics are those of series");

double esi_compare_whole(const struct esi_compare *compare)
{
    const struct esi_delay_totals *totals = &compare->totals.runs[ESI_COMPARE_A];

    return (double)totals->seen.seen_ns;
}

int esi_compare_table_add(struct esi_compare_table *table,
                          const struct esi_compare_row *row)
{
    if (ESI_ARRAY_RESERVE(table->rows, table->capacity, table->count + 1) < 0)
        return -ENOMEM;
    table->rows[table->count++] = *row;
    return 0;
}

/* One of the rows is NULL if its run has no such row. */
static int add_row(struct esi_compare *compare,
                   enum esi_delay_group group,
                   const struct esi_delay_row *a,
                   const struct esi_delay_row *b,
                   enum esi_compare_metric metric)
{
    const struct esi_delay_row *any = a ? a : b;
    struct esi_compare_row row = {.group = group,
                                  .rank = any->rank,
                                  .name = any->name,
                                  .operation = any->operation,
                                  .metric = metric,
                                  .a = value_of(a, metric),
                                  .b = value_of(b, metric)};

    if (row.a == 0 && row.b == 0)
        return 0;
    row.noise = esi_compare_noise(compare, a, b, (enum esi_delay_metric)metric,
                                  ESI_DELAY_METRICS);
    row.differs = esi_bootstrap_is_clear(&row.noise) &&
                  fabs(row.noise.difference) * 100 > esi_compare_whole(compare);
    compare->totals.differing += row.differs;
    return esi_compare_table_add(&compare->times, &row);
}

static int add_metrics(struct esi_compare *compare,
                       enum esi_delay_group group,
                       const struct esi_delay_row *a,
                       const struct esi_delay_row *b)
{
    int result = 0;

    for (int metric = 0; metric < ESI_COMPARE_TIMES && result == 0; metric++)
        result = add_row(compare, group, a, b, (enum esi_compare_metric)metric);
    return result;
}

static int add_group(struct esi_compare *compare, enum esi_delay_group group)
{
    const struct esi_delay *a = compare->sides[ESI_COMPARE_A].delay;
    const struct esi_delay *b = compare->sides[ESI_COMPARE_B].delay;
    size_t a_count, b_count;
    const struct esi_delay_row *a_rows = esi_delay_rows(a, group, &a_count);
    const struct esi_delay_row *b_rows = esi_delay_rows(b, group, &b_count);
    int result = 0;

    for (size_t i = 0; i < a_count && result == 0; i++)
        result = add_metrics(compare, group, &a_rows[i],
                             esi_compare_find_like(b, group, &a_rows[i]));
    for (size_t i = 0; i < b_count && result == 0; i++)
        if (!esi_compare_find_like(a, group, &b_rows[i]))
            result = add_metrics(compare, group, NULL, &b_rows[i]);
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
    if (a_size != b_size)
        return a_size > b_size ? -1 : 1;
    return (int)a->metric - (int)b->metric;
}

/* --- The end ---------------------------------------------------------------------- */

static int end_side(struct esi_compare *compare, enum esi_compare_run run)
{
    struct esi_compare_side *side = &compare->sides[run];
    int result = esi_delay_settle(side->delay);

    if (result == 0)
        result = esi_delay_find_critical(side->delay);
    esi_delay_totals(side->delay, &compare->totals.runs[run]);
    esi_sequences_sort(&side->sequences);
    return result;
}

int esi_compare_finish(struct esi_compare *compare)
{
    struct esi_compare_side *a = &compare->sides[ESI_COMPARE_A];
    struct esi_compare_side *b = &compare->sides[ESI_COMPARE_B];
    int result = end_side(compare, ESI_COMPARE_A);

    if (result == 0)
        result = end_side(compare, ESI_COMPARE_B);
    if (result < 0)
        return result;
    esi_delay_widen_blocks(a->delay, esi_delay_block_calls(b->delay));
    esi_delay_widen_blocks(b->delay, esi_delay_block_calls(a->delay));
    compare->totals.orders_differ = esi_sequences_compare(
        &a->sequences, &b->sequences, &compare->totals.first, &compare->totals.alike);
    result = add_group(compare, ESI_DELAY_BY_RANK);
    if (result == 0)
        result = add_group(compare, ESI_DELAY_BY_OPERATION);
    if (result == 0)
        result = add_group(compare, ESI_DELAY_BY_LINE);
    if (compare->times.count > 0)
        qsort(compare->times.rows, compare->times.count, sizeof *compare->times.rows,
              compare_rows);
    return result < 0 ? result : esi_compare_profiles(compare);
}

const char *esi_compare_metric_name(enum esi_compare_metric metric)
{
    static const char *const names[] = {
        [ESI_COMPARE_WAITED] = "waited",     [ESI_COMPARE_CAUSED] = "caused",
        [ESI_COMPARE_COMPUTED] = "computed", [ESI_COMPARE_CALLED] = "in MPI",
        [ESI_COMPARE_CRITICAL] = "critical", [ESI_COMPARE_CALLS] = "calls",
        [ESI_COMPARE_BYTES] = "bytes",       [ESI_COMPARE_TIME] = "time",
    };

    return names[metric];
}

const struct esi_compare_row *esi_compare_rows(const struct esi_compare *compare,
                                               size_t *ret_count)
{
    *ret_count = compare->times.count;
    return compare->times.rows;
}

const struct esi_compare_row *esi_compare_profile_rows(
    const struct esi_compare *compare,
    size_t *ret_count)
{
    *ret_count = compare->profiles.count;
    return compare->profiles.rows;
}

void esi_compare_totals(const struct esi_compare *compare,
                        struct esi_compare_totals *ret_totals)
{
    *ret_totals = compare->totals;
}
