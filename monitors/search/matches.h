/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Turns assignments into matches: each match is the set of returned events, reported
 * once (D9, D10), and counted.
 *
 * Reported matches are remembered to recognize duplicates, in 8 bytes per event and
 * about 16 bytes per match.  They are not remembered if the program is known never to
 * produce duplicates, which is checked when the second match is added.  The same
 * applies to assignments.
 */
#ifndef ES_MONITORS_SEARCH_MATCHES_H
#define ES_MONITORS_SEARCH_MATCHES_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/search/domains/domain.h"
#include "monitors/search/language/program.h"

/* Receives matches: distinct sets of events, sorted by trace and index.  A negative
 * result (-errno) or 1 ends the search. */
struct esi_match_sink {
    int (*match)(void *data, const struct es_event_id *events, size_t count);
    void *data;
};

struct esi_matches;

/* The search needs at most `limit` distinct matches; 0 = all.  The program and the
 * domains (by variable) are borrowed.  Returns 0 or -ENOMEM. */
int esi_matches_create(const struct esi_program *program,
                       const struct esi_domain *const *domains,
                       const struct esi_match_sink *sink,
                       uint64_t limit,
                       struct esi_matches **ret_matches);
/* Accepts NULL. */
void esi_matches_destroy(struct esi_matches *matches);

/* Adds an assignment that matches.  `values` is indexed by variable; the variables in
 * the bit set `variables` (those of a disjunct) are bound.  Each assignment must be
 * added only once, because the proof that duplicates are impossible relies on it.
 * Returns 0 to go on, 1 if there are enough matches, or -errno.  One thread at a
 * time. */
int esi_matches_add(struct esi_matches *matches,
                    uint64_t variables,
                    const struct esi_domain_value *values);

/* Like esi_matches_add(), for one assignment that represents `times` assignments with
 * the same returned events.  Their tuples must be distinct from each other and from
 * those of all other assignments added. */
int esi_matches_add_times(struct esi_matches *matches,
                          uint64_t variables,
                          const struct esi_domain_value *values,
                          uint64_t times);

uint64_t esi_matches_count(const struct esi_matches *matches);
/* Distinct tuples of values of the returned occurrences (D10). */
uint64_t esi_matches_assignments(const struct esi_matches *matches);
uint64_t esi_matches_bytes(const struct esi_matches *matches);

/* --- Lists of matches, to be sorted ----------------------------------------------- */

/* Memory of the caller, zeroed at first.  The fields are private. */
struct esi_match_list {
    struct es_event_id *events; /* of all matches, concatenated */
    size_t event_count;
    size_t event_capacity;
    size_t *ends; /* where each match ends in `events` */
    size_t count;
    size_t capacity;
};

/* Copies the match into the list.  Returns 0 or -ENOMEM. */
int esi_match_list_add(struct esi_match_list *list,
                       const struct es_event_id *events,
                       size_t count);
/* Passes all matches to a sink in lexicographic order of their events.  Returns 0,
 * -ENOMEM, or the result of the sink. */
int esi_match_list_sorted(const struct esi_match_list *list,
                          const struct esi_match_sink *sink);
void esi_match_list_fini(struct esi_match_list *list);

#endif
