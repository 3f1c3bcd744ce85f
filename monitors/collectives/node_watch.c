/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* node_watch.c - gathers the results of internal nodes of collective trees and prints
 * them. */
#include "config.h"

#include "monitors/collectives/node_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/rows.h"
#include "eventspace/operation.h"
#include "monitors/collectives/node_statistics.h"

struct esi_node_watch {
    struct esi_tree_nodes *nodes;
    pthread_mutex_t lock; /* protects the statistics */
    struct esi_node_statistics *statistics;
};

static void take_result(void *data, const struct esi_tree_node_result *result)
{
    struct esi_node_watch *watch = data;

    pthread_mutex_lock(&watch->lock);
    esi_node_statistics_add(watch->statistics, result);
    pthread_mutex_unlock(&watch->lock);
}

static int open_watch(struct esi_node_watch *watch,
                      const struct esi_tree_nodes_config *given,
                      struct es_error *error)
{
    struct esi_tree_nodes_config config = *given;
    int result = esi_node_statistics_create(&watch->statistics);

    config.on_result = take_result;
    config.data = watch;
    if (result == 0)
        result = esi_tree_nodes_open(&config, error, &watch->nodes);
    if (result == 0)
        result = esi_tree_nodes_start(watch->nodes);
    return result;
}

int esi_node_watch_start(const struct esi_tree_nodes_config *config,
                         struct es_error *error,
                         struct esi_node_watch **ret_watch)
{
    struct esi_node_watch *watch = calloc(1, sizeof *watch);
    int result;

    if (!watch)
        return -ENOMEM;
    if (pthread_mutex_init(&watch->lock, NULL) != 0) {
        free(watch);
        return -ENOMEM;
    }
    result = open_watch(watch, config, error);
    if (result < 0) {
        esi_node_watch_destroy(watch);
        return result;
    }
    *ret_watch = watch;
    return 0;
}

void esi_node_watch_stop(struct esi_node_watch *watch)
{
    if (watch)
        esi_tree_nodes_stop(watch->nodes);
}

void esi_node_watch_destroy(struct esi_node_watch *watch)
{
    int saved_errno = errno;

    if (!watch)
        return;
    esi_tree_nodes_close(watch->nodes);
    esi_node_statistics_destroy(watch->statistics);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
    errno = saved_errno;
}

/* --- Nodes ------------------------------------------------------------------------ */

static int compare_rows(const void *left, const void *right)
{
    const struct esi_node_row *a = *(const struct esi_node_row *const *)left;
    const struct esi_node_row *b = *(const struct esi_node_row *const *)right;

    if (a->wait.sum != b->wait.sum)
        return a->wait.sum < b->wait.sum ? 1 : -1;
    return (a->world_rank > b->world_rank) - (a->world_rank < b->world_rank);
}

/* The table shows its mean. */
static void describe_measure(struct esi_row *row,
                             const char *name,
                             const char *heading,
                             unsigned minor,
                             const struct esi_measure *measure)
{
    esi_measure_describe(row, name, measure, 1);
    esi_row_time(esi_row_minor(esi_row_if(row, measure->count), minor), NULL, heading,
                 (int64_t)measure->mean);
}

static void describe_children(struct esi_row *row, const struct esi_node_row *node)
{
    const struct esi_node_child *slowest = esi_node_row_slowest(node);
    char words[ESI_QUANTITY_BYTES];

    if (slowest)
        esi_row_words(
            row, "LAST CHILD", 0, "%d (%s)", slowest->rank,
            esi_quantity_part(words, sizeof words, slowest->times_last, node->count));
    else
        esi_row_none(row, NULL, "LAST CHILD");
    if (!esi_row_begin_array(row, "children"))
        return;
    for (size_t i = 0; i < node->child_count; i++) {
        esi_row_begin_object(row, NULL);
        esi_row_signed(row, "member", NULL, node->children[i].rank);
        esi_row_unsigned(row, "last", NULL, node->children[i].times_last);
        esi_row_end(row);
    }
    esi_row_end(row);
}

