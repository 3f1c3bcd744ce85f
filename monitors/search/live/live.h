/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Searches for predicates while their events arrive; a match is reported as soon as it
 * is decided (docs/live-patterns.md).
 *
 *   esi_live_config_init(&config);
 *   esi_live_create(file, wanted, count, order, &config, &live, &error);
 *   stream events into esi_live_sink(live);      it passes them to the order first
 *   esi_live_end(live);                          decides the remaining matches
 *   esi_live_statistics(live, &statistics);
 *   esi_live_destroy(live);
 *
 * The matches reported up to the end are those that esi_search_run() finds in the same
 * events, unless something was lost (esi_live_statistics).  One thread.
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
    uint64_t kept_events;     /* limit for values of all classes and events of
                                 matches that are values; beyond it the oldest are
                                 lost */
    uint64_t kept_candidates; /* limit for matches that wait to be decided; beyond it
                                 new ones are lost */
    /* Up to this many candidates of a predicate are checked again with each value; if
     * there are more, those that only the end can decide are checked when their number
     * has doubled. */
    uint64_t asked_candidates;
    uint64_t kept_matches; /* matches per predicate that are certain to be recognized
                              as duplicates */
    uint64_t skew_ns;      /* no event arrives that happened this much earlier than
                              one that has arrived; used to drop events by time
                              limits */
    uint64_t drop_every;   /* number of events between two attempts to drop events */
    bool traces_are_told;  /* all traces are announced before the first event;
                              otherwise events are kept that only an event of a new
                              trace could complete to a match */
};

/* Sets the defaults: a million events and matches, 100,000 candidates of which 64 are
 * checked with each value, 10 s, 4,096 events. */
void esi_live_config_init(struct esi_live_config *config);

/* A predicate, and the sink for its matches: distinct sets (matches.h).  When the sink
 * returns 1, the search for this predicate ends. */
struct esi_live_wanted {
    uint32_t predicate;
    struct esi_match_sink sink;
};

struct esi_live;

/* `file` and `order` are borrowed; the order is empty.  Returns 0, -EINVAL with a
 * message (pattern too large), or -ENOMEM. */
int esi_live_create(const struct es_pattern_file *file,
                    const struct esi_live_wanted *wanted,
                    uint32_t wanted_count,
                    struct es_order *order,
                    const struct esi_live_config *config,
                    struct esi_live **ret_live,
                    struct es_error *error);
/* Accepts NULL. */
void esi_live_destroy(struct esi_live *live);

/* The sink for an ordered stream.  Negative results of match sinks are passed on. */
struct es_set_sink esi_live_sink(struct esi_live *live);

/* Ends the stream and reports the matches that waited for the end.  Returns 0; -EINVAL
 * if the stream ended with half a sync; -ENOMEM; or the result of a sink. */
int esi_live_end(struct esi_live *live);

/* Whether all predicates have found enough matches. */
bool esi_live_has_enough(const struct esi_live *live);

/* The classes of the search: names of traces, types of the events still kept, and
 * whether attributes are needed.  Borrowed; valid as long as the search. */
const struct esi_domains *esi_live_domains(const struct esi_live *live);

struct esi_live_statistics {
    uint64_t events;
    uint64_t matches;         /* reported, of all predicates */
    uint64_t kept_events;     /* current number */
    uint64_t dropped_events;  /* dropped because no match could contain them any more */
    uint64_t lost_events;     /* evicted because of the limit */
    uint64_t candidates;      /* current number */
    uint64_t lost_candidates; /* because of the limit or of lost events */
    uint64_t comparisons;
    uint64_t unknown;         /* comparisons of events that the order has forgotten */
    uint64_t missed_partners; /* partners that arrived after their counterparts were
                                 forgotten */
    uint64_t bytes;           /* current memory, without the order */
    bool is_complete; /* nothing was lost or unknown: no match is missing or wrong */
};

void esi_live_statistics(const struct esi_live *live,
                         struct esi_live_statistics *ret_statistics);
/* Statistics of one predicate, by its position in `wanted`. */
struct esi_live_predicate_statistics {
    uint64_t matches;
    uint64_t candidates;
    uint64_t lost_candidates;
    uint64_t
        comparisons; /* to find matches; those that decide candidates are not counted
                        separately */
    uint64_t bytes;  /* without its classes */
};

void esi_live_predicate_statistics(
    const struct esi_live *live,
    uint32_t wanted,
    struct esi_live_predicate_statistics *ret_statistics);
/* Number of matches reported of a predicate, by its position in `wanted`. */
uint64_t esi_live_matches(const struct esi_live *live, uint32_t wanted);

#endif
