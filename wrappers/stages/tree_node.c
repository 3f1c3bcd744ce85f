/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_node.c - the stage `tree-node`: analyses the edge tuples of one node of
 * collective trees, and gives results in their place (see tree_node.h).
 *
 * What it cannot put together it gives as it is, and so it does with everything before
 * its tree is replaced: whoever takes the results can put the pieces together with
 * those that come by the next tree.  So each edge tuple goes up once, by itself or in a
 * result.
 *
 * If the stage is lost with its connection, reading begins anew before the first tuple
 * that has not gone up.  Operations that come again then come with the same marks, and
 * are known by them.
 */
#include "config.h"

#include "wrappers/stages/tree_node.h"

#include <errno.h>
#include <stdlib.h>

#include "eventspace/operation.h"
#include "wrappers/stages/keeper.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_BATCH, PROPERTY_WAIT, PROPERTY_PATIENCE, PROPERTY_CAPACITY };
static const struct es_property_schema properties[] = {
    [PROPERTY_BATCH] = {.name = "batch",
                        .type = ES_PROPERTY_INTEGER,
                        .fallback = "0",
                        .maximum = 1 << 24,
                        .help = "tuples that are collected before any is given"},
    [PROPERTY_WAIT] = {.name = "wait",
                       .type = ES_PROPERTY_DURATION,
                       .fallback = "100ms",
                       .maximum = INT64_C(3600000000000),
                       .help = "how long the first waits for the others at most"},
    [PROPERTY_PATIENCE] = {.name = "patience",
                           .type = ES_PROPERTY_DURATION,
                           .fallback = "10s",
                           .minimum = 1000000,
                           .maximum = INT64_C(3600000000000),
                           .help = "after which an operation without news is given as "
                                   "it is"},
    [PROPERTY_CAPACITY] = {.name = "capacity",
                           .type = ES_PROPERTY_INTEGER,
                           .fallback = "262144",
                           .minimum = 16,
                           .maximum = 1 << 24,
                           .help = "tuples of edges kept at most"},
};

enum { READ_AT_ONCE = 16384 };

/* How far ticks and real time may be apart. */
#define CLOCK_NS UINT64_C(10000000)

struct tree_node {
    size_t batch;
    uint64_t wait_ns;
    uint64_t patience_ns;
    size_t capacity;
    uint64_t opened_ns; /* real time of the first pull */
    struct esi_node_edges table;
    struct esi_keeper keeper; /* its keys are ids of operations, 0 = none */
    size_t released;          /* tuples at the front of the queue that may be given */
    uint64_t since_ns;        /* when the first of the others came; 0 = there is none */
};

/* Whether an element below records contributions. */
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
    struct tree_node *node = calloc(1, sizeof *node);

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
    struct tree_node *node = stage->state;

    esi_node_edges_fini(&node->table);
    esi_keeper_fini(&node->keeper);
    free(node);
}

/* --- Taking ----------------------------------------------------------------------- */

static void settle(struct tree_node *node, const struct es_pull *pull)
{
    size_t before = node->keeper.queue.count;

    esi_keeper_settle(&node->keeper, pull);
    node->released -= before - node->keeper.queue.count;
}

static void push(struct tree_node *node,
                 const struct es_tuple *tuple,
                 const struct es_mark *mark,
                 uint64_t id)
{
    struct esi_lane *queue = &node->keeper.queue;

    queue->entries[queue->first + queue->count++] =
        (struct esi_entry){.key_ns = id, .tuple = *tuple, .mark = *mark};
}

/* Reports and notices of what was read.  Nothing has been taken yet where that fails.
 */
static int take_told(struct tree_node *node, struct es_batch *batch)
{
    const struct es_batch *scratch = &node->keeper.scratch;
    int result = 0;

    for (size_t i = 0; i < scratch->report_count && result == 0; i++)
        result = es_batch_report(&node->keeper.reported, &scratch->reports[i]);
    for (size_t i = 0; i < scratch->notice_count && result == 0; i++)
        result = es_batch_notice(batch, &scratch->notices[i]);
    return result;
}

static int take_scratch(struct tree_node *node,
                        const struct es_pull *pull,
                        size_t first,
                        struct es_batch *batch)
{
    const struct es_batch *scratch = &node->keeper.scratch;
    int result = esi_lane_reserve(&node->keeper.queue, scratch->count);

    if (result == 0)
        result = esi_node_edges_reserve(&node->table, scratch->count);
    if (result == 0)
        result = es_batch_reserve(batch, scratch->count);
    if (result == 0)
        result = take_told(node, batch);
    if (result < 0)
        return result;
    for (size_t i = 0; i < scratch->count; i++) {
        const struct es_tuple *tuple = &scratch->tuples[i];
        const struct es_mark *mark = &scratch->marks[i];

        if (mark->flags == 0 && esi_node_edges_takes(tuple)) {
            esi_node_edges_add(&node->table, tuple, mark, pull->realtime_ns);
        } else if (tuple->stop != 0) {
            push(node, tuple, mark, 0);
        } else if (batch->count - first < pull->max) {
            /* The next pull sees what is under way then: it must not be kept. */
            batch->tuples[batch->count] = *tuple;
            batch->marks[batch->count++] = *mark;
        }
    }
    return 0;
}

