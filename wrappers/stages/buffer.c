/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* buffer.c - a bounded queue: takes from its child what there is, gives what is asked
 * for.
 *
 * So short pulls from above do not leave tuples in small rings, where they might be
 * overwritten.  When it is full it takes no more until it has given.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "wrappers/stages/keeper.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_CAPACITY };
static const struct es_property_schema properties[] = {
    [PROPERTY_CAPACITY] = {.name = "capacity",
                           .type = ES_PROPERTY_INTEGER,
                           .fallback = "65536",
                           .minimum = 1,
                           .maximum = 1 << 24,
                           .help = "tuples kept at most"},
};

struct buffer {
    size_t capacity;
    struct esi_keeper keeper;
};

static int open_buffer(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    struct buffer *buffer = calloc(1, sizeof *buffer);

    (void)error;
    if (!buffer)
        return -ENOMEM;
    buffer->capacity = (size_t)values[PROPERTY_CAPACITY].integer;
    stage->state = buffer;
    return 0;
}

static void close_buffer(struct es_stage *stage)
{
    struct buffer *buffer = stage->state;

    esi_keeper_fini(&buffer->keeper);
    free(buffer);
}

static void ask_buffer(struct es_stage *stage, const struct es_pull *pull)
{
    struct buffer *buffer = stage->state;
    struct es_pull part;

    if (pull->max == 0)
        return;
    esi_keeper_settle(&buffer->keeper, pull);
    part = esi_keeper_request(&buffer->keeper, pull,
                              buffer->capacity - buffer->keeper.queue.count);
    if (part.max > 0)
        es_stage_ask(stage->children[0], &part);
}

static int pull_buffer(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct buffer *buffer = stage->state;
    struct esi_keeper *keeper = &buffer->keeper;
    size_t first = batch->count;
    int result;

    esi_keeper_settle(keeper, pull);
    if (pull->max == 0)
        return 0;
    result = esi_keeper_take(stage, keeper, pull, buffer->capacity, first, batch);
    if (result == 0)
        result = esi_keeper_give(keeper, pull, keeper->queue.count, first, batch);
    if (result == 0 && !keeper->queue.exhausted)
        batch->more = true;
    return result;
}

static void foreach_kept_by_buffer(const struct es_stage *stage,
                                   es_stage_kept_fn fn,
                                   void *data)
{
    const struct buffer *buffer = stage->state;

    esi_keeper_foreach_kept(&buffer->keeper, fn, data);
}

const struct es_stage_ops esi_stage_buffer = {
    .name = "buffer",
    .help = "takes from its child what there is, gives what is asked for",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_buffer,
    .pull = pull_buffer,
    .ask = ask_buffer,
    .foreach_kept = foreach_kept_by_buffer,
    .close = close_buffer,
};
