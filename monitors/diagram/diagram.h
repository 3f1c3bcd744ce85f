/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram.h - the process-time diagram of a run: what each thread was in at any time,
 * at any width, and how events stand to each other (docs/view.md).
 *
 *   esi_diagram_create(&config, &diagram);
 *   causality_config.listener = esi_diagram_listener(diagram);
 *   causality_config.sink = esi_diagram_sink(diagram);
 *   ...all events of an archive or a run...
 *   esi_diagram_cells(diagram, row, &window, cells);
 *
 * A thread is a row; rows are numbered as they come.  Two axes: run time, and the level
 * of an event: the length of the longest chain of events that ends in it, so that no
 * effect is left of its cause or level with it (Taylor: "Scrolling partially ordered
 * event displays", JPDC 65, 2005).
 *
 * Each row keeps running sums after each block of calls.  What a column shows is the
 * difference of two sums, so any window costs O(rows * columns), however many events it
 * covers.  The newest calls are kept themselves; of older ones the sums stay, the less
 * fine the older they are, and their order is forgotten at last: memory is bounded.
 *
 * Events come from one thread at a time; every call may run together with all others.
 */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/order.h"
#include "monitors/causality/causality.h"

struct esi_diagram_config {
    size_t calls_max;     /* kept of all threads; 0 = 2^22 */
    uint64_t order_bytes; /* that the order takes at most; 0 = 2^30 */
};

struct esi_diagram;

/* 0 or -ENOMEM. */
int esi_diagram_create(const struct esi_diagram_config *config,
                       struct esi_diagram **ret_diagram);
/* Accepts NULL. */
void esi_diagram_destroy(struct esi_diagram *diagram);

/* Take the events of one run, and the names of its traces. */
struct esi_causal_listener esi_diagram_listener(struct esi_diagram *diagram);
struct es_set_sink esi_diagram_sink(struct esi_diagram *diagram);

/* The order of all events; borrowed. */
const struct es_order *esi_diagram_order(const struct esi_diagram *diagram);

/* --- What there is ---------------------------------------------------------------- */

/* What a thread is in.  Lost: something was, but nobody knows what. */
enum esi_diagram_state {
    ESI_DIAGRAM_COMPUTING,
    ESI_DIAGRAM_SEND,
    ESI_DIAGRAM_RECEIVE, /* and waits for requests */
    ESI_DIAGRAM_COLLECTIVE,
    ESI_DIAGRAM_POLL,
    ESI_DIAGRAM_OTHER,
    ESI_DIAGRAM_LOST,
    ESI_DIAGRAM_STATES,
};
/* "computing", ...; static. */
const char *esi_diagram_state_name(enum esi_diagram_state state);

enum esi_diagram_axis {
    ESI_DIAGRAM_TIME,  /* nanoseconds of run time */
    ESI_DIAGRAM_LEVEL, /* from 1 */
    ESI_DIAGRAM_AXES,
};

struct esi_diagram_extent {
    size_t rows;
    uint64_t begin[ESI_DIAGRAM_AXES]; /* of the first event; 0 = there is none */
    uint64_t end[ESI_DIAGRAM_AXES];   /* behind the last one */
    uint64_t events;
    uint64_t calls;
    uint64_t lost;           /* tuples */
    uint64_t forgotten;      /* calls of which sums are kept only */
    uint64_t worst_error_ns; /* of times of different hosts; UINT64_MAX = not known */
    uint64_t changes;        /* grows with whatever changes */
};

void esi_diagram_extent(struct esi_diagram *diagram,
                        struct esi_diagram_extent *ret_extent);
/* The run goes on, or was looked at, until this run time: what is under way lasts. */
void esi_diagram_set_now(struct esi_diagram *diagram, uint64_t now_ns);

/* An operation of a thread.  Texts are borrowed as long as the diagram lives. */
struct esi_diagram_call {
    uint64_t begin_ns;
    uint64_t end_ns;                      /* 0 = under way */
    const struct es_operation *operation; /* NULL = not known */
    const char *communicator;             /* NULL = none or not known */
    const char *site;                     /* "" = not known */
    int32_t peer;
    int32_t tag;
    uint32_t bytes;
    uint32_t event;    /* index of its first event on its trace */
    uint32_t level[2]; /* of its first event and of its last */
    bool nonblocking;  /* from its post to its completion */
    bool any_source;   /* it was open to any */
    enum esi_diagram_state state;
};

struct esi_diagram_row {
    const char *name; /* of its trace: "3.0"; borrowed, as the next two */
    const char *host;
    const char *cluster; /* "" = none, or not known; equal ones are the same pointer */
    int rank;            /* in its world; -1 = not known */
    int thread;
    uint32_t trace;
    uint32_t events;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t lost;
    uint32_t kept_from; /* first event that is kept; 0 = none is */
    bool is_over;       /* it was in MPI_Finalize */
    bool is_open;
    struct esi_diagram_call open; /* what is under way */
};

/* Says which cluster a host is in; "" = none.  Rows of threads that run there have it,
 * also those to come.  0 or -ENOMEM. */
int esi_diagram_set_cluster(struct esi_diagram *diagram,
                            const char *host,
                            const char *cluster);

/* -EINVAL: there is no such row. */
int esi_diagram_row(struct esi_diagram *diagram,
                    uint32_t row,
                    struct esi_diagram_row *ret_row);
/* The row of a trace; -ENOENT: that is no thread's. */
int esi_diagram_row_of(struct esi_diagram *diagram, uint32_t trace);

/* --- Windows ---------------------------------------------------------------------- */

struct esi_diagram_window {
    enum esi_diagram_axis axis;
    uint64_t from;
    uint64_t to; /* above `from` */
    uint32_t columns;
};

/* What a row was in during a column, in units of the axis.  All zero: before its first
 * event, or behind its end. */
struct esi_diagram_cell {
    double of[ESI_DIAGRAM_STATES];
    double calls; /* that began */
};

/* Fills one cell for each column.  Exact where the calls are kept, else even between
 * the sums that are kept.  O(columns + log calls).  -EINVAL: no such row. */
int esi_diagram_cells(struct esi_diagram *diagram,
                      uint32_t row,
                      const struct esi_diagram_window *window,
                      struct esi_diagram_cell *ret_cells);

/* How unlike the rows of a group were: shares of the column outside computing. */
struct esi_diagram_spread {
    float least;
    float median;
    float most;
    uint32_t outlier; /* the row that is furthest from the median */
};

/* Fills the sums of several rows, and their spread.  -EINVAL, -ENOMEM. */
int esi_diagram_group_cells(struct esi_diagram *diagram,
                            const uint32_t *rows,
                            size_t row_count,
                            const struct esi_diagram_window *window,
                            struct esi_diagram_cell *ret_cells,
                            struct esi_diagram_spread *ret_spreads);

/* The kept calls of a row in a window, blocking ones first, each in order; at most
 * `room`, and returns how many there are; -EINVAL. */
int64_t esi_diagram_calls(struct esi_diagram *diagram,
                          uint32_t row,
                          const struct esi_diagram_window *window,
                          struct esi_diagram_call *ret_calls,
                          size_t room);

/* A message, or another pair of events of which one names the other. */
struct esi_diagram_message {
    uint32_t rows[2]; /* from, to */
    struct es_event_id events[2];
    uint64_t ns[2];
    uint32_t level[2];
    uint32_t bytes;
    uint64_t late_ns; /* that the receiver had waited when it was sent */
};

/* Calls `visit` for each message with an end in the window and both ends in rows for
 * which `is_wanted` is set (by row; NULL = all), as long as it returns 0.  What it
 * returned, or 0.  The diagram stands still meanwhile: no other call from `visit`. */
int esi_diagram_foreach_message(struct esi_diagram *diagram,
                                const struct esi_diagram_window *window,
                                const bool *is_wanted,
                                int (*visit)(void *data,
                                             const struct esi_diagram_message *message),
                                void *data);

/* --- Collective operations -------------------------------------------------------- */

/* When and where a member came to an operation. */
struct esi_diagram_arrival {
    uint32_t row;
    uint32_t
        event; /* index of the enter; 0 = it was not kept when the operation ended */
    uint64_t ns;
    uint32_t level; /* 0 = is not known, as the event */
};

/* One operation of all members of a communicator, as the analysis of collective
 * operations judges it (monitors/collectives/collectives.h).  Texts are borrowed as
 * long as the diagram lives. */
struct esi_diagram_instance {
    const struct es_operation *operation;
    const char *communicator;
    const char *site; /* of the last arrival; "" = not known */
    uint32_t number;  /* on its communicator */
    int size;         /* members */
    int known;        /* that were seen; < size: some are missing */
    int late; /* that came so late that clocks cannot tell the last; 1: it is sure */
    struct esi_diagram_arrival first;
    struct esi_diagram_arrival last;
    struct esi_diagram_arrival longest; /* who waited longest; where waits are known */
    uint64_t end_ns;                    /* when the last one left */
    uint64_t lead_ns;                   /* the last one behind the last but one */
    bool waits_known; /* else the next two and `longest` say nothing */
    uint64_t lost_ns; /* by all */
    int64_t culprit;  /* row that most was lost for; -1 = not sure */
};

/* Nothing more will come: operations of which members are missing are judged, too.  0
 * or -ENOMEM. */
int esi_diagram_finish(struct esi_diagram *diagram);

/* Calls `visit` for each operation of which something between its first arrival and its
 * last exit lies in the window (on levels: between its two arrivals, where they are
 * known), from the newest on, as long as it returns 0.  What it returned, or 0.  The
 * newest 65,536 are kept.  The diagram stands still meanwhile: no other call from
 * `visit`. */
int esi_diagram_foreach_instance(
    struct esi_diagram *diagram,
    const struct esi_diagram_window *window,
    int (*visit)(void *data, const struct esi_diagram_instance *instance),
    void *data);

/* --- Events ----------------------------------------------------------------------- */

struct esi_diagram_event {
    struct es_event_id id;
    uint32_t row;
    uint64_t ns;
    uint32_t level;
    enum es_event_kind kind;
    enum esi_role role;
    const char *type; /* "MPI_Barrier enter"; borrowed */
    struct esi_diagram_call call;
    struct es_event_id partner; /* index 0 = none: a send's receive, or the first event
                                   that it names */
};

/* -EINVAL: there is no such event, or it is not kept. */
int esi_diagram_event(struct esi_diagram *diagram,
                      struct es_event_id id,
                      struct esi_diagram_event *ret_event);

/* The kept event of a row that is nearest to a position of an axis.  -ENOENT. */
int esi_diagram_nearest(struct esi_diagram *diagram,
                        uint32_t row,
                        enum esi_diagram_axis axis,
                        uint64_t position,
                        struct es_event_id *ret_id);

/* For each row the greatest predecessor of an event and its least successor, indexes on
 * their traces; 0 = none.  What lies between is concurrent.  O(rows * log events).
 * -EINVAL, -ESTALE. */
int esi_diagram_cone(struct esi_diagram *diagram,
                     struct es_event_id event,
                     uint32_t *ret_past,
                     uint32_t *ret_future,
                     size_t rows);

/* Calls `visit` for each event that is kept, in an order in which nothing comes before
 * its causes, as long as it returns 0.  What it returned; 0; -ENOMEM. */
int esi_diagram_replay(struct esi_diagram *diagram,
                       int (*visit)(void *data, const struct esi_diagram_event *event),
                       void *data);

#endif
