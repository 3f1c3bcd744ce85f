/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* filter.c - passes on the tuples for which an expression holds. */
#include "config.h"

#include <errno.h>

#include "wrappers/stages/filter_expression.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_WHERE };
static const struct es_property_schema properties[] = {
    [PROPERTY_WHERE] = {.name = "where",
                        .type = ES_PROPERTY_TEXT,
                        .minimum = 1,
                        .maximum = 4095,
                        .help = "condition on the fields of a tuple"},
};

static int check_filter(const struct es_property_value *values, struct es_error *error)
{
    const struct es_property_value *where = &values[PROPERTY_WHERE];
    struct esi_filter *filter;
    int result =
        esi_filter_create(where->text, where->line, where->column, error, &filter);

    if (result == 0)
        esi_filter_destroy(filter);
    return result;
}

static int open_filter(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    const struct es_property_value *where = &values[PROPERTY_WHERE];
    struct esi_filter *filter;
    int result =
        esi_filter_create(where->text, where->line, where->column, error, &filter);

    if (result == 0)
        stage->state = filter;
    return result;
}

static void close_filter(struct es_stage *stage)
{
    esi_filter_destroy(stage->state);
}

/* Its child, if it has one, gets what the filter gets. */
static int pull_child(struct es_stage *stage,
                      const struct es_pull *pull,
                      struct es_batch *batch)
{
    return stage->child_count ? es_stage_pull(stage->children[0], pull, batch) : 0;
}

static int pull_filter(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    const struct es_stage_context *context = stage->context;
    struct esi_filter_event event = {.realtime_ns = pull->realtime_ns,
                                     .context = context};
    size_t kept = batch->count;
    size_t first = batch->count;
    int result = pull_child(stage, pull, batch);

    if (result < 0)
        return result;
    for (size_t i = first; i < batch->count; i++) {
        event.tuple = &batch->tuples[i];
        event.origin_index = batch->marks[i].origin;
        event.origin = &context->origins->items[event.origin_index];
        if (esi_filter_matches(stage->state, &event))
            es_batch_move(batch, kept++, i);
    }
    batch->count = kept;
    return 0;
}

const struct es_stage_ops esi_stage_filter = {
    .name = "filter",
    .help = "passes on the tuples for which a condition holds",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .max_children = 1,
    .check = check_filter,
    .open = open_filter,
    .pull = pull_filter,
    .ask = esi_stage_ask_child,
    .close = close_filter,
};
