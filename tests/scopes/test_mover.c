/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Trace elements that are placed on another host. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "element_servers.h"
#include "made_run.h"
#include "scopes/server/mover.h"
#include "tests/suites.h"

enum { THRESHOLD = 63, TRIES = 2000 }; /* of 5 ms */

struct scene {
    struct made_run run;
    struct element_server made[2]; /* alpha, where the program runs, and beta */
    struct es_servers *servers;
    struct es_segment *segment;
    struct es_writer *placed; /* on beta */
    struct es_writer *stays;
    struct es_plan plan;
    struct es_mover *mover;
    uint64_t written;
};

static void start_mover(struct scene *scene)
{
    struct es_mover_config config = {.run = scene->run.name,
                                     .host = "alpha",
                                     .plan = &scene->plan,
                                     .servers = scene->servers};

    assert_int_equal(es_mover_start(&config, &scene->mover), 0);
}

static int set_up(void **state)
{
    static struct scene scene;

    scene = (struct scene){.written = 0};
    made_run_begin(&scene.run);
    element_server_start(&scene.made[0], scene.run.name, "alpha");
    element_server_start(&scene.made[1], scene.run.name, "beta");
    scene.servers = element_servers(scene.made, 2);
    scene.segment = made_run_add_rank_on(&scene.run, "alpha", 2, 4);
    scene.placed = made_run_add_element(&scene.run, scene.segment, 2, 1, "placed",
                                        1u << ES_CLASS_SEND, THRESHOLD);
    scene.stays = made_run_add_element(&scene.run, scene.segment, 2, 1, "stays",
                                       1u << ES_CLASS_RECEIVE, THRESHOLD);
    assert_int_equal(es_plan_parse("eventspace-plan 1\n"
                                   "collector placed classes=send host=beta\n"
                                   "collector stays classes=receive host=alpha\n"
                                   "end\n",
                                   "test", NULL, &scene.plan),
                     0);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    es_mover_stop(scene->mover);
    es_plan_fini(&scene->plan);
    es_servers_close(scene->servers);
    element_server_stop(&scene->made[0]);
    if (scene->made[1].server)
        element_server_stop(&scene->made[1]);
    made_run_end(&scene->run);
    return 0;
}

static void write_some(struct scene *scene, int count)
{
    for (int i = 0; i < count; i++) {
        struct es_tuple tuple = made_tuple("MPI_Send", 1000, 2000);

        tuple.sequence = (uint32_t)scene->written++;
        es_writer_write(scene->placed, &tuple);
    }
}

static void rest(void)
{
    struct timespec slice = {.tv_nsec = 5000000};

    nanosleep(&slice, NULL);
}

/* The elements named "2.1/placed" that readers find.  Caller frees. */
static int find_placed(const struct es_run *run, struct es_element_view ***ret_views)
{
    struct es_selection selection;

    es_selection_init(&selection);
    selection.name = "2.1/placed";
    return es_run_select(run, &selection, ret_views);
}

/* The one that lies on beta, once so many tuples of the original were moved or lost. */
static struct es_element_view *await_moved(struct es_run *run, uint64_t count)
{
    for (int i = 0; i < TRIES; i++) {
        struct es_element_view **views, *view = NULL;
        struct es_element_info info = {.head = 0};

        assert_true(es_run_refresh(run) >= 0);
        if (find_placed(run, &views) == 1)
            view = views[0];
        free(views);
        if (view)
            es_element_view_info(view, &info);
        if (view && strcmp(info.host, "beta") == 0 &&
            info.head + info.lost_moving >= count)
            return view;
        rest();
    }
    fail_msg("it was not moved");
    return NULL;
}

/* Who reads first has the frequency measured again, within what was known of it. */
static void expect_same_clock(const struct es_clock *clock,
                              const struct es_clock *original)
{
    struct es_clock expected = *original;
    uint64_t known_hz =
        original->frequency_hz / 1000 * original->frequency_error_ppb / 500000 + 1;

    assert_in_range(clock->frequency_hz, original->frequency_hz - known_hz,
                    original->frequency_hz + known_hz);
    assert_true(clock->frequency_error_ppb <= original->frequency_error_ppb);
    expected.frequency_hz = clock->frequency_hz;
    expected.frequency_error_ppb = clock->frequency_error_ppb;
    assert_memory_equal(clock, &expected, sizeof expected);
}

