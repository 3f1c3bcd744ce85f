/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* summaries.c - merges the summaries of several pulls by sorting them. */
#include "config.h"

#include "monitors/events/summaries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FEWEST_ROWS = 1024 };

void esi_summaries_fini(struct esi_summaries *summaries)
{
    free(summaries->rows);
    *summaries = (struct esi_summaries){.rows = NULL};
}

static int compare_integers(int a, int b)
{
    return (a > b) - (a < b);
}

static int compare_threads(const struct es_origin *a, const struct es_origin *b)
{
    int result = compare_integers(a->rank, b->rank);

    if (result == 0)
        result = strcmp(a->host, b->host);
    if (result == 0)
        result = compare_integers(a->pid, b->pid);
    return result ? result : compare_integers(a->thread, b->thread);
}

static int compare_groups(const struct esi_summary_row *a,
                          const struct esi_summary_row *b)
{
    int result;

    switch (a->summary.by) {
    case ES_SUMMARY_BY_OPERATION:
        return compare_integers(a->summary.operation, b->summary.operation);
    case ES_SUMMARY_BY_ORIGIN:
        result = compare_threads(a->origin, b->origin);
        return result ? result : strcmp(a->origin->name, b->origin->name);
    case ES_SUMMARY_BY_THREAD:
        return compare_threads(a->origin, b->origin);
    case ES_SUMMARY_BY_RANK:
        return compare_integers(a->origin->rank, b->origin->rank);
    case ES_SUMMARY_BY_HOST:
        return strcmp(a->origin->host, b->origin->host);
    case ES_SUMMARY_BY_SITE:
        return strcmp(a->site ? a->site : "", b->site ? b->site : "");
    default:
        return 0;
    }
}

static int compare_rows(const void *first, const void *second)
{
    const struct esi_summary_row *a = first;
    const struct esi_summary_row *b = second;
    int result = compare_integers((int)a->summary.kind, (int)b->summary.kind);

    if (result == 0)
        result = compare_integers((int)a->summary.of, (int)b->summary.of);
    if (result == 0)
        result = compare_integers((int)a->summary.by, (int)b->summary.by);
    if (result == 0)
        result = compare_groups(a, b);
    return result ? result
                  : compare_integers((int)a->summary.bucket, (int)b->summary.bucket);
}

void esi_summaries_merge(struct esi_summaries *summaries)
{
    struct esi_summary_row *rows = summaries->rows;
    size_t last = 0;

    if (summaries->count == 0)
        return;
    qsort(rows, summaries->count, sizeof *rows, compare_rows);
    for (size_t i = 1; i < summaries->count; i++) {
        if (compare_rows(&rows[last], &rows[i]) == 0)
            es_summary_merge(&rows[last].summary, &rows[i].summary);
        else
            rows[++last] = rows[i];
    }
    summaries->count = summaries->merged = last + 1;
}

int esi_summaries_add(struct esi_summaries *summaries,
                      const struct esi_summary_row *row)
{
    /* Merging at this size keeps memory proportional to the groups, and the total cost
     * linear in the rows. */
    if (summaries->count >= FEWEST_ROWS && summaries->count >= 2 * summaries->merged)
        esi_summaries_merge(summaries);
    if (ESI_ARRAY_RESERVE(summaries->rows, summaries->capacity, summaries->count + 1) <
        0)
        return -ENOMEM;
    summaries->rows[summaries->count++] = *row;
    return 0;
}
