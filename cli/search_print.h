/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * search_print.h - the matches of a predicate, as they are found or sorted.
 *
 *   {"match": [[trace, index], ...]}
 *   NAME:INDEX TYPE, ...
 *
 * Of several predicates with "pattern", or PATTERN: before it.  Of events of runs with
 * "events", what they say, or a line more for each.
 */
#ifndef ES_CLI_SEARCH_PRINT_H
#define ES_CLI_SEARCH_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"
#include "cli/search_sum.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/domains/event_details.h"
#include "monitors/search/matches.h"

/* Zeros but for the first ones. */
struct esi_search_print {
    const struct es_pattern_file *file;
    const struct esi_domains *domains;
    struct esi_details *details; /* NULL: events are shown without */
    const char *pattern;         /* told with each match; NULL: there is only one */
    enum esi_format format;
    bool is_silent; /* matches are counted only */
    /* Matches are summed as those of `name`; NULL: they are not.  Borrowed. */
    struct esi_search_sum *sum;
    const char *name;
    bool is_sorted; /* printed by esi_search_print_end(), sorted */
    uint64_t limit; /* after so many there is enough; 0 = all */
    struct esi_search_progress *progress; /* is told of matches; may be NULL */
    uint64_t flushed_ns;
    uint64_t taken;               /* matches */
    struct esi_match_list sorted; /* to be, owned */
};

struct esi_match_sink esi_search_print_sink(struct esi_search_print *print);
/* Prints what was kept.  0 or -ENOMEM. */
int esi_search_print_end(struct esi_search_print *print);
void esi_search_print_fini(struct esi_search_print *print);

/* A line on a terminal that the search goes on, and how many matches it has found.
 * NULL where there is no terminal to show it on, or no thread to do so. */
struct esi_search_progress *esi_search_progress_start(const char *pattern);
/* Takes the line away, and ends.  Accepts NULL. */
void esi_search_progress_stop(struct esi_search_progress *progress);

#endif
