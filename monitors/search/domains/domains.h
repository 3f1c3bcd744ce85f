/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Sorts the events of a stream into the classes of a pattern file in one pass.  Only
 * events of some class are kept, with only the data that the patterns use.
 *
 *   esi_domains_create(file, is_predicate_needed, NULL, &domains, &error);
 *   stream events into esi_domains_sink(domains);       and into the order's sink
 *   esi_domains_finish(domains);
 *   esi_domains_class(domains, class_number);
 *   esi_domains_destroy(domains);
 *
 * One thread fills the domains.  An event joins a class with a partner (D12) when the
 * partner is known: a send when its receive arrives, a sync with its other half.
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

/* Callbacks about kept events.  Each function may be NULL; a negative result ends the
 * stream. */
struct esi_domains_listener {
    /* An event has joined a class (live search); it is already in the domain. */
    int (*joined)(void *data, uint32_t class_number, struct es_event_id id);
    /* An event is in a class or may join one when its partner arrives.  No other events
     * can be in a match.  Called once per event, as it passes. */
    int (*kept)(void *data, const struct es_set_event *event);
    void *data;
};

/* `file` is borrowed.  Only classes that the needed predicates reach are kept; the
 * flags are those of esi_pattern_reach(), NULL means all.  `listener` may be NULL.
 * Returns 0, -EINVAL with a message (the parser has already rejected invalid regular
 * expressions), or -ENOMEM. */
int esi_domains_create(const struct es_pattern_file *file,
                       const bool *is_predicate_needed,
                       const struct esi_domains_listener *listener,
                       struct esi_domains **ret_domains,
                       struct es_error *error);
/* Accepts NULL. */
void esi_domains_destroy(struct esi_domains *domains);

/* The sink for an ordered stream (event.h). */
struct es_set_sink esi_domains_sink(struct esi_domains *domains);
/* Call after a complete stream: sorts the traces; then the sink accepts no more events
 * (-EINVAL).  Returns 0 or -ENOMEM. */
int esi_domains_finish(struct esi_domains *domains);

/* The events of a class.  NULL if no occurrence uses the class (it may only be used
 * after a dot). */
const struct esi_domain *esi_domains_class(const struct esi_domains *domains,
                                           uint32_t class_number);

/* Whether the patterns use attributes; otherwise the stream need not provide them. */
bool esi_domains_need_attributes(const struct esi_domains *domains);

const char *esi_domains_trace_name(const struct esi_domains *domains, uint32_t trace);

/* Drops the events of one class before `index` on a trace.  For live search. */
void esi_domains_drop(struct esi_domains *domains,
                      uint32_t class_number,
                      uint32_t trace,
                      uint32_t index);

/* Whether events may join late, because a needed class has a partner. */
bool esi_domains_have_partners(const struct esi_domains *domains);

/* Forgets the state of events before `index` on a trace that may still get a partner
 * (D12).  A later partner then has no effect.  For live search. */
void esi_domains_forget(struct esi_domains *domains, uint32_t trace, uint32_t index);

/* How often a forgotten event received a partner that could have made either of them
 * join a class. */
uint64_t esi_domains_missed(const struct esi_domains *domains);

/* Whether some event is in both of two classes without partners. */
bool esi_domains_have_met(const struct esi_domains *domains, uint32_t a, uint32_t b);

/* A number that changes when two classes share their first event, and after the first
 * sync of a class. */
uint64_t esi_domains_meetings(const struct esi_domains *domains);

/* Memory used, in bytes. */
uint64_t esi_domains_bytes(const struct esi_domains *domains);

#endif
