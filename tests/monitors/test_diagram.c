/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The process-time diagram of random programs equals that of a reference that examines
 * each call and each pair of events.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/monitors/diagram_case.h"
#include "tests/suites.h"

enum { PROGRAMS = 300, STEPS = 14 };

static void cells_of_time_are_what_calls_add_up_to(void **state)
{
    struct esi_diagram_cell cells[COLUMNS];
    struct diagram_case made;

    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        draw_case(&made, STEPS, 0);
        for (int j = 0; j < WINDOWS; j++) {
            struct esi_diagram_window window =
                draw_window(made.diagram, ESI_DIAGRAM_TIME);
            int rank = (int)draw_below((uint64_t)made.timeline.ranks);
            int row = row_of_rank(made.diagram, rank);

            assert_true(row >= 0);
            assert_int_equal(
                esi_diagram_cells(made.diagram, (uint32_t)row, &window, cells), 0);
            for (uint32_t column = 0; column < COLUMNS; column++)
                check_time_cell(&made.rows[rank], &window, column, &cells[column]);
        }
        end_case(&made);
    }
}

/* A row has at most one event at each level, and each event has a level. */
static void cells_of_levels_count_events(void **state)
{
    struct esi_diagram_cell *cells;
    struct esi_diagram_extent extent;
    struct diagram_case made;

    (void)state;
    for (int i = 0; i < PROGRAMS / 4; i++) {
        struct esi_diagram_window window = {.axis = ESI_DIAGRAM_LEVEL};
        size_t events = 0;

        draw_case(&made, STEPS, 0);
        esi_diagram_extent(made.diagram, &extent);
        window.from = extent.begin[ESI_DIAGRAM_LEVEL];
        window.to = extent.end[ESI_DIAGRAM_LEVEL];
        window.columns = (uint32_t)(window.to - window.from);
        cells = calloc(window.columns, sizeof *cells);
        assert_non_null(cells);
        for (uint32_t row = 0; row < extent.rows; row++) {
            struct esi_diagram_row told;
            double calls = 0;

            assert_int_equal(esi_diagram_row(made.diagram, row, &told), 0);
            assert_int_equal(esi_diagram_cells(made.diagram, row, &window, cells), 0);
            for (uint32_t column = 0; column < window.columns; column++) {
                assert_true(cells[column].calls <= 1);
                calls += cells[column].calls;
            }
            assert_true(calls == told.events);
            events += told.events;
        }
        assert_true(events <= made.stream.count); /* the others concern communicators */
        free(cells);
        end_case(&made);
    }
}

static void groups_add_up_and_name_who_is_unlike(void **state)
{
    struct esi_diagram_cell sums[COLUMNS], cells[COLUMNS];
    struct esi_diagram_spread spreads[COLUMNS];
    struct diagram_case made;
    uint32_t rows[TIMELINE_RANKS];

    (void)state;
    for (int i = 0; i < PROGRAMS / 4; i++) {
        struct esi_diagram_window window;
        double share;

        draw_case(&made, STEPS, 0);
        window = draw_window(made.diagram, ESI_DIAGRAM_TIME);
        for (uint32_t row = 0; row < (uint32_t)made.timeline.ranks; row++)
            rows[row] = row;
        assert_int_equal(esi_diagram_group_cells(made.diagram, rows,
                                                 (size_t)made.timeline.ranks, &window,
                                                 sums, spreads),
                         0);
        for (uint32_t row = 0; row < (uint32_t)made.timeline.ranks; row++) {
            esi_diagram_cells(made.diagram, row, &window, cells);
            for (uint32_t column = 0; column < COLUMNS; column++) {
                double all = 0;

                for (int s = 0; s < ESI_DIAGRAM_STATES; s++) {
                    all += cells[column].of[s];
                    sums[column].of[s] -= cells[column].of[s];
                }
                if (all <= 0)
                    continue;
                share = 1 - cells[column].of[ESI_DIAGRAM_COMPUTING] / all;
                assert_true(share >= spreads[column].least - 1e-5);
                assert_true(share <= spreads[column].most + 1e-5);
                if (spreads[column].outlier == row)
                    assert_true(fabs(share - spreads[column].least) < 1e-5 ||
                                fabs(share - spreads[column].most) < 1e-5);
            }
        }
        for (uint32_t column = 0; column < COLUMNS; column++)
            for (int s = 0; s < ESI_DIAGRAM_STATES; s++)
                assert_true(fabs(sums[column].of[s]) < 1e-3);
        end_case(&made);
    }
}

