/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_node.c - the stage `tree-node`: analyses the edge tuples of one node of
 * collective trees, and emits results instead of them (node_edges.h).  Operations that
 * it cannot assemble are emitted unchanged, as consumers of results also accept
 * individual tuples.
 *
 * Each edge tuple is emitted once, by itself or in a result.  An operation is emitted
 * when it has been classified and all its tuples, in each element, are preceded only by
 * tuples of operations that are emitted, too.  So the tuples of an element that the
 * stage holds are a suffix: if the stage is lost with its connection, its tuples are
 * read again from there, and nothing is emitted twice. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "wrappers/stages/lane.h"
#include "wrappers/stages/node_edges.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_BATCH, PROPERTY_WAIT, PROPERTY_PATIENCE, PROPERTY_CAPACITY };
static const struct es_property_schema properties[] = {
    [PROPERTY_BATCH] = {.name = "batch",
                        .type = ES_PROPERTY_INTEGER,
                        .fallback = "0",
                        .maximum = 1 << 24,
                        .help = "tuples that are collected before any is emitted"},
    [PROPERTY_WAIT] = {.name = "wait",
                       .type = ES_PROPERTY_DURATION,
                       .fallback = "100ms",
                       .maximum = INT64_C(3600000000000),
                       .help = "longest time that the first waits for the others"},
    [PROPERTY_PATIENCE] = {.name = "patience",
                           .type = ES_PROPERTY_DURATION,
                           .fallback = "10s",
                           .minimum = 1000000,
                           .maximum = INT64_C(3600000000000),
                           .help = "after which an operation without news is emitted "
                                   "as it is"},
    [PROPERTY_CAPACITY] = {.name = "capacity",
                           .type = ES_PROPERTY_INTEGER,
                           .fallback = "262144",
                           .minimum = 16,
                           .maximum = 1 << 24,
                           .help = "tuples of edges kept at most"},
};

enum { READ_AT_ONCE = 16384 };

/* Maximum difference between ticks and real time. */
#define CLOCK_NS UINT64_C(10000000)

/* An operation that may be emitted, and when its first tuple was recorded. */
struct ready {
    uint64_t ticks;
    uint64_t id;
};

struct tree_node_stage {
    size_t batch;
    uint64_t wait_ns;
    uint64_t patience_ns;
    size_t capacity;
    uint64_t opened_ns; /* real time of the first pull */
    struct esi_node_edges table;
    struct esi_lane input; /* tuples emitted by the child,
                              until they are in the table */
    struct esi_lane queue; /* tuples that may be emitted; keys are ids of operations */
    struct ready *ready;   /* owned; used to fill the queue */
    size_t ready_capacity;
    size_t released;   /* number of tuples at the front of
                          the queue that may be emitted */
    uint64_t since_ns; /* when the first of the others arrived; 0 if there is none */
};

/* Returns whether an element below records contributions. */
static bool has_contributions(const struct es_stage *stage)
{
    const struct es_stage_context *context = stage->context;

    if (stage->origin != ES_STAGE_NO_ORIGIN && context && context->origins &&
        stage->origin < context->origins->count &&
        context->origins->items[stage->origin].classes & 1u << ES_CLASS_CONTRIBUTE)
        return true;
    for (size_t i = 0; i < stage->child_count; i++)
        if (has_contributions(stage->children[i]))
            return true;
    return false;
}

static int open_tree_node(struct es_stage *stage,
                          const struct es_property_value *values,
                          struct es_error *error)
{
    struct tree_node_stage *node = calloc(1, sizeof *node);

    (void)error;
    if (!node)
        return -ENOMEM;
    node->batch = (size_t)values[PROPERTY_BATCH].integer;
    node->wait_ns = (uint64_t)values[PROPERTY_WAIT].integer;
    node->patience_ns = (uint64_t)values[PROPERTY_PATIENCE].integer;
    node->capacity = (size_t)values[PROPERTY_CAPACITY].integer;
    node->table.wants_contributions = has_contributions(stage->children[0]);
    stage->state = node;
    return 0;
}

