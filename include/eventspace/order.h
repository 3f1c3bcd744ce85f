/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The order of an event set: appended to event by event, asked at any time.
 *
 *   es_order_open(NULL, 0, NULL, &error, &order);
 *   es_order_add_trace(order);  ...
 *   es_order_append(order, trace, kind, partners, count);  ...
 *   es_order_precedes(order, a, b);
 *   es_order_destroy(order);
 *
 * Several stores stand behind this interface, all exact: "dense" (the vectors of Fidge
 * and Mattern, the reference), "cluster" (cluster timestamps: Ward01, sections 3 and 4;
 * Ward04) and "epoch" (clocks relative to the last global cut; the default,
 * docs/epochs.md).  What was once answered for two events stays true: events are only
 * appended.
 *
 *   call                                        may run together with
 *   es_order_add_trace, _append, _append_sync,  any number of queries in other threads;
 *   the sink                                    not with each other
 *   all queries                                 everything but _destroy
 *
 * Queries take no lock.  They may name events that es_order_count() has reported.
 */
#ifndef EVENTSPACE_ORDER_H
#define EVENTSPACE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"
#include "eventspace/event.h"

struct es_order;

/* An empty order.  `store` is "epoch", "cluster" or "dense"; NULL = "epoch".  Of
 * "epoch": `memory_bytes` is for what lies before the last global cut, 0 = no limit;
 * what is beyond is spilled to a file without a name in `spill_folder`, NULL =
 * forgotten.  Texts are borrowed for the call; the caller destroys the order.  `error`
 * may be NULL.  0; -EINVAL with words: no such store, or a limit that it does not have;
 * -ENOMEM; -errno of the spill file.  docs/order.md. */
ES_API int es_order_open(const char *store,
                         uint64_t memory_bytes,
                         const char *spill_folder,
                         struct es_error *error,
                         struct es_order **ret_order);
/* Accepts NULL.  No other call may run. */
ES_API void es_order_destroy(struct es_order *order);

/* --- Appending -------------------------------------------------------------------- */

/* One more trace; they are counted from 0.  0 or -ENOMEM. */
ES_API int es_order_add_trace(struct es_order *order);

/* The next event of a trace: `partners` (borrowed for the call) of a receive were
 * appended before.  0; -EINVAL: no such trace or partner, or a kind that this is not
 * for; -EOVERFLOW: 2^32-2 events are on the trace; -ENOMEM: the store is as it was.
 * Fidge; Ward01, section 2.1. */
ES_API int es_order_append(struct es_order *order,
                           uint32_t trace,
                           enum es_event_kind kind,
                           const struct es_event_id *partners,
                           size_t partner_count);
/* The next events of two traces, which are the halves of a sync.  Errors as above. */
ES_API int es_order_append_sync(struct es_order *order, uint32_t trace, uint32_t other);

/* Events are appended as an ordered stream (event.h) comes; es_set_sink for a stream
 * whose traces and events are all of this order, which is borrowed.  -EINVAL of the
 * sink: the stream is not ordered.  One stream at a time. */
ES_API struct es_set_sink es_order_sink(struct es_order *order);
/* After a stream: 0, or -EINVAL if it ended with half a sync, which is not appended. */
ES_API int es_order_sink_end(const struct es_order *order);

/* --- Asking ----------------------------------------------------------------------- */

/* Number of traces.  O(1). */
ES_API uint32_t es_order_traces(const struct es_order *order);
/* Events of a trace so far, 0 where there is no such trace.  O(1). */
ES_API uint32_t es_order_count(const struct es_order *order, uint32_t trace);

/* All of these: -EINVAL for an event that is not there; -ESTALE where the answer is not
 * known because the store has forgotten an event that is asked about or would be found.
 * What precedes an event that is kept may be known of others, and so may what is on one
 * trace.  Ward01, section 2; Nichols, chapter 2. */

/* Whether a happened before b: 1 or 0. */
ES_API int es_order_precedes(const struct es_order *order,
                             struct es_event_id a,
                             struct es_event_id b);

enum es_relation {
    ES_RELATION_EQUAL,
    ES_RELATION_BEFORE,
    ES_RELATION_AFTER,
    ES_RELATION_CONCURRENT, /* also of the two halves of a sync */
};

/* How a stands to b: enum es_relation. */
ES_API int es_order_relation(const struct es_order *order,
                             struct es_event_id a,
                             struct es_event_id b);
/* "before", "after", "concurrent", "equal".  Static. */
ES_API const char *es_relation_name(enum es_relation relation);

/* Index on `trace` of the greatest predecessor of an event, of its least successor so
 * far, and of the greatest event that is concurrent with it (not itself); 0 = none.
 * O(log events of the trace) questions of precedence. */
ES_API int64_t es_order_greatest_predecessor(const struct es_order *order,
                                             struct es_event_id event,
                                             uint32_t trace);
ES_API int64_t es_order_least_successor(const struct es_order *order,
                                        struct es_event_id event,
                                        uint32_t trace);
ES_API int64_t es_order_greatest_concurrent(const struct es_order *order,
                                            struct es_event_id event,
                                            uint32_t trace);

/* The events of `trace` that are concurrent with an event: from *ret_first to
 * *ret_last. 1; 0: none is.  *ret_first is 0 where some may be that are forgotten: of
 * those that are kept all up to the last are.  -ESTALE: it is not known whether any is.
 */
ES_API int es_order_concurrent(const struct es_order *order,
                               struct es_event_id event,
                               uint32_t trace,
                               uint32_t *ret_first,
                               uint32_t *ret_last);

/* Whether the store has forgotten an event that was appended. */
ES_API bool es_order_is_forgotten(const struct es_order *order,
                                  struct es_event_id event);

#endif