static void check_clusters(const struct diagram_case *made, const char *wanted)
{
    for (uint32_t i = 0; i < (uint32_t)made->timeline.ranks; i++) {
        struct esi_diagram_row row, first;

        assert_int_equal(esi_diagram_row(made->diagram, i, &row), 0);
        assert_int_equal(esi_diagram_row(made->diagram, 0, &first), 0);
        assert_string_equal(row.cluster, wanted);
        assert_ptr_equal(row.cluster, first.cluster);
    }
}

static void rows_have_the_cluster_of_their_host(void **state)
{
    struct esi_diagram_extent before, after;
    struct diagram_case made;

    (void)state;
    begin_case(&made, 3, 0);
    assert_int_equal(esi_diagram_set_cluster(made.diagram, "elsewhere", "east"), 0);
    run_case(&made);
    check_clusters(&made, "");
    esi_diagram_extent(made.diagram, &before);
    assert_int_equal(esi_diagram_set_cluster(made.diagram, "made", "west"), 0);
    check_clusters(&made, "west");
    esi_diagram_extent(made.diagram, &after);
    assert_true(after.changes > before.changes);
    assert_int_equal(esi_diagram_set_cluster(made.diagram, "made", "west"), 0);
    esi_diagram_extent(made.diagram, &before);
    assert_int_equal(after.changes, before.changes);
    end_case(&made);

    begin_case(&made, 2, 0); /* the cluster is known before there are rows */
    assert_int_equal(esi_diagram_set_cluster(made.diagram, "made", "west"), 0);
    run_case(&made);
    check_clusters(&made, "west");
    end_case(&made);
}

/* --- The order -------------------------------------------------------------------- */

/* Levels as lengths of the longest chains, repeated until nothing changes. */
static uint32_t *levels_of(const struct made_stream *stream)
{
    uint32_t *levels = calloc(stream->count + 1, sizeof *levels);
    bool grows = true;

    assert_non_null(levels);
    while (grows) {
        grows = false;
        for (size_t i = 0; i < stream->count; i++) {
            const struct made_event *event = &stream->events[i];
            uint32_t level = 1;

            for (size_t j = 0; j < stream->count; j++)
                if (stream->events[j].id.trace == event->id.trace &&
                    stream->events[j].id.index + 1 == event->id.index)
                    level = levels[j] + 1;
            for (size_t j = 0; j < event->partner_count; j++) {
                uint32_t of =
                    levels[event->partners[j]] + (event->kind == ES_EVENT_SYNC ? 0 : 1);

                if (of > level)
                    level = of;
            }
            grows |= level != levels[i];
            levels[i] = level;
        }
    }
    return levels;
}

static void levels_are_longest_chains(void **state)
{
    struct esi_diagram_event event;
    struct diagram_case made;
    uint32_t *levels;

    (void)state;
    for (int i = 0; i < PROGRAMS / 4; i++) {
        draw_case(&made, STEPS, 0);
        levels = levels_of(&made.stream);
        for (size_t j = 0; j < made.stream.count; j++) {
            struct es_event_id id = made.stream.events[j].id;

            if (esi_diagram_row_of(made.diagram, id.trace) < 0)
                continue;
            assert_int_equal(esi_diagram_event(made.diagram, id, &event), 0);
            assert_int_equal(event.level, levels[j]);
            assert_string_equal(event.type, made.stream.events[j].type);
            assert_int_equal(event.kind, made.stream.events[j].kind);
        }
        free(levels);
        end_case(&made);
    }
}