static void close_tree_node(struct es_stage *stage)
{
    struct tree_node_stage *node = stage->state;

    esi_node_edges_fini(&node->table);
    esi_lane_fini(&node->input);
    esi_lane_fini(&node->queue);
    free(node->ready);
    free(node);
}

/* --- Reading ---------------------------------------------------------------------- */

/* Moves what the child emitted into the table of operations. */
static int add_tuples(struct es_stage *stage, const struct es_pull *pull)
{
    struct tree_node_stage *node = stage->state;
    size_t count = esi_lane_count(&node->input);
    int result = esi_node_edges_reserve(&node->table, count);

    for (size_t i = 0; i < count && result == 0; i++) {
        const struct es_tuple *tuple = &esi_lane_tuples(&node->input)[i];
        const struct es_mark *mark = &esi_lane_marks(&node->input)[i];

        es_stage_keep(stage, tuple, mark);
        if (mark->flags == 0 && esi_node_edges_takes(tuple))
            esi_node_edges_add(&node->table, tuple, mark, pull->realtime_ns);
        else
            esi_node_edges_add_other(&node->table, tuple, mark);
    }
    esi_lane_clear(&node->input);
    return result;
}

static struct es_pull next_request(const struct tree_node_stage *node,
                                   const struct es_pull *pull)
{
    struct es_pull part = *pull;

    part.serial = node->input.serial + 1;
    part.max = READ_AT_ONCE;
    return part;
}

/* Reads everything to its end, as far as there is room. */
static int read_all(struct es_stage *stage,
                    const struct es_pull *pull,
                    size_t first,
                    struct es_batch *batch)
{
    struct tree_node_stage *node = stage->state;
    int result = 0;

    node->input.exhausted = false;
    while (!node->input.exhausted && result == 0 &&
           node->table.edge_count < node->capacity) {
        struct es_pull part = next_request(node, pull);

        result = esi_lane_pull(&node->input, stage->children[0], &part,
                               pull->max - (batch->count - first), batch);
        if (result == 0)
            result = add_tuples(stage, pull);
    }
    return result;
}

/* --- Classifying ------------------------------------------------------------------ */

static void queue_results(const struct es_stage *stage,
                          struct tree_node_stage *node,
                          struct esi_node_instance *instance)
{
    const struct esi_node_edge *edge = &node->table.edges[instance->first];
    const struct es_clock *clock =
        stage->context->origins->items[edge->mark.origin].clock;
    struct es_tuple tuples[2];
    struct es_mark marks[2];
    size_t count = esi_node_edges_results(&node->table, instance, clock, tuples, marks);

    for (size_t i = 0; i < count; i++)
        esi_lane_push(&node->queue, instance->id, &tuples[i], &marks[i]);
    instance->pending = (uint32_t)count;
}

/* Queues the unchanged tuples of an operation. */
static void queue_pieces(struct tree_node_stage *node,
                         struct esi_node_instance *instance)
{
    for (uint32_t i = instance->first; i != ESI_NODE_END;
         i = node->table.edges[i].next) {
        const struct esi_node_edge *edge = &node->table.edges[i];

        esi_lane_push(&node->queue, instance->id, &edge->tuple, &edge->mark);
        instance->pending++;
    }
}

/* Queues an operation that is not held back. */
static void queue_instance(const struct es_stage *stage,
                           struct esi_node_instance *instance)
{
    struct tree_node_stage *node = stage->state;

    if (instance->goes == ESI_NODE_AS_RESULTS)
        queue_results(stage, node, instance);
    else if (instance->goes == ESI_NODE_AS_PIECES)
        queue_pieces(node, instance);
    instance->state = instance->pending ? ESI_NODE_QUEUED : ESI_NODE_DONE;
}

/* Returns whether stages before this one may have taken some of the operation's tuples:
 * then what looks like a leaf's operation may be the rest of an internal node's. */
