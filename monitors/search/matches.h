/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * From assignments to matches: events that are returned, each set of them once (D9,
 * D10), and counts.
 *
 * Matches that were given are remembered to know them again, at 8 bytes for each event
 * of each and some 16 more, unless the program can give none twice, which is found out
 * when there is a second one; assignments in the same way.
 */
#ifndef ES_MONITORS_SEARCH_MATCHES_H
#define ES_MONITORS_SEARCH_MATCHES_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/search/domains/domain.h"
#include "monitors/search/language/program.h"

/* Where matches go: distinct sets, events sorted by trace and index.  A negative result
 * (-errno) ends the search; so does 1. */
struct esi_match_sink {
    int (*match)(void *data, const struct es_event_id *events, size_t count);
    void *data;
};

struct esi_matches;

/* `limit`: so many distinct matches are enough; 0 = all.  The program and the domains
 * (of its variables) are borrowed.  0 or -ENOMEM. */
int esi_matches_create(const struct esi_program *program,
                       const struct esi_domain *const *domains,
                       const struct esi_match_sink *sink,
                       uint64_t limit,
                       struct esi_matches **ret_matches);
/* Accepts NULL. */
void esi_matches_destroy(struct esi_matches *matches);

/* An assignment that matches; `values` are indexed by variable, those of `variables`
 * (bits, of a support) are bound.  To be given once: what need not be remembered is
 * concluded from it.  0: go on; 1: enough; -errno.  One thread at a time. */
int esi_matches_add(struct esi_matches *matches,
                    uint64_t variables,
                    const struct esi_domain_value *values);

/* The same of an assignment that stands for itself and for others, which it is told
 * instead of: `times` in all, whose tuples are distinct and are those of no other
 * assignment that is added.  They return the same events. */
int esi_matches_add_times(struct esi_matches *matches,
                          uint64_t variables,
                          const struct esi_domain_value *values,
                          uint64_t times);

uint64_t esi_matches_count(const struct esi_matches *matches);
/* Distinct tuples of values of the returned occurrences (D10). */
uint64_t esi_matches_assignments(const struct esi_matches *matches);
uint64_t esi_matches_bytes(const struct esi_matches *matches);

/* --- Matches that are kept to be sorted ------------------------------------------- */

/* Caller's memory, all zeros at first; its fields are private. */
struct esi_match_list {
    struct es_event_id *events; /* of all matches, one after the other */
    size_t event_count;
    size_t event_capacity;
    size_t *ends; /* where each match ends */
    size_t count;
    size_t capacity;
};

/* Copies the match.  0 or -ENOMEM. */
int esi_match_list_add(struct esi_match_list *list,
                       const struct es_event_id *events,
                       size_t count);
/* Gives all to a sink, by the first event that differs; what begins another comes
 * before it.  0; -ENOMEM; what the sink said. */
int esi_match_list_sorted(const struct esi_match_list *list,
                          const struct esi_match_sink *sink);
void esi_match_list_fini(struct esi_match_list *list);

#endif
