/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random programs whose events are passed to a diagram, and a reference that stores
 * each call and computes the expected cells.
 *
 *     draw_case(&made, steps, calls_max);
 *     check_time_cell(&made.rows[rank], &window, column, &cell);
 *     end_case(&made);
 */
#ifndef ES_TESTS_MONITORS_DIAGRAM_CASE_H
#define ES_TESTS_MONITORS_DIAGRAM_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/diagram/diagram.h"
#include "tests/causality/made_stream.h"
#include "tests/monitors/draw.h"
#include "tests/monitors/made_timeline.h"

enum { COLUMNS = 37, WINDOWS = 4, CALLS = 4096 };

/* --- A run, and what the reference stores of it ----------------------------------- */

struct seen_call {
    uint64_t begin, end;
    enum esi_diagram_state state;
    bool nonblocking;
};

struct seen_row {
    struct seen_call calls[CALLS];
    size_t count;
};

struct diagram_case {
    struct made_timeline timeline;
    struct made_stream stream;
    struct es_set_sink stream_sink, diagram_sink;
    struct esi_causal_listener listener;
    struct esi_diagram *diagram;
    struct seen_row *rows; /* by rank */
};

static inline int see_trace(void *data, uint32_t trace, const char *name)
{
    struct diagram_case *made = data;
    int result = made->stream_sink.trace(made->stream_sink.data, trace, name);

    return result < 0 ? result
                      : made->diagram_sink.trace(made->diagram_sink.data, trace, name);
}

static inline int see_event(void *data, const struct es_set_event *event)
{
    struct diagram_case *made = data;

    return made->stream_sink.event(made->stream_sink.data, event);
}

static inline enum esi_diagram_state expected_state(
    const struct es_operation *operation)
{
    static const struct {
        const char *name;
        enum esi_diagram_state state;
    } states[] = {{"MPI_Send", ESI_DIAGRAM_SEND},
                  {"MPI_Ssend", ESI_DIAGRAM_SEND},
                  {"MPI_Isend", ESI_DIAGRAM_SEND},
                  {"MPI_Recv", ESI_DIAGRAM_RECEIVE},
                  {"MPI_Irecv", ESI_DIAGRAM_RECEIVE},
                  {"MPI_Waitall", ESI_DIAGRAM_RECEIVE},
                  {"MPI_Barrier", ESI_DIAGRAM_COLLECTIVE},
                  {"MPI_Allreduce", ESI_DIAGRAM_COLLECTIVE},
                  {"MPI_Bcast", ESI_DIAGRAM_COLLECTIVE},
                  {"MPI_Init", ESI_DIAGRAM_OTHER}};

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].name, operation->name) == 0)
            return states[i].state;
    fail_msg("no state is expected of %s", operation->name);
    return ESI_DIAGRAM_OTHER;
}

static inline int see_call(void *data,
                           const struct es_set_event *event,
                           const struct esi_causal_call *call)
{
    struct diagram_case *made = data;
    struct seen_row *row;
    struct seen_call seen;

    if (call) {
        row = &made->rows[call->thread->process->rank];
        seen = (struct seen_call){call->told->start_ns, call->told->stop_ns,
                                  expected_state(call->operation),
                                  call->operation->nonblocking};
        if (row->count == 0 || seen.nonblocking ||
            row->calls[row->count - 1].begin != seen.begin) {
            assert_true(row->count < CALLS);
            row->calls[row->count++] = seen;
        }
    }
    return made->listener.told(made->listener.data, event, call);
}

static inline void begin_case(struct diagram_case *made, int ranks, size_t calls_max)
{
    const struct esi_diagram_config config = {.calls_max = calls_max};
    struct made_step init = {.kind = MADE_STEP_INIT};

    memset(made, 0, sizeof *made);
    made_timeline_init(&made->timeline, ranks);
    assert_int_equal(esi_diagram_create(&config, &made->diagram), 0);
    made->rows = calloc((size_t)ranks, sizeof *made->rows);
    assert_non_null(made->rows);
    made->stream_sink = made_stream_sink(&made->stream);
    made->diagram_sink = esi_diagram_sink(made->diagram);
    made->listener = esi_diagram_listener(made->diagram);
    made->timeline.sink = (struct es_set_sink){see_trace, see_event, made};
    made_timeline_step_all(&made->timeline, init);
}

static inline void run_case(struct diagram_case *made)
{
    const struct esi_causal_listener listener = {.told = see_call, .data = made};

    made_timeline_run(&made->timeline);
    made_timeline_tell(&made->timeline, &listener);
}

static inline void end_case(struct diagram_case *made)
{
    esi_diagram_destroy(made->diagram);
    made_stream_fini(&made->stream);
    made_timeline_fini(&made->timeline);
    free(made->rows);
}

/* --- Random programs -------------------------------------------------------------- */

static inline void draw_compute(struct made_timeline *timeline, int rank)
{
    made_timeline_step(
        timeline, rank,
        (struct made_step){.kind = MADE_COMPUTE, .ns = 1 + draw_below(20000)});
}

