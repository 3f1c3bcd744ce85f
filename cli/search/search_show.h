/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_show.h - prints the statistics of a search. */
#ifndef ES_CLI_SEARCH_SHOW_H
#define ES_CLI_SEARCH_SHOW_H

#include <stdint.h>

#include "cli/search/search_file.h"
#include "cli/search/search_options.h"
#include "monitors/order/order.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/domains/event_details.h"
#include "monitors/search/live/live.h"

/* The events to search; owned. */
struct esi_search_events {
    struct es_order *order;
    struct esi_domains *domains;
    struct esi_details *details;        /* NULL: no details are shown */
    struct esi_vocabulary_check *words; /* NULL: the words are known to be valid */
    struct esi_set_source_facts facts;
    uint64_t read_ns;
};

/* Prints the number of matches, after the predicate's name if several are searched. */
void esi_search_show_count(const struct esi_search_file *file,
                           uint32_t predicate,
                           uint64_t matches,
                           bool is_complete,
                           enum esi_format format);

void esi_search_show(const char *pattern,
                     const struct esi_search_options *given,
                     const struct esi_search_events *events,
                     const struct esi_search_statistics *statistics);

/* For one of several predicates of a live search. */
void esi_search_show_live_predicate(
    const char *pattern,
    const struct esi_live_predicate_statistics *statistics,
    enum esi_format format);

/* For all predicates of a live search together. */
void esi_search_show_live(const struct es_order *order,
                          const struct esi_live_statistics *statistics,
                          const struct esi_set_source_facts *facts,
                          uint64_t time_ns,
                          enum esi_format format);

/* The predicates that were searched completely without a match: reported, since silence
 * is ambiguous. */
struct esi_search_without {
    uint32_t count;
    const char *names[4]; /* of the first ones; borrowed */
};
void esi_search_without_add(struct esi_search_without *without, const char *name);
/* Prints "no match of LostMessage, Overtaking in 1606 events" on standard error. */
void esi_search_without_tell(const struct esi_search_without *without,
                             const struct esi_search_options *given,
                             const struct es_order *order);

#endif