static void check_cone(const struct diagram_case *made,
                       const struct made_relation *relation,
                       size_t position)
{
    uint32_t past[TIMELINE_RANKS], future[TIMELINE_RANKS];
    uint32_t greatest[TIMELINE_RANKS] = {0}, least[TIMELINE_RANKS] = {0};
    size_t rows = (size_t)made->timeline.ranks;

    assert_int_equal(esi_diagram_cone(made->diagram, made->stream.events[position].id,
                                      past, future, rows),
                     0);
    for (size_t i = 0; i < made->stream.count; i++) {
        struct es_event_id id = made->stream.events[i].id;
        int row = esi_diagram_row_of(made->diagram, id.trace);

        if (row < 0)
            continue;
        if (made_relation_has(relation, i, position) && id.index > greatest[row])
            greatest[row] = id.index;
        if (made_relation_has(relation, position, i) &&
            (least[row] == 0 || id.index < least[row]))
            least[row] = id.index;
    }
    assert_memory_equal(past, greatest, rows * sizeof *past);
    assert_memory_equal(future, least, rows * sizeof *future);
}

static void cones_are_all_that_is_before_and_after(void **state)
{
    struct diagram_case made;
    struct made_relation relation;

    (void)state;
    for (int i = 0; i < PROGRAMS / 10; i++) {
        draw_case(&made, STEPS, 0);
        made_stream_relate(&made.stream, &relation);
        for (size_t j = 0; j < made.stream.count; j++)
            if (esi_diagram_row_of(made.diagram, made.stream.events[j].id.trace) >= 0)
                check_cone(&made, &relation, j);
        made_relation_fini(&relation);
        end_case(&made);
    }
}

/* --- Messages --------------------------------------------------------------------- */

struct message_count {
    const struct made_stream *stream;
    size_t messages;
};

/* Only the halves of a sync are at the same level. */
static int count_message(void *data, const struct esi_diagram_message *message)
{
    struct message_count *count = data;
    bool is_sync = false;

    for (size_t i = 0; i < count->stream->count; i++)
        is_sync |= count->stream->events[i].kind == ES_EVENT_SYNC &&
                   count->stream->events[i].id.trace == message->events[1].trace &&
                   count->stream->events[i].id.index == message->events[1].index;
    assert_int_equal(message->level[0] == message->level[1], is_sync);
    assert_true(message->level[0] <= message->level[1]);
    assert_true(message->ns[0] <= message->ns[1]);
    count->messages++;
    return 0;
}

static void messages_have_an_end_in_the_window(void **state)
{
    struct diagram_case made;

    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        struct esi_diagram_window window;
        struct message_count count = {.stream = &made.stream};
        size_t expected = 0;

        draw_case(&made, STEPS, 0);
        window = draw_window(made.diagram, ESI_DIAGRAM_TIME);
        for (size_t j = 0; j < made.stream.count; j++) {
            const struct made_event *receive = &made.stream.events[j];
            struct esi_diagram_event to, from;
            bool is_in;

            if ((receive->kind != ES_EVENT_RECEIVE && receive->kind != ES_EVENT_SYNC) ||
                receive->partner_count == 0 ||
                esi_diagram_event(made.diagram, receive->id, &to) < 0 ||
                (receive->kind == ES_EVENT_SYNC && to.role != ESI_ROLE_RECEIVE) ||
                esi_diagram_event(made.diagram,
                                  made.stream.events[receive->partners[0]].id,
                                  &from) < 0)
                continue;
            is_in = (to.ns >= window.from && to.ns < window.to) ||
                    (from.ns >= window.from && from.ns < window.to &&
                     from.role == ESI_ROLE_SEND);
            expected += is_in;
        }
        assert_int_equal(esi_diagram_foreach_message(made.diagram, &window, NULL,
                                                     count_message, &count),
                         0);
        assert_int_equal(count.messages, expected);
        end_case(&made);
    }
}