static int take_once(struct es_stage *stage,
                     const struct es_pull *pull,
                     size_t first,
                     struct es_batch *batch)
{
    struct tree_node *node = stage->state;
    struct esi_keeper *keeper = &node->keeper;
    struct es_pull part = esi_keeper_request(keeper, pull, READ_AT_ONCE);
    int result;

    keeper->queue.serial = part.serial;
    es_batch_clear(&keeper->scratch);
    result = es_stage_pull(stage->children[0], &part, &keeper->scratch);
    if (result == 0)
        result = take_scratch(node, pull, first, batch);
    if (result < 0)
        return result;
    keeper->queue.acknowledged = keeper->queue.serial;
    keeper->queue.exhausted = !keeper->scratch.more;
    return 0;
}

/* Reads everything to its end, as far as there is room. */
static int take(struct es_stage *stage,
                const struct es_pull *pull,
                size_t first,
                struct es_batch *batch)
{
    struct tree_node *node = stage->state;
    int result = 0;

    node->keeper.queue.exhausted = false;
    while (!node->keeper.queue.exhausted && result == 0 &&
           node->table.edge_count < node->capacity)
        result = take_once(stage, pull, first, batch);
    return result;
}

/* --- Judging ---------------------------------------------------------------------- */

static void queue_results(const struct es_stage *stage,
                          struct tree_node *node,
                          struct esi_node_instance *instance)
{
    const struct esi_node_edge *edge = &node->table.edges[instance->first];
    const struct es_clock *clock =
        stage->context->origins->items[edge->mark.origin].clock;
    struct es_tuple tuples[2];
    struct es_mark marks[2];
    size_t count = esi_node_edges_results(&node->table, instance, clock, tuples, marks);

    for (size_t i = 0; i < count; i++)
        push(node, &tuples[i], &marks[i], instance->id);
    instance->pending = (uint32_t)count;
    instance->state = count ? ESI_NODE_QUEUED : ESI_NODE_DONE;
}

/* The tuples of an operation as they came. */
static void queue_pieces(struct tree_node *node, struct esi_node_instance *instance)
{
    for (uint32_t i = instance->first; i != ESI_NODE_END;
         i = node->table.edges[i].next) {
        push(node, &node->table.edges[i].tuple, &node->table.edges[i].mark,
             instance->id);
        instance->pending++;
    }
    instance->state = ESI_NODE_QUEUED;
}

/* Whether stages before this one may have taken some of the operation's tuples: then
 * what looks like that of a leaf may be the rest of an internal node's. */
static bool is_straddling(const struct es_stage *stage,
                          const struct esi_node_instance *instance)
{
    const struct tree_node *node = stage->state;
    uint64_t since_ns = node->opened_ns + CLOCK_NS;

    for (uint32_t i = instance->first; i != ESI_NODE_END;
         i = node->table.edges[i].next) {
        const struct esi_node_edge *edge = &node->table.edges[i];

        if (esi_realtime_ns(stage, edge->mark.origin, edge->tuple.start) < since_ns)
            return true;
    }
    return false;
}

static void judge_one(const struct es_stage *stage,
                      struct esi_node_instance *instance,
                      const struct esi_node_judge *judge,
                      bool as_they_are)
{
    struct tree_node *node = stage->state;
    enum esi_node_verdict verdict =
        as_they_are ? ESI_NODE_INCOMPLETE
                    : esi_node_edges_judge(&node->table, instance, judge);

    switch (verdict) {
    case ESI_NODE_WAIT:
        break;
    case ESI_NODE_COMPLETE:
        queue_results(stage, node, instance);
        break;
    case ESI_NODE_LEAF:
        if (instance->edges && is_straddling(stage, instance))
            queue_pieces(node, instance);
        else
            instance->state = ESI_NODE_DONE;
        break;
    case ESI_NODE_INCOMPLETE:
        /* The MPI library's own operations are nothing to anybody. */
        if (instance->edges || as_they_are)
            queue_pieces(node, instance);
        else
            instance->state = ESI_NODE_DONE;
        break;
    }
}

/* Operations to be given up so that there is room again: half of what is kept. */
static uint64_t surplus_before(const struct tree_node *node)
{
    if (node->table.edge_count < node->capacity || node->table.count == 0)
        return 0;
    return node->table.instances[node->table.count / 2].id + 1;
}

