/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Searches: the matches of predicates of a pattern file in the events of an order
 * (Nichols, chapters 3 to 6; docs/indexed-search.md).
 *
 *   es_search_create(patterns, order, &error, &search);
 *   sinks[0] = es_order_sink(order), sinks[1] = es_search_sink(search);
 *   es_event_set_read(set, sinks, 2, es_search_needs_attributes(search), &error);
 *   es_search_find(search, predicate, on_match, data, &error);
 *   es_search_destroy(search);
 *
 * A search keeps, of the events that pass, those that the patterns ask for.  One thread
 * at a time uses it, but for es_search_cancel(), which any thread and any signal
 * handler may call.
 */
#ifndef EVENTSPACE_SEARCH_H
#define EVENTSPACE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"
#include "eventspace/event.h"
#include "eventspace/order.h"
#include "eventspace/pattern.h"

struct es_search;

/* `file` and `order` are borrowed until the search is destroyed.  The caller destroys
 * it; `error` may be NULL.  0; -EINVAL with words; -ENOMEM. */
ES_API int es_search_create(const struct es_pattern_file *file,
                            const struct es_order *order,
                            struct es_error *error,
                            struct es_search **ret_search);
/* Accepts NULL. */
ES_API void es_search_destroy(struct es_search *search);

/* --- Events ----------------------------------------------------------------------- */

/* Whether some pattern asks for attributes of events: else their stream need not have
 * them. */
ES_API bool es_search_needs_attributes(const struct es_search *search);
/* Gets the same ordered stream as the order.  The search is borrowed. */
ES_API struct es_set_sink es_search_sink(struct es_search *search);

/* --- Limits ----------------------------------------------------------------------- */

/* Ends each es_search_find() after so many matches; 0 = none, as at first. */
ES_API void es_search_set_limit(struct es_search *search, uint64_t matches);
/* Ends each es_search_find() after so many nanoseconds; 0 = never, as at first. */
ES_API void es_search_set_time_limit(struct es_search *search, uint64_t nanoseconds);
/* Threads that a search may start; 0 = as many as there are cores; at first 1. */
ES_API void es_search_set_threads(struct es_search *search, unsigned threads);
/* Ends the es_search_find() that runs, and all later ones.  Async-signal-safe. */
ES_API void es_search_cancel(struct es_search *search);

/* --- Finding ---------------------------------------------------------------------- */

/* Searches a predicate in the events that the search got; none may come later.  `match`
 * is called for each distinct set of events, sorted by trace and index; `events` is
 * borrowed for the call, `data` is passed on.  It returns 0; 1: that is enough; -errno,
 * which ends the search.  Matches come in no particular order, one call at a time,
 * perhaps from different threads.
 *
 * 1: all was searched; 0: `match`, a limit or es_search_cancel() ended it before;
 * -EINVAL with words: no such predicate, or too large a pattern; -EOVERFLOW with words;
 * -ENOMEM; what `match` returned.  Nichols, chapters 5 and 6. */
ES_API int es_search_find(struct es_search *search,
                          uint32_t predicate,
                          int (*match)(void *data,
                                       const struct es_event_id *events,
                                       size_t count),
                          void *data,
                          struct es_error *error);

#endif
