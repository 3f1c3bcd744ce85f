/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of trace elements that are placed on another host. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "element_servers.h"
#include "made_run.h"
#include "scopes/server/placement.h"
#include "tests/await.h"
#include "tests/suites.h"

enum { THRESHOLD = 63, TRIES = 2000 }; /* 5 ms each */

static const char *const hosts[] = {"alpha", "beta"};

struct scene {
    struct made_run run;
    struct element_server made[2]; /* alpha, where the program runs, and beta */
    struct es_servers *servers[2]; /* the set of servers of each host */
    struct es_segment *segment;
    struct esi_writer *placed; /* on beta */
    struct esi_writer *stays;
    struct es_plan plan;
    struct esi_placement *placements[2]; /* of alpha and beta */
    uint64_t written;
};

/* Seconds by which each reading of CLOCK_REALTIME advances it. */
static atomic_long realtime_steps_s;

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    static atomic_long ahead_s;
    int result = (int)syscall(SYS_clock_gettime, clock, ret_time);

    if (result == 0 && clock == CLOCK_REALTIME)
        ret_time->tv_sec += atomic_fetch_add(&ahead_s, atomic_load(&realtime_steps_s));
    return result;
}

static void start_placement(struct scene *scene, int index)
{
    struct esi_placement_config config = {.service = &scene->made[index].service,
                                          .plan = &scene->plan,
                                          .servers = scene->servers[index]};

    assert_int_equal(esi_placement_start(&config, &scene->placements[index]), 0);
}

static void start_placements(struct scene *scene)
{
    start_placement(scene, 0);
    start_placement(scene, 1);
}

static void stop_placement(struct scene *scene, int index)
{
    esi_placement_stop(scene->placements[index]);
    scene->placements[index] = NULL;
}

static void start_server(struct scene *scene, int index)
{
    element_server_start(&scene->made[index], scene->run.name, hosts[index]);
}

/* The server of beta gets another address. */
static void restart_beta(struct scene *scene)
{
    start_server(scene, 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            esi_servers_add(scene->servers[i], hosts[1], scene->made[1].address), 0);
    start_placement(scene, 1);
}

static void stop_beta(struct scene *scene)
{
    stop_placement(scene, 1);
    element_server_stop(&scene->made[1]);
    scene->made[1].server = NULL;
}

