/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collector.c - describes the event collector: the stage that records.
 *
 * A collector stands on the writing side: the program's operations pass it, nothing is
 * pulled from it.  Its hot path is compiled into the interposition library and never
 * goes through a table; the row here gives it its place in the registry, and its
 * properties their schema.
 */
#include "config.h"

#include "wrappers/stages/stage.h"

static const char *const on_full[] = {"discard", "block", NULL};
static const char *const split[] = {"none", "peer", "communicator", "both", NULL};

static const struct es_property_schema properties[] = {
    {.name = "name",
     .type = ES_PROPERTY_TEXT,
     .minimum = 1,
     .maximum = 31,
     .help = "name of the collector, part of its elements' names"},
    {.name = "classes",
     .type = ES_PROPERTY_TEXT,
     .fallback = "",
     .maximum = 255,
     .help = "operation classes recorded, with commas between; empty = all"},
    {.name = "ranks",
     .type = ES_PROPERTY_TEXT,
     .fallback = "*",
     .maximum = 4095,
     .help = "ranks that have it, such as 0-3,7"},
    {.name = "communicator",
     .type = ES_PROPERTY_TEXT,
     .fallback = "*",
     .maximum = 63,
     .help = "pattern of the names of the communicators recorded"},
    {.name = "split",
     .type = ES_PROPERTY_CHOICE,
     .fallback = "none",
     .choices = split,
     .help = "what has elements of its own within a thread"},
    {.name = "threshold",
     .type = ES_PROPERTY_INTEGER,
     .fallback = "4095",
     .minimum = 1,
     .maximum = 1 << 24,
     .help = "tuples kept before the oldest are discarded"},
    {.name = "full",
     .type = ES_PROPERTY_CHOICE,
     .fallback = "discard",
     .choices = on_full,
     .help = "what happens then: the oldest tuple goes, or the program waits"},
    {.name = "enabled",
     .type = ES_PROPERTY_BOOLEAN,
     .fallback = "yes",
     .help = "whether it records from the start"},
    {.name = "polls",
     .type = ES_PROPERTY_BOOLEAN,
     .fallback = "no",
     .help = "whether polls that find nothing are recorded too"},
};

const struct es_stage_ops esi_stage_collector = {
    .name = "collector",
    .help = "records the operations that pass as tuples of an element",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
};
