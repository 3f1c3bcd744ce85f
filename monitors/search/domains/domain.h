/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The possible values of an occurrence: the events of a class, ordered on each trace,
 * or the matches of a predicate.
 *
 *   for (slot = 0; slot < esi_domain_slots(domain); slot++) {
 *       struct esi_domain_column column = esi_domain_column(domain, slot);
 *       for (i = 0; i < column.count; i++)  ... {column.trace, column.indexes[i]} ...
 *   }
 *
 * Any number of threads may read a domain while it is not modified.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_DOMAIN_H
#define ES_MONITORS_SEARCH_DOMAINS_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/search/language/pattern.h"

struct esi_domain;

/* One value.  For a class: the slot of a trace and the position in its column; for a
 * predicate: slot 0 and the number of the match.  Valid until values are added or
 * dropped. */
struct esi_domain_value {
    uint32_t slot;
    uint32_t position;
};

/* Whether the values are single events; otherwise they are sets of events. */
bool esi_domain_is_single(const struct esi_domain *domain);
uint64_t esi_domain_count(const struct esi_domain *domain);

/* --- Single events ---------------------------------------------------------------- */

/* The events of one trace. */
struct esi_domain_column {
    uint32_t trace;
    uint32_t count;          /* may be 0 after values were dropped */
    const uint32_t *indexes; /* increasing */
};

/* Number of traces that have, or had, an event.  Slots are sorted by trace once filling
 * has ended; before, by the arrival of their first event.  A domain of sets has one
 * slot without a trace. */
uint32_t esi_domain_slots(const struct esi_domain *domain);
struct esi_domain_column esi_domain_column(const struct esi_domain *domain,
                                           uint32_t slot);
/* First position whose index is `index` or greater.  Fast near the end of the
 * column. */
uint32_t esi_column_position(const struct esi_domain_column *column, uint32_t index);
/* ES_PATTERN_NONE if no event of the trace was ever in the domain.  O(1). */
uint32_t esi_domain_slot_of(const struct esi_domain *domain, uint32_t trace);

/* --- All values ------------------------------------------------------------------- */

/* Returns the events of a value, sorted by trace and index.  A single event is stored
 * in `scratch`.  *ret_events is borrowed and valid as long as the value. */
size_t esi_domain_events(const struct esi_domain *domain,
                         struct esi_domain_value value,
                         struct es_event_id *scratch,
                         const struct es_event_id **ret_events);

/* Finds the value that is this event; false if there is none.  For single events. */
bool esi_domain_find(const struct esi_domain *domain,
                     struct es_event_id id,
                     struct esi_domain_value *ret_value);

/* --- Data kept of single events --------------------------------------------------- */

/* The type of the event.  Borrowed; valid as long as the domain. */
const char *esi_domain_type(const struct esi_domain *domain,
                            struct esi_domain_value value);

/* Partners of an event: for a receive the sends it names, for a sync its other half,
 * otherwise none.  Kept only if a predicate uses `=>`. */
size_t esi_domain_partners(const struct esi_domain *domain,
                           struct esi_domain_value value,
                           const struct es_event_id **ret_partners);

/* Whether the domain keeps partners, and whether some of its events may be halves of
 * syncs.  For single events. */
bool esi_domain_keeps_partners(const struct esi_domain *domain);
bool esi_domain_has_syncs(const struct esi_domain *domain);

/* Iterates over the receives of a send in a domain of single events that keeps
 * partners; *at is 0 for the first call.  Returns 1, 0 at the end, or -ENOMEM.  The
 * first call creates an index, which is updated from then on.  Not thread safe. */
int esi_domain_next_receive(const struct esi_domain *domain,
                            struct es_event_id send,
                            uint32_t *at,
                            struct esi_domain_value *ret_value);

/* Whether left => right holds for two values: whether a partner of the right value is
 * in the left value. */
bool esi_domain_is_received(const struct esi_domain *left,
                            struct esi_domain_value left_value,
                            const struct esi_domain *right,
                            struct esi_domain_value right_value);

/* The times of the first and the last event of a value, in ns.  The time of an event is
 * its attribute `time`, or else `stop` of a receive and `start` of other events.  False
 * if an event has no time.  Kept only if a predicate uses `within`. */
bool esi_domain_time(const struct esi_domain *domain,
                     struct esi_domain_value value,
                     int64_t *ret_first,
                     int64_t *ret_last);