/* --- Calls ------------------------------------------------------------------------ */

/* What a window shows is what it should of all calls that are kept. */
static void check_calls_of_window(const struct diagram_case *made,
                                  uint32_t row,
                                  enum esi_diagram_axis axis)
{
    static struct esi_diagram_call all[CALLS], some[CALLS];
    struct esi_diagram_window everything = {
        .axis = axis, .to = UINT64_MAX, .columns = 1};
    struct esi_diagram_window window = draw_window(made->diagram, axis);
    int64_t count = esi_diagram_calls(made->diagram, row, &everything, all, CALLS);
    int64_t found = esi_diagram_calls(made->diagram, row, &window, some, CALLS), at = 0;

    assert_in_range(count, 1, CALLS);
    for (int64_t i = 0; i < count; i++) {
        bool is_in =
            axis == ESI_DIAGRAM_TIME
                ? all[i].begin_ns < window.to && all[i].end_ns >= window.from
                : all[i].level[0] < window.to && all[i].level[1] >= window.from;

        if (!is_in)
            continue;
        assert_true(at < found);
        assert_int_equal(some[at].event, all[i].event);
        assert_int_equal(some[at].begin_ns, all[i].begin_ns);
        assert_int_equal(some[at++].nonblocking, all[i].nonblocking);
    }
    assert_int_equal(at, found);
}

static void a_window_has_the_calls_that_reach_into_it(void **state)
{
    enum { LONG = 600, KEPT = 1500 };
    struct diagram_case made;

    (void)state;
    for (int i = 0; i < 12; i++) {
        draw_case(&made, LONG, i % 2 ? KEPT : 0);
        for (int j = 0; j < 100; j++)
            check_calls_of_window(&made,
                                  (uint32_t)draw_below((uint64_t)made.timeline.ranks),
                                  j % 2 ? ESI_DIAGRAM_TIME : ESI_DIAGRAM_LEVEL);
        end_case(&made);
    }
}

/* --- Replay and retention --------------------------------------------------------- */

struct replay_check {
    uint32_t seen[64]; /* events by trace */
    struct es_event_id half;
    size_t count;
};

static int check_replayed(void *data, const struct esi_diagram_event *event)
{
    struct replay_check *check = data;

    assert_int_equal(event->id.index, check->seen[event->id.trace] + 1);
    check->seen[event->id.trace]++;
    check->count++;
    if (event->kind == ES_EVENT_RECEIVE && event->partner.index > 0 &&
        check->seen[event->partner.trace] > 0)
        assert_true(check->seen[event->partner.trace] >= event->partner.index);
    if (check->half.index > 0) {
        assert_int_equal(event->partner.trace, check->half.trace);
        assert_int_equal(event->partner.index, check->half.index);
        check->half.index = 0;
    } else if (event->kind == ES_EVENT_SYNC) {
        check->half = event->id;
    }
    return 0;
}

static void a_replay_is_an_ordered_stream(void **state)
{
    struct diagram_case made;

    (void)state;
    for (int i = 0; i < PROGRAMS / 4; i++) {
        struct replay_check check = {.count = 0};
        size_t expected = 0;

        draw_case(&made, STEPS, 0);
        for (size_t j = 0; j < made.stream.count; j++)
            expected +=
                esi_diagram_row_of(made.diagram, made.stream.events[j].id.trace) >= 0;
        assert_int_equal(esi_diagram_replay(made.diagram, check_replayed, &check), 0);
        assert_int_equal(check.count, expected);
        end_case(&made);
    }
}

