/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * search_sum.h - counts matches by the ranks or communicators of their events.
 *
 * A match counts once for each rank with events in it, for each pair of such ranks, or
 * for each communicator of its events.  A match without any of these counts under
 * "none"; by pair, a match of a single rank counts as that rank with none.
 */
#ifndef ES_CLI_SEARCH_SUM_H
#define ES_CLI_SEARCH_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "cli/command.h"
#include "eventspace/event.h"
#include "monitors/search/domains/event_details.h"

enum esi_search_by {
    ES_SEARCH_BY_NOTHING,
    ES_SEARCH_BY_RANK,
    ES_SEARCH_BY_PAIR,
    ES_SEARCH_BY_COMMUNICATOR,
};

struct esi_search_count;

/* Covers all predicates; caller's memory, all zero except `by`. The other members are
 * private. */
struct esi_search_sum {
    enum esi_search_by by;
    struct esi_hash hash;
    struct esi_search_count *items; /* owned; as many as in `hash` */
    size_t room;
};

/* Counts a match of a predicate, whose events are in `details`. The pattern's name and
 * the details are borrowed until the end.  Returns 0 or -ENOMEM. */
int esi_search_sum_add(struct esi_search_sum *sum,
                       const char *pattern,
                       const struct esi_details *details,
                       const struct es_event_id *events,
                       size_t count);
/* Prints a table or JSON Lines: predicates in order, most matches first.  Returns 0, or
 * the exit status after a message. */
int esi_search_sum_show(struct esi_search_sum *sum, enum esi_format format);
void esi_search_sum_fini(struct esi_search_sum *sum);

#endif
