/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram.h - the process-time diagram of a run: the activity of each thread at any
 * time and resolution, and the relations of events (docs/view.md).
 *
 *   esi_diagram_create(&config, &diagram);
 *   causality_config.listener = esi_diagram_listener(diagram);
 *   causality_config.sink = esi_diagram_sink(diagram);
 *   ...all events of an archive or a run...
 *   esi_diagram_cells(diagram, row, &window, cells);
 *
 * A thread is a row; rows are numbered in order of appearance.  There are two axes: run
 * time, and the level of an event, which is the length of the longest chain of events
 * that ends in it, so that every effect is to the right of its cause (Taylor:
 * "Scrolling partially ordered event displays", JPDC 65, 2005).
 *
 * Each row keeps running sums after each block of calls.  A column shows the difference
 * of two sums, so any window costs O(rows * columns), however many events it covers.
 * Only the newest calls are kept.  Of older ones the sums remain, at decreasing
 * resolution, and finally their order is discarded: memory is bounded.
 *
 * Events must come from one thread at a time; all functions are thread safe.
 */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/order.h"
#include "monitors/causality/causality.h"

struct esi_diagram_config {
    size_t calls_max;     /* maximum number kept, of all threads; 0 = 2^22 */
    uint64_t order_bytes; /* maximum memory of the order; 0 = 2^30 */
};

struct esi_diagram;

/* Returns 0 or -ENOMEM. */
int esi_diagram_create(const struct esi_diagram_config *config,
                       struct esi_diagram **ret_diagram);
/* Accepts NULL. */
void esi_diagram_destroy(struct esi_diagram *diagram);

/* The inputs: the events of one run, and the names of its traces. */
struct esi_causal_listener esi_diagram_listener(struct esi_diagram *diagram);
struct es_set_sink esi_diagram_sink(struct esi_diagram *diagram);

/* The order of all events; borrowed. */
const struct es_order *esi_diagram_order(const struct esi_diagram *diagram);

/* --- Content ---------------------------------------------------------------------- */

/* The activity of a thread.  Lost: not known because tuples were lost. */
enum esi_diagram_state {
    ESI_DIAGRAM_COMPUTING,
    ESI_DIAGRAM_SEND,
    ESI_DIAGRAM_RECEIVE, /* including waits for requests */
    ESI_DIAGRAM_COLLECTIVE,
    ESI_DIAGRAM_POLL,
    ESI_DIAGRAM_OTHER,
    ESI_DIAGRAM_LOST,
    ESI_DIAGRAM_STATES,
};
/* "computing" etc.; static. */
const char *esi_diagram_state_name(enum esi_diagram_state state);

enum esi_diagram_axis {
    ESI_DIAGRAM_TIME,  /* nanoseconds of run time */
    ESI_DIAGRAM_LEVEL, /* from 1 */
    ESI_DIAGRAM_AXES,
};

struct esi_diagram_extent {
    size_t rows;
    uint64_t begin[ESI_DIAGRAM_AXES]; /* of the first event; 0 = none */
    uint64_t end[ESI_DIAGRAM_AXES];   /* after the last event */
    uint64_t events;
    uint64_t calls;
    uint64_t lost;           /* tuples */
    uint64_t forgotten;      /* calls of which only sums are kept */
    uint64_t worst_error_ns; /* between times of different hosts; UINT64_MAX = not
                                known */
    uint64_t changes;        /* incremented by every change */
};

void esi_diagram_extent(struct esi_diagram *diagram,
                        struct esi_diagram_extent *ret_extent);
/* Sets the current run time: operations in progress extend to it. */
void esi_diagram_set_now(struct esi_diagram *diagram, uint64_t now_ns);

/* An operation of a thread.  Texts are borrowed for the life of the diagram. */
struct esi_diagram_call {
    uint64_t begin_ns;
    uint64_t end_ns;                      /* 0 = in progress */
    const struct es_operation *operation; /* NULL = not known */
    const char *communicator;             /* NULL = none or not known */
    const char *site;                     /* "" = not known */
    int32_t peer;
    int32_t tag;
    uint32_t bytes;
    uint32_t event;    /* index of its first event */
    uint32_t level[2]; /* of its first and last event */
    bool nonblocking;  /* from its post to its completion */
    bool any_source;   /* a wildcard receive */
    enum esi_diagram_state state;
};

struct esi_diagram_row {
    const char *name; /* of its trace: "3.0"; borrowed, like the next two */
    const char *host;
    const char *cluster; /* "" = none or not known; equal clusters have the same
                            pointer */
    int rank;            /* in MPI_COMM_WORLD; -1 = not known */
    int thread;
    uint32_t trace;
    uint32_t events;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t lost;
    uint32_t kept_from; /* first event that is kept; 0 = none */
    bool is_over;       /* it was in MPI_Finalize */
    bool is_open;
    struct esi_diagram_call open; /* the operation in progress */
};

/* Sets the cluster of a host; "" = none.  Applies to all rows of the host, including
 * future ones.  Returns 0 or -ENOMEM. */
int esi_diagram_set_cluster(struct esi_diagram *diagram,
                            const char *host,
                            const char *cluster);

/* -EINVAL if there is no such row. */
int esi_diagram_row(struct esi_diagram *diagram,
                    uint32_t row,
                    struct esi_diagram_row *ret_row);
/* The row of a trace; -ENOENT if the trace is not a thread. */
int esi_diagram_row_of(struct esi_diagram *diagram, uint32_t trace);

/* --- Windows ---------------------------------------------------------------------- */