static void readers_find_it_there_with_the_facts_of_its_process(void **state)
{
    struct scene *scene = *state;
    struct es_segment_info process;
    struct es_communicator_info world;
    struct es_element_info info;
    const struct es_element_view *view;
    const struct es_segment_view *segment;
    const struct es_clock *original;
    struct es_run *run;

    write_some(scene, 20);
    start_mover(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    view = await_moved(run, 20);
    es_element_view_info(view, &info);
    assert_int_equal(info.rank, 2);
    assert_int_equal(info.thread, 1);
    assert_string_equal(info.collector, "placed");
    assert_int_equal(info.classes, 1u << ES_CLASS_SEND);
    assert_int_equal(info.threshold, THRESHOLD);
    assert_int_equal(info.lost_moving, 0);
    assert_false(info.moved);
    segment = es_element_view_segment(view);
    es_segment_view_info(segment, &process);
    assert_true(process.kept);
    assert_true(process.alive);
    assert_int_equal(process.pid, getpid());
    assert_int_equal(process.rank, 2);
    original = &es_segment_layout(scene->segment)->clock;
    expect_same_clock(es_segment_view_clock(segment), original);
    assert_int_equal(es_segment_view_communicator(segment, 0, &world), 0);
    assert_int_equal(world.size, 4);
    assert_int_equal(es_run_world_rank(run, segment, 0, false, 3), 3);
    es_run_close(run);
}

static void every_tuple_arrives_in_order(void **state)
{
    struct scene *scene = *state;
    struct es_cursor cursor = {0};
    const struct es_element_view *view;
    struct es_tuple tuple;
    uint64_t seen = 0;
    struct es_run *run;

    start_mover(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    for (int round = 0; round < 20; round++) {
        write_some(scene, 30);
        view = await_moved(run, scene->written);
        while (es_element_read(view, &cursor, &tuple, 1) == 1)
            assert_int_equal(tuple.sequence, seen++);
        assert_int_equal(seen, scene->written);
    }
    assert_int_equal(cursor.lost, 0);
    es_run_close(run);
}

static void what_the_plan_leaves_here_stays(void **state)
{
    struct scene *scene = *state;
    struct es_selection selection;
    struct es_element_view **views;
    struct es_element_info info;
    struct es_run *run;

    write_some(scene, 1);
    start_mover(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    await_moved(run, 1);
    es_selection_init(&selection);
    selection.collector = "stays";
    assert_int_equal(es_run_select(run, &selection, &views), 1);
    es_element_view_info(views[0], &info);
    assert_string_equal(info.host, "alpha");
    free(views);
    es_run_close(run);
}

/* What was overwritten while nobody took it is counted, with both elements; no tuple
 * comes twice. */
static void losses_while_the_target_is_away_are_counted(void **state)
{
    struct scene *scene = *state;
    struct es_cursor cursor = {0};
    struct es_element_info info;
    const struct es_element_view *view;
    struct es_tuple tuple;
    uint64_t next = 0, read = 0;
    struct es_run *run;

    element_server_stop(&scene->made[1]);
    scene->made[1].server = NULL;
    start_mover(scene);
    write_some(scene, 10 * THRESHOLD);
    for (int i = 0; i < 20; i++)
        rest();
    es_mover_stop(scene->mover);
    es_servers_close(scene->servers);
    element_server_start(&scene->made[1], scene->run.name, "beta");
    scene->servers = element_servers(scene->made, 2);
    start_mover(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    view = await_moved(run, scene->written);
    while (es_element_read(view, &cursor, &tuple, 1) == 1) {
        assert_true(tuple.sequence >= next);
        next = tuple.sequence + 1;
        read++;
    }
    es_element_view_info(view, &info);
    assert_int_equal(next, scene->written);
    assert_int_equal(cursor.lost, 0);
    assert_int_equal(read + info.lost_moving, scene->written);
    assert_true(info.lost_moving > 0);
    es_run_close(run);
}

static void the_end_of_the_process_is_told(void **state)
{
    struct scene *scene = *state;
    struct es_segment_info process = {.state = ES_PROCESS_RUNNING};
    const struct es_element_view *view;
    struct es_run *run;

    write_some(scene, 1);
    start_mover(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    view = await_moved(run, 1);
    es_segment_set_state(scene->segment, ES_SEGMENT_FINALIZED);
    for (int i = 0; i < TRIES && process.state != ES_PROCESS_FINALIZED; i++) {
        es_segment_view_info(es_element_view_segment(view), &process);
        rest();
    }
    assert_int_equal(process.state, ES_PROCESS_FINALIZED);
    es_run_close(run);
}

/* The other host's server takes no element of such a size.  A blocking one shows that
 * the mover has come, and gone: its writer is woken each time. */
static void what_the_other_host_refuses_stays_readable_here(void **state)
{
    struct scene *scene = *state;
    struct es_element_layout *layout = scene->placed->element;
    struct es_element_view **views;
    struct es_element_info info;
    struct es_run *run;

    write_some(scene, 20);
    atomic_store(&layout->limit, 1u << 24);
    atomic_store(&layout->on_full, ES_ON_FULL_BLOCK);
    atomic_store(&layout->writer_waits, 1);
    start_mover(scene);
    for (int i = 0; i < TRIES && atomic_load(&layout->reader_wake) < 2; i++)
        rest();
    assert_int_equal(atomic_load(&layout->reader_wake), 2);
    assert_int_equal(atomic_load(&layout->reader), 0);
    assert_int_equal(atomic_load(&layout->moved), 0);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    assert_int_equal(find_placed(run, &views), 1);
    es_element_view_info(views[0], &info);
    assert_string_equal(info.host, "alpha");
    assert_int_equal(info.head, 20);
    free(views);
    es_run_close(run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

SUITE(test_mover)
{
    const struct CMUnitTest tests[] = {
        TEST(readers_find_it_there_with_the_facts_of_its_process),
        TEST(every_tuple_arrives_in_order),
        TEST(what_the_plan_leaves_here_stays),
        TEST(losses_while_the_target_is_away_are_counted),
        TEST(the_end_of_the_process_is_told),
        TEST(what_the_other_host_refuses_stays_readable_here),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
