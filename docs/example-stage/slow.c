/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * slow.c - a stage of a user's own: passes on the operations that took longer than
 * usual.
 *
 * What is usual is an estimate of the median of all durations so far.  It moves a step
 * up for each longer operation and a step down for each shorter one, so it rests where
 * both are equally many (Ma, Muthukrishnan and Sandler, "Frugal streaming for
 * estimating quantiles", 2013; the step is a part of the estimate).
 *
 * The stage has a state that depends on the tuples.  What it gave is taken, so the
 * state never goes back; a tree that is made anew begins with a new state.
 */
#include <errno.h>
#include <stdlib.h>

#include <eventspace/clock.h>
#include <eventspace/stage_module.h>

enum { PROPERTY_TIMES };
enum { STEP = 32 }; /* the estimate moves by one part of so many */

static const struct es_property_schema properties[] = {
    [PROPERTY_TIMES] = {.name = "times",
                        .type = ES_PROPERTY_INTEGER,
                        .fallback = "2",
                        .minimum = 1,
                        .maximum = 1000,
                        .help = "how many times the median is slow"},
};

struct slow {
    uint64_t times;
    uint64_t usual_ns; /* the estimate; 0 = no operation was seen yet */
};

static int open_slow(struct es_stage *stage,
                     const struct es_property_value *values,
                     struct es_error *error)
{
    struct slow *slow = calloc(1, sizeof *slow);

    (void)error;
    if (!slow)
        return -ENOMEM;
    slow->times = (uint64_t)values[PROPERTY_TIMES].integer;
    stage->state = slow;
    return 0;
}

static void close_slow(struct es_stage *stage)
{
    free(stage->state);
}

/* Whether this duration is slow; then it moves the estimate. */
static bool judge(struct slow *slow, uint64_t duration_ns)
{
    uint64_t usual_ns = slow->usual_ns;

    if (usual_ns == 0) {
        slow->usual_ns = duration_ns;
        return false;
    }
    if (duration_ns > usual_ns)
        slow->usual_ns += usual_ns / STEP + 1;
    else if (duration_ns < usual_ns)
        slow->usual_ns -= usual_ns / STEP;
    return duration_ns > slow->times * usual_ns;
}

static uint64_t duration_of(const struct es_stage *stage,
                            const struct es_tuple *tuple,
                            const struct es_mark *mark)
{
    const struct es_origin *origin = &stage->context->origins->items[mark->origin];

    return es_clock_span_ns(origin->clock, tuple->stop - tuple->start);
}

/* The child appends to the batch; what this stage does not want is taken out of that
 * part.  Operations under way pass: nobody knows yet how long they take. */
static int pull_slow(struct es_stage *stage,
                     const struct es_pull *pull,
                     struct es_batch *batch)
{
    struct slow *slow = stage->state;
    size_t kept = batch->count;
    size_t first = batch->count;
    int result;

    result = es_stage_pull(stage->children[0], pull, batch);
    if (result < 0)
        return result;
    for (size_t i = first; i < batch->count; i++)
        if (es_batch_is_open(batch, i) ||
            judge(slow, duration_of(stage, &batch->tuples[i], &batch->marks[i])))
            es_batch_move(batch, kept++, i);
    batch->count = kept;
    return 0;
}

/* The child gets what this stage gets. */
static void ask_slow(struct es_stage *stage, const struct es_pull *pull)
{
    es_stage_ask(stage->children[0], pull);
}

static const struct es_stage_ops slow_type = {
    .name = "slow",
    .help = "passes on the operations that took longer than usual",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_slow,
    .pull = pull_slow,
    .ask = ask_slow,
    .close = close_slow,
};

static const struct es_stage_ops *const types[] = {&slow_type, NULL};

ES_STAGE_MODULE("slow operations", types);
