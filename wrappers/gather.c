/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* gather.c - passes on what all children give, one child after the other.
 *
 * Where the limit is reached before the last child, the next pull begins with the child
 * that came away short, so that none starves.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "wrappers/stage.h"

struct gather {
    size_t next; /* child that the next pull begins with */
};

static int open_gather(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    (void)values;
    (void)error;
    stage->state = calloc(1, sizeof(struct gather));
    return stage->state ? 0 : -ENOMEM;
}

static void close_gather(struct es_stage *stage)
{
    free(stage->state);
}

static int pull_together(struct es_stage *stage,
                         const struct es_pull *pull,
                         struct es_batch *batch)
{
    int result = stage->children[0]->pull_siblings(stage, pull, batch);

    stage->together += result == 0;
    return result;
}

/* Pulls the children from `first` on, around the end.  Returns the first child that got
 * nothing because the limit was reached, `first` when there was none, or -errno. */
static int pull_around(struct es_stage *stage,
                       size_t first,
                       const struct es_pull *pull,
                       struct es_batch *batch,
                       size_t *ret_next)
{
    struct es_pull part = *pull;
    size_t before = batch->count;
    size_t child = first;
    bool short_of = false;

    *ret_next = first;
    if (stage->siblings && pull->max >= stage->child_count && !pull->measure)
        return pull_together(stage, pull, batch);
    for (size_t i = 0; i < stage->child_count; i++) {
        int result;

        part.max = pull->max - (batch->count - before);
        if (part.max == 0 && !short_of) {
            short_of = true;
            batch->more = true;
            *ret_next = child;
        }
        if (part.max == 0 && !es_pull_is_repetition(pull))
            return 0;
        result = es_stage_pull(stage->children[child], &part, batch);
        if (result < 0)
            return result;
        if (++child == stage->child_count)
            child = 0;
    }
    return 0;
}

int esi_stage_pull_children(struct es_stage *stage,
                            const struct es_pull *pull,
                            struct es_batch *batch)
{
    size_t next;

    return pull_around(stage, 0, pull, batch, &next);
}

static int pull_gather(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct gather *gather = stage->state;

    return pull_around(stage, gather->next, pull, batch, &gather->next);
}

const struct es_stage_ops esi_stage_gather = {
    .name = "gather",
    .help = "passes on what all children give",
    .max_children = SIZE_MAX,
    .open = open_gather,
    .pull = pull_gather,
    .close = close_gather,
};
