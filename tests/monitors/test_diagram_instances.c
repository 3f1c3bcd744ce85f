/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Collective operations of a diagram agree with the calls of the members, in random
 * programs. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/diagram/diagram.h"
#include "tests/monitors/draw.h"
#include "tests/monitors/made_timeline.h"
#include "tests/suites.h"

enum { PROGRAMS = 100, STEPS = 8 };

struct instances_case {
    struct made_timeline timeline;
    struct esi_diagram *diagram;
    struct es_set_sink sink;
    struct esi_causal_listener listener;
    int missing; /* rank whose parts are not seen; -1 = none */
};

static int pass_trace(void *data, uint32_t trace, const char *name)
{
    struct instances_case *made = data;

    return made->sink.trace(made->sink.data, trace, name);
}

static int ignore_event(void *data, const struct es_set_event *event)
{
    (void)data;
    (void)event;
    return 0;
}

static int pass_call(void *data,
                     const struct es_set_event *event,
                     const struct esi_causal_call *call)
{
    struct instances_case *made = data;

    return made->listener.told(made->listener.data, event, call);
}

static int pass_instance(void *data, const struct esi_causal_instance *instance)
{
    struct instances_case *made = data;
    struct esi_causal_part parts[TIMELINE_RANKS];
    struct esi_causal_instance passed = *instance;

    memcpy(parts, instance->parts,
           instance->communicator->size * sizeof *instance->parts);
    passed.parts = parts;
    if (made->missing >= 0) {
        parts[made->missing].thread = NULL;
        passed.known--;
    }
    return made->listener.instance(made->listener.data, &passed);
}

static void begin_case(struct instances_case *made, int ranks)
{
    const struct esi_diagram_config config = {.calls_max = 0};

    made_timeline_init(&made->timeline, ranks);
    assert_int_equal(esi_diagram_create(&config, &made->diagram), 0);
    made->sink = esi_diagram_sink(made->diagram);
    made->listener = esi_diagram_listener(made->diagram);
    made->missing = -1;
    made->timeline.sink = (struct es_set_sink){pass_trace, ignore_event, made};
}

static void run_case(struct instances_case *made)
{
    const struct esi_causal_listener listener = {
        .told = pass_call, .instance = pass_instance, .data = made};

    made_timeline_run(&made->timeline);
    made_timeline_tell(&made->timeline, &listener);
}

static void end_case(struct instances_case *made)
{
    esi_diagram_destroy(made->diagram);
    made_timeline_fini(&made->timeline);
}

static void draw_case(struct instances_case *made)
{
    static const enum made_step_kind kinds[] = {MADE_STEP_BARRIER, MADE_STEP_ALLREDUCE,
                                                MADE_STEP_BCAST, MADE_STEP_IBARRIER};

    begin_case(made, 2 + (int)draw_below(TIMELINE_RANKS - 1));
    for (int i = 0; i < STEPS; i++) {
        struct made_step step = {.kind = kinds[draw_below(4)], .line = 2};

        step.peer = (int)draw_below((uint64_t)made->timeline.ranks);
        for (int rank = 0; rank < made->timeline.ranks; rank++)
            made_timeline_step(
                &made->timeline, rank,
                (struct made_step){.kind = MADE_COMPUTE, .ns = 1 + draw_below(20000)});
        made_timeline_step_all(&made->timeline, step);
        if (step.kind == MADE_STEP_IBARRIER)
            made_timeline_step_all(&made->timeline,
                                   (struct made_step){.kind = MADE_STEP_WAITALL});
    }
    run_case(made);
}

/* --- Lists of instances; the callback must not query the diagram ------------------ */

struct instance_list {
    struct esi_diagram_instance items[STEPS];
    size_t count;
};

static int list_instance(void *data, const struct esi_diagram_instance *instance)
{
    struct instance_list *list = data;

    assert_true(list->count < STEPS);
    list->items[list->count++] = *instance;
    return 0;
}

static void list_instances(const struct instances_case *made,
                           const struct esi_diagram_window *window,
                           struct instance_list *list)
{
    list->count = 0;
    assert_int_equal(
        esi_diagram_foreach_instance(made->diagram, window, list_instance, list), 0);
}

