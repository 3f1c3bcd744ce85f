/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* node_pieces.c - reads results of nodes and combines pieces of them. */
#include "config.h"

#include "monitors/collectives/node_pieces.h"

#include <errno.h>

#include "monitors/collectives/tree_nodes.h"
#include "wrappers/stages/node_edges.h"

void esi_node_pieces_fini(struct esi_node_pieces *pieces)
{
    esi_node_edges_fini(&pieces->edges);
}

/* --- Reading ---------------------------------------------------------------------- */

static void take_half(struct esi_node_finding *finding, const struct es_tuple *tuple)
{
    finding->communicator = tuple->communicator;
    finding->sequence = tuple->sequence;
    finding->tag = tuple->tag;
    if (tuple->operation == ESI_NODE_UP) {
        finding->has_up = true;
        finding->up = *tuple;
    } else {
        finding->has_down = true;
        finding->down = *tuple;
    }
}

size_t esi_node_finding_read(const struct es_batch *batch,
                             size_t index,
                             size_t end,
                             struct esi_node_finding *ret_finding)
{
    const struct es_tuple *tuple = &batch->tuples[index];
    const struct es_tuple *next = index + 1 < end ? tuple + 1 : NULL;

    if (!esi_tree_node_is_result(tuple))
        return 0;
    *ret_finding = (struct esi_node_finding){.origin = batch->marks[index].origin};
    take_half(ret_finding, tuple);
    if (tuple->operation != ESI_NODE_UP || !next || next->operation != ESI_NODE_DOWN ||
        next->sequence != tuple->sequence || next->communicator != tuple->communicator)
        return 1;
    take_half(ret_finding, next);
    return 2;
}

/* --- Combining -------------------------------------------------------------------- */

static void measure_down(const struct es_tuple *down,
                         const struct es_clock *clock,
                         struct esi_tree_node_result *result)
{
    result->up_ns = down->bytes;
    if (down->peer < 0)
        return;
    result->has_down = true;
    result->down_ns = down->stop > down->start
                          ? es_clock_span_ns(clock, down->stop - down->start)
                          : 0;
}

void esi_node_finding_measure(const struct esi_node_finding *finding,
                              const struct es_clock *clock,
                              struct esi_tree_node_result *ret_result)
{
    *ret_result = (struct esi_tree_node_result){
        .communicator = "",
        .instance = finding->sequence,
        .operation = esi_tree_tag_operation(finding->tag),
        .version = esi_tree_tag_version(finding->tag),
        .world_rank = -1,
        .rank = -1,
        .host = "",
        .last_child = -1,
        .pieced = finding->pieced,
    };
    if (finding->has_up) {
        ret_result->has_up = true;
        ret_result->spread_ns =
            es_clock_span_ns(clock, finding->up.stop - finding->up.start);
        ret_result->last_child = finding->up.peer;
        ret_result->wait_ns = finding->up.bytes;
    }
    if (finding->has_down)
        measure_down(&finding->down, clock, ret_result);
}

int esi_node_pieces_add(struct esi_node_pieces *pieces,
                        const struct es_tuple *tuple,
                        const struct es_mark *mark,
                        uint64_t now_ns)
{
    int result;

    if (mark->flags != 0 || !esi_node_edges_takes(tuple))
        return -EINVAL;
    result = esi_node_edges_reserve(&pieces->edges, 1);
    if (result == 0)
        esi_node_edges_add(&pieces->edges, tuple, mark, now_ns);
    return result;
}

/* Reads the result that follows from the pieces alone. */
static void read_pieces(const struct esi_node_pieces *pieces,
                        const struct esi_node_instance *instance,
                        const struct es_clock *clock,
                        struct esi_node_finding *finding)
{
    struct es_tuple tuples[2];
    struct es_mark marks[2];
    size_t count =
        esi_node_edges_results(&pieces->edges, instance, clock, tuples, marks);

    *finding = (struct esi_node_finding){
        .origin = pieces->edges.edges[instance->first].mark.origin, .pieced = true};
    for (size_t i = 0; i < count; i++)
        take_half(finding, &tuples[i]);
}

