/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_show.h - what a search took, for people and programs. */
#ifndef ES_CLI_SEARCH_SHOW_H
#define ES_CLI_SEARCH_SHOW_H

#include "cli/search_events.h"
#include "monitors/search/live/live.h"

/* After the predicate's name if several are searched. */
void esi_search_show_count(const struct esi_search_file *file,
                           uint32_t predicate,
                           uint64_t matches,
                           bool is_complete,
                           enum esi_format format);

void esi_search_show(const char *pattern,
                     const struct esi_search_options *given,
                     const struct esi_search_events *events,
                     const struct esi_search_statistics *statistics);

/* Of one of several that were searched while events came. */
void esi_search_show_live_predicate(
    const char *pattern,
    const struct esi_live_predicate_statistics *statistics,
    enum esi_format format);

/* Of all predicates together, while events came. */
void esi_search_show_live(const struct es_order *order,
                          const struct esi_live_statistics *statistics,
                          const struct esi_set_source_facts *facts,
                          uint64_t time_ns,
                          enum esi_format format);

#endif