static int judge_all(const struct es_stage *stage, const struct es_pull *pull)
{
    struct tree_node *node = stage->state;
    struct esi_node_edges *table = &node->table;
    struct esi_node_judge judge = {.now_ns = pull->realtime_ns,
                                   .patience_ns = node->patience_ns,
                                   .all =
                                       node->keeper.queue.exhausted && !pull->kept_only,
                                   .now = pull->drain};
    uint64_t surplus;
    int result = esi_lane_reserve(&node->keeper.queue, 2 * table->edge_count);

    if (result < 0)
        return result;
    for (size_t i = 0; i < table->count; i++)
        if (table->instances[i].state == ESI_NODE_OPEN)
            judge_one(stage, &table->instances[i], &judge, pull->kept_only);
    surplus = surplus_before(node);
    for (size_t i = 0; i < table->count && table->instances[i].id < surplus; i++)
        if (table->instances[i].state == ESI_NODE_OPEN)
            judge_one(stage, &table->instances[i], &judge, true);
    if (judge.all)
        esi_node_edges_read_all(table);
    return 0;
}

/* --- Giving ----------------------------------------------------------------------- */

/* Decides whether all that came together may go. */
static void release(struct tree_node *node, const struct es_pull *pull)
{
    size_t count = node->keeper.queue.count;

    if (count > node->released && node->since_ns == 0)
        node->since_ns = pull->realtime_ns ? pull->realtime_ns : 1;
    if (count == node->released || (!pull->drain && count < node->batch &&
                                    pull->realtime_ns < node->since_ns + node->wait_ns))
        return;
    node->released = count;
    node->since_ns = 0;
}

/* The two halves of a result are given together, if the limit allows. */
static size_t whole(const struct tree_node *node, size_t left)
{
    const struct esi_lane *queue = &node->keeper.queue;
    size_t count = node->released < left ? node->released : left;
    const struct esi_entry *last;

    if (count < 2 || count == queue->count)
        return count;
    last = &queue->entries[queue->first + count - 1];
    return last[0].tuple.operation == ESI_NODE_UP &&
                   last[1].tuple.operation == ESI_NODE_DOWN &&
                   last[1].tuple.sequence == last[0].tuple.sequence
               ? count - 1
               : count;
}

/* What has been given now need not be put together again, but for what may come again
 * by itself. */
static void note_given(struct tree_node *node, size_t count)
{
    struct esi_entry *entries = node->keeper.queue.entries + node->keeper.queue.first;

    for (size_t i = 0; i < count; i++) {
        struct esi_node_instance *instance =
            esi_node_edges_by_id(&node->table, entries[i].key_ns);

        if (instance && --instance->pending == 0)
            instance->state = ESI_NODE_DONE;
        entries[i].key_ns = 0; /* it may be given again */
    }
}

static int give(struct tree_node *node,
                const struct es_pull *pull,
                size_t first,
                struct es_batch *batch)
{
    const struct esi_lane *queue = &node->keeper.queue;
    size_t count = whole(node, pull->max - (batch->count - first));
    int result = esi_keeper_give(&node->keeper, pull, count, first, batch);

    if (result < 0)
        return result;
    if (count)
        note_given(node, count);
    if (node->released > count || (node->released && !queue->exhausted))
        batch->more = true;
    esi_node_edges_retire(&node->table);
    return 0;
}

static int pull_tree_node(struct es_stage *stage,
                          const struct es_pull *pull,
                          struct es_batch *batch)
{
    struct tree_node *node = stage->state;
    size_t first = batch->count;
    int result;

    settle(node, pull);
    if (pull->max == 0)
        return 0;
    if (node->opened_ns == 0)
        node->opened_ns = pull->realtime_ns;
    result = take(stage, pull, first, batch);
    if (result == 0)
        result = judge_all(stage, pull);
    if (result < 0)
        return result;
    release(node, pull);
    return give(node, pull, first, batch);
}

static void ask_tree_node(struct es_stage *stage, const struct es_pull *pull)
{
    struct tree_node *node = stage->state;
    struct es_pull part;

    if (pull->max == 0)
        return;
    settle(node, pull);
    part = esi_keeper_request(&node->keeper, pull, READ_AT_ONCE);
    if (node->table.edge_count < node->capacity)
        es_stage_ask(stage->children[0], &part);
}

/* Of an operation all tuples count as kept as long as any must be read again. */
static void foreach_kept_by_tree_node(const struct es_stage *stage,
                                      es_stage_kept_fn fn,
                                      void *data)
{
    const struct tree_node *node = stage->state;
    const struct esi_node_edges *table = &node->table;

    for (size_t i = 0; i < table->count; i++)
        for (uint32_t k = table->instances[i].first; k != ESI_NODE_END;
             k = table->edges[k].next)
            fn(data, &table->edges[k].mark);
    esi_keeper_foreach_kept(&node->keeper, fn, data);
}

const struct es_stage_ops esi_stage_tree_node = {
    .name = "tree-node",
    .help = "puts the edges of a collective tree's node together to results",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_tree_node,
    .pull = pull_tree_node,
    .ask = ask_tree_node,
    .foreach_kept = foreach_kept_by_tree_node,
    .close = close_tree_node,
};
