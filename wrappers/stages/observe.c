/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* observe.c - a collector for stages: records each pull that passes.
 *
 * What it records lies in an element of this process, so that a second consumer
 * observes the first one's tree as both observe the program.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tuplespace/operation_codes.h"
#include "wrappers/stages/monitor_segment.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_NAME, PROPERTY_RUN, PROPERTY_THRESHOLD };
static const struct es_property_schema properties[] = {
    [PROPERTY_NAME] = {.name = "name",
                       .type = ES_PROPERTY_TEXT,
                       .fallback = "scope",
                       .minimum = 1,
                       .maximum = 31,
                       .help = "name of the scope, part of the element's name"},
    [PROPERTY_RUN] = {.name = "run",
                      .type = ES_PROPERTY_TEXT,
                      .fallback = "",
                      .maximum = 63,
                      .help = "run that the element belongs to; empty = the one that "
                              "is observed"},
    [PROPERTY_THRESHOLD] = {.name = "threshold",
                            .type = ES_PROPERTY_INTEGER,
                            .fallback = "4095",
                            .minimum = 15,
                            .maximum = 1 << 20,
                            .help = "pulls kept before the oldest are discarded"},
};

struct observe {
    struct esi_monitor_element *element; /* owned */
    enum es_clock_kind clock;
    uint32_t count; /* pulls that passed */
};

static int open_observe(struct es_stage *stage,
                        const struct es_property_value *values,
                        struct es_error *error)
{
    const char *run = values[PROPERTY_RUN].text;
    struct observe *observe;
    char name[64];
    int result;

    if (!*run && stage->context && stage->context->run)
        run = stage->context->run;
    if (!*run)
        return es_error_set(error, -EINVAL,
                            "observe: say \"run\": it is not known here");
    observe = calloc(1, sizeof *observe);
    if (!observe)
        return -ENOMEM;
    snprintf(name, sizeof name, "scope/%.20s/%.29s", values[PROPERTY_NAME].text,
             *stage->label ? stage->label : stage->children[0]->label);
    result = esi_monitor_element_open(run, name,
                                      (uint32_t)values[PROPERTY_THRESHOLD].integer,
                                      error, &observe->element);
    if (result < 0) {
        free(observe);
        return result;
    }
    observe->clock = es_clock_kind();
    stage->state = observe;
    return 0;
}

static void close_observe(struct es_stage *stage)
{
    struct observe *observe = stage->state;

    esi_monitor_element_close(observe->element);
    free(observe);
}

static int pull_observe(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    struct observe *observe = stage->state;
    struct esi_writer *writer = esi_monitor_element_writer(observe->element);
    struct es_tuple tuple = {.operation = ES_OP_EventSpace_pull,
                             .communicator = ES_COMMUNICATOR_NONE,
                             .start = es_clock_ticks_of(observe->clock),
                             .sequence = ++observe->count,
                             .peer = ES_PEER_NONE};
    size_t first = batch->count;
    int result;

    esi_writer_open(writer, &tuple);
    result = es_stage_pull(stage->children[0], pull, batch);
    tuple.stop = es_clock_ticks_of(observe->clock);
    tuple.tag = -result;
    tuple.bytes = (uint32_t)(batch->count - first);
    esi_writer_write(writer, &tuple);
    return result;
}

const struct es_stage_ops esi_stage_observe = {
    .name = "observe",
    .help = "records each pull that passes as a tuple of an element",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_observe,
    .pull = pull_observe,
    .ask = esi_stage_ask_child,
    .close = close_observe,
};
