/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The order of an event set: appended to event by event, asked at any time.
 *
 *   es_order_config_init(&config);
 *   es_order_create(&config, &error, &order);
 *   es_order_add_trace(order);  ...
 *   es_order_append(order, trace, kind, partners, partner_count);  ...
 *   es_order_precedes(order, a, b);
 *   es_order_destroy(order);
 *
 * Several stores stand behind this interface, all exact: "dense" (Fidge/Mattern
 * vectors, the reference), "cluster" (Ward and Taylor's cluster timestamps) and "epoch"
 * (clocks relative to the last global cut; the default).  What was once answered for
 * two events stays true: events are only appended.
 *
 *   call                                        may run together with
 *   es_order_add_trace, _append, _append_sync,  any number of queries in other threads;
 *   the sink                                    not with each other
 *   all queries                                 everything but _destroy
 *
 * Queries take no lock.  They may name events that es_order_count() has told of.
 */
#ifndef ES_MONITORS_ORDER_ORDER_H
#define ES_MONITORS_ORDER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/eventset/event.h"

enum { ES_ORDER_LEVELS = 8 }; /* of clusters below the top, at most */

struct es_communications; /* communications.h */

/* Texts and `communications` are borrowed until es_order_create() returns, unless said.
 */
struct es_order_config {
    /* NULL = "epoch", which never takes more than 1.2 times the vectors of "dense", 3
     * KB for each trace and 128 KB (docs/epochs.md). */
    const char *store;

    /* Of "cluster". */
    const char *strategy; /* "fixed", "merge-first", "merge-nth", "static", "collect",
                             "migrate"; NULL = "merge-nth" */
    unsigned levels;      /* 1 to ES_ORDER_LEVELS */
    uint32_t
        max_sizes[ES_ORDER_LEVELS]; /* of a cluster, the lowest level first, rising */
    double threshold;               /* of "merge-nth": normalized (errata 21) */
    uint64_t prefix; /* of "collect": events after which clusters are made */
    const struct es_communications *communications; /* of "static": of the whole set */
    const uint32_t *seeds; /* a number for each of `seed_count` traces: those with the
                              same one begin in one cluster; NULL = each alone */
    size_t seed_count;
    uint32_t fixed_vector; /* entries of a vector in the accounting "fixed"; 0 = as many
                              as there are traces */

    /* Of "epoch". */
    uint64_t
        memory_bytes; /* sealed epochs beyond are spilled or forgotten; 0 = no limit */
    const char *spill_folder; /* where to; NULL = forgotten */
    uint32_t seal_entries;    /* a log of so many is packed; 0 = the store's choice */
    bool is_tight;            /* as if it took as much as vectors would; for tests */
};

/* One level of clusters of 13 traces, threshold 10. */
void es_order_config_init(struct es_order_config *config);

struct es_order;

/* -EINVAL with words where the configuration makes no sense; -ENOMEM. */
int es_order_create(const struct es_order_config *config,
                    struct es_error *error,
                    struct es_order **ret_order);
/* Accepts NULL. */
void es_order_destroy(struct es_order *order);

/* --- Appending -------------------------------------------------------------------- */

/* One more trace; they are counted from 0.  0 or -ENOMEM. */
int es_order_add_trace(struct es_order *order);

/* The next event of a trace: `partners` of a receive were appended before.  -EINVAL: no
 * such trace or partner, or a kind that this is not for; -EOVERFLOW: 2^32-2 events are
 * on the trace; -ENOMEM: the store is as it was. */
int es_order_append(struct es_order *order,
                    uint32_t trace,
                    enum es_event_kind kind,
                    const struct es_event_id *partners,
                    size_t partner_count);
/* The next events of two traces, which are the halves of a sync. */
int es_order_append_sync(struct es_order *order, uint32_t trace, uint32_t other);

/* Events are appended as an ordered stream (event.h) comes; es_set_sink for a stream
 * whose traces and events are all of this order.  -EINVAL: the stream is not ordered.
 * One stream at a time. */
struct es_set_sink es_order_sink(struct es_order *order);
/* After a stream: 0, or -EINVAL if it ended with half a sync, which is not appended. */
int es_order_sink_end(const struct es_order *order);

/* --- Asking ----------------------------------------------------------------------- */

uint32_t es_order_traces(const struct es_order *order);
/* Events of a trace so far, 0 where there is no such trace.  O(1). */
uint32_t es_order_count(const struct es_order *order, uint32_t trace);

/* All of these: -EINVAL for an event that is not there; -ESTALE where the answer is not
 * known because the store has forgotten an event that is asked about or would be found.
 * What precedes an event that is kept may be known of others, and so may what is on one
 * trace. */

/* 1 or 0. */
int es_order_precedes(const struct es_order *order,
                      struct es_event_id a,
                      struct es_event_id b);

enum es_relation {
    ES_RELATION_EQUAL,
    ES_RELATION_BEFORE,
    ES_RELATION_AFTER,
    ES_RELATION_CONCURRENT, /* also of the two halves of a sync */
};

/* enum es_relation. */
int es_order_relation(const struct es_order *order,
                      struct es_event_id a,
                      struct es_event_id b);
/* "before", "after", "concurrent", "equal". */
const char *es_relation_name(enum es_relation relation);

/* Index on `trace` of the greatest predecessor of an event, of its least successor so
 * far, and of the greatest event that is concurrent with it (not itself); 0 = none. */
int64_t es_order_greatest_predecessor(const struct es_order *order,
                                      struct es_event_id event,
                                      uint32_t trace);
int64_t es_order_least_successor(const struct es_order *order,
                                 struct es_event_id event,
                                 uint32_t trace);
int64_t es_order_greatest_concurrent(const struct es_order *order,
                                     struct es_event_id event,
                                     uint32_t trace);

/* The events of `trace` that are concurrent with an event: from *ret_first to
 * *ret_last. 1; 0: none is.  *ret_first is 0 where some may be that are forgotten: of
 * those that are kept all up to the last are.  -ESTALE: it is not known whether any is.
 */
int es_order_concurrent(const struct es_order *order,
                        struct es_event_id event,
                        uint32_t trace,
                        uint32_t *ret_first,
                        uint32_t *ret_last);

/* Whether the store has forgotten an event that was appended. */
bool es_order_is_forgotten(const struct es_order *order, struct es_event_id event);

/* --- What it costs ---------------------------------------------------------------- */

/* Elements are entries of vectors as the papers count them (cluster-timestamps,
 * "Sizes"). The population is all events, or with `communication` in the name sends,
 * receives and syncs only. */
struct es_order_statistics {
    uint32_t traces;
    uint64_t events;
    uint64_t communication_events;
    uint64_t clusters[ES_ORDER_LEVELS];         /* now, per level; 0 where none */
    uint64_t cluster_receives[ES_ORDER_LEVELS]; /* of level k and above */
    uint64_t cuts;                              /* global ones; of "epoch" */
    uint64_t derived_cuts;    /* that were concluded from rooted pairs and the like */
    uint64_t actual_elements; /* stored vectors, as long as they are */
    uint64_t fixed_elements;  /* each as long as its level's largest cluster */
    uint64_t communication_actual_elements;
    uint64_t communication_fixed_elements;
    uint64_t vector_elements; /* of a Fidge/Mattern vector: traces, or fixed_vector */
    uint64_t
        stored_bytes; /* really held in memory for stamps, with all that is slack */
    uint64_t writer_bytes;  /* really held to append the next event */
    uint64_t spilled_bytes; /* on disk */
    uint64_t forgotten_events;
    int spill_error; /* negative errno: something was forgotten, as it could not be
                        spilled; 0 = all was */
};

/* May run together with appending: then figures may be one event apart. */
void es_order_statistics(const struct es_order *order,
                         struct es_order_statistics *ret_statistics);

/* Parts of Fidge/Mattern vectors, 0 where there are no events.  "actual" is of vectors
 * with an entry for each trace, "fixed" of vectors of `vector_elements`. */
struct es_order_ratios {
    double actual;
    double fixed;
    double communication_actual;
    double communication_fixed;
    double stored; /* stored_bytes, of vectors of four bytes a trace */
};

void es_order_ratios(const struct es_order_statistics *statistics,
                     struct es_order_ratios *ret_ratios);

/* The stores' names and a line of help each, ended by a name that is NULL. */
struct es_order_store_help {
    const char *name;
    const char *help;
};
const struct es_order_store_help *es_order_stores(void);

#endif