static void check_arrival(const struct instances_case *made,
                          const struct esi_diagram_arrival *arrival,
                          const struct made_meeting *meeting)
{
    struct esi_diagram_event event;
    struct esi_diagram_row row;

    assert_int_equal(esi_diagram_row(made->diagram, arrival->row, &row), 0);
    assert_int_equal(arrival->ns, meeting->enter_ns[row.rank]);
    assert_int_equal(esi_diagram_event(made->diagram,
                                       (struct es_event_id){row.trace, arrival->event},
                                       &event),
                     0);
    assert_int_equal(event.role, ESI_ROLE_ENTER);
    assert_int_equal(event.ns, arrival->ns);
    assert_int_equal(event.level, arrival->level);
}

static void check_instance(const struct instances_case *made,
                           const struct esi_diagram_instance *instance)
{
    const struct made_meeting *meeting = &made->timeline.meetings[instance->number];

    check_arrival(made, &instance->first, meeting);
    check_arrival(made, &instance->last, meeting);
    for (int rank = 0; rank < made->timeline.ranks; rank++) {
        assert_true(instance->first.ns <= meeting->enter_ns[rank]);
        assert_true(instance->last.ns >= meeting->enter_ns[rank]);
    }
    assert_true(instance->end_ns > instance->last.ns);
    assert_int_equal(instance->size, made->timeline.ranks);
    assert_int_equal(instance->known, instance->size);
    assert_string_equal(instance->site, "made.c:2");
    assert_int_equal(instance->waits_known, meeting->kind != MADE_STEP_IBARRIER);
    if (instance->lost_ns > 0)
        check_arrival(made, &instance->longest, meeting);
}

static void instances_are_what_their_members_did(void **state)
{
    const struct esi_diagram_window all = {.to = UINT64_MAX, .columns = 1};
    struct instance_list list;
    struct instances_case made;

    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        draw_case(&made);
        assert_int_equal(made.timeline.meeting_count, STEPS);
        list_instances(&made, &all, &list);
        assert_int_equal(list.count, STEPS);
        for (size_t j = 0; j < STEPS; j++) {
            assert_int_equal(list.items[j].number,
                             STEPS - 1 - j); /* the newest first */
            check_instance(&made, &list.items[j]);
        }
        end_case(&made);
    }
}

/* A window of one axis has all instances that overlap it. */
static void check_window(const struct instances_case *made,
                         const struct instance_list *all,
                         enum esi_diagram_axis axis)
{
    struct esi_diagram_extent extent;
    struct esi_diagram_window window = {.axis = axis, .columns = 1};
    struct instance_list some;
    size_t expected = 0;

    esi_diagram_extent(made->diagram, &extent);
    window.from =
        extent.begin[axis] + draw_below(extent.end[axis] - extent.begin[axis]);
    window.to = window.from + 1 + draw_below(extent.end[axis] - window.from);
    for (size_t i = 0; i < all->count; i++) {
        const struct esi_diagram_instance *one = &all->items[i];
        uint64_t begin = axis == ESI_DIAGRAM_TIME ? one->first.ns : one->first.level;
        uint64_t end = axis == ESI_DIAGRAM_TIME ? one->end_ns : one->last.level;

        expected += (begin < end ? begin : end) < window.to &&
                    (begin < end ? end : begin) >= window.from;
    }
    list_instances(made, &window, &some);
    assert_int_equal(some.count, expected);
}

static void windows_have_what_reaches_into_them(void **state)
{
    const struct esi_diagram_window all = {.to = UINT64_MAX, .columns = 1};
    struct instance_list list;
    struct instances_case made;

    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        draw_case(&made);
        list_instances(&made, &all, &list);
        check_window(&made, &list, ESI_DIAGRAM_TIME);
        check_window(&made, &list, ESI_DIAGRAM_LEVEL);
        end_case(&made);
    }
}

static void an_instance_without_a_member_is_not_judged(void **state)
{
    const struct esi_diagram_window all = {.to = UINT64_MAX, .columns = 1};
    struct instance_list list;
    struct instances_case made;

    (void)state;
    begin_case(&made, 3);
    made.missing = 1;
    made_timeline_step_all(&made.timeline,
                           (struct made_step){.kind = MADE_STEP_BARRIER, .line = 2});
    run_case(&made);
    list_instances(&made, &all, &list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].known, 2);
    assert_int_equal(list.items[0].size, 3);
    assert_false(list.items[0].waits_known);
    end_case(&made);
}

SUITE(test_diagram_instances)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(instances_are_what_their_members_did, draw_seed),
        cmocka_unit_test_setup(windows_have_what_reaches_into_them, draw_seed),
        cmocka_unit_test(an_instance_without_a_member_is_not_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
