/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* convert.c - converts tuples to another byte order, or their times to the common
 * clock.
 *
 * It is above the stages that read tuples: these assume native byte order, and ticks of
 * the origin's clock. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "eventspace/summary.h"
#include "tuplespace/byte_order.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_ORDER, PROPERTY_TIME };

static const char *const orders[] = {"native", "little", "big", NULL};
static const char *const times[] = {"ticks", "global", NULL};

static const struct es_property_schema properties[] = {
    [PROPERTY_ORDER] = {.name = "order",
                        .type = ES_PROPERTY_CHOICE,
                        .fallback = "native",
                        .choices = orders,
                        .help = "byte order of the tuples' fields"},
    [PROPERTY_TIME] = {.name = "time",
                       .type = ES_PROPERTY_CHOICE,
                       .fallback = "ticks",
                       .choices = times,
                       .help = "ticks of the origin's clock, or ns since 1970"},
};

struct convert {
    bool swaps;
    bool is_global;
};

static int open_convert(struct es_stage *stage,
                        const struct es_property_value *values,
                        struct es_error *error)
{
    struct convert *convert = calloc(1, sizeof *convert);
    int foreign = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 2 : 1;

    (void)error;
    if (!convert)
        return -ENOMEM;
    convert->swaps = values[PROPERTY_ORDER].integer == foreign;
    convert->is_global = values[PROPERTY_TIME].integer == 1;
    stage->state = convert;
    return 0;
}

static void close_convert(struct es_stage *stage)
{
    free(stage->state);
}

/* Operations under way keep stop = 0. */
static void make_global(const struct es_stage *stage,
                        struct es_tuple *tuple,
                        uint32_t origin)
{
    tuple->start = esi_realtime_ns(stage, origin, tuple->start);
    if (tuple->stop)
        tuple->stop = esi_realtime_ns(stage, origin, tuple->stop);
}

static int pull_convert(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    const struct convert *convert = stage->state;
    size_t first = batch->count;
    int result = es_stage_pull(stage->children[0], pull, batch);

    if (result < 0)
        return result;
    for (size_t i = first; i < batch->count; i++) {
        if (convert->is_global && !es_mark_is_summary(&batch->marks[i]))
            make_global(stage, &batch->tuples[i], batch->marks[i].origin);
        if (convert->swaps)
            esi_byte_order_swap_tuples(&batch->tuples[i], 1);
    }
    return 0;
}

const struct es_stage_ops esi_stage_convert = {
    .name = "convert",
    .help = "converts tuples to another byte order, or to global times",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_convert,
    .pull = pull_convert,
    .ask = esi_stage_ask_child,
    .close = close_convert,
};