static inline void draw_message(struct made_timeline *timeline)
{
    static const enum made_step_kind sends[] = {MADE_STEP_SEND, MADE_STEP_SSEND};
    int from = (int)draw_below((uint64_t)timeline->ranks);
    int to =
        (from + 1 + (int)draw_below((uint64_t)timeline->ranks - 1)) % timeline->ranks;
    struct made_step step = {
        .ns = 1 + draw_below(3000), .tag = (int)draw_below(2), .line = 1};

    draw_compute(timeline, from);
    draw_compute(timeline, to);
    step.kind = sends[draw_below(2)];
    step.peer = to;
    if (draw_below(3) == 0) {
        step.kind = MADE_STEP_ISEND;
        made_timeline_step(timeline, from, step);
        made_timeline_step(timeline, from,
                           (struct made_step){.kind = MADE_STEP_WAITALL});
    } else {
        made_timeline_step(timeline, from, step);
    }
    step.peer = from;
    step.kind = MADE_STEP_RECV;
    if (draw_below(3) == 0) {
        step.kind = MADE_STEP_IRECV;
        made_timeline_step(timeline, to, step);
        draw_compute(timeline, to);
        made_timeline_step(timeline, to, (struct made_step){.kind = MADE_STEP_WAITALL});
    } else {
        made_timeline_step(timeline, to, step);
    }
}

static inline void draw_step(struct made_timeline *timeline)
{
    static const enum made_step_kind kinds[] = {MADE_STEP_BARRIER, MADE_STEP_ALLREDUCE,
                                                MADE_STEP_BCAST};
    struct made_step step = {.ns = 1 + draw_below(3000), .line = 2};

    if (draw_below(4) > 0) {
        draw_message(timeline);
        return;
    }
    step.kind = kinds[draw_below(3)];
    step.peer = (int)draw_below((uint64_t)timeline->ranks);
    for (int rank = 0; rank < timeline->ranks; rank++)
        draw_compute(timeline, rank);
    made_timeline_step_all(timeline, step);
}

static inline void draw_case(struct diagram_case *made, int steps, size_t calls_max)
{
    begin_case(made, 2 + (int)draw_below(4), calls_max);
    for (int i = 0; i < steps; i++)
        draw_step(&made->timeline);
    run_case(made);
}

/* --- Cells ------------------------------------------------------------------------ */

static inline double overlap_of(uint64_t from,
                                uint64_t to,
                                uint64_t begin,
                                uint64_t end)
{
    if (begin < from)
        begin = from;
    if (end > to)
        end = to;
    return end > begin ? (double)(end - begin) : 0;
}

static inline uint64_t column_start(const struct esi_diagram_window *window,
                                    uint32_t column)
{
    return window->from + (uint64_t)((double)(window->to - window->from) *
                                     (double)column / (double)window->columns);
}

static inline void check_time_cell(const struct seen_row *row,
                                   const struct esi_diagram_window *window,
                                   uint32_t column,
                                   const struct esi_diagram_cell *cell)
{
    uint64_t from = column_start(window, column), to = column_start(window, column + 1);
    double expected[ESI_DIAGRAM_STATES] = {0};
    uint64_t begin = 0, end = 0;
    double calls = 0, busy = 0;

    for (size_t i = 0; i < row->count; i++) {
        const struct seen_call *call = &row->calls[i];
        double ns = overlap_of(from, to, call->begin, call->end);

        if (call->nonblocking)
            continue;
        if (begin == 0)
            begin = call->begin;
        end = call->end;
        expected[call->state] += ns;
        busy += ns;
        calls += call->begin >= from && call->begin < to;
    }
    expected[ESI_DIAGRAM_COMPUTING] = overlap_of(from, to, begin, end) - busy;
    for (int state = 0; state < ESI_DIAGRAM_STATES; state++)
        assert_true(fabs(cell->of[state] - expected[state]) < 0.5);
    assert_true(fabs(cell->calls - calls) < 0.5);
}

static inline int row_of_rank(struct esi_diagram *diagram, int rank)
{
    struct esi_diagram_row row;

    for (uint32_t i = 0; esi_diagram_row(diagram, i, &row) == 0; i++)
        if (row.rank == rank)
            return (int)i;
    return -1;
}

static inline struct esi_diagram_window draw_window(struct esi_diagram *diagram,
                                                    enum esi_diagram_axis axis)
{
    struct esi_diagram_extent extent;
    struct esi_diagram_window window = {.axis = axis, .columns = COLUMNS};

    esi_diagram_extent(diagram, &extent);
    window.from =
        extent.begin[axis] + draw_below(extent.end[axis] - extent.begin[axis]);
    window.to = window.from + 1 + draw_below(extent.end[axis] - window.from + 10);
    if (draw_below(3) == 0) {
        window.from = extent.begin[axis];
        window.to = extent.end[axis];
    }
    return window;
}

#endif