static void describe_node(struct esi_row *row, const void *record)
{
    const struct esi_node_row *node = record;
    const char *name = node->communicator[0] ? node->communicator : NULL;
    const char *operation = es_operation_name(node->operation);

    esi_row_text(row, "type", NULL, "node");
    esi_row_text(row, "communicator", NULL, name);
    esi_row_key(row, "key", node->key);
    esi_row_text(row, "operation", NULL, operation);
    esi_row_unsigned(row, "version", NULL, node->version);
    esi_row_signed(row, "rank", "NODE", node->world_rank);
    esi_row_signed(row, "member", NULL, node->rank);
    esi_row_text(row, "host", NULL, node->host[0] ? node->host : NULL);
    esi_row_words(esi_row_minor(row, 2), "HOST", 8, "%s", node->host);
    esi_row_words(esi_row_minor(row, 3), "COMM", 8, "%s", name ? name : "(no name)");
    esi_row_words(row, "OPERATION", 12, "%s, tree %" PRIu32, operation, node->version);
    esi_row_unsigned(esi_row_minor(row, 4), "count", "COUNT", node->count);
    describe_measure(row, "wait_ns", "WAIT", 0, &node->wait);
    describe_measure(row, "spread_ns", "SPREAD", 1, &node->spread);
    describe_measure(row, "up_ns", "UP", 5, &node->up);
    describe_measure(row, "down_ns", "DOWN", 6, &node->down);
    describe_children(row, node);
}

/* The table is sorted by waiting time. */
static int print_nodes(const struct esi_node_statistics *statistics,
                       enum esi_rows_format format,
                       FILE *stream)
{
    size_t count = esi_node_statistics_count(statistics);
    const struct esi_node_row **nodes = calloc(count + 1, sizeof *nodes);
    struct esi_rows rows;
    int result = -ENOMEM;

    esi_rows_init(&rows, format, stream, describe_node);
    if (nodes)
        result = esi_rows_begin(&rows, &(struct esi_node_row){.rank = 0});
    for (size_t i = 0; nodes && i < count; i++)
        nodes[i] = esi_node_statistics_at(statistics, i);
    if (nodes && format == ESI_ROWS_TABLE)
        qsort(nodes, count, sizeof *nodes, compare_rows);
    for (size_t i = 0; result == 0 && i < count; i++)
        esi_rows_add(&rows, nodes[i]);
    if (result == 0)
        result = esi_rows_finish(&rows);
    free(nodes);
    return result;
}

static void describe_counts(struct esi_row *row, const void *record)
{
    const struct esi_tree_nodes_counts *counts = record;

    esi_row_text(row, "type", NULL, "nodes");
    esi_row_unsigned(row, "results", NULL, counts->results);
    esi_row_unsigned(row, "incomplete", NULL, counts->incomplete);
    esi_row_unsigned(row, "lost_tuples", NULL, counts->lost);
    esi_row_unsigned(row, "elements", NULL, counts->elements);
}

int esi_node_statistics_print(const struct esi_node_statistics *statistics,
                              const struct esi_tree_nodes_counts *counts,
                              enum esi_rows_format format,
                              FILE *stream)
{
    int result = print_nodes(statistics, format, stream);

    if (result < 0)
        return result;
    if (format == ESI_ROWS_JSON) {
        result = esi_rows_print_json(stream, describe_counts, counts);
        return result < 0 ? result : esi_node_statistics_count(statistics) > 0;
    }
    fprintf(stream, "%" PRIu64 " results of internal nodes", counts->results);
    if (counts->incomplete + counts->lost > 0)
        fprintf(stream, ", %" PRIu64 " incomplete, %" PRIu64 " tuples lost",
                counts->incomplete, counts->lost);
    fputc('\n', stream);
    return ferror(stream) ? -EIO : esi_node_statistics_count(statistics) > 0;
}

int esi_node_watch_print(struct esi_node_watch *watch,
                         enum esi_rows_format format,
                         FILE *stream)
{
    struct esi_tree_nodes_counts counts;
    int result;

    esi_tree_nodes_counts(watch->nodes, &counts);
    pthread_mutex_lock(&watch->lock);
    result = esi_node_statistics_print(watch->statistics, &counts, format, stream);
    pthread_mutex_unlock(&watch->lock);
    return result;
}
