/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * search_sum.h - matches counted by whom their events are of.
 *
 * A match counts once for each rank that has events in it, for each two such ranks, or
 * for each communicator that its events are on.  Where it has none of these it counts
 * as of none; of one rank alone it counts as of that rank with none.
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

/* Of all predicates; caller's memory, zeroed but for `by`.  Its other fields are
 * private. */
struct esi_search_sum {
    enum esi_search_by by;
    struct esi_hash hash;
    struct esi_search_count *items; /* owned; as many as `hash` has */
    size_t room;
};

/* Counts a match of a predicate, whose events `details` knows.  The pattern's name and
 * the details are borrowed until the end.  0 or -ENOMEM. */
int esi_search_sum_add(struct esi_search_sum *sum,
                       const char *pattern,
                       const struct esi_details *details,
                       const struct es_event_id *events,
                       size_t count);
/* Prints a table, or JSON Lines: the predicates in their order, the most matches first.
 * 0, or the exit status after the message. */
int esi_search_sum_show(struct esi_search_sum *sum, enum esi_format format);
void esi_search_sum_fini(struct esi_search_sum *sum);

#endif
