/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The partial order of an event set: events are appended one by one, and the order can
 * be queried at any time.
 *
 *   es_order_open(NULL, 0, NULL, &error, &order);
 *   es_order_add_trace(order);  ...
 *   es_order_append(order, trace, kind, partners, count);  ...
 *   es_order_precedes(order, a, b);
 *   es_order_destroy(order);
 *
 * There are several implementations, all exact: "dense" (Fidge/Mattern vector clocks,
 * the reference), "cluster" (cluster timestamps: Ward01, sections 3 and 4; Ward04) and
 * "epoch" (clocks relative to the last global cut; the default, docs/epochs.md).
 * Events are only appended, so the relation of two events never changes.
 *
 *   call                                        may run together with
 *   es_order_add_trace, _append, _append_sync,  any number of queries in other threads;
 *   the sink                                    not with each other
 *   all queries                                 everything but _destroy
 *
 * Queries take no lock.  They may name the events that es_order_count() has reported.
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

/* Creates an empty order.  `store` is "epoch", "cluster" or "dense"; NULL means
 * "epoch".  The next two parameters apply to "epoch": `memory_bytes` limits the memory
 * for events before the last global cut (0 = no limit).  Events beyond the limit are
 * spilled to an unnamed file in the directory `spill_folder`, or forgotten if it is
 * NULL.  Texts are borrowed for the call; `error` may be NULL.  The caller frees the
 * order with es_order_destroy().  Returns 0; -EINVAL (with `error` filled) for an
 * unknown store or a limit that it does not support; -ENOMEM; or -errno of the spill
 * file.  docs/order.md. */
ES_API int es_order_open(const char *store,
                         uint64_t memory_bytes,
                         const char *spill_folder,
                         struct es_error *error,
                         struct es_order **ret_order);
/* Frees the order.  Accepts NULL.  No other call may be running. */
ES_API void es_order_destroy(struct es_order *order);

/* --- Appending -------------------------------------------------------------------- */

/* Adds a trace; traces are numbered from 0.  Returns 0 or -ENOMEM. */
ES_API int es_order_add_trace(struct es_order *order);

/* Appends the next event of a trace.  The `partners` of a receive (borrowed for the
 * call) must have been appended before.  Returns 0; -EINVAL for an unknown trace or
 * partner or an unsuitable kind; -EOVERFLOW if the trace has 2^32-2 events; or -ENOMEM,
 * and then the order is unchanged.  Fidge; Ward01, section 2.1. */
ES_API int es_order_append(struct es_order *order,
                           uint32_t trace,
                           enum es_event_kind kind,
                           const struct es_event_id *partners,
                           size_t partner_count);
/* Appends the next event of each of two traces, as the halves of a sync.  Errors as for
 * es_order_append(). */
ES_API int es_order_append_sync(struct es_order *order, uint32_t trace, uint32_t other);

/* Returns a sink that appends the events of an ordered stream (event.h) to `order`,
 * which is borrowed.  All traces and events of the order must come from this stream.
 * The sink returns -EINVAL if the stream is not ordered.  One stream at a time. */
ES_API struct es_set_sink es_order_sink(struct es_order *order);
/* Call at the end of the stream.  Returns 0, or -EINVAL if the stream ended with half a
 * sync, which is not appended. */
ES_API int es_order_sink_end(const struct es_order *order);

/* --- Queries ---------------------------------------------------------------------- */

/* Number of traces.  O(1). */
ES_API uint32_t es_order_traces(const struct es_order *order);
/* Number of events of a trace so far; 0 if there is no such trace.  O(1). */
ES_API uint32_t es_order_count(const struct es_order *order, uint32_t trace);

/* The queries below return -EINVAL for an event that does not exist, and -ESTALE if the
 * answer depends on an event that the store has forgotten.  Some queries about
 * forgotten events can still be answered: the predecessors of an event that is kept,
 * and events on the same trace.  Ward01, section 2; Nichols, chapter 2. */

/* Returns 1 if a happened before b, else 0. */
ES_API int es_order_precedes(const struct es_order *order,
                             struct es_event_id a,
                             struct es_event_id b);

enum es_relation {
    ES_RELATION_EQUAL,
    ES_RELATION_BEFORE,
    ES_RELATION_AFTER,
    ES_RELATION_CONCURRENT, /* also the two halves of a sync */
};

/* Returns the relation of a to b: enum es_relation. */
ES_API int es_order_relation(const struct es_order *order,
                             struct es_event_id a,
                             struct es_event_id b);
/* Returns "before", "after", "concurrent" or "equal".  Static. */
ES_API const char *es_relation_name(enum es_relation relation);

/* Index on `trace` of the greatest predecessor of an event, of its least successor so
 * far, and of the greatest event concurrent with it (other than itself); 0 if there is
 * none.  Takes O(log events of the trace) precedence tests. */
ES_API int64_t es_order_greatest_predecessor(const struct es_order *order,
                                             struct es_event_id event,
                                             uint32_t trace);
ES_API int64_t es_order_least_successor(const struct es_order *order,
                                        struct es_event_id event,
                                        uint32_t trace);
ES_API int64_t es_order_greatest_concurrent(const struct es_order *order,
                                            struct es_event_id event,
                                            uint32_t trace);

/* Finds the events of `trace` that are concurrent with `event`: those from *ret_first
 * to *ret_last.  Returns 1, or 0 if there are none.  *ret_first is 0 if forgotten
 * events may be concurrent, too; then all kept events up to *ret_last are.  Returns
 * -ESTALE if it is not known whether there are any. */
ES_API int es_order_concurrent(const struct es_order *order,
                               struct es_event_id event,
                               uint32_t trace,
                               uint32_t *ret_first,
                               uint32_t *ret_last);

/* Returns whether the event was appended but has been forgotten by the store. */
ES_API bool es_order_is_forgotten(const struct es_order *order,
                                  struct es_event_id event);

#endif
