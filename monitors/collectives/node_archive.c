/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * node_archive.c - internal nodes of trees, from an archive.
 *
 * Tuples are sorted by completion, so the tuple of an MPI operation follows those of
 * its edges in the same process: then there is a result to take.
 */
#include "config.h"

#include "monitors/collectives/node_archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/operation.h"
#include "monitors/archive/archive_read.h"
#include "monitors/collectives/node_pieces.h"
#include "monitors/collectives/node_watch.h"

#define ENDED_NS UINT64_C(10000000)         /* after the end of an operation */
#define INCOMPLETE_NS UINT64_C(60000000000) /* without news of an incomplete one */

/* The times of an archive are nanoseconds. */
static const struct es_clock nanoseconds = {.kind = ES_CLOCK_MONOTONIC,
                                            .frequency_hz = 1000000000};

struct archived_nodes {
    const struct esi_archive_tables *tables;
    struct esi_node_pieces *pieces; /* by process; owned */
    struct esi_node_statistics *statistics;
    struct esi_tree_nodes_counts counts;
};

static int count_elements(const struct esi_archive_tables *tables)
{
    int count = 0;

    for (size_t i = 0; i < tables->element_count; i++)
        count += (tables->elements[i].classes & ES_CLASSES_TREE) != 0;
    return count;
}

/* --- Results ---------------------------------------------------------------------- */

static int add_finding(struct archived_nodes *nodes,
                       uint32_t number,
                       const struct esi_node_finding *finding)
{
    const struct esi_archive_process *process = &nodes->tables->processes[number];
    const struct esi_archive_communicator *communicator = NULL;
    struct esi_tree_node_result result;

    esi_node_finding_measure(finding, &nanoseconds, &result);
    result.world_rank = process->rank;
    result.host = nodes->tables->hosts[process->host].name;
    if (finding->communicator < process->communicator_count)
        communicator = &process->communicators[finding->communicator];
    if (communicator) {
        memcpy(result.key, communicator->key, sizeof result.key);
        result.communicator = communicator->name;
        result.rank = communicator->rank;
    }
    nodes->counts.results++;
    return esi_node_statistics_add(nodes->statistics, &result);
}

/* Takes the operations that a process has finished at this time. */
static int take_findings(struct archived_nodes *nodes,
                         uint32_t process,
                         uint64_t now_ns,
                         uint64_t ended_ns,
                         uint64_t incomplete_ns)
{
    struct esi_node_finding finding;
    int result;

    for (;;) {
        int taken = esi_node_pieces_take(&nodes->pieces[process], &nanoseconds, now_ns,
                                         ended_ns, incomplete_ns, &finding);

        if (taken == 0)
            return 0;
        nodes->counts.incomplete += taken == -ENODATA;
        result = taken > 0 ? add_finding(nodes, process, &finding) : 0;
        if (result < 0)
            return result;
    }
}

/* --- Reading ---------------------------------------------------------------------- */

static int add_item(struct archived_nodes *nodes, const struct esi_archive_item *item)
{
    const struct esi_archive_element *element = &nodes->tables->elements[item->element];
    const struct es_operation *operation;
    const struct es_mark mark = {.origin = item->element, .position = item->index};
    int result;

    if (item->lost > 0) {
        if (element->classes & ES_CLASSES_TREE)
            nodes->counts.lost += item->lost;
        return 0;
    }
    result = esi_node_pieces_add(&nodes->pieces[element->process], &item->tuple, &mark,
                                 item->tuple.stop);
    if (result < 0)
        return result == -ENOMEM ? -ENOMEM : 0;
    operation = es_operation_find(item->tuple.operation);
    if (!operation || operation->op_class != ES_CLASS_COLLECTIVE)
        return 0;
    return take_findings(nodes, element->process, item->tuple.stop, ENDED_NS,
                         INCOMPLETE_NS);
}

static int read_items(struct archived_nodes *nodes,
                      struct esi_archive_reader *reader,
                      struct es_error *error)
{
    struct esi_archive_merge *merge;
    struct esi_archive_item item;
    int result = esi_archive_merge_create(reader, error, &merge);

    if (result < 0)
        return result;
    while ((result = esi_archive_merge_next(merge, &item, error)) > 0) {
        result = add_item(nodes, &item);
        if (result < 0)
            break;
    }
    esi_archive_merge_destroy(merge);
    for (uint32_t i = 0; i < nodes->tables->process_count && result >= 0; i++)
        result = take_findings(nodes, i, UINT64_MAX, 0, 0);
    return result;
}

static int read_nodes(struct archived_nodes *nodes,
                      struct esi_archive_reader *reader,
                      struct es_error *error)
{
    nodes->tables = esi_archive_tables(reader);
    nodes->counts.elements = (size_t)count_elements(nodes->tables);
    if (nodes->counts.elements == 0)
        return 0;
    nodes->pieces = calloc(nodes->tables->process_count + 1, sizeof *nodes->pieces);
    if (!nodes->pieces || esi_node_statistics_create(&nodes->statistics) < 0)
        return -ENOMEM;
    return read_items(nodes, reader, error);
}

static void free_nodes(struct archived_nodes *nodes)
{
    for (size_t i = 0; nodes->pieces && i < nodes->tables->process_count; i++)
        esi_node_pieces_fini(&nodes->pieces[i]);
    free(nodes->pieces);
    esi_node_statistics_destroy(nodes->statistics);
}

int esi_node_archive_print(const char *directory,
                           enum esi_rows_format format,
                           FILE *stream,
                           struct es_error *error)
{
    struct archived_nodes nodes = {.pieces = NULL};
    struct esi_archive_reader *reader;
    int result = esi_archive_open(directory, error, &reader);

    if (result < 0)
        return result;
    result = read_nodes(&nodes, reader, error);
    if (result == 0 && nodes.statistics)
        result =
            esi_node_statistics_print(nodes.statistics, &nodes.counts, format, stream);
    free_nodes(&nodes);
    esi_archive_read_close(reader);
    return result;
}
