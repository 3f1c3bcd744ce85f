/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* node_statistics.c - running statistics of the internal nodes of collective trees. */
#include "config.h"

#include "monitors/collectives/node_statistics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct esi_node_statistics {
    struct esi_node_row *rows; /* owned; sorted */
    size_t count;
    size_t capacity;
};

int esi_node_statistics_create(struct esi_node_statistics **ret_statistics)
{
    struct esi_node_statistics *statistics = calloc(1, sizeof *statistics);

    if (!statistics)
        return -ENOMEM;
    *ret_statistics = statistics;
    return 0;
}

void esi_node_statistics_destroy(struct esi_node_statistics *statistics)
{
    if (!statistics)
        return;
    for (size_t i = 0; i < statistics->count; i++) {
        struct esi_node_row *row = &statistics->rows[i];

        esi_measure_fini(&row->wait);
        esi_measure_fini(&row->spread);
        esi_measure_fini(&row->up);
        esi_measure_fini(&row->down);
        free(row->children);
    }
    free(statistics->rows);
    free(statistics);
}

static int compare_rows(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_row(const struct esi_node_row *row,
                       const struct esi_tree_node_result *result)
{
    int order = compare_rows(row->key[0], result->key[0]);

    if (order == 0)
        order = compare_rows(row->key[1], result->key[1]);
    if (order == 0)
        order = compare_rows(row->operation, result->operation);
    if (order == 0)
        order = compare_rows(row->version, result->version);
    return order ? order
                 : (row->world_rank > result->world_rank) -
                       (row->world_rank < result->world_rank);
}

static int insert_row(struct esi_node_statistics *statistics,
                      size_t index,
                      const struct esi_tree_node_result *result)
{
    struct esi_node_row *row;

    if (ESI_ARRAY_RESERVE(statistics->rows, statistics->capacity,
                          statistics->count + 1) < 0)
        return -ENOMEM;
    row = &statistics->rows[index];
    memmove(row + 1, row, (statistics->count++ - index) * sizeof *row);
    *row = (struct esi_node_row){.operation = result->operation,
                                 .version = result->version,
                                 .world_rank = result->world_rank,
                                 .rank = result->rank};
    memcpy(row->key, result->key, sizeof row->key);
    snprintf(row->communicator, sizeof row->communicator, "%s", result->communicator);
    snprintf(row->host, sizeof row->host, "%s", result->host);
    return 0;
}

static int find_row(struct esi_node_statistics *statistics,
                    const struct esi_tree_node_result *result,
                    struct esi_node_row **ret_row)
{
    size_t first = 0, end = statistics->count;
    int made = 0;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (compare_row(&statistics->rows[middle], result) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == statistics->count ||
        compare_row(&statistics->rows[first], result) != 0)
        made = insert_row(statistics, first, result);
    if (made == 0)
        *ret_row = &statistics->rows[first];
    return made;
}

static int count_last(struct esi_node_row *row, int rank)
{
    size_t index = 0;

    while (index < row->child_count && row->children[index].rank < rank)
        index++;
    if (index == row->child_count || row->children[index].rank != rank) {
        struct esi_node_child *child;

        if (ESI_ARRAY_RESERVE(row->children, row->child_capacity,
                              row->child_count + 1) < 0)
            return -ENOMEM;
        child = &row->children[index];
        memmove(child + 1, child, (row->child_count++ - index) * sizeof *child);
        *child = (struct esi_node_child){.rank = rank};
    }
    row->children[index].times_last++;
    return 0;
}

static int add_up(struct esi_node_row *row, const struct esi_tree_node_result *result)
{
    int added = esi_measure_add(&row->wait, result->wait_ns);

    if (added == 0)
        added = esi_measure_add(&row->spread, result->spread_ns);
    if (added == 0)
        added = esi_measure_add(&row->up, result->up_ns);
    if (added == 0 && result->last_child >= 0)
        added = count_last(row, result->last_child);
    return added;
}

int esi_node_statistics_add(struct esi_node_statistics *statistics,
                            const struct esi_tree_node_result *result)
{
    struct esi_node_row *row;
    int added = find_row(statistics, result, &row);

    if (added == 0 && result->has_up)
        added = add_up(row, result);
    if (added == 0 && result->has_down)
        added = esi_measure_add(&row->down, result->down_ns);
    if (added == 0)
        row->count++;
    return added;
}

size_t esi_node_statistics_count(const struct esi_node_statistics *statistics)
{
    return statistics->count;
}

const struct esi_node_row *esi_node_statistics_at(
    const struct esi_node_statistics *statistics,
    size_t index)
{
    return index < statistics->count ? &statistics->rows[index] : NULL;
}

const struct esi_node_child *esi_node_row_slowest(const struct esi_node_row *row)
{
    const struct esi_node_child *found = NULL;

    for (size_t i = 0; i < row->child_count; i++)
        if (!found || row->children[i].times_last > found->times_last)
            found = &row->children[i];
    return found;
}
