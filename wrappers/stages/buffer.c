/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* buffer.c - a bounded queue: takes from its child what there is, emits what is asked
 * for.
 *
 * So short pulls from above do not leave tuples in small rings, where they might be
 * overwritten.  When it is full it takes no more until it has emitted.  It is a
 * first-in first-out queue: what it keeps of an element is a suffix.
 */
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
    struct esi_lane queue; /* its keys are not used */
    struct es_batch scratch;
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
    es_batch_fini(&buffer->scratch);
    free(buffer);
}

/* The next request to the child: all there is room for. */
static struct es_pull next_request(const struct buffer *buffer,
                                   const struct es_pull *pull)
{
    struct es_pull part = *pull;

    part.serial = buffer->queue.serial + 1;
    part.max = buffer->capacity - buffer->queue.count;
    return part;
}

static void ask_buffer(struct es_stage *stage, const struct es_pull *pull)
{
    const struct buffer *buffer = stage->state;
    struct es_pull part = next_request(buffer, pull);

    if (pull->max > 0 && part.max > 0)
        es_stage_ask(stage->children[0], &part);
}

static int queue_tuples(struct es_stage *stage)
{
    struct buffer *buffer = stage->state;
    const struct es_batch *scratch = &buffer->scratch;
    int result = esi_lane_reserve(&buffer->queue, scratch->count);

    for (size_t i = 0; i < scratch->count && result == 0; i++) {
        struct esi_entry entry = {.tuple = scratch->tuples[i],
                                  .mark = scratch->marks[i]};

        es_stage_keep(stage, &entry.tuple, &entry.mark);
        *esi_lane_push(&buffer->queue) = entry;
    }
    return result;
}

/* Pulls the child until the buffer is full or there is no more. */
static int fill_buffer(struct es_stage *stage,
                       const struct es_pull *pull,
                       size_t first,
                       struct es_batch *batch)
{
    struct buffer *buffer = stage->state;
    struct esi_lane *queue = &buffer->queue;
    int result = 0;

    queue->exhausted = false;
    while (!queue->exhausted && queue->count < buffer->capacity && result == 0) {
        struct es_pull part = next_request(buffer, pull);

        result =
            esi_lane_pull(queue, stage->children[0], &part,
                          pull->max - (batch->count - first), &buffer->scratch, batch);
        if (result == 0)
            result = queue_tuples(stage);
    }
    return result;
}

/* Emits from the front of the queue what the limit allows. */
static int emit_tuples(struct es_stage *stage, size_t left, struct es_batch *batch)
{
    struct buffer *buffer = stage->state;
    struct esi_lane *queue = &buffer->queue;
    size_t count = queue->count < left ? queue->count : left;

    for (size_t i = 0; i < count; i++)
        es_stage_release(stage, &esi_lane_head(queue)[i].tuple,
                         &esi_lane_head(queue)[i].mark);
    batch->more |= queue->count > count || !queue->exhausted;
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
    .help = "takes from its child what there is, gives what is asked for",
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
