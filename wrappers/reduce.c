/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reduce.c - reduces what all children give; each reduction is a row of a table. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "wrappers/fan.h"
#include "wrappers/stage.h"

/* Works on the tuples from `first` on in place, and shortens the batch. */
typedef void (*reduction_fn)(const struct es_stage *stage,
                             struct es_batch *batch,
                             size_t first);

/* Whether the time `a` of one tuple is later than `b` of another.  Ticks of one process
 * compare as they are. */
static bool is_later(const struct es_stage *stage,
                     const struct es_batch *batch,
                     size_t one,
                     uint64_t a,
                     size_t other,
                     uint64_t b)
{
    const struct es_origin *origins = stage->context->origins->items;
    uint32_t first = batch->marks[one].origin;
    uint32_t second = batch->marks[other].origin;

    if (first == second || origins[first].clock == origins[second].clock)
        return a > b;
    return esi_realtime_ns(stage, first, a) > esi_realtime_ns(stage, second, b);
}

/* The last to stop of the completed operations, and the last to start of those under
 * way: one tuple of each, the completed one first. */
static void reduce_latest(const struct es_stage *stage,
                          struct es_batch *batch,
                          size_t first)
{
    size_t none = batch->count;
    size_t latest = none;
    size_t open = none;

    for (size_t i = first; i < batch->count; i++) {
        const struct es_tuple *tuples = batch->tuples;

        if (es_batch_is_open(batch, i)) {
            if (open == none ||
                is_later(stage, batch, i, tuples[i].start, open, tuples[open].start))
                open = i;
        } else if (latest == none || is_later(stage, batch, i, tuples[i].stop, latest,
                                              tuples[latest].stop)) {
            latest = i;
        }
    }
    batch->count = first;
    /* The two may lie in either order: the one in front is moved first. */
    if (latest != none && open != none && open < latest) {
        struct es_tuple tuple = batch->tuples[open];
        struct es_mark mark = batch->marks[open];

        es_batch_move(batch, batch->count++, latest);
        batch->tuples[batch->count] = tuple;
        batch->marks[batch->count++] = mark;
        return;
    }
    if (latest != none)
        es_batch_move(batch, batch->count++, latest);
    if (open != none)
        es_batch_move(batch, batch->count++, open);
}

/* Rows and choices go together. */
enum { MOST_GIVEN = 2 }; /* tuples a reduction may give */
static const reduction_fn reductions[] = {reduce_latest};
static const char *const reduction_names[] = {"latest", NULL};

enum { PROPERTY_TO, PROPERTY_MODE };
static const struct es_property_schema properties[] = {
    [PROPERTY_TO] =
        {.name = "to",
         .type = ES_PROPERTY_CHOICE,
         .fallback = "latest",
         .choices = reduction_names,
         .help = "what is left: the latest completed tuple, and the latest open one"},
    [PROPERTY_MODE] = ESI_FAN_MODE,
};

struct reduce {
    struct esi_fan fan;
    reduction_fn reduction;
};

static int open_reduce(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    struct reduce *reduce = calloc(1, sizeof *reduce);

    (void)error;
    if (!reduce)
        return -ENOMEM;
    reduce->reduction = reductions[values[PROPERTY_TO].integer];
    reduce->fan.sequential = values[PROPERTY_MODE].integer != 0;
    stage->state = reduce;
    return 0;
}

static void close_reduce(struct es_stage *stage)
{
    free(stage->state);
}

/* A reduction needs all of its children, and gives little: room for what each of them
 * gives is needed even where less may be given upward. */
static struct es_pull widened(const struct es_stage *stage, const struct es_pull *pull)
{
    struct es_pull part = *pull;

    if (part.max > 0 && part.max < MOST_GIVEN * stage->child_count)
        part.max = MOST_GIVEN * stage->child_count;
    return part;
}

static void ask_reduce(struct es_stage *stage, const struct es_pull *pull)
{
    struct reduce *reduce = stage->state;
    struct es_pull part = widened(stage, pull);

    esi_fan_ask(stage, &reduce->fan, &part);
}

static int pull_reduce(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct reduce *reduce = stage->state;
    struct es_pull part = widened(stage, pull);
    size_t first = batch->count;
    int result = esi_fan_pull(stage, &reduce->fan, &part, batch);

    if (result < 0)
        return result;
    reduce->reduction(stage, batch, first);
    if (batch->count - first > pull->max) {
        batch->count = first + pull->max;
        batch->more = true;
    }
    return 0;
}

const struct es_stage_ops esi_stage_reduce = {
    .name = "reduce",
    .help = "reduces what all children give",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .max_children = SIZE_MAX,
    .open = open_reduce,
    .pull = pull_reduce,
    .ask = ask_reduce,
    .close = close_reduce,
};