static uint32_t larger_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void merge_up(struct es_tuple *up, const struct es_tuple *other)
{
    if (other->start < up->start)
        up->start = other->start;
    if (other->stop > up->stop) {
        up->stop = other->stop;
        up->peer = other->peer;
    }
    up->bytes = larger_of(up->bytes, other->bytes);
}

static void merge_down(struct es_tuple *down, const struct es_tuple *other)
{
    /* A half that served no child only knows when it sent upward. */
    if (down->peer < 0 || (other->peer >= 0 && other->start < down->start))
        down->start = other->start;
    if (down->peer < 0 || (other->peer >= 0 && other->stop > down->stop)) {
        down->stop = other->stop;
        down->peer = other->peer;
    }
    down->bytes = larger_of(down->bytes, other->bytes);
}

/* Adds times that need both halves: a contribution or upward departure in one, the last
 * arrival in the other. */
static void add_edges(const struct esi_node_pieces *pieces,
                      const struct esi_node_instance *instance,
                      const struct es_clock *clock,
                      struct esi_node_finding *finding)
{
    const struct esi_node_edge *edges = pieces->edges.edges;

    for (uint32_t i = instance->first; i != ESI_NODE_END; i = edges[i].next) {
        const struct es_tuple *tuple = &edges[i].tuple;
        uint64_t ns;

        if (tuple->operation == ESI_NODE_CONTRIBUTE && finding->has_up &&
            finding->up.stop > tuple->stop) {
            ns = es_clock_span_ns(clock, finding->up.stop - tuple->stop);
            finding->up.bytes = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
        }
        if (tuple->operation == ESI_NODE_DEPARTURE_UP && finding->has_up &&
            finding->has_down && tuple->stop > finding->up.stop) {
            ns = es_clock_span_ns(clock, tuple->stop - finding->up.stop);
            finding->down.bytes = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
        }
        if (tuple->operation == ESI_NODE_ARRIVAL_DOWN && finding->has_down &&
            finding->down.peer >= 0)
            finding->down.start = tuple->stop;
    }
}

void esi_node_pieces_complete(struct esi_node_pieces *pieces,
                              const struct es_clock *clock,
                              struct esi_node_finding *finding)
{
    struct esi_node_instance *instance =
        esi_node_edges_find(&pieces->edges, finding->communicator, finding->sequence);
    struct esi_node_finding found;

    if (!instance)
        return;
    read_pieces(pieces, instance, clock, &found);
    if (found.has_up && finding->has_up)
        merge_up(&finding->up, &found.up);
    else if (found.has_up)
        finding->up = found.up;
    if (found.has_down && finding->has_down)
        merge_down(&finding->down, &found.down);
    else if (found.has_down)
        finding->down = found.down;
    finding->has_up |= found.has_up;
    finding->has_down |= found.has_down;
    finding->pieced = true;
    add_edges(pieces, instance, clock, finding);
    instance->state = ESI_NODE_DONE;
    esi_node_edges_retire(&pieces->edges, NULL, NULL);
}

int esi_node_pieces_take(struct esi_node_pieces *pieces,
                         const struct es_clock *clock,
                         uint64_t now_ns,
                         uint64_t patience_ns,
                         uint64_t long_patience_ns,
                         struct esi_node_finding *ret_finding)
{
    const struct esi_node_conditions conditions = {.now_ns = now_ns, .now = true};

    for (size_t i = 0; i < pieces->edges.count; i++) {
        struct esi_node_instance *instance = &pieces->edges.instances[i];
        uint64_t quiet_ns = now_ns - instance->changed_ns;
        enum esi_node_class class;

        if (instance->state != ESI_NODE_OPEN || quiet_ns < patience_ns)
            continue;
        class = esi_node_edges_classify(&pieces->edges, instance, &conditions);
        if (quiet_ns < long_patience_ns &&
            (class == ESI_NODE_INCOMPLETE || !instance->ended))
            continue;
        if (class == ESI_NODE_COMPLETE)
            read_pieces(pieces, instance, clock, ret_finding);
        instance->state = ESI_NODE_DONE;
        esi_node_edges_retire(&pieces->edges, NULL, NULL);
        return class == ESI_NODE_COMPLETE     ? 1
               : class == ESI_NODE_INCOMPLETE ? -ENODATA
                                              : -EALREADY;
    }
    return 0;
}
