/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_rewrite.c - the engine "rewrite": rewritten patterns are searched by
 * backtracking over single events (Nichols, chapters 5 and 6). */
#include "config.h"

#include "monitors/search/thesis/engine_rewrite_private.h"

static int search_clauses(const struct esi_engine_task *task, struct es_error *error)
{
    struct esi_search_statistics *statistics = task->statistics;
    struct esi_plans plans;
    int result = esi_plans_create(task, &plans, error);

    if (result)
        return result;
    result = esi_plans_search(&plans);
    for (uint32_t s = 0; s < plans.count; s++)
        statistics->pattern_size += plans.items[s].cnf->size;
    statistics->comparisons += plans.choice.precedence.comparisons;
    statistics->unknown += plans.choice.precedence.unknown;
    if (plans.choice.bytes > statistics->bytes)
        statistics->bytes = plans.choice.bytes;
    esi_plans_destroy(&plans);
    return result;
}

const struct esi_engine_ops esi_engine_rewrite = {
    .name = "rewrite",
    .help = "rewritten patterns: relations of single events, searched by backtracking",
    .search = search_clauses,
    .explain = esi_rewrite_explain,
};
