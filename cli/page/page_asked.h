/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_asked.h - a request being answered, for the files that make replies. */
#ifndef ES_CLI_PAGE_PAGE_ASKED_H
#define ES_CLI_PAGE_PAGE_ASKED_H

#include "base/rows.h"
#include "cli/page/page_reply.h"

/* A request being answered. */
struct esi_page_asked {
    const struct esi_page_model *model;
    const struct esi_page_query *query;
    struct esi_diagram *diagram;
    struct esi_diagram_extent extent;
    bool is_growing; /* the page knows rows that the diagram does not have yet */
    struct esi_page_reply *reply;
};

/* Adds the members of a reply; or makes asked->reply, another reply than JSON or an
 * error, and then the members are dropped. */
typedef void esi_page_make_fn(const struct esi_page_asked *asked, struct esi_row *row);

esi_page_make_fn esi_page_make_event, esi_page_make_nearest, esi_page_make_cone,
    esi_page_make_relation, esi_page_make_window, esi_page_make_profile,
    esi_page_make_messages, esi_page_make_matrix, esi_page_make_search,
    esi_page_make_verdict, esi_page_make_waits, esi_page_make_collectives,
    esi_page_make_trees, esi_page_make_scope, esi_page_make_export,
    esi_page_make_metrics;

/* Rows in the order of the request. */
struct esi_page_row_list {
    uint32_t *items; /* owned */
    size_t count;
};

/* Returns false if the reply contains an error. */
bool esi_page_list_rows(const struct esi_page_asked *asked,
                        struct esi_page_row_list *ret_list);

/* The window of a request, in whole units of its axis; `columns` is 1. */
struct esi_diagram_window esi_page_window_of(const struct esi_page_asked *asked);
/* Converts a position to the axis; negative results become 0. */
uint64_t esi_page_place_of(const struct esi_page_asked *asked,
                           enum esi_diagram_axis axis,
                           double position);
/* The axis of a request. */
enum esi_diagram_axis esi_page_axis_of(const struct esi_page_asked *asked);
/* Nanoseconds since the start of the run. */
double esi_page_ns(const struct esi_page_asked *asked, uint64_t ns);

/* Copies the existing rows, by number; texts are borrowed from the diagram.  NULL if
 * out of memory.  Caller frees. */
struct esi_diagram_row *esi_page_copy_rows(const struct esi_page_asked *asked);

struct esi_page_replay {
    const struct esi_diagram_row *rows; /* from esi_page_copy_rows(); borrowed */
    struct es_set_sink sink;            /* `trace` may be NULL */
    /* Returns 1 to pass the event to the sink; 0 to skip it; -errno to stop. */
    int (*is_wanted)(void *data, const struct esi_diagram_event *event);
    void *data;
};

/* Passes the kept events to a sink, in the form of event sets: all traces, then events,
 * causes first.  Event numbers are those of the run.  Returns 0, -ENOMEM, or the result
 * of `is_wanted` or the sink. */
int esi_page_replay(const struct esi_page_asked *asked,
                    const struct esi_page_replay *replay);

/* Writes [row, index, t, level], without the last two if the event is not kept; null if
 * `id` is none or has no row. */
void esi_page_put_event(const struct esi_page_asked *asked,
                        struct esi_row *row,
                        const char *key,
                        struct es_event_id id);

/* Adds the members of a call that the event and the row with it have. */
void esi_page_put_call(struct esi_row *row, const struct esi_diagram_call *call);
/* Adds the error of the clocks, null if it is not known. */
void esi_page_put_error(const struct esi_page_asked *asked, struct esi_row *row);

/* Finds the event with a row and an index.  Returns false if there is none; then the
 * reply says so. */
bool esi_page_find_event(const struct esi_page_asked *asked,
                         const struct esi_page_event *event,
                         struct esi_diagram_event *ret_event);

#endif
