/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Sorts the events of a stream into the classes of a pattern file, once, as they pass:
 * only events of some class are kept, and of these only what the patterns ask for.
 *
 *   es_domains_create(file, is_predicate_needed, NULL, &domains, &error);
 *   stream events into es_domains_sink(domains);       and into the order's sink
 *   es_domains_finish(domains);
 *   es_domains_class(domains, class_number);
 *   es_domains_destroy(domains);
 *
 * One thread fills.  An event that has a class with a partner (D12) joins it when the
 * partner is known: a send when its receive comes, a sync with its other half.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_DOMAINS_H
#define ES_MONITORS_SEARCH_DOMAINS_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/eventset/event.h"
#include "monitors/search/domains/domain.h"
#include "monitors/search/language/pattern.h"

struct es_domains;

/* Told of each event as it joins a class (live search): after it is in the domain.  A
 * negative result ends the stream. */
struct es_domains_listener {
    int (*joined)(void *data, uint32_t class_number, struct es_event_id id);
    void *data;
};

/* `file` is borrowed.  Only classes that the needed predicates reach are kept; flags as
 * es_pattern_reach() sets them, NULL = all.  `listener` may be NULL.  -EINVAL with
 * words (a regular expression that is none is found by the parser already), -ENOMEM. */
int es_domains_create(const struct es_pattern_file *file,
                      const bool *is_predicate_needed,
                      const struct es_domains_listener *listener,
                      struct es_domains **ret_domains,
                      struct es_error *error);
/* Accepts NULL. */
void es_domains_destroy(struct es_domains *domains);

/* An ordered stream (event.h). */
struct es_set_sink es_domains_sink(struct es_domains *domains);
/* After a stream that is complete: traces are sorted.  0 or -ENOMEM. */
int es_domains_finish(struct es_domains *domains);

/* The events of a class; NULL: no occurrence takes its events (it may stand behind a
 * dot). */
const struct es_domain *es_domains_class(const struct es_domains *domains,
                                         uint32_t class_number);

/* Whether the patterns ask for any attribute: else the stream need not have them. */
bool es_domains_need_attributes(const struct es_domains *domains);

const char *es_domains_trace_name(const struct es_domains *domains, uint32_t trace);

/* Drops what is before `index` on a trace, of one class.  For live search. */
void es_domains_drop(struct es_domains *domains,
                     uint32_t class_number,
                     uint32_t trace,
                     uint32_t index);

/* Whether events may join late, as a class that is needed has a partner. */
bool es_domains_have_partners(const struct es_domains *domains);

/* Forgets, of the events before `index` on a trace, what is kept for the case that they
 * get a partner still (D12): then they join nothing for it.  For live search. */
void es_domains_forget(struct es_domains *domains, uint32_t trace, uint32_t index);

/* How often an event that was forgotten so got a partner that it, or the partner, might
 * have joined a class for. */
uint64_t es_domains_missed(const struct es_domains *domains);

/* Bytes that are held. */
uint64_t es_domains_bytes(const struct es_domains *domains);

#endif
