/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* sample.c - passes some of the tuples and counts the others.
 *
 * The selection depends on the tuples only, not on how they were divided into pulls:
 * each N-th by position; or at most R per second, the first in each R-th part of a
 * second.  Only the limit per pull depends on the pull.  Operations under way and
 * summaries are passed. */
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

struct sample_stage {
    uint64_t every;
    uint64_t rate;
    size_t most;
    uint64_t *parts; /* owned; by origin: part of a second of its
                        last tuple, plus 1; 0 if there was none */
    size_t part_count;
    size_t part_capacity;
};

static int open_sample(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    struct sample_stage *sample = calloc(1, sizeof *sample);

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
    struct sample_stage *sample = stage->state;

    free(sample->parts);
    free(sample);
}

/* Makes room for the parts of all current origins. */
static int reserve_parts(const struct es_stage *stage, struct sample_stage *sample)
{
    size_t count = stage->context->origins->count;

    if (sample->rate == 0)
        return 0;
    if (ESI_ARRAY_RESERVE(sample->parts, sample->part_capacity, count) < 0)
        return -ENOMEM;
    for (; sample->part_count < count; sample->part_count++)
        sample->parts[sample->part_count] = 0;
    return 0;
}

/* The part of a second, of as many as tuples may pass, plus 1. */
static uint64_t part_of(const struct sample_stage *sample, uint64_t realtime_ns)
{
    uint64_t second = UINT64_C(1000000000);

    return realtime_ns / second * sample->rate +
           realtime_ns % second * sample->rate / second + 1;
}

static bool is_first_of_its_part(const struct es_stage *stage,
                                 struct sample_stage *sample,
                                 const struct es_tuple *tuple,
                                 uint32_t origin)
{
    uint64_t *last = &sample->parts[origin];
    uint64_t part = part_of(sample, esi_realtime_ns(stage, origin, tuple->stop));

    /* Late tuples belong to a part that has had its tuple. */
    if (part <= *last)
        return false;
    *last = part;
    return true;
}

static bool sample_passes(const struct es_stage *stage,
                          struct sample_stage *sample,
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

/* Keeps `most` of the tuples from `first` on, evenly spaced. */
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
    struct sample_stage *sample = stage->state;
    size_t first = batch->count;
    size_t kept = first;
    size_t came;
    int result;

    result = es_stage_pull(stage->children[0], pull, batch);
    if (result == 0)
        result = reserve_parts(stage, sample);
    if (result < 0)
        return result;
    came = batch->count;
    for (size_t i = first; i < came; i++)
        if (sample_passes(stage, sample, &batch->tuples[i], &batch->marks[i]))
            es_batch_move(batch, kept++, i);
    batch->count = kept;
    thin_out(batch, first, sample->most);
    stage->cost.left_out += came - batch->count;
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