static bool is_straddling(const struct es_stage *stage,
                          const struct esi_node_instance *instance)
{
    const struct tree_node_stage *node = stage->state;
    uint64_t since_ns = node->opened_ns + CLOCK_NS;

    for (uint32_t i = instance->first; i != ESI_NODE_END;
         i = node->table.edges[i].next) {
        const struct esi_node_edge *edge = &node->table.edges[i];

        if (esi_realtime_ns(stage, edge->mark.origin, edge->tuple.start) < since_ns)
            return true;
    }
    return false;
}

static enum esi_node_outcome outcome_of(const struct es_stage *stage,
                                        const struct esi_node_instance *instance,
                                        enum esi_node_class class)
{
    switch (class) {
    case ESI_NODE_COMPLETE:
        return ESI_NODE_AS_RESULTS;
    case ESI_NODE_LEAF:
        return instance->edges && is_straddling(stage, instance) ? ESI_NODE_AS_PIECES
                                                                 : ESI_NODE_AS_NOTHING;
    default:
        /* Operations performed by the MPI library are not emitted. */
        return instance->edges ? ESI_NODE_AS_PIECES : ESI_NODE_AS_NOTHING;
    }
}

/* Returns whether operations must be emitted even if not classified: there is no room,
 * or a classified one has been held back by others for too long. */
static bool is_pressed(const struct tree_node_stage *node, uint64_t now_ns)
{
    const struct esi_node_edges *table = &node->table;

    if (table->edge_count >= node->capacity)
        return true;
    for (size_t i = 0; i < table->count; i++)
        if (table->instances[i].state == ESI_NODE_CLASSIFIED &&
            table->instances[i].changed_ns > 0 &&
            now_ns >= table->instances[i].changed_ns + node->patience_ns)
            return true;
    return false;
}

/* Classifies open operations.  `all`: those that cannot be classified yet are emitted
 * as individual tuples, to make room. */
static void classify_open(const struct es_stage *stage,
                          const struct esi_node_conditions *conditions,
                          bool all)
{
    struct tree_node_stage *node = stage->state;
    struct esi_node_edges *table = &node->table;

    for (size_t i = 0; i < table->count; i++) {
        struct esi_node_instance *instance = &table->instances[i];
        enum esi_node_class class;

        if (instance->state != ESI_NODE_OPEN)
            continue;
        class = esi_node_edges_classify(table, instance, conditions);
        if (class == ESI_NODE_WAIT && !all)
            continue;
        instance->goes = class == ESI_NODE_WAIT ? ESI_NODE_AS_PIECES
                                                : outcome_of(stage, instance, class);
        instance->state = ESI_NODE_CLASSIFIED;
    }
}

