/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_threads.h - the supports of a search by ranges, each searched by several
 * threads. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_THREADS_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_THREADS_H

#include <stdint.h>

#include "monitors/search/engine.h"
#include "monitors/search/indexed/indexed_plan.h"

/* The plans of the supports of a task. */
struct esi_indexed_plans {
    const struct esi_engine_task *task;
    struct esi_indexed_plan **items; /* owned: [support] */
};

/* Searches one support with as many threads as are asked for.  As esi_engine_ops. */
int esi_indexed_threads_search(const struct esi_indexed_plans *plans, uint32_t support);

#endif
