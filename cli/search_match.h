/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * search_match.h - how a match is printed.
 *
 *   {"match": [[trace, index], ...]}
 *   NAME:INDEX TYPE, ...
 *
 * Of several predicates with "pattern", or PATTERN: before it.  Of events of runs with
 * "events", what they say, or a line more for each.
 */
#ifndef ES_CLI_SEARCH_MATCH_H
#define ES_CLI_SEARCH_MATCH_H

#include <stddef.h>

#include "cli/search_print.h"

/* Sorted events, maybe none. */
struct esi_search_match {
    const struct es_event_id *events;
    size_t count;
};

/* 0 or -ENOMEM. */
int esi_search_match_print(const struct esi_search_print *print,
                           const struct esi_search_match *match);

#endif