/* Sums are kept to the nanosecond when calls are evicted. */
static void sums_outlive_the_calls(void **state)
{
    struct esi_diagram_extent extent;
    struct esi_diagram_cell cell;
    struct diagram_case made;

    (void)state;
    for (int i = 0; i < 8; i++) {
        struct esi_diagram_window window = {.axis = ESI_DIAGRAM_TIME, .columns = 1};

        draw_case(&made, 1500, 1);
        esi_diagram_extent(made.diagram, &extent);
        assert_true(extent.forgotten > 0);
        window.from = extent.begin[ESI_DIAGRAM_TIME];
        window.to = extent.end[ESI_DIAGRAM_TIME];
        for (int rank = 0; rank < made.timeline.ranks; rank++) {
            struct esi_diagram_row row;
            uint32_t number = (uint32_t)row_of_rank(made.diagram, rank);

            assert_int_equal(esi_diagram_row(made.diagram, number, &row), 0);
            assert_true(row.kept_from > 1);
            assert_int_equal(esi_diagram_cells(made.diagram, number, &window, &cell),
                             0);
            check_time_cell(&made.rows[rank], &window, 0, &cell);
        }
        end_case(&made);
    }
}

/* The most calls that a diagram has kept. */
struct kept_watch {
    struct diagram_case *made;
    uint64_t most;
};

enum { WATCHED_MESSAGES = 3600 };

static int watch_kept(void *data,
                      const struct es_set_event *event,
                      const struct esi_causal_call *call)
{
    struct kept_watch *watch = data;
    struct esi_diagram_extent extent;
    int result = see_call(watch->made, event, call);

    esi_diagram_extent(watch->made->diagram, &extent);
    if (extent.calls - extent.forgotten > watch->most)
        watch->most = extent.calls - extent.forgotten;
    return result;
}

static void no_more_calls_are_kept_than_allowed(void **state)
{
    enum { RANKS = 2, KEPT = 256 /* the least, per thread */ };
    struct kept_watch watch = {.most = 0};
    const struct esi_causal_listener listener = {.told = watch_kept, .data = &watch};
    struct esi_diagram_extent extent;
    struct diagram_case made;

    (void)state;
    begin_case(&made, RANKS, RANKS * KEPT);
    for (int i = 0; i < WATCHED_MESSAGES; i++) {
        made_timeline_step(
            &made.timeline, i % 2,
            (struct made_step){.kind = MADE_STEP_SEND, .peer = 1 - i % 2});
        made_timeline_step(&made.timeline, 1 - i % 2,
                           (struct made_step){.kind = MADE_STEP_RECV, .peer = i % 2});
    }
    watch.made = &made;
    made_timeline_run(&made.timeline);
    made_timeline_tell(&made.timeline, &listener);
    esi_diagram_extent(made.diagram, &extent);
    assert_true(extent.calls >= 2 * WATCHED_MESSAGES);
    assert_int_equal(watch.most, RANKS * KEPT);
    end_case(&made);
}

/* The clock may show the same time when a call begins and ends: its events are of one
 * call. */
static void a_call_without_length_is_one_call(void **state)
{
    struct esi_diagram_extent extent;
    struct diagram_case made;

    (void)state;
    begin_case(&made, 2, 0);
    for (uint32_t i = 0; i < 3; i++)
        for (int rank = 0; rank < 2; rank++) {
            uint64_t now = 10000000 + 1000 * i; /* after MPI_Init */

            made_timeline_tuple(
                &made.timeline, rank, "MPI_Barrier",
                (struct es_tuple){
                    .start = now, .stop = now, .sequence = i, .peer = ES_PEER_NONE});
        }
    run_case(&made);
    esi_diagram_extent(made.diagram, &extent);
    assert_int_equal(extent.calls, made.rows[0].count + made.rows[1].count);
    end_case(&made);
}

/* --- Operations under way --------------------------------------------------------- */

