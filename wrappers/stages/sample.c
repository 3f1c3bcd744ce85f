/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* sample.c - passes on some of the tuples and counts the others.
 *
 * Which ones depends on the tuples alone, not on how they were divided into pulls: each
 * N-th by its position; at most R a second by the first in each R-th part of a second.
 * Only the bound per pull depends on the pull.  Operations under way and summaries
 * pass.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "eventspace/summary.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_EVERY, PROPERTY_RATE, PROPERTY_MOST };

static const struct es_property_schema properties[] = {
    [PROPERTY_EVERY] = {.name = "every",
                        .type = ES_PROPERTY_INTEGER,
                        .fallback = "1",
                        .minimum = 1,
                        .maximum = INT32_MAX,
                        .help = "one of so many tuples of each element"},
    [PROPERTY_RATE] = {.name = "rate",
                       .type = ES_PROPERTY_INTEGER,
                       .fallback = "0",
                       .minimum = 0,
                       .maximum = 1000000,
                       .help = "tuples of each element a second at most; 0 = any"},
    [PROPERTY_MOST] = {.name = "most",
                       .type = ES_PROPERTY_INTEGER,
                       .fallback = "0",
                       .minimum = 0,
                       .maximum = INT32_MAX,
                       .help = "tuples of a pull at most, spread evenly; 0 = any"},
};

/* The part of a second that the last tuple of an origin fell into, plus 1; 0 = there
 * was none. */
struct last {
    uint64_t taken; /* of those that were acknowledged */
    uint64_t given;
    bool touched; /* since the last acknowledgement */
};

struct sample {
    uint64_t every;
    uint64_t rate;
    size_t most;
    struct last *lasts; /* owned; by origin */
    size_t last_count;
    size_t last_capacity; /* of `touched`, too */
    uint32_t *touched;    /* owned; the origins whose `touched` is set */
    size_t touched_count;
    uint64_t serial;   /* of the pull that gave; 0 = all acknowledged */
    uint64_t left_out; /* by that pull */
};

static int open_sample(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    struct sample *sample = calloc(1, sizeof *sample);

    (void)error;
    if (!sample)
        return -ENOMEM;
    sample->every = (uint64_t)values[PROPERTY_EVERY].integer;
    sample->rate = (uint64_t)values[PROPERTY_RATE].integer;
    sample->most = (size_t)values[PROPERTY_MOST].integer;
    stage->state = sample;
    return 0;
}

static void close_sample(struct es_stage *stage)
{
    struct sample *sample = stage->state;

    free(sample->lasts);
    free(sample->touched);
    free(sample);
}

/* Takes or takes back what was noted by the pull before. */
static void settle(struct es_stage *stage,
                   struct sample *sample,
                   const struct es_pull *pull)
{
    bool arrived = sample->serial <= pull->acknowledged;

    if (sample->serial == 0)
        return;
    for (size_t i = 0; i < sample->touched_count; i++) {
        struct last *last = &sample->lasts[sample->touched[i]];

        if (arrived)
            last->taken = last->given;
        else
            last->given = last->taken;
        last->touched = false;
    }
    if (!arrived)
        stage->cost.left_out -= sample->left_out;
    sample->touched_count = 0;
    sample->left_out = 0;
    sample->serial = 0;
}

/* Notes of all origins that there are by now. */
static int make_notes(const struct es_stage *stage, struct sample *sample)
{
    size_t count = stage->context->origins->count;

    if (sample->rate == 0)
        return 0;
    if (ESI_ARRAY_RESERVE_PAIR(sample->touched, sample->lasts, sample->last_capacity,
                               count) < 0)
        return -ENOMEM;
    for (; sample->last_count < count; sample->last_count++)
        sample->lasts[sample->last_count] = (struct last){0};
    return 0;
}

/* Which part of a second it is, of as many as tuples may pass; plus 1. */
static uint64_t part_of(const struct sample *sample, uint64_t realtime_ns)
{
    uint64_t second = UINT64_C(1000000000);

    return realtime_ns / second * sample->rate +
           realtime_ns % second * sample->rate / second + 1;
}

static bool is_first_of_its_part(const struct es_stage *stage,
                                 struct sample *sample,
                                 const struct es_tuple *tuple,
                                 uint32_t origin)
{
    struct last *last = &sample->lasts[origin];
    uint64_t part = part_of(sample, esi_realtime_ns(stage, origin, tuple->stop));

    /* Tuples that come late belong to a part that had its tuple. */
    if (part <= last->given)
        return false;
    if (!last->touched) {
        last->touched = true;
        sample->touched[sample->touched_count++] = origin;
    }
    last->given = part;
    return true;
}

static bool passes(const struct es_stage *stage,
                   struct sample *sample,
                   const struct es_tuple *tuple,
                   const struct es_mark *mark)
{
    if (tuple->stop == 0 || es_mark_is_summary(mark))
        return true;
    if (mark->position % sample->every != 0)
        return false;
    return sample->rate == 0 ||
           is_first_of_its_part(stage, sample, tuple, mark->origin);
}

/* Leaves `most` of the tuples from `first` on, spread evenly. */
static void thin_out(struct es_batch *batch, size_t first, size_t most)
{
    size_t count = batch->count - first;

    if (most == 0 || count <= most)
        return;
    for (size_t i = 0; i < most; i++)
        es_batch_move(batch, first + i, first + (size_t)((uint64_t)i * count / most));
    batch->count = first + most;
}

static int pull_sample(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct sample *sample = stage->state;
    size_t first = batch->count;
    size_t kept = first;
    size_t came;
    int result;

    settle(stage, sample, pull);
    result = es_stage_pull(stage->children[0], pull, batch);
    if (result == 0)
        result = make_notes(stage, sample);
    if (result < 0)
        return result;
    came = batch->count;
    for (size_t i = first; i < came; i++)
        if (passes(stage, sample, &batch->tuples[i], &batch->marks[i]))
            es_batch_move(batch, kept++, i);
    batch->count = kept;
    thin_out(batch, first, sample->most);
    sample->left_out = came - batch->count;
    stage->cost.left_out += sample->left_out;
    sample->serial = pull->serial;
    return 0;
}

const struct es_stage_ops esi_stage_sample = {
    .name = "sample",
    .help = "passes on some of the tuples",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_sample,
    .pull = pull_sample,
    .ask = esi_stage_ask_child,
    .close = close_sample,
};