static int compare_ready(const void *first, const void *second)
{
    const struct ready *a = first;
    const struct ready *b = second;

    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static uint64_t first_ticks(const struct esi_node_edges *table,
                            const struct esi_node_instance *instance)
{
    uint64_t ticks = UINT64_MAX;

    for (uint32_t i = instance->first; i != ESI_NODE_END; i = table->edges[i].next)
        if (table->edges[i].tuple.stop < ticks)
            ticks = table->edges[i].tuple.stop;
    return ticks;
}

/* Queues what is not held back in the order in which it began, which is that of the
 * elements unless operations overlap. */
static int queue_ready(const struct es_stage *stage)
{
    struct tree_node_stage *node = stage->state;
    struct esi_node_edges *table = &node->table;
    size_t count = 0;

    if (ESI_ARRAY_RESERVE(node->ready, node->ready_capacity, table->count) < 0)
        return -ENOMEM;
    esi_node_edges_hold(table, ESI_NODE_OPEN);
    for (size_t i = 0; i < table->count; i++) {
        const struct esi_node_instance *instance = &table->instances[i];

        if (instance->state == ESI_NODE_CLASSIFIED && !instance->held)
            node->ready[count++] = (struct ready){.ticks = first_ticks(table, instance),
                                                  .id = instance->id};
    }
    if (count > 1)
        qsort(node->ready, count, sizeof *node->ready, compare_ready);
    for (size_t i = 0; i < count; i++)
        queue_instance(stage, esi_node_edges_by_id(table, node->ready[i].id));
    return 0;
}

static int classify_all(const struct es_stage *stage, const struct es_pull *pull)
{
    struct tree_node_stage *node = stage->state;
    struct esi_node_edges *table = &node->table;
    struct esi_node_conditions conditions = {.now_ns = pull->realtime_ns,
                                             .patience_ns = node->patience_ns,
                                             .all = node->input.exhausted,
                                             .now = pull->drain};
    int result = esi_lane_reserve(&node->queue, 2 * table->edge_count);

    if (result < 0)
        return result;
    classify_open(stage, &conditions, is_pressed(node, pull->realtime_ns));
    result = queue_ready(stage);
    if (conditions.all)
        esi_node_edges_read_all(table);
    return result;
}

/* --- Emitting --------------------------------------------------------------------- */

/* Decides whether everything queued may be emitted. */
static void release_queued(struct tree_node_stage *node, const struct es_pull *pull)
{
    size_t count = esi_lane_count(&node->queue);

    if (count > node->released && node->since_ns == 0)
        node->since_ns = pull->realtime_ns ? pull->realtime_ns : 1;
    if (count == node->released || (!pull->drain && count < node->batch &&
                                    pull->realtime_ns < node->since_ns + node->wait_ns))
        return;
    node->released = count;
    node->since_ns = 0;
}

static struct esi_node_instance *instance_of(struct tree_node_stage *node, size_t index)
{
    return esi_node_edges_by_id(&node->table, esi_lane_keys(&node->queue)[index]);
}

/* How many of the first `most` entries may be emitted so that the two halves of a
 * result stay together, and none of their tuples follows one that stays. */
static size_t closed_front(struct tree_node_stage *node, size_t most)
{
    size_t count = most;

    while (count > 0 && count < esi_lane_count(&node->queue)) {
        size_t closed = 0;

        for (size_t i = count; i < esi_lane_count(&node->queue); i++)
            instance_of(node, i)->stays = true;
        esi_node_edges_hold(&node->table, ESI_NODE_OPEN);
        while (closed < count && !instance_of(node, closed)->held)
            closed++;
        for (size_t i = count; i < esi_lane_count(&node->queue); i++)
            instance_of(node, i)->stays = false;
        if (closed == count)
            break;
        count = closed;
    }
    return count;
}

/* A tuple of a dissolved operation. */
struct loose_tuple {
    uint64_t id;
    const struct esi_node_edge *edge; /* borrowed */
};

static int compare_pieces(const void *first, const void *second)
{
    const struct es_mark *a = &((const struct loose_tuple *)first)->edge->mark;
    const struct es_mark *b = &((const struct loose_tuple *)second)->edge->mark;

    if (a->origin != b->origin)
        return a->origin < b->origin ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

/* Takes the queued operations apart.  Returns the number of tuples. */
static size_t take_apart(struct tree_node_stage *node, struct loose_tuple *ret_pieces)
{
    size_t count = 0;

    for (size_t i = 0; i < node->table.count; i++) {
        struct esi_node_instance *instance = &node->table.instances[i];
        size_t before = count;

        if (instance->state != ESI_NODE_QUEUED)
            continue;
        for (uint32_t e = instance->first; e != ESI_NODE_END;
             e = node->table.edges[e].next)
            ret_pieces[count++] =
                (struct loose_tuple){.id = instance->id, .edge = &node->table.edges[e]};
        instance->dissolved = true;
        instance->pending = (uint32_t)(count - before);
    }
    return count;
}

/* More operations overlap than the limit allows: their tuples are emitted individually,
 * those of each element in order, so that the limit can apply anywhere. */
static int dissolve_queued(struct tree_node_stage *node)
{
    struct esi_lane *queue = &node->queue;
    struct loose_tuple *pieces = calloc(node->table.edge_count + 1, sizeof *pieces);
    size_t count;

    if (!pieces || esi_lane_reserve(queue, node->table.edge_count) < 0) {
        free(pieces);
        return -ENOMEM;
    }
    count = take_apart(node, pieces);
    qsort(pieces, count, sizeof *pieces, compare_pieces);
    esi_lane_clear(queue);
    for (size_t i = 0; i < count; i++)
        esi_lane_push(queue, pieces[i].id, &pieces[i].edge->tuple,
                      &pieces[i].edge->mark);
    free(pieces);
    node->released = count;
    return 0;
}

/* Number of entries at the front that belong to dissolved operations, up to `most`. */
static size_t dissolved_front(struct tree_node_stage *node, size_t most)
{
    size_t count = 0;

    while (count < most && instance_of(node, count)->dissolved)
        count++;
    return count;
}

/* Determines how many entries are emitted now. */
static int choose_front(struct tree_node_stage *node, size_t left, size_t *ret_count)
{
    size_t most = node->released < left ? node->released : left;
    int result = 0;

    *ret_count = dissolved_front(node, most);
    if (*ret_count > 0 || most == 0)
        return 0;
    *ret_count = closed_front(node, most);
    if (*ret_count == 0) {
        result = dissolve_queued(node);
        *ret_count =
            most < esi_lane_count(&node->queue) ? most : esi_lane_count(&node->queue);
    }
    return result;
}

/* An operation is done when everything of it has been emitted. */
static void note_emitted(struct es_stage *stage, size_t index)
{
    struct tree_node_stage *node = stage->state;
    struct esi_node_instance *instance = instance_of(node, index);

    if (instance->dissolved)
        es_stage_release(stage, &esi_lane_tuples(&node->queue)[index],
                         &esi_lane_marks(&node->queue)[index]);
    if (--instance->pending == 0)
        instance->state = ESI_NODE_DONE;
}

static void release_edge(void *data,
                         const struct esi_node_instance *instance,
                         const struct esi_node_edge *edge)
{
    if (!instance->dissolved)
        es_stage_release(data, &edge->tuple, &edge->mark);
}

static int emit_results(struct es_stage *stage,
                        const struct es_pull *pull,
                        size_t first,
                        struct es_batch *batch)
{
    struct tree_node_stage *node = stage->state;
    size_t count;
    int result = choose_front(node, pull->max - (batch->count - first), &count);

    if (result < 0)
        return result;
    node->released -= count;
    for (size_t i = 0; i < count; i++)
        note_emitted(stage, i);
    result = esi_lane_emit(&node->queue, count, batch);
    if (result < 0)
        return result;
    if (node->released > 0 || !node->input.exhausted)
        batch->more = true;
    esi_node_edges_retire(&node->table, release_edge, stage);
    return 0;
}

static int pull_tree_node(struct es_stage *stage,
                          const struct es_pull *pull,
                          struct es_batch *batch)
{
    struct tree_node_stage *node = stage->state;
    size_t first = batch->count;
    int result;

    if (pull->max == 0)
        return 0;
    if (node->opened_ns == 0)
        node->opened_ns = pull->realtime_ns;
    result = read_all(stage, pull, first, batch);
    if (result == 0)
        result = classify_all(stage, pull);
    if (result < 0)
        return result;
    release_queued(node, pull);
    return emit_results(stage, pull, first, batch);
}

static void ask_tree_node(struct es_stage *stage, const struct es_pull *pull)
{
    const struct tree_node_stage *node = stage->state;
    struct es_pull part = next_request(node, pull);

    if (pull->max > 0 && node->table.edge_count < node->capacity)
        es_stage_ask(stage->children[0], &part);
}

const struct es_stage_ops esi_stage_tree_node = {
    .name = "tree-node",
    .help = "joins the edges of a collective tree's node into results",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_tree_node,
    .pull = pull_tree_node,
    .ask = ask_tree_node,
    .keeps = true,
    .close = close_tree_node,
};
