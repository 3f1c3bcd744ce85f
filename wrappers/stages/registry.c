/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* registry.c - the stage types there are: the built-in ones and those that are added.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/nearest.h"
#include "wrappers/stages/stage.h"

enum { MAX_ADDED = 64 };

const struct es_stage_ops *const esi_stage_types[] = {
    &esi_stage_collector, &esi_stage_element,
    &esi_stage_gather,    &esi_stage_reduce,
    &esi_stage_filter,    &esi_stage_sort,
    &esi_stage_convert,   &esi_stage_sample,
    &esi_stage_batch,     &esi_stage_buffer,
    &esi_stage_threads,   &esi_stage_observe,
    &esi_stage_tree_node, NULL,
};

/* Types are only ever added, and the count is raised last, so readers hold the lock
 * briefly. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct es_stage_ops *added[MAX_ADDED];
static size_t added_count;

enum { BUILT_IN = sizeof esi_stage_types / sizeof *esi_stage_types - 1 };

const struct es_stage_ops *es_stage_at(size_t index)
{
    const struct es_stage_ops *ops = NULL;

    if (index < BUILT_IN)
        return esi_stage_types[index];
    pthread_mutex_lock(&lock);
    if (index - BUILT_IN < added_count)
        ops = added[index - BUILT_IN];
    pthread_mutex_unlock(&lock);
    return ops;
}

const struct es_stage_ops *es_stage_find(const char *name)
{
    const struct es_stage_ops *ops;

    for (size_t i = 0; (ops = es_stage_at(i)) != NULL; i++)
        if (strcmp(ops->name, name) == 0)
            return ops;
    return NULL;
}

int es_stage_register(const struct es_stage_ops *ops)
{
    int result = 0;

    if (!ops->name || !*ops->name || (ops->property_count && !ops->properties) ||
        ops->min_children > ops->max_children)
        return -EINVAL;
    if (es_stage_find(ops->name))
        return -EEXIST;
    pthread_mutex_lock(&lock);
    if (added_count < MAX_ADDED)
        added[added_count++] = ops;
    else
        result = -ENOSPC;
    pthread_mutex_unlock(&lock);
    return result;
}

int esi_stage_unknown(const char *name, struct es_error *error)
{
    const struct es_stage_ops *ops;
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, name);
    for (size_t i = 0; (ops = es_stage_at(i)) != NULL; i++)
        esi_nearest_try(&nearest, ops->name);
    return es_error_set(error, -ENOENT,
                        nearest.name
                            ? "there is no stage type \"%.60s\": did you mean \"%s\"?"
                            : "there is no stage type \"%.60s\"%s",
                        name, nearest.name ? nearest.name : "");
}
