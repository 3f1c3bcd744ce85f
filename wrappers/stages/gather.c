/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* gather.c - passes on what all children give. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "wrappers/stages/fan.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_MODE };
static const struct es_property_schema properties[] = {[PROPERTY_MODE] = ESI_FAN_MODE};

static int open_gather(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    struct esi_fan *fan = calloc(1, sizeof *fan);

    (void)error;
    if (!fan)
        return -ENOMEM;
    fan->sequential = values[PROPERTY_MODE].integer != 0;
    stage->state = fan;
    return 0;
}

static void close_gather(struct es_stage *stage)
{
    free(stage->state);
}

static int pull_gather(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    return esi_fan_pull(stage, stage->state, pull, batch);
}

static void ask_gather(struct es_stage *stage, const struct es_pull *pull)
{
    esi_fan_ask(stage, stage->state, pull);
}

const struct es_stage_ops esi_stage_gather = {
    .name = "gather",
    .help = "passes on what all children give",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .max_children = SIZE_MAX,
    .open = open_gather,
    .pull = pull_gather,
    .ask = ask_gather,
    .close = close_gather,
};
