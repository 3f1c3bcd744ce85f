/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_indexed.c - the engine "indexed": each support is searched by ranges. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/indexed/indexed_threads.h"

static int make_plan(const struct esi_engine_task *task,
                     uint32_t support,
                     struct esi_indexed_plan **ret_plan,
                     struct es_error *error)
{
    struct esi_indexed_config config = {
        .program = task->program,
        .support = support,
        .domains = task->domains,
        .counted = task->counted,
        .order = task->order,
        .empty = esi_universal_empty(task->program, task->domains),
        .without = task->config->indexed_without,
    };

    return esi_indexed_plan_create(&config, false, ret_plan, error);
}

static void fini_plans(struct esi_indexed_plans *plans)
{
    for (uint32_t i = 0; plans->items && i < plans->task->program->support_count; i++)
        esi_indexed_plan_destroy(plans->items[i]);
    free(plans->items);
}

static int create_plans(const struct esi_engine_task *task,
                        struct esi_indexed_plans *ret_plans,
                        struct es_error *error)
{
    uint32_t count = task->program->support_count;
    struct esi_indexed_plans plans = {
        .task = task,
        .items = calloc(count + 1u, sizeof *plans.items),
    };
    int result = plans.items ? 0 : -ENOMEM;

    for (uint32_t i = 0; result == 0 && i < count; i++)
        result = make_plan(task, i, &plans.items[i], error);
    if (result < 0) {
        fini_plans(&plans);
        return result;
    }
    *ret_plans = plans;
    return 0;
}

/* A lesser support that matches whatever the values are leaves nothing. */
static bool may_match(const struct esi_indexed_plans *plans, uint32_t support)
{
    const struct esi_engine_task *task = plans->task;
    const struct esi_program_support *of = &task->program->supports[support];

    for (size_t i = 0; i < of->lesser_count; i++)
        if (esi_indexed_plan_is_true(plans->items[of->lesser[i]]))
            return false;
    return esi_support_may_match(task, support);
}

static int search_ranges(const struct esi_engine_task *task, struct es_error *error)
{
    struct esi_indexed_plans plans;
    int result = create_plans(task, &plans, error);

    if (result < 0)
        return result;
    for (uint32_t i = 0; i < task->program->support_count; i++)
        task->statistics->pattern_size += plans.items[i]->size;
    for (uint32_t i = 0; result == 0 && i < task->program->support_count; i++)
        if (may_match(&plans, i))
            result = esi_indexed_threads_search(&plans, i);
    for (uint32_t i = 0; i < task->program->support_count; i++)
        task->statistics->bytes += esi_indexed_plan_bytes(plans.items[i]);
    fini_plans(&plans);
    return result;
}

static int explain_ranges(const struct esi_engine_task *task,
                          FILE *out,
                          struct es_error *error)
{
    struct esi_indexed_plans plans;
    int result = create_plans(task, &plans, error);

    if (result < 0)
        return result;
    for (uint32_t i = 0; i < task->program->support_count; i++) {
        esi_indexed_plan_print(plans.items[i], out);
        if (!may_match(&plans, i))
            fputs("is not searched: what matches has a lesser support that does\n",
                  out);
    }
    fini_plans(&plans);
    return 0;
}

const struct esi_engine_ops esi_engine_indexed = {
    .name = "indexed",
    .help = "ranges of events on each trace, the variable with the fewest first",
    .search = search_ranges,
    .explain = explain_ranges,
};
