/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_engine.h - searches with an engine passed as a parameter, for tests. */
#ifndef ES_MONITORS_SEARCH_SEARCH_ENGINE_H
#define ES_MONITORS_SEARCH_SEARCH_ENGINE_H

#include "monitors/search/engine.h"
#include "monitors/search/search.h"

struct esi_search_task {
    const struct es_pattern_file *file;
    uint32_t predicate;
    const struct esi_domains *domains;
    const struct es_order *order;
    const struct esi_search_config *config;
};

/* Like esi_search_run() and esi_search_explain(), but ignore the engine in the
 * config. */
int esi_search_run_by(const struct esi_engine_ops *engine,
                      const struct esi_search_task *task,
                      const struct esi_match_sink *sink,
                      struct esi_search_statistics *ret_statistics,
                      struct es_error *error);
int esi_search_explain_by(const struct esi_engine_ops *engine,
                          const struct esi_search_task *task,
                          FILE *out,
                          struct es_error *error);

#endif
