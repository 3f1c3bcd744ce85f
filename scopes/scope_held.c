/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_held.c - what sort stages kept back goes over into the tree that follows.
 *
 * Tuples that a sort kept back may still be preceded by others.  If the new tree sorts,
 * too, they are given to its topmost sort as one more child, a stage `held`, and merged
 * with what that reads.  Else they are given at once, by the scope.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/scope_private.h"
#include "scopes/stage_node.h"

/* --- The stage ------------------------------------------------------------------ */

static int open_held(struct es_stage *stage,
                     const struct es_property_value *values,
                     struct es_error *error)
{
    struct es_scope *scope = stage->context->data;

    (void)values;
    (void)error;
    stage->state = &scope->held;
    return 0;
}

static void settle(struct esi_held *held, const struct es_pull *pull)
{
    if (held->serial && held->serial <= pull->acknowledged)
        held->taken = held->given;
    else
        held->given = held->taken;
    held->serial = 0;
}

static int pull_held(struct es_stage *stage,
                     const struct es_pull *pull,
                     struct es_batch *batch)
{
    struct esi_held *held = stage->state;
    size_t left;
    size_t count;
    int result;

    settle(held, pull);
    left = held->batch.count - held->given;
    count = left < pull->max ? left : pull->max;
    if (count == 0 || pull->kept_only)
        return 0;
    result = es_batch_reserve(batch, count);
    if (result < 0)
        return result;
    memcpy(batch->tuples + batch->count, held->batch.tuples + held->given,
           count * sizeof *batch->tuples);
    memcpy(batch->marks + batch->count, held->batch.marks + held->given,
           count * sizeof *batch->marks);
    batch->count += count;
    held->given += count;
    held->serial = pull->serial;
    if (count < left)
        batch->more = true;
    return 0;
}

static const struct es_stage_ops stage_held = {
    .name = "held",
    .help = "gives what the tree before kept back for sorting",
    .max_children = 0,
    .open = open_held,
    .pull = pull_held,
};

static void add_stage_type(void)
{
    (void)es_stage_register(&stage_held);
}

/* --- Order ---------------------------------------------------------------------- */

struct key {
    uint64_t time_ns;
    struct es_mark mark;
    size_t index;
};

static int compare_keys(const void *first, const void *second)
{
    const struct key *a = first;
    const struct key *b = second;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->mark.origin != b->mark.origin)
        return a->mark.origin < b->mark.origin ? -1 : 1;
    return (a->mark.position > b->mark.position) -
           (a->mark.position < b->mark.position);
}

static struct key *sorted_keys(const struct es_scope *scope,
                               const struct es_batch *batch)
{
    bool by_start = scope->config.sorting == ES_SORTING_START;
    struct key *keys = calloc(batch->count + 1, sizeof *keys);

    if (!keys)
        return NULL;
    for (size_t i = 0; i < batch->count; i++) {
        const struct es_tuple *tuple = &batch->tuples[i];
        const struct es_origin *origin = &scope->origins.items[batch->marks[i].origin];

        keys[i] = (struct key){.mark = batch->marks[i], .index = i};
        keys[i].time_ns =
            es_origin_run_ns(origin, by_start ? tuple->start : tuple->stop, NULL);
    }
    qsort(keys, batch->count, sizeof *keys, compare_keys);
    return keys;
}

/* Appends the tuples of `from` in order of time. */
static int append_sorted(const struct es_scope *scope,
                         const struct es_batch *from,
                         struct es_batch *to)
{
    struct key *keys;
    int result = es_batch_reserve(to, from->count);

    if (result < 0)
        return result;
    keys = sorted_keys(scope, from);
    if (!keys)
        return -ENOMEM;
    for (size_t i = 0; i < from->count; i++) {
        to->tuples[to->count] = from->tuples[keys[i].index];
        to->marks[to->count++] = keys[i].mark;
    }
    free(keys);
    return 0;
}

/* --- From tree to tree ----------------------------------------------------------- */

/* Restores the order of what is carried: what was held but not taken precedes much of
 * what the tree has given up. */
static int sort_carried(struct es_scope *scope)
{
    struct es_batch sorted = {.count = 0};
    int result = append_sorted(scope, &scope->carried, &sorted);

    if (result == 0 && sorted.count) {
        memcpy(scope->carried.tuples, sorted.tuples,
               sorted.count * sizeof *sorted.tuples);
        memcpy(scope->carried.marks, sorted.marks, sorted.count * sizeof *sorted.marks);
    }
    es_batch_fini(&sorted);
    return result;
}

int esi_scope_release(struct es_scope *scope)
{
    const struct es_batch *held = &scope->held.batch;
    struct es_batch *carried = &scope->carried;
    int result;

    if (held->count == scope->held.taken)
        return 0;
    result = es_batch_reserve(carried, held->count - scope->held.taken);
    if (result < 0)
        return result;
    for (size_t i = scope->held.taken; i < held->count; i++) {
        carried->tuples[carried->count] = held->tuples[i];
        carried->marks[carried->count++] = held->marks[i];
    }
    es_batch_fini(&scope->held.batch);
    scope->held = (struct esi_held){.serial = 0};
    return sort_carried(scope);
}

/* The topmost sort, if nothing but single stages is above it and all stand here. */
static struct es_stage_node *topmost_sort(struct es_stage_node *node, const char *here)
{
    while (!node->host || !here || strcmp(node->host, here) == 0) {
        if (strcmp(node->type, "sort") == 0)
            return node;
        if (node->child_count != 1)
            break;
        node = node->children[0];
    }
    return NULL;
}

static struct es_stage_node *new_held_node(void)
{
    struct es_stage_node *node = es_stage_node_create(stage_held.name, NULL);

    if (node)
        snprintf(node->label, sizeof node->label, "kept from before");
    return node;
}

/* A sort of the consumer's own, for trees that have none here.  NULL: no memory. */
static struct es_stage_node *new_sort(const struct es_scope_config *config)
{
    struct es_stage_node *node = es_stage_node_create("sort", NULL);
    char window[32];

    if (!node)
        return NULL;
    snprintf(node->label, sizeof node->label, "scope");
    snprintf(window, sizeof window, "%lluns", (unsigned long long)config->window_ns);
    if (es_stage_node_set(node, "by",
                          config->sorting == ES_SORTING_STOP ? "stop" : "start") < 0 ||
        es_stage_node_set(node, "window", window) < 0) {
        es_stage_node_destroy(node);
        return NULL;
    }
    return node;
}

/* Puts the stage that gives what is held into the plan. */
static int add_node(const struct es_scope *scope, struct es_stage_node **root)
{
    struct es_stage_node *sort = topmost_sort(*root, esi_scope_here(scope));
    struct es_stage_node *plan = *root;
    int result;

    if (sort)
        return es_stage_node_add(sort, new_held_node());
    sort = new_sort(&scope->config);
    if (!sort)
        return -ENOMEM;
    *root = sort;
    result = es_stage_node_add(sort, plan); /* takes it in any case */
    return result < 0 ? result : es_stage_node_add(sort, new_held_node());
}

int esi_scope_hold(struct es_scope *scope,
                   struct es_stage_node **root,
                   struct esi_held *ret_held)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct esi_held held = {.serial = 0};
    int result;

    if (scope->config.sorting == ES_SORTING_NONE || scope->carried.count == 0)
        return 0;
    pthread_once(&once, add_stage_type);
    result = append_sorted(scope, &scope->carried, &held.batch);
    if (result == 0)
        result = add_node(scope, root);
    if (result < 0) {
        es_batch_fini(&held.batch);
        return result;
    }
    *ret_held = held;
    return 0;
}