static int set_up(void **state)
{
    static struct scene scene;

    scene = (struct scene){.written = 0};
    made_run_begin(&scene.run);
    start_server(&scene, 0);
    start_server(&scene, 1);
    for (int i = 0; i < 2; i++)
        scene.servers[i] = element_servers(scene.made, 2);
    scene.segment = made_run_add_rank_on(&scene.run, "alpha", 2, 4);
    scene.placed = made_run_add_element(&scene.run, scene.segment, 2, 1, "placed",
                                        1u << ES_CLASS_SEND, THRESHOLD);
    scene.stays = made_run_add_element(&scene.run, scene.segment, 2, 1, "stays",
                                       1u << ES_CLASS_RECEIVE, THRESHOLD);
    assert_int_equal(esi_plan_parse("eventspace-plan 1\n"
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

    for (int i = 1; i >= 0; i--) {
        stop_placement(scene, i);
        es_servers_close(scene->servers[i]);
        if (scene->made[i].server)
            element_server_stop(&scene->made[i]);
    }
    esi_plan_fini(&scene->plan);
    made_run_end(&scene->run);
    return 0;
}

static void write_some(struct scene *scene, int count)
{
    for (int i = 0; i < count; i++) {
        struct es_tuple tuple = made_tuple("MPI_Send", 1000, 2000);

        tuple.sequence = (uint32_t)scene->written++;
        esi_writer_write(scene->placed, &tuple);
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

/* Returns the element on beta once `count` tuples of the
 * original are stored or lost. */
static struct es_element_view *await_placed(struct es_run *run, uint64_t count)
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
    fail_msg("it was not placed there");
    return NULL;
}

/* The first reader measures the frequency again, within its known error. */
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
    start_placements(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    view = await_placed(run, 20);
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
    original = &esi_segment_layout(scene->segment)->clock;
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

    start_placements(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    for (int round = 0; round < 20; round++) {
        write_some(scene, 30);
        view = await_placed(run, scene->written);
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
    start_placements(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    await_placed(run, 1);
    es_selection_init(&selection);
    selection.collector = "stays";
    assert_int_equal(es_run_select(run, &selection, &views), 1);
    es_element_view_info(views[0], &info);
    assert_string_equal(info.host, "alpha");
    free(views);
    es_run_close(run);
}

/* Number of mappings of alpha's program in this process. */
static int count_mappings(const struct scene *scene)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], name[128];
    int count = 0;

    assert_non_null(maps);
    snprintf(name, sizeof name, "eventspace.%s.alpha.2.", scene->run.name);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, name) != NULL;
    fclose(maps);
    return count;
}

/* The program has one mapping, and each server has one for all its readers. */
static void a_server_maps_a_segment_once(void **state)
{
    struct scene *scene = *state;
    struct es_run *run;

    assert_int_equal(count_mappings(scene), 1);
    write_some(scene, 20);
    start_placements(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    await_placed(run, 20);
    es_run_close(run);
    assert_int_equal(count_mappings(scene), 3);
}

/* Reads all tuples of the element, which must be in order.  Returns their number. */
static uint64_t read_all(const struct es_element_view *view, uint64_t *ret_next)
{
    struct es_cursor cursor = {0};
    struct es_tuple tuple;
    uint64_t next = 0, read = 0;

    while (es_element_read(view, &cursor, &tuple, 1) == 1) {
        assert_true(tuple.sequence >= next);
        next = tuple.sequence + 1;
        read++;
    }
    assert_int_equal(cursor.lost, 0);
    *ret_next = next;
    return read;
}

/* Tuples overwritten while the other server is away are counted;
 * none is stored twice. */
static void losses_while_the_other_server_is_away_are_counted(void **state)
{
    struct scene *scene = *state;
    struct es_element_info info;
    const struct es_element_view *view;
    uint64_t next, read;
    struct es_run *run;

    stop_beta(scene);
    start_placement(scene, 0);
    write_some(scene, 10 * THRESHOLD);
    for (int i = 0; i < 20; i++)
        rest();
    restart_beta(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    view = await_placed(run, scene->written);
    read = read_all(view, &next);
    es_element_view_info(view, &info);
    assert_int_equal(next, scene->written);
    assert_int_equal(read + info.lost_moving, scene->written);
    assert_true(info.lost_moving > 0);
    es_run_close(run);
}

static bool await_location(const struct scene *scene, enum es_element_location location)
{
    for (int i = 0; i < TRIES; i++) {
        if (atomic_load(&scene->placed->element->location) == location)
            return true;
        rest();
    }
    return false;
}

/* If no other server takes the element, it is readable here
 * again when this one ends. */
static void an_element_that_nobody_took_comes_back(void **state)
{
    struct scene *scene = *state;
    struct es_element_view **views;
    struct es_run *run;

    stop_beta(scene);
    write_some(scene, 20);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    start_placement(scene, 0);
    assert_true(await_location(scene, ES_LOCATION_AWAITED));
    assert_int_equal(find_placed(run, &views), 0);
    free(views);
    stop_placement(scene, 0);
    assert_int_equal(find_placed(run, &views), 1);
    free(views);
    es_run_close(run);
}

/* The program waits while the server that takes its tuples is away; when it comes
 * back, none are lost. */
static void a_blocking_element_waits_for_a_server_that_comes_back(void **state)
{
    const uint64_t reader_pid = (UINT64_C(1) << ES_READER_PID_BITS) - 1;
    struct scene *scene = *state;
    struct esi_element_layout *layout = scene->placed->element;
    struct es_cursor cursor = {0};
    const struct es_element_view *view;
    struct es_tuple tuple;
    uint64_t seen = 0;
    struct es_run *run;

    atomic_store(&layout->on_full, ES_ON_FULL_BLOCK);
    start_placements(scene);
    write_some(scene, THRESHOLD / 2);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    await_placed(run, scene->written);
    es_run_close(run);
    stop_beta(scene);
    write_some(scene, THRESHOLD / 2);
    /* The server of this host is registered as the reader for
     * which the writer waits. */
    assert_int_equal(atomic_load(&layout->reader) & reader_pid, getpid());
    assert_true(atomic_load(&layout->reader_position) <= THRESHOLD / 2);
    restart_beta(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    for (int round = 0; round < 10; round++) {
        view = await_placed(run, scene->written);
        while (es_element_read(view, &cursor, &tuple, 1) == 1)
            assert_int_equal(tuple.sequence, seen++);
        assert_int_equal(seen, scene->written);
        write_some(scene, THRESHOLD / 2);
    }
    assert_int_equal(cursor.lost, 0);
    es_run_close(run);
}

static void the_end_of_the_process_is_noted(void **state)
{
    struct scene *scene = *state;
    struct es_segment_info process = {.state = ES_PROCESS_RUNNING};
    const struct es_element_view *view;
    struct es_run *run;

    write_some(scene, 1);
    start_placements(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    view = await_placed(run, 1);
    esi_segment_set_state(scene->segment, ES_SEGMENT_FINALIZED);
    for (int i = 0; i < TRIES && process.state != ES_PROCESS_FINALIZED; i++) {
        es_segment_view_info(es_element_view_segment(view), &process);
        rest();
    }
    assert_int_equal(process.state, ES_PROCESS_FINALIZED);
    es_run_close(run);
}

/* Setting the time of day must not stop the placement. */
static void the_time_of_day_does_not_matter(void **state)
{
    struct scene *scene = *state;
    struct es_run *run;

    atomic_store(&realtime_steps_s, 3600);
    write_some(scene, 20);
    start_placements(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    await_placed(run, 20);
    write_some(scene, 20);
    await_placed(run, 40);
    atomic_store(&realtime_steps_s, 0);
    es_run_close(run);
}

/* After the end of the run no server waits for another one that
 * still reads the element. */
static void a_finished_placement_has_stored_all_and_reads_no_more(void **state)
{
    struct scene *scene = *state;
    const struct es_element_view *view;
    uint64_t next;
    struct es_run *run;

    start_placements(scene);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    await_placed(run, 0);
    AWAIT(esi_service_is_read(&scene->made[0].service));
    write_some(scene, THRESHOLD);
    esi_segment_set_state(scene->segment, ES_SEGMENT_FINALIZED);
    esi_placement_finish(scene->placements[1]);
    for (int i = 0; i < TRIES && esi_service_is_read(&scene->made[0].service); i++)
        rest();
    assert_false(esi_service_is_read(&scene->made[0].service));
    view = await_placed(run, 0);
    assert_int_equal(read_all(view, &next), THRESHOLD);
    es_run_close(run);
}

/* The other server refuses an element of this size.  The element blocks, which shows
 * that this server registers as its reader and unregisters again. */
static void what_the_other_host_refuses_stays_readable_here(void **state)
{
    struct scene *scene = *state;
    struct esi_element_layout *layout = scene->placed->element;
    struct es_element_view **views;
    struct es_element_info info;
    struct es_run *run;

    write_some(scene, 20);
    atomic_store(&layout->limit, 1u << 24);
    atomic_store(&layout->on_full, ES_ON_FULL_BLOCK);
    atomic_store(&layout->writer_waits, 1);
    start_placements(scene);
    assert_true(await_location(scene, ES_LOCATION_REFUSED));
    for (int i = 0; i < TRIES && atomic_load(&layout->reader) != 0; i++)
        rest();
    assert_int_equal(atomic_load(&layout->reader), 0);
    assert_true(es_run_open_empty(scene->run.name, NULL, &run) >= 0);
    assert_int_equal(find_placed(run, &views), 1);
    es_element_view_info(views[0], &info);
    assert_string_equal(info.host, "alpha");
    assert_int_equal(info.head, 20);
    free(views);
    es_run_close(run);
}

SUITE(test_placement)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_find_it_there_with_the_facts_of_its_process),
        cmocka_unit_test(every_tuple_arrives_in_order),
        cmocka_unit_test(what_the_plan_leaves_here_stays),
        cmocka_unit_test(a_server_maps_a_segment_once),
        cmocka_unit_test(losses_while_the_other_server_is_away_are_counted),
        cmocka_unit_test(an_element_that_nobody_took_comes_back),
        cmocka_unit_test(a_blocking_element_waits_for_a_server_that_comes_back),
        cmocka_unit_test(the_end_of_the_process_is_noted),
        cmocka_unit_test(what_the_other_host_refuses_stays_readable_here),
        cmocka_unit_test(the_time_of_day_does_not_matter),
        cmocka_unit_test(a_finished_placement_has_stored_all_and_reads_no_more),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
