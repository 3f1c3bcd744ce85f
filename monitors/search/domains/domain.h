/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The values that an occurrence may take: the events of a class, for each trace in its
 * order, or the matches of a predicate.
 *
 *   for (slot = 0; slot < esi_domain_slots(domain); slot++) {
 *       struct esi_domain_column column = esi_domain_column(domain, slot);
 *       for (i = 0; i < column.count; i++)  ... {column.trace, column.indexes[i]} ...
 *   }
 *
 * Any number of threads may read a domain while nothing is added to it.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_DOMAIN_H
#define ES_MONITORS_SEARCH_DOMAINS_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/search/language/pattern.h"

struct esi_domain;

/* One value.  Of a class: the slot of a trace and the place in its column; of a
 * predicate: slot 0 and the number of the match.  It holds until something is added
 * or dropped. */
struct esi_domain_value {
    uint32_t slot;
    uint32_t position;
};

/* Whether values are single events; else they are sets of events. */
bool esi_domain_is_single(const struct esi_domain *domain);
uint64_t esi_domain_count(const struct esi_domain *domain);

/* --- Single events ---------------------------------------------------------------- */

/* Events of one trace. */
struct esi_domain_column {
    uint32_t trace;
    uint32_t count;          /* may be 0 after dropping */
    const uint32_t *indexes; /* rising */
};

/* Traces that have, or had, an event; rising traces once filling has ended, else in the
 * order of their first events.  Of sets: one slot without a trace. */
uint32_t esi_domain_slots(const struct esi_domain *domain);
struct esi_domain_column esi_domain_column(const struct esi_domain *domain,
                                           uint32_t slot);
/* First position whose index is `index` or greater: quick near the end. */
uint32_t esi_column_position(const struct esi_domain_column *column, uint32_t index);
/* ES_PATTERN_NONE: no event of the trace was ever in the domain.  O(1). */
uint32_t esi_domain_slot_of(const struct esi_domain *domain, uint32_t trace);

/* --- All values ------------------------------------------------------------------- */

/* The events of a value, sorted by trace and index.  `scratch` is room for one: a
 * single event is put there.  *ret_events is borrowed as long as the value holds. */
size_t esi_domain_events(const struct esi_domain *domain,
                         struct esi_domain_value value,
                         struct es_event_id *scratch,
                         const struct es_event_id **ret_events);

/* The value that is this one event; false: it is not there.  Of single events. */
bool esi_domain_find(const struct esi_domain *domain,
                     struct es_event_id id,
                     struct esi_domain_value *ret_value);

/* --- What is kept of single events ------------------------------------------------ */

/* The event's type.  Borrowed as long as the domain. */
const char *esi_domain_type(const struct esi_domain *domain,
                            struct esi_domain_value value);

/* Sends of a receive in the domain as it names them, the other half of a sync; 0 for
 * others.  Kept only where a predicate uses `=>`. */
size_t esi_domain_partners(const struct esi_domain *domain,
                           struct esi_domain_value value,
                           const struct es_event_id **ret_partners);

/* Whether it keeps partners, and whether some of its events may be halves of syncs; of
 * single events. */
bool esi_domain_keeps_partners(const struct esi_domain *domain);
bool esi_domain_has_syncs(const struct esi_domain *domain);

/* The receives of a send in a domain of single events that keeps partners, one with
 * each call: *at is 0 at first.  1, 0 at the end, -ENOMEM.  The first call makes an
 * index, which is kept up from then on; not for several threads. */
int esi_domain_next_receive(const struct esi_domain *domain,
                            struct es_event_id send,
                            uint32_t *at,
                            struct esi_domain_value *ret_value);

/* Whether left => right holds of two values: by the partners of the right, any event of
 * sets. */
bool esi_domain_is_received(const struct esi_domain *left,
                            struct esi_domain_value left_value,
                            const struct esi_domain *right,
                            struct esi_domain_value right_value);

/* When the events of a value happened, in ns: the first and the last.  The time of an
 * event is its attribute `time`, else `stop` of a receive and `start` of others.  False
 * if one has none.  Kept only where a predicate uses `within`. */
bool esi_domain_time(const struct esi_domain *domain,
                     struct esi_domain_value value,
                     int64_t *ret_first,
                     int64_t *ret_last);

