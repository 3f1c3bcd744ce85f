/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* batch.c - the stage `batch`: gives nothing until enough tuples have come
 * together, or the first has waited long enough; then all.
 *
 * It does not sleep: a pull before that time gives nothing.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "wrappers/stages/keeper.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_TUPLES, PROPERTY_WAIT };
static const struct es_property_schema properties[] = {
    [PROPERTY_TUPLES] = {.name = "tuples",
                         .type = ES_PROPERTY_INTEGER,
                         .fallback = "1024",
                         .minimum = 1,
                         .maximum = 1 << 24,
                         .help = "how many are enough; no more are kept"},
    [PROPERTY_WAIT] = {.name = "wait",
                       .type = ES_PROPERTY_DURATION,
                       .fallback = "100ms",
                       .maximum = INT64_C(3600000000000),
                       .help = "how long the first waits for the others at most"},
};

struct collect {
    size_t enough;
    uint64_t wait_ns;
    struct esi_keeper keeper;
    size_t released;   /* tuples at the front of the queue that may be given */
    uint64_t since_ns; /* when the first of the others came; 0 = there is none */
};

static int open_collect(struct es_stage *stage,
                        const struct es_property_value *values,
                        struct es_error *error)
{
    struct collect *collect = calloc(1, sizeof *collect);

    (void)error;
    if (!collect)
        return -ENOMEM;
    collect->enough = (size_t)values[PROPERTY_TUPLES].integer;
    collect->wait_ns = (uint64_t)values[PROPERTY_WAIT].integer;
    stage->state = collect;
    return 0;
}

static void close_collect(struct es_stage *stage)
{
    struct collect *collect = stage->state;

    esi_keeper_fini(&collect->keeper);
    free(collect);
}

static void settle(struct collect *collect, const struct es_pull *pull)
{
    struct esi_keeper *keeper = &collect->keeper;
    size_t before = keeper->queue.count;

    esi_keeper_settle(keeper, pull);
    collect->released -= before - keeper->queue.count;
}

/* Decides whether all that came together may go. */
static void release(struct collect *collect, const struct es_pull *pull)
{
    size_t count = collect->keeper.queue.count;

    if (count > collect->released && collect->since_ns == 0)
        collect->since_ns = pull->realtime_ns ? pull->realtime_ns : 1;
    if (count == collect->released ||
        (!pull->drain && count < collect->enough &&
         pull->realtime_ns < collect->since_ns + collect->wait_ns))
        return;
    collect->released = count;
    collect->since_ns = 0;
}

static void ask_collect(struct es_stage *stage, const struct es_pull *pull)
{
    struct collect *collect = stage->state;
    struct es_pull part;

    if (pull->max == 0)
        return;
    settle(collect, pull);
    part = esi_keeper_request(&collect->keeper, pull,
                              collect->enough - collect->keeper.queue.count);
    if (part.max > 0)
        es_stage_ask(stage->children[0], &part);
}

static int pull_collect(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    struct collect *collect = stage->state;
    struct esi_keeper *keeper = &collect->keeper;
    size_t first = batch->count;
    int result;

    settle(collect, pull);
    if (pull->max == 0)
        return 0;
    result = esi_keeper_take(stage, keeper, pull, collect->enough, first, batch);
    if (result < 0)
        return result;
    release(collect, pull);
    result = esi_keeper_give(keeper, pull, collect->released, first, batch);
    if (result == 0 && collect->released && !keeper->queue.exhausted)
        batch->more = true;
    return result;
}

static void foreach_kept_by_collect(const struct es_stage *stage,
                                    es_stage_kept_fn fn,
                                    void *data)
{
    const struct collect *collect = stage->state;

    esi_keeper_foreach_kept(&collect->keeper, fn, data);
}

const struct es_stage_ops esi_stage_batch = {
    .name = "batch",
    .help = "waits until enough tuples have come together, and gives all",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_collect,
    .pull = pull_collect,
    .ask = ask_collect,
    .foreach_kept = foreach_kept_by_collect,
    .close = close_collect,
};
