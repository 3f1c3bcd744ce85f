/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram_private.h - data structures shared by the files of the diagram.
 *
 * A thread has calls, one after the other; operations that overlap them (*flights*:
 * nonblocking ones, from post to completion); and events.  Each of these is an array
 * whose oldest items are discarded; item numbers include the discarded ones.
 */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_PRIVATE_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_PRIVATE_H

#include <pthread.h>

#include "monitors/causality/waits.h"
#include "monitors/diagram/diagram.h"
#include "monitors/diagram/diagram_bounds.h"
#include "monitors/diagram/diagram_instances.h"
#include "monitors/diagram/diagram_track.h"
#include "monitors/eventset/set_texts.h"

/* Properties shared by many calls. */
struct esi_diagram_what {
    const struct es_operation *operation;
    const struct esi_run_communicator *communicator; /* may become invalid */
    uint32_t communicator_name;
    uint32_t site; /* numbers of texts */
};

struct esi_diagram_span {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t event; /* index of its first event */
    uint32_t what;  /* UINT32_MAX = not known */
    int32_t peer;
    int32_t tag;
    uint32_t bytes;
    uint8_t state;
    bool nonblocking;
    bool any_source;
};

/* Flag in `call`: it is the number of a flight. */
#define ESI_DIAGRAM_FLIGHT (UINT32_C(1) << 31)
struct esi_diagram_moment {
    uint64_t ns;
    uint32_t level;
    uint32_t call;
    uint32_t waiter; /* of a receive: the call that waited for it; UINT32_MAX = none */
    struct es_event_id partner;
    uint16_t type;
    uint8_t kind;
    uint8_t role;
};

struct esi_diagram_spans {
    struct esi_diagram_span *items; /* owned */
    size_t count, capacity;
    uint64_t first; /* number of items[0] */
};

struct esi_diagram_thread {
    uint32_t trace;
    int rank;
    int thread;
    uint32_t host; /* number in diagram.hosts */
    struct esi_diagram_spans calls;
    uint64_t last_call; /* number of the last of them in causality */
    struct esi_diagram_spans flights;
    struct esi_bounds bounds;           /* of the flights, on run time */
    struct esi_diagram_moment *moments; /* owned; the event with index i has number i
                                           - 1 */
    size_t moment_count, moment_capacity;
    uint64_t moment_first;
    struct esi_track tracks[ESI_DIAGRAM_AXES];
    uint64_t begin_ns; /* of the first call */
    uint64_t lost;     /* tuples */
    uint64_t error_ns; /* of its clock */
    uint64_t probe;    /* number of its last probe plus one; 0 = none */
    bool is_over;
    bool is_open;
    uint64_t open_round;    /* in which it was last seen; UINT64_MAX = permanent */
    uint64_t open_until_ns; /* when its process ended; 0 = not known, or it lives */
    struct esi_diagram_span open;
    uint32_t last_what;
};

/* Number of levels kept of a communicator's trace: events refer to its last ones. */
enum { ESI_DIAGRAM_JUNCTION = 64 };

struct esi_diagram_trace {
    const char *name;
    uint32_t row; /* UINT32_MAX = none */
    uint32_t count;
    uint32_t level;   /* of the last event */
    uint32_t *levels; /* by index, of the last ones; NULL except for communicators */
    struct esi_gaps gaps; /* of a thread: what it did then is not known */
};

enum { ESI_DIAGRAM_TYPE_CACHE = 256 };

struct esi_diagram {
    pthread_mutex_t lock;
    struct esi_diagram_config config;
    struct es_order *order;
    struct es_set_sink order_sink;
    struct esi_diagram_trace *traces; /* by number */
    size_t trace_count, trace_capacity;
    struct esi_diagram_thread **threads; /* rows; owned */
    size_t thread_count, thread_capacity;
    uint32_t *rows; /* by number of the run's thread; owned */
    size_t row_capacity;
    struct esi_texts texts;
    struct esi_texts types;
    struct {
        const char *type;
        uint16_t number;
    } type_cache[ESI_DIAGRAM_TYPE_CACHE];
    struct esi_diagram_what *whats;
    size_t what_count, what_capacity;
    struct esi_hash what_table;
    struct esi_diagram_instances instances;
    struct esi_gaps gaps; /* of all threads: waits in them are not known */
    uint64_t round;       /* of reading the operations in progress */
    uint64_t now_ns;
    struct esi_diagram_extent extent;
    uint64_t worst_error_ns;
    struct esi_texts hosts; /* that run threads, or may do so */
    const char **clusters;  /* by number of a host; owned */
    size_t cluster_capacity;
    bool has_hosts; /* there are several hosts */
};

static inline struct esi_diagram_thread *esi_diagram_thread(
    const struct esi_diagram *diagram,
    uint32_t row)
{
    return row < diagram->thread_count ? diagram->threads[row] : NULL;
}

static inline struct esi_diagram_span *esi_diagram_span_at(
    const struct esi_diagram_spans *spans,
    uint64_t number)
{
    return &spans->items[number - spans->first];
}

/* NULL if there is no such event, or it is not kept. */
static inline struct esi_diagram_moment *esi_diagram_moment_at(
    const struct esi_diagram_thread *thread,
    uint32_t index)
{
    uint64_t number = (uint64_t)index - 1;

    return index > 0 && number >= thread->moment_first &&
                   number - thread->moment_first < thread->moment_count
               ? &thread->moments[number - thread->moment_first]
               : NULL;
}

/* Since when a call may have waited. */
static inline uint64_t esi_diagram_wait_begin(const struct esi_diagram *diagram,
                                              const struct esi_diagram_span *call)
{
    uint64_t seen_ns = esi_gaps_end_before(&diagram->gaps, call->end_ns);

    return seen_ns > call->begin_ns ? seen_ns : call->begin_ns;
}

/* Finds or adds a host and returns its number; UINT32_MAX if out of memory. */
uint32_t esi_diagram_host_number(struct esi_diagram *diagram, const char *name);

/* --- diagram.c, diagram_event.c, diagram_window.c --------------------------------- */

/* The thread of a trace; NULL if the trace is not a thread. */
struct esi_diagram_thread *esi_diagram_thread_of(const struct esi_diagram *diagram,
                                                 uint32_t trace);

/* Index of the first kept event of a thread at or after a position. */
uint32_t esi_diagram_lower_bound(const struct esi_diagram_thread *thread,
                                 enum esi_diagram_axis axis,
                                 uint64_t position);

/* The last time at which the thread is known to have existed. */
uint64_t esi_diagram_thread_end(const struct esi_diagram *diagram,
                                const struct esi_diagram_thread *thread);

/* Fills the description of a call; the levels are those of its kept events. */
void esi_diagram_fill_call(const struct esi_diagram *diagram,
                           const struct esi_diagram_thread *thread,
                           const struct esi_diagram_span *span,
                           struct esi_diagram_call *ret_call);

#endif