/* Leaves of the positions [*begin, *end) of a column those beside which none happened
 * in [from, to]; some of them may not have, either.  Exact where times rise along the
 * trace; one that lies far after what follows makes it wide.  O(log rows). */
void esi_domain_keep_within(const struct esi_domain *domain,
                            uint32_t slot,
                            int64_t from,
                            int64_t to,
                            uint32_t *begin,
                            uint32_t *end);

/* The newest events of a domain of single events that happened in [from, to]; some may
 * not be in it any more.  1; 0: they are more than there is room for, or finding them
 * took too long; -ENOMEM.  As esi_domain_next_receive() it makes an index, which knows
 * of what is added since. */
int esi_domain_list_within(const struct esi_domain *domain,
                           int64_t from,
                           int64_t to,
                           struct es_event_id *events,
                           uint32_t room,
                           uint32_t *ret_count);

/* Widens [*first, *last], which is [INT64_MAX, INT64_MIN] at first, by when the events
 * of a value happened; a set without events happened at no time.  False: of one it is
 * not known. */
bool esi_domain_widen(const struct esi_domain *domain,
                      struct esi_domain_value value,
                      int64_t *first,
                      int64_t *last);
/* Whether what was widened so is no longer than a limit of time. */
bool esi_times_are_within(int64_t first, int64_t last, int64_t within_ns);

/* Whether a comparison (COMPARE node) holds; left_value and right_value are of the
 * occurrences of its operands, ignored where these are constants.  An attribute that an
 * event does not have makes it false, negated or not. */
bool esi_domain_compare(const struct esi_pattern_node *node,
                        const struct esi_domain *left,
                        struct esi_domain_value left_value,
                        const struct esi_domain *right,
                        struct esi_domain_value right_value);

/* What `=` compares of an attribute: those of two events (of any classes of the same
 * esi_domains) are equal if and only if their keys are. */
struct esi_domain_key {
    int64_t number; /* of a text that is no number: its own */
    bool is_text;
};

/* The key of a value that takes one side (0: the left) of an EQUAL comparison, which is
 * no constant.  False: the event has no such attribute. */
bool esi_domain_key(const struct esi_pattern_node *node,
                    unsigned side,
                    const struct esi_domain *domain,
                    struct esi_domain_value value,
                    struct esi_domain_key *ret_key);

/* The values of a domain of single events of which one side of an EQUAL comparison has
 * a key, sorted.  1; 0: there are more than there is room for, or finding them took too
 * long; -ENOMEM.  As esi_domain_next_receive() it makes an index. */
int esi_domain_list_equal(const struct esi_domain *domain,
                          const struct esi_pattern_node *node,
                          unsigned side,
                          struct esi_domain_key key,
                          struct esi_domain_value *values,
                          unsigned room,
                          unsigned *ret_count);

/* --- Making domains of sets ------------------------------------------------------- */

struct esi_domains; /* domains.h */

/* A domain of sets, empty.  Of their events it knows those times and partners that
 * `domains` (borrowed) keep: what `within` and `=>` of the values of a predicate need.
 * NULL: none are known.  0 or -ENOMEM. */
int esi_domain_create_sets(const struct esi_domains *domains,
                           struct esi_domain **ret_domain);
/* Accepts NULL.  Not for domains that belong to esi_domains. */
void esi_domain_destroy(struct esi_domain *domain);
/* Adds a set (copied): `events` sorted, distinct, maybe none.  0 or -ENOMEM. */
int esi_domain_add_set(struct esi_domain *domain,
                       const struct es_event_id *events,
                       size_t count);

/* --- Some of the values ----------------------------------------------------------- */

struct esi_domain_choice {
    bool (*takes)(void *data, struct esi_domain_value value);
    void *data;
};

/* Those values of a domain of single events that are chosen, in the same order; traces
 * without any have no slot.  It borrows what the whole domain keeps, which must not
 * change.  0 or -ENOMEM; esi_domain_destroy() ends it. */
int esi_domain_select(const struct esi_domain *whole,
                      const struct esi_domain_choice *choice,
                      struct esi_domain **ret_selection);
/* Whether two selections have the same values of the same domain. */
bool esi_domain_is_same_selection(const struct esi_domain *a,
                                  const struct esi_domain *b);

/* Bytes that are held. */
uint64_t esi_domain_bytes(const struct esi_domain *domain);

#endif
