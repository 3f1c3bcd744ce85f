/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Searches predicates while their events arrive: a match is told as soon as it is
 * decided (docs/live-patterns.md).
 *
 *   esi_live_config_init(&config);
 *   esi_live_create(file, wanted, count, order, &config, &live, &error);
 *   stream events into esi_live_sink(live);      it hands them to the order first
 *   esi_live_end(live);                          what only the end can decide
 *   esi_live_statistics(live, &statistics);
 *   esi_live_destroy(live);
 *
 * All that is told until the end is what esi_search_run() finds in the events that
 * came, unless something was lost (esi_live_statistics).  One thread.
 */
#ifndef ES_MONITORS_SEARCH_LIVE_LIVE_H
#define ES_MONITORS_SEARCH_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "monitors/order/order.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/matches.h"
#include "monitors/search/language/pattern.h"

struct esi_live_config {
    uint64_t kept_events;      /* values of all classes, and events of matches that are
                                  values; beyond the oldest are lost */
    uint64_t kept_candidates;  /* matches that wait to be decided; beyond new ones are
                                  lost */
    uint64_t asked_candidates; /* so many of a predicate are asked again with each
                                  value: of more, those that only the end makes a match
                                  are looked through when they have doubled */
    uint64_t kept_matches;     /* of each predicate that are known again for sure */
    uint64_t skew_ns; /* no event comes that happened so much earlier than one that has
                         come: what a time limit lets go */
    uint64_t drop_every;  /* events after which it is looked for what can go */
    bool traces_are_told; /* all traces are told before the first event: else what only
                             an event of a new trace could still complete is kept */
};

/* A million events and matches, 100,000 candidates of which 64 are asked, 10 s, 4,096
 * events. */
void esi_live_config_init(struct esi_live_config *config);

/* A predicate, and where its matches go: distinct sets (matches.h).  A sink that says 1
 * has enough: this predicate is searched no more. */
struct esi_live_wanted {
    uint32_t predicate;
    struct esi_match_sink sink;
};

struct esi_live;

/* `file` and `order` are borrowed; the order is empty.  -EINVAL with words
 * (too large a pattern), -ENOMEM. */
int esi_live_create(const struct es_pattern_file *file,
                    const struct esi_live_wanted *wanted,
                    uint32_t wanted_count,
                    struct es_order *order,
                    const struct esi_live_config *config,
                    struct esi_live **ret_live,
                    struct es_error *error);
/* Accepts NULL. */
void esi_live_destroy(struct esi_live *live);

/* An ordered stream.  What a sink of matches gives is passed on if it is negative. */
struct es_set_sink esi_live_sink(struct esi_live *live);

/* The stream is over: matches are told that waited for it.  0, -EINVAL: it ended with
 * half a sync; -ENOMEM; what a sink gave. */
int esi_live_end(struct esi_live *live);

/* Whether all predicates wanted have found enough. */
bool esi_live_has_enough(const struct esi_live *live);

/* The classes that events are sorted into: names of traces, types of the events that
 * are still kept, and whether attributes are asked for.  Borrowed as long as the
 * search. */
const struct esi_domains *esi_live_domains(const struct esi_live *live);

struct esi_live_statistics {
    uint64_t events;
    uint64_t matches;         /* that were told, of all predicates wanted */
    uint64_t kept_events;     /* now */
    uint64_t dropped_events;  /* no match could take them any more */
    uint64_t lost_events;     /* beyond the limit */
    uint64_t candidates;      /* now */
    uint64_t lost_candidates; /* beyond the limit, or for lost events */
    uint64_t comparisons;
    uint64_t unknown;         /* comparisons of events that the order has forgotten */
    uint64_t missed_partners; /* that came when their others were forgotten */
    uint64_t bytes;           /* held now, without the order */
    bool is_complete; /* nothing was lost or unknown: no match is missing or wrong */
};

void esi_live_statistics(const struct esi_live *live,
                         struct esi_live_statistics *ret_statistics);
/* Of one predicate wanted, by its place among them. */
struct esi_live_predicate_statistics {
    uint64_t matches;
    uint64_t candidates;
    uint64_t lost_candidates;
    uint64_t
        comparisons; /* to find matches; those that decide them are not told apart */
    uint64_t bytes;  /* without its classes */
};

void esi_live_predicate_statistics(
    const struct esi_live *live,
    uint32_t wanted,
    struct esi_live_predicate_statistics *ret_statistics);
/* Matches that were told of a predicate wanted, by its place among them. */
uint64_t esi_live_matches(const struct esi_live *live, uint32_t wanted);

#endif
