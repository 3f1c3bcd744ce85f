/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collector.c - describes the event collector: the stage that records.
 *
 * A collector stands on the writing side: the program's operations pass it, nothing is
 * pulled from it.  Its hot path is compiled into the interposition library and never
 * goes through a table; the row here gives it its place in the registry.  Its fields
 * are those of pathmaps and plans: tuplespace/plan/plan.c.
 */
#include "config.h"

#include "wrappers/stages/stage.h"

const struct es_stage_ops esi_stage_collector = {
    .name = "collector",
    .help = "records the operations that pass as tuples of an element",
};