static void what_is_under_way_lasts(void **state)
{
    struct esi_causal_tuple told = {.tuple = {.peer = 1, .tag = 3, .start = 1}};
    struct esi_run_process process = {.host = "made"};
    const struct esi_run_thread thread = {.process = &process};
    struct esi_causal_call call = {.told = &told,
                                   .operation = es_operation_by_name("MPI_Recv"),
                                   .thread = &thread};
    struct esi_diagram_window window = {.axis = ESI_DIAGRAM_TIME, .columns = 1};
    struct esi_diagram_extent extent;
    struct esi_diagram_cell cell;
    struct esi_diagram_row row;
    struct diagram_case made;
    uint32_t waiting;

    (void)state;
    begin_case(&made, 2, 0);
    run_case(&made);
    waiting = (uint32_t)esi_diagram_row_of(made.diagram, 0);
    esi_diagram_extent(made.diagram, &extent);
    told.start_ns = extent.end[ESI_DIAGRAM_TIME] + 1000;
    window.from = told.start_ns + 1000;
    window.to = window.from + 1000;
    assert_int_equal(made.listener.open(made.listener.data, 0, NULL), 0);
    assert_int_equal(made.listener.open(made.listener.data, 0, &call), 0);
    esi_diagram_set_now(made.diagram, window.to);
    assert_int_equal(esi_diagram_row(made.diagram, waiting, &row), 0);
    assert_true(row.is_open);
    assert_string_equal(row.open.operation->name, "MPI_Recv");
    assert_int_equal(esi_diagram_cells(made.diagram, waiting, &window, &cell), 0);
    assert_true(fabs(cell.of[ESI_DIAGRAM_RECEIVE] - 1000) < 0.5);
    /* The other rank computes. */
    assert_int_equal(esi_diagram_cells(made.diagram, 1 - waiting, &window, &cell), 0);
    assert_true(fabs(cell.of[ESI_DIAGRAM_COMPUTING] - 1000) < 0.5);
    /* It was seen before the end of the window, and its process lives. */
    told.until_ns = told.start_ns + 500;
    told.may_last = true;
    assert_int_equal(made.listener.open(made.listener.data, 0, NULL), 0);
    assert_int_equal(made.listener.open(made.listener.data, 0, &call), 0);
    assert_int_equal(esi_diagram_cells(made.diagram, waiting, &window, &cell), 0);
    assert_true(fabs(cell.of[ESI_DIAGRAM_RECEIVE] - 1000) < 0.5);
    /* Its process has ended meanwhile. */
    told.may_last = false;
    assert_int_equal(made.listener.open(made.listener.data, 0, NULL), 0);
    assert_int_equal(made.listener.open(made.listener.data, 0, &call), 0);
    assert_int_equal(esi_diagram_row(made.diagram, waiting, &row), 0);
    assert_int_equal(row.end_ns, told.until_ns);
    assert_int_equal(esi_diagram_cells(made.diagram, waiting, &window, &cell), 0);
    assert_true(fabs(cell.of[ESI_DIAGRAM_RECEIVE]) < 0.5);
    /* The next round of open operations does not contain it. */
    assert_int_equal(made.listener.open(made.listener.data, 0, NULL), 0);
    assert_int_equal(made.listener.open(made.listener.data, 0, NULL), 0);
    assert_int_equal(esi_diagram_row(made.diagram, waiting, &row), 0);
    assert_false(row.is_open);
    end_case(&made);
}

/* --- Suite ------------------------------------------------------------------------ */

SUITE(test_diagram)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_time_are_what_calls_add_up_to),
        cmocka_unit_test(cells_of_levels_count_events),
        cmocka_unit_test(groups_add_up_and_name_who_is_unlike),
        cmocka_unit_test(rows_have_the_cluster_of_their_host),
        cmocka_unit_test(levels_are_longest_chains),
        cmocka_unit_test(cones_are_all_that_is_before_and_after),
        cmocka_unit_test(messages_have_an_end_in_the_window),
        cmocka_unit_test(a_window_has_the_calls_that_reach_into_it),
        cmocka_unit_test(a_replay_is_an_ordered_stream),
        cmocka_unit_test(sums_outlive_the_calls),
        cmocka_unit_test(no_more_calls_are_kept_than_allowed),
        cmocka_unit_test(a_call_without_length_is_one_call),
        cmocka_unit_test(what_is_under_way_lasts),
    };

    return cmocka_run_group_tests(tests, (CMFixtureFunction)draw_seed, NULL);
}
