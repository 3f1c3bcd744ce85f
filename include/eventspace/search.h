/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Searches: find the matches of the predicates of a pattern file among the events of an
 * order (Nichols, chapters 3 to 6; docs/indexed-search.md).
 *
 *   es_search_create(patterns, order, &error, &search);
 *   sinks[0] = es_order_sink(order), sinks[1] = es_search_sink(search);
 *   es_event_set_read(set, sinks, 2, es_search_needs_attributes(search), &error);
 *   es_search_find(search, predicate, on_match, data, &error);
 *   es_search_destroy(search);
 *
 * A search keeps those events of the stream that the patterns refer to.  Not thread
 * safe, except es_search_cancel(), which may be called from any thread and any signal
 * handler.
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

/* Creates a search.  `file` and `order` are borrowed until the search is destroyed.
 * `error` may be NULL.  Returns 0, -EINVAL (with `error` filled) or -ENOMEM.  The
 * caller frees the search with es_search_destroy(). */
ES_API int es_search_create(const struct es_pattern_file *file,
                            const struct es_order *order,
                            struct es_error *error,
                            struct es_search **ret_search);
/* Frees the search.  Accepts NULL. */
ES_API void es_search_destroy(struct es_search *search);

/* --- Events ----------------------------------------------------------------------- */

/* Returns whether a pattern refers to attributes.  If not, the stream may omit them. */
ES_API bool es_search_needs_attributes(const struct es_search *search);
/* Returns the sink for the events, which must receive the same ordered stream as the
 * order, after it.  The search is borrowed. */
ES_API struct es_set_sink es_search_sink(struct es_search *search);

/* --- Limits ----------------------------------------------------------------------- */

/* Ends each es_search_find() after this many matches; 0 (default) for no limit. */
ES_API void es_search_set_limit(struct es_search *search, uint64_t matches);
/* Ends each es_search_find() after this many nanoseconds; 0 (default) for no limit. */
ES_API void es_search_set_time_limit(struct es_search *search, uint64_t nanoseconds);
/* Sets how many threads a search may start (default 1); 0 for one per core. */
ES_API void es_search_set_threads(struct es_search *search, unsigned threads);
/* Ends the running es_search_find() and all later ones.  Async-signal-safe. */
ES_API void es_search_cancel(struct es_search *search);

/* --- Finding ---------------------------------------------------------------------- */

/* Finds the matches of a predicate among the events received so far; none may be added
 * later.  Calls `match` for each distinct set of matching events, sorted by trace and
 * index.  `events` is borrowed for the call; `data` is passed on.  `match` returns 0 to
 * continue, 1 to stop, or -errno to fail.  Matches come in no particular order, one
 * call at a time, possibly from different threads.
 *
 * Returns 1 if the search is complete; 0 if `match`, a limit or es_search_cancel()
 * ended it; -EINVAL for an unknown predicate or a pattern that is too large, or
 * -EOVERFLOW, both with `error` filled; -ENOMEM; or the error of `match`.  Nichols,
 * chapters 5 and 6. */
ES_API int es_search_find(struct es_search *search,
                          uint32_t predicate,
                          int (*match)(void *data,
                                       const struct es_event_id *events,
                                       size_t count),
                          void *data,
                          struct es_error *error);

#endif
