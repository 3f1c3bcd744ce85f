/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* node_watch.c - gathers what internal nodes of collective trees do, and shows it. */
#include "config.h"

#include "monitors/collectives/node_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/json_out.h"
#include "base/table.h"
#include "eventspace/operation.h"
#include "monitors/follow/describe.h"
#include "monitors/collectives/node_statistics.h"

struct esi_node_watch {
    struct esi_tree_nodes *nodes;
    pthread_mutex_t lock; /* of the statistics */
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

/* --- The table -------------------------------------------------------------------- */

static const struct esi_text_table_column columns[] = {
    {"NODE", ES_TABLE_RIGHT, 0},   {"HOST", ES_TABLE_LEFT, 8},
    {"COMM", ES_TABLE_LEFT, 8},    {"OPERATION", ES_TABLE_LEFT, 12},
    {"COUNT", ES_TABLE_RIGHT, 0},  {"WAIT", ES_TABLE_RIGHT, 0},
    {"SPREAD", ES_TABLE_RIGHT, 0}, {"UP", ES_TABLE_RIGHT, 0},
    {"DOWN", ES_TABLE_RIGHT, 0},   {"LAST CHILD", ES_TABLE_LEFT, 0},
};

static int compare_rows(const void *left, const void *right)
{
    const struct esi_node_row *a = *(const struct esi_node_row *const *)left;
    const struct esi_node_row *b = *(const struct esi_node_row *const *)right;

    if (a->wait.sum != b->wait.sum)
        return a->wait.sum < b->wait.sum ? 1 : -1;
    return (a->world_rank > b->world_rank) - (a->world_rank < b->world_rank);
}

static void add_mean(struct es_table *table, const struct esi_measure *measure)
{
    char words[64];

    esi_text_table_cell(
        table, "%s",
        measure->count ? esi_describe_span(words, sizeof words, (uint64_t)measure->mean)
                       : "-");
}

static void add_row(struct es_table *table, const struct esi_node_row *row)
{
    const struct esi_node_child *slowest = esi_node_row_slowest(row);

    esi_text_table_cell(table, "%d", row->world_rank);
    esi_text_table_cell(table, "%s", row->host);
    esi_text_table_cell(table, "%s",
                        row->communicator[0] ? row->communicator : "(no name)");
    esi_text_table_cell(table, "%s, tree %" PRIu32, es_operation_name(row->operation),
                        row->version);
    esi_text_table_cell(table, "%" PRIu64, row->count);
    add_mean(table, &row->wait);
    add_mean(table, &row->spread);
    add_mean(table, &row->up);
    add_mean(table, &row->down);
    if (slowest)
        esi_text_table_cell(table, "%d (%.0f %%)", slowest->rank,
                            100.0 * (double)slowest->times_last / (double)row->count);
    else
        esi_text_table_cell(table, "-");
}

static int print_rows(const struct esi_node_statistics *statistics,
                      FILE *stream,
                      size_t width)
{
    size_t count = esi_node_statistics_count(statistics);
    const struct esi_node_row **rows = calloc(count + 1, sizeof *rows);
    struct es_table *table = NULL;
    int result = -ENOMEM;

    if (rows)
        result =
            esi_text_table_create(columns, sizeof columns / sizeof *columns, &table);
    if (result == 0) {
        for (size_t i = 0; i < count; i++)
            rows[i] = esi_node_statistics_at(statistics, i);
        qsort(rows, count, sizeof *rows, compare_rows);
        for (size_t i = 0; i < count; i++)
            add_row(table, rows[i]);
        result = esi_text_table_print(table, stream, width);
        esi_text_table_destroy(table);
    }
    free(rows);
    return result;
}

int esi_node_watch_print_text(struct esi_node_watch *watch, FILE *stream, size_t width)
{
    struct esi_tree_nodes_counts counts;
    int result;

    pthread_mutex_lock(&watch->lock);
    result = print_rows(watch->statistics, stream, width);
    pthread_mutex_unlock(&watch->lock);
    esi_tree_nodes_counts(watch->nodes, &counts);
    fprintf(stream, "%" PRIu64 " results of internal nodes", counts.results);
    if (counts.incomplete + counts.lost > 0)
        fprintf(stream, ", %" PRIu64 " incomplete, %" PRIu64 " tuples lost",
                counts.incomplete, counts.lost);
    fputc('\n', stream);
    return result < 0 ? result : ferror(stream) ? -EIO : 0;
}

/* --- JSON ------------------------------------------------------------------------- */

static void put_row(struct esi_json_out *out, const struct esi_node_row *row)
{
    char key[40];

    snprintf(key, sizeof key, "%016" PRIx64 "%016" PRIx64, row->key[0], row->key[1]);
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "type", "node");
    esi_json_out_string(out, "communicator",
                        row->communicator[0] ? row->communicator : NULL);
    esi_json_out_string(out, "key", key);
    esi_json_out_string(out, "operation", es_operation_name(row->operation));
    esi_json_out_unsigned(out, "version", row->version);
    esi_json_out_signed(out, "rank", row->world_rank);
    esi_json_out_signed(out, "member", row->rank);
    esi_json_out_string(out, "host", row->host[0] ? row->host : NULL);
    esi_json_out_unsigned(out, "count", row->count);
    esi_measure_write(out, "wait_ns", &row->wait, 1);
    esi_measure_write(out, "spread_ns", &row->spread, 1);
    esi_measure_write(out, "up_ns", &row->up, 1);
    esi_measure_write(out, "down_ns", &row->down, 1);
    esi_json_out_begin_array(out, "children");
    for (size_t i = 0; i < row->child_count; i++) {
        esi_json_out_begin_object(out, NULL);
        esi_json_out_signed(out, "member", row->children[i].rank);
        esi_json_out_unsigned(out, "last", row->children[i].times_last);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
    esi_json_out_end(out);
}

int esi_node_watch_print_json(struct esi_node_watch *watch, FILE *stream)
{
    struct esi_tree_nodes_counts counts;
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    pthread_mutex_lock(&watch->lock);
    for (size_t i = 0; i < esi_node_statistics_count(watch->statistics); i++)
        put_row(&out, esi_node_statistics_at(watch->statistics, i));
    pthread_mutex_unlock(&watch->lock);
    esi_tree_nodes_counts(watch->nodes, &counts);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "nodes");
    esi_json_out_unsigned(&out, "results", counts.results);
    esi_json_out_unsigned(&out, "incomplete", counts.incomplete);
    esi_json_out_unsigned(&out, "lost_tuples", counts.lost);
    esi_json_out_unsigned(&out, "elements", counts.elements);
    esi_json_out_end(&out);
    return ferror(stream) ? -EIO : 0;
}
