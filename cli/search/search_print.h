/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * search_print.h - prints the matches of a predicate, at once or sorted.
 *
 *   {"match": [[trace, index], ...]}
 *   NAME:INDEX TYPE, ...
 *
 * If there are several predicates, with "pattern", or PATTERN: before it.  For events
 * of runs, with their details in "events", or on one more line each.
 */
#ifndef ES_CLI_SEARCH_PRINT_H
#define ES_CLI_SEARCH_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"
#include "cli/search/search_sum.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/domains/event_details.h"
#include "monitors/search/matches.h"

/* Initially all zero except the first members. */
struct esi_search_print {
    const struct es_pattern_file *file;
    const struct esi_domains *domains;
    struct esi_details *details; /* NULL: events are shown without details */
    const char *pattern;         /* shown with each match; NULL: there is only one */
    enum esi_format format;
    bool is_silent; /* only count matches */
    /* Adds matches to these sums under `name`; NULL: not summed.  Borrowed. */
    struct esi_search_sum *sum;
    const char *name;
    bool is_sorted; /* printed by esi_search_print_end(), sorted */
    uint64_t limit; /* number of matches after which to stop; 0 = all */
    struct esi_search_progress *progress; /* is updated with matches; may be NULL */
    uint64_t flushed_ns;
    uint64_t taken;               /* number of matches */
    struct esi_match_list sorted; /* matches to sort; owned */
};

struct esi_match_sink esi_search_print_sink(struct esi_search_print *print);
/* Prints the matches to be sorted.  Returns 0 or -ENOMEM. */
int esi_search_print_end(struct esi_search_print *print);
void esi_search_print_fini(struct esi_search_print *print);

/* Shows on a terminal that the search is running, and its number of matches.  NULL if
 * there is no terminal or the thread cannot be started. */
struct esi_search_progress *esi_search_progress_start(const char *pattern);
/* Removes the display and frees it.  Accepts NULL. */
void esi_search_progress_stop(struct esi_search_progress *progress);

#endif