/* Narrows the positions [*begin, *end) of a column, so that no event outside them
 * happened in [from, to].  Some events inside may not have, either.  Exact if times
 * increase along the trace; an event with a much later time than its successors makes
 * the result wide.  O(log rows). */
void esi_domain_keep_within(const struct esi_domain *domain,
                            uint32_t slot,
                            int64_t from,
                            int64_t to,
                            uint32_t *begin,
                            uint32_t *end);

/* Lists the newest events of a domain of single events that happened in [from, to];
 * some may have been dropped from the domain.  Returns 1; 0 if there is not enough room
 * or older events may have happened then, too; or -ENOMEM.  Creates an index, like
 * esi_domain_next_receive(), which contains the events added from then on. */
int esi_domain_list_within(const struct esi_domain *domain,
                           int64_t from,
                           int64_t to,
                           struct es_event_id *events,
                           uint32_t room,
                           uint32_t *ret_count);

/* Extends [*first, *last], initially [INT64_MAX, INT64_MIN], to include the times of a
 * value.  A set without events changes nothing.  False if a time is not known. */
bool esi_domain_widen(const struct esi_domain *domain,
                      struct esi_domain_value value,
                      int64_t *first,
                      int64_t *last);
/* Whether an extended interval is no longer than the time limit. */
bool esi_times_are_within(int64_t first, int64_t last, int64_t within_ns);

/* Whether a comparison (COMPARE node) holds.  left_value and right_value are values of
 * the occurrences of its operands, and ignored for constants.  False if an event does
 * not have the attribute, even if the comparison is negated. */
bool esi_domain_compare(const struct esi_pattern_node *node,
                        const struct esi_domain *left,
                        struct esi_domain_value left_value,
                        const struct esi_domain *right,
                        struct esi_domain_value right_value);

/* Key of an attribute for `=`: the attributes of two events (of any classes of the same
 * esi_domains) are equal if and only if their keys are. */
struct esi_domain_key {
    int64_t number; /* for a text that is not a number: the number of the text */
    bool is_text;
};

/* Returns the key of a value on one side (0: left) of an EQUAL comparison; this side
 * must not be a constant.  False if the event has no such attribute. */
bool esi_domain_key(const struct esi_pattern_node *node,
                    unsigned side,
                    const struct esi_domain *domain,
                    struct esi_domain_value value,
                    struct esi_domain_key *ret_key);

/* Lists, sorted, the values of a domain of single events that have this key on one side
 * of an EQUAL comparison.  Returns 1; 0 if there is not enough room or the search took
 * too long; or -ENOMEM.  Creates an index, like esi_domain_next_receive(). */
int esi_domain_list_equal(const struct esi_domain *domain,
                          const struct esi_pattern_node *node,
                          unsigned side,
                          struct esi_domain_key key,
                          struct esi_domain_value *values,
                          unsigned room,
                          unsigned *ret_count);

/* --- Domains of sets -------------------------------------------------------------- */

struct esi_domains; /* domains.h */

/* Creates an empty domain of sets.  It takes the times and partners of their events,
 * which `within` and `=>` need, from `domains` (borrowed) as far as they are kept
 * there.  NULL means that they are not known.  Returns 0 or -ENOMEM. */
int esi_domain_create_sets(const struct esi_domains *domains,
                           struct esi_domain **ret_domain);
/* Accepts NULL.  Not for domains owned by esi_domains. */
void esi_domain_destroy(struct esi_domain *domain);
/* Adds a copy of a set: `events` are sorted and distinct, and may be none.  Returns 0
 * or -ENOMEM. */
int esi_domain_add_set(struct esi_domain *domain,
                       const struct es_event_id *events,
                       size_t count);

/* --- Selections ------------------------------------------------------------------- */

struct esi_domain_choice {
    bool (*takes)(void *data, struct esi_domain_value value);
    void *data;
};

/* Creates a domain with the chosen values of a domain of single events, in the same
 * order.  Traces without chosen values have no slot.  The selection borrows data from
 * `whole`, which must not change.  Returns 0 or -ENOMEM.  The caller frees it with
 * esi_domain_destroy(). */
int esi_domain_select(const struct esi_domain *whole,
                      const struct esi_domain_choice *choice,
                      struct esi_domain **ret_selection);
/* Whether two selections contain the same values of the same domain. */
bool esi_domain_is_same_selection(const struct esi_domain *a,
                                  const struct esi_domain *b);

/* Memory used, in bytes. */
uint64_t esi_domain_bytes(const struct esi_domain *domain);

#endif
