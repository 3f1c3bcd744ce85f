/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* buffer.c - a bounded queue: takes everything its child has, and emits what is
 * requested.
 *
 * Small requests from above thus do not leave tuples in small rings, where they might
 * be overwritten.  When it is full, it takes no more until it has emitted some.  It is
 * a FIFO queue: the tuples of an element that it holds are a suffix. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "wrappers/stages/lane.h"
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
    struct esi_lane queue; /* keys are not used */
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

    esi_lane_fini(&buffer->queue);
    free(buffer);
}

/* The next request to the child, for all that fits. */
static struct es_pull next_request(const struct buffer *buffer,
                                   const struct es_pull *pull)
{
    struct es_pull part = *pull;

    part.serial = buffer->queue.serial + 1;
    part.max = buffer->capacity - esi_lane_count(&buffer->queue);
    return part;
}

static void ask_buffer(struct es_stage *stage, const struct es_pull *pull)
{
    const struct buffer *buffer = stage->state;
    struct es_pull part = next_request(buffer, pull);

    if (pull->max > 0 && part.max > 0)
        es_stage_ask(stage->children[0], &part);
}

/* Pulls the child once. */
static int fill_once(struct es_stage *stage,
                     const struct es_pull *pull,
                     size_t most_open,
                     struct es_batch *batch)
{
    struct buffer *buffer = stage->state;
    struct esi_lane *queue = &buffer->queue;
    struct es_pull part = next_request(buffer, pull);
    size_t before = esi_lane_count(queue);
    int result = esi_lane_pull(queue, stage->children[0], &part, most_open, batch);

    for (size_t i = before; i < esi_lane_count(queue) && result == 0; i++)
        es_stage_keep(stage, &esi_lane_tuples(queue)[i], &esi_lane_marks(queue)[i]);
    return result;
}

/* Pulls the child until the buffer is full or the child has no more. */
static int fill_buffer(struct es_stage *stage,
                       const struct es_pull *pull,
                       size_t first,
                       struct es_batch *batch)
{
    struct buffer *buffer = stage->state;
    struct esi_lane *queue = &buffer->queue;
    int result = 0;

    queue->exhausted = false;
    while (!queue->exhausted && esi_lane_count(queue) < buffer->capacity && result == 0)
        result = fill_once(stage, pull, pull->max - (batch->count - first), batch);
    return result;
}

/* Emits from the front of the queue, up to the limit. */
static int emit_tuples(struct es_stage *stage, size_t left, struct es_batch *batch)
{
    struct buffer *buffer = stage->state;
    struct esi_lane *queue = &buffer->queue;
    size_t queued = esi_lane_count(queue);
    size_t count = queued < left ? queued : left;

    for (size_t i = 0; i < count; i++)
        es_stage_release(stage, &esi_lane_tuples(queue)[i], &esi_lane_marks(queue)[i]);
    batch->more |= queued > count || !queue->exhausted;
    return esi_lane_emit(queue, count, batch);
}

static int pull_buffer(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    size_t first = batch->count;
    int result;

    if (pull->max == 0)
        return 0;
    result = fill_buffer(stage, pull, first, batch);
    return result < 0 ? result
                      : emit_tuples(stage, pull->max - (batch->count - first), batch);
}

const struct es_stage_ops esi_stage_buffer = {
    .name = "buffer",
    .help = "reads all that its child has, emits what is asked for",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_buffer,
    .pull = pull_buffer,
    .ask = ask_buffer,
    .keeps = true,
    .close = close_buffer,
};