struct esi_diagram_window {
    enum esi_diagram_axis axis;
    uint64_t from;
    uint64_t to; /* above `from` */
    uint32_t columns;
};

/* The activity of a row during a column, in units of the axis.  All zero before its
 * first event and after its end. */
struct esi_diagram_cell {
    double of[ESI_DIAGRAM_STATES];
    double calls; /* number of calls that started */
};

/* Fills one cell for each column.  Exact if the calls are kept, otherwise interpolated
 * between the sums.  O(columns + log calls). Returns 0, or -EINVAL if there is no such
 * row. */
int esi_diagram_cells(struct esi_diagram *diagram,
                      uint32_t row,
                      const struct esi_diagram_window *window,
                      struct esi_diagram_cell *ret_cells);

/* The distribution over the rows of a group: shares of the column outside computing. */
struct esi_diagram_spread {
    float least;
    float median;
    float most;
    uint32_t outlier; /* the row that is farthest from the median */
};

/* Fills the sums of several rows, and their distribution.  Returns 0, -EINVAL or
 * -ENOMEM. */
int esi_diagram_group_cells(struct esi_diagram *diagram,
                            const uint32_t *rows,
                            size_t row_count,
                            const struct esi_diagram_window *window,
                            struct esi_diagram_cell *ret_cells,
                            struct esi_diagram_spread *ret_spreads);

/* Returns the kept calls of a row in a window, blocking ones first, each sorted; writes
 * at most `room`, and returns the total number, or -EINVAL. */
int64_t esi_diagram_calls(struct esi_diagram *diagram,
                          uint32_t row,
                          const struct esi_diagram_window *window,
                          struct esi_diagram_call *ret_calls,
                          size_t room);

/* A message, or another pair of events of which one refers to the other. */
struct esi_diagram_message {
    uint32_t rows[2]; /* from, to */
    struct es_event_id events[2];
    uint64_t ns[2];
    uint32_t level[2];
    uint32_t bytes;
    uint64_t late_ns; /* how long a call of the receiver had waited when it was sent, as
                         `time` counts it; 0 = none did */
};

/* Calls `visit` for each message with an end in the window and both ends in rows for
 * which `is_wanted` is set (by row; NULL = all), while it returns 0. Returns its last
 * result, or 0. The diagram is locked meanwhile: `visit` must not call it. */
int esi_diagram_foreach_message(struct esi_diagram *diagram,
                                const struct esi_diagram_window *window,
                                const bool *is_wanted,
                                int (*visit)(void *data,
                                             const struct esi_diagram_message *message),
                                void *data);

/* --- Collective operations -------------------------------------------------------- */

/* When and where a member entered an operation. */
struct esi_diagram_arrival {
    uint32_t row;
    uint32_t event; /* index of the enter event; 0 = it was no longer kept when the
                  operation ended */
    uint64_t ns;
    uint32_t level; /* 0 = not known, like the event */
};

/* One operation of all members of a communicator, as judged by the analysis of
 * collective operations (monitors/collectives/collectives.h). Texts are borrowed for
 * the life of the diagram. */
struct esi_diagram_instance {
    const struct es_operation *operation;
    const char *communicator;
    const char *site; /* of the last arrival; "" = not known */
    uint32_t number;  /* on its communicator */
    int size;         /* number of members */
    int known;        /* members that were seen; < size: some are missing */
    int late; /* number of members that may have been the last, given the clocks; 1:
                 certain */
    struct esi_diagram_arrival first;
    struct esi_diagram_arrival last;
    struct esi_diagram_arrival longest; /* who waited longest, if waits are known */
    uint64_t end_ns;                    /* when the last one left */
    uint64_t lead_ns;                   /* delay of the last one after the second to
                                           last */
    bool waits_known; /* if false, the next two and `longest` are not valid */
    uint64_t lost_ns; /* by all members */
    int64_t culprit;  /* row that caused most of the loss; -1 = not certain */
};

/* Calls `visit` for each operation that overlaps the window between its first arrival
 * and its last exit (on the level axis: between its two arrivals, if known), newest
 * first, while it returns 0. Returns its last result, or 0. Only the newest 65,536 are
 * kept.  The diagram is locked meanwhile: `visit` must not call it. */
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
    struct es_event_id partner; /* index 0 = none: a send's receive, or the first
                                   event that it refers to; of several the last */
};

/* -EINVAL if there is no such event, or it is not kept. */
int esi_diagram_event(struct esi_diagram *diagram,
                      struct es_event_id id,
                      struct esi_diagram_event *ret_event);

/* The kept event of a row nearest to a position on an axis.  -ENOENT if there is
 * none. */
int esi_diagram_nearest(struct esi_diagram *diagram,
                        uint32_t row,
                        enum esi_diagram_axis axis,
                        uint64_t position,
                        struct es_event_id *ret_id);

/* Returns, for each row, the greatest predecessor of an event and its least successor,
 * as indexes on their traces; 0 = none.  Events between them are concurrent.  O(rows *
 * log events). Returns 0, -EINVAL or -ESTALE. */
int esi_diagram_cone(struct esi_diagram *diagram,
                     struct es_event_id event,
                     uint32_t *ret_past,
                     uint32_t *ret_future,
                     size_t rows);

/* Calls `visit` for each kept event, causes before effects, while it returns 0. Returns
 * its last result, 0 or -ENOMEM. */
int esi_diagram_replay(struct esi_diagram *diagram,
                       int (*visit)(void *data, const struct esi_diagram_event *event),
                       void *data);

#endif
