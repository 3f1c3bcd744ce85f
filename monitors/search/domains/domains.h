/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Sorts the events of a stream into the classes of a pattern file, once, as they pass:
 * only events of some class are kept, and of these only what the patterns ask for.
 *
 *   esi_domains_create(file, is_predicate_needed, NULL, &domains, &error);
 *   stream events into esi_domains_sink(domains);       and into the order's sink
 *   esi_domains_finish(domains);
 *   esi_domains_class(domains, class_number);
 *   esi_domains_destroy(domains);
 *
 * One thread fills.  An event that has a class with a partner (D12) joins it when the
 * partner is known: a send when its receive comes, a sync with its other half.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_DOMAINS_H
#define ES_MONITORS_SEARCH_DOMAINS_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "monitors/search/domains/domain.h"
#include "monitors/search/language/pattern.h"

struct esi_domains;

/* Who wants to know what is kept.  Each function may be NULL; a negative result ends
 * the stream. */
struct esi_domains_listener {
    /* An event joins a class (live search); it is in the domain already. */
    int (*joined)(void *data, uint32_t class_number, struct es_event_id id);
    /* An event is in a class, or comes to be in one when its partner comes: no other
     * can be in a match.  Called once for each such event, as it passes. */
    int (*kept)(void *data, const struct es_set_event *event);
    void *data;
};

/* `file` is borrowed.  Only classes that the needed predicates reach are kept; flags as
 * esi_pattern_reach() sets them, NULL = all.  `listener` may be NULL.  -EINVAL with
 * words (a regular expression that is none is found by the parser already), -ENOMEM. */
int esi_domains_create(const struct es_pattern_file *file,
                       const bool *is_predicate_needed,
                       const struct esi_domains_listener *listener,
                       struct esi_domains **ret_domains,
                       struct es_error *error);
/* Accepts NULL. */
void esi_domains_destroy(struct esi_domains *domains);

/* An ordered stream (event.h). */
struct es_set_sink esi_domains_sink(struct esi_domains *domains);
/* After a stream that is complete: traces are sorted, and the sink takes no more
 * (-EINVAL).  0 or -ENOMEM. */
int esi_domains_finish(struct esi_domains *domains);

/* The events of a class; NULL: no occurrence takes its events (it may stand behind a
 * dot). */
const struct esi_domain *esi_domains_class(const struct esi_domains *domains,
                                           uint32_t class_number);

/* Whether the patterns ask for any attribute: else the stream need not have them. */
bool esi_domains_need_attributes(const struct esi_domains *domains);

const char *esi_domains_trace_name(const struct esi_domains *domains, uint32_t trace);

/* Drops what is before `index` on a trace, of one class.  For live search. */
void esi_domains_drop(struct esi_domains *domains,
                      uint32_t class_number,
                      uint32_t trace,
                      uint32_t index);

/* Whether events may join late, as a class that is needed has a partner. */
bool esi_domains_have_partners(const struct esi_domains *domains);

/* Forgets, of the events before `index` on a trace, what is kept for the case that they
 * get a partner still (D12): then they join nothing for it.  For live search. */
void esi_domains_forget(struct esi_domains *domains, uint32_t trace, uint32_t index);

/* How often an event that was forgotten so got a partner that it, or the partner, might
 * have joined a class for. */
uint64_t esi_domains_missed(const struct esi_domains *domains);

/* Whether some event has joined both of two classes that have no partners. */
bool esi_domains_have_met(const struct esi_domains *domains, uint32_t a, uint32_t b);

/* Another number after two classes have met, and after the first sync of a class. */
uint64_t esi_domains_meetings(const struct esi_domains *domains);

/* Bytes that are held. */
uint64_t esi_domains_bytes(const struct esi_domains *domains);

#endif
