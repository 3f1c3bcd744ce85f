/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Runs that share one set: each segment is attached once and reference-counted. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/suites.h"
#include "tuplespace/new_elements.h"
#include "tuplespace/segment_set.h"

enum { RANKS = 48, RUNS = 32, MANY = 20 };

struct scene {
    char id[64];
    struct es_segment *segments[RANKS];
    size_t count;
    struct esi_segment_set *set;
};

static struct es_segment *add_segment(struct scene *scene)
{
    struct es_segment *segment = fixture_segment(scene->id, (int)scene->count);

    scene->segments[scene->count++] = segment;
    return segment;
}

static void begin(struct scene *scene)
{
    *scene = (struct scene){.count = 0};
    fixture_run("set", scene->id);
    assert_int_equal(esi_segment_set_create(scene->id, &scene->set), 0);
}

static void end(struct scene *scene)
{
    esi_segment_set_destroy(scene->set);
    for (size_t i = 0; i < scene->count; i++)
        esi_segment_destroy(scene->segments[i]);
}

static struct es_run *open_run(const struct scene *scene, bool reads)
{
    struct es_run *run;

    assert_int_equal(esi_run_open_shared(scene->set, reads, NULL, &run), 0);
    return run;
}

/* Counts the mappings of the scene's segments in this process.  Each maker has one. */
static int count_mappings(const struct scene *scene)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    int count = 0;

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, scene->id) != NULL;
    fclose(maps);
    return count;
}

static uint32_t watchers(const struct es_segment *segment)
{
    return atomic_load(&esi_segment_layout((struct es_segment *)segment)->watchers);
}

static void runs_share_what_is_attached(void **state)
{
    struct es_run *first, *second;
    struct scene scene;
    int made;

    (void)state;
    begin(&scene);
    add_segment(&scene);
    made = count_mappings(&scene);
    first = open_run(&scene, true);
    second = open_run(&scene, true);
    assert_int_equal(es_run_segment_count(first), 1);
    assert_ptr_equal(es_run_segment(first, 0), es_run_segment(second, 0));
    assert_int_equal(count_mappings(&scene), made + 1);
    es_run_close(first);
    assert_int_equal(es_segment_view_element_count(es_run_segment(second, 0)), 0);
    es_run_close(second);
    end(&scene);
}

static void more_segments_are_read_than_files_may_be_open(void **state)
{
    const struct rlimit few = {.rlim_cur = 32, .rlim_max = 1024};
    struct es_run *runs[RUNS], *own;
    struct rlimit before;
    struct scene scene;

    (void)state;
    begin(&scene);
    for (int i = 0; i < RANKS; i++)
        add_segment(&scene);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){few.rlim_cur, before.rlim_max}), 0);
    for (int i = 0; i < RUNS; i++) {
        runs[i] = open_run(&scene, true);
        assert_int_equal(es_run_segment_count(runs[i]), RANKS);
        assert_int_equal(es_run_unreadable_count(runs[i]), 0);
    }
    assert_int_equal(es_run_open(scene.id, NULL, &own), 0);
    assert_int_equal(es_run_segment_count(own), RANKS);
    assert_int_equal(es_run_unreadable_count(own), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    es_run_close(own);
    for (int i = 0; i < RUNS; i++)
        es_run_close(runs[i]);
    end(&scene);
}

static void each_run_is_told_what_is_new_to_it(void **state)
{
    struct es_run *first, *second;
    struct esi_writer writer;
    struct es_segment *segment;
    struct scene scene;

    (void)state;
    begin(&scene);
    segment = add_segment(&scene);
    first = open_run(&scene, true);
    second = open_run(&scene, true);
    fixture_element(segment, "a", 15, &writer);
    assert_int_equal(es_run_refresh(first), 1);
    assert_true(esi_run_has_new_elements(second));
    assert_false(esi_run_has_new_elements(first));
    assert_int_equal(es_run_refresh(second), 1);
    assert_false(esi_run_has_new_elements(second));
    fixture_element(add_segment(&scene), "b", 15, &writer);
    assert_int_equal(es_run_refresh(second), 2);
    assert_int_equal(es_run_segment_count(first), 1);
    assert_int_equal(es_run_refresh(first), 2);
    assert_int_equal(es_run_refresh(first), 0);
    es_run_close(first);
    es_run_close(second);
    end(&scene);
}

static void a_selection_is_that_of_the_last_refresh(void **state)
{
    struct es_element_view **elements;
    struct es_run *first, *second;
    struct es_selection all;
    struct esi_writer writer;
    struct scene scene;
    char name[16];

    (void)state;
    begin(&scene);
    add_segment(&scene);
    first = open_run(&scene, true);
    second = open_run(&scene, true);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "e%d", i);
        fixture_element(scene.segments[0], name, 15, &writer);
    }
    assert_int_equal(es_run_refresh(first), MANY);
    es_selection_init(&all);
    assert_int_equal(es_run_select(second, &all, &elements), 0);
    free(elements);
    assert_int_equal(es_run_select(first, &all, &elements), MANY);
    for (int i = 0; i < MANY; i++) {
        struct es_element_info info;

        snprintf(name, sizeof name, "e%d", i);
        es_element_view_info(elements[i], &info);
        assert_string_equal(info.name, name);
    }
    free(elements);
    es_run_close(first);
    es_run_close(second);
    end(&scene);
}

static void what_is_gone_is_detached_with_its_last_run(void **state)
{
    struct es_run *first, *second;
    struct scene scene;
    int made;

    (void)state;
    begin(&scene);
    add_segment(&scene);
    add_segment(&scene);
    made = count_mappings(&scene);
    first = open_run(&scene, true);
    esi_segment_remove(scene.segments[0]);
    second = open_run(&scene, true);
    assert_int_equal(es_run_segment_count(second), 1);
    assert_int_equal(es_run_refresh(first), 0);
    assert_int_equal(es_run_segment_count(first), 2);
    assert_int_equal(count_mappings(&scene), made + 2);
    es_run_close(first);
    assert_int_equal(count_mappings(&scene), made + 1);
    es_run_close(second);
    /* The set keeps the existing segment for later runs. */
    assert_int_equal(count_mappings(&scene), made + 1);
    end(&scene);
}

static void a_watch_ends_with_the_last_run_that_reads(void **state)
{
    struct es_run *looks, *first, *second;
    struct esi_writer writer;
    struct es_tuple tuple;
    struct scene scene;
    uint64_t position;

    (void)state;
    begin(&scene);
    fixture_element(add_segment(&scene), "a", 15, &writer);
    looks = open_run(&scene, false);
    first = open_run(&scene, true);
    second = open_run(&scene, true);
    assert_int_equal(watchers(scene.segments[0]), 0);
    es_element_latest(es_segment_view_element(es_run_segment(first, 0), 0), &tuple,
                      &position);
    assert_int_equal(watchers(scene.segments[0]), 1);
    es_element_latest(es_segment_view_element(es_run_segment(second, 0), 0), &tuple,
                      &position);
    assert_int_equal(watchers(scene.segments[0]), 1);
    es_run_close(first);
    assert_int_equal(watchers(scene.segments[0]), 1);
    es_run_close(second);
    assert_int_equal(watchers(scene.segments[0]), 0);
    first = open_run(&scene, true);
    es_element_latest(es_segment_view_element(es_run_segment(first, 0), 0), &tuple,
                      &position);
    assert_int_equal(watchers(scene.segments[0]), 1);
    es_run_close(first);
    es_run_close(looks);
    end(&scene);
}

/* --- Threads ---------------------------------------------------------------------- */

struct reading {
    const struct scene *scene;
    _Atomic bool *stop;
    _Atomic uint64_t rounds;
};

/* Opens, reads and closes runs as a server's connection does. */
static void *read_all(void *data)
{
    struct reading *reading = data;
    struct es_selection all;

    es_selection_init(&all);
    while (!atomic_load(reading->stop)) {
        struct es_run *run = open_run(reading->scene, true);

        for (int round = 0; round < 4; round++) {
            struct es_element_view **elements;
            int count = es_run_select(run, &all, &elements);
            struct es_tuple tuple;
            uint64_t position;

            for (int i = 0; i < count; i++)
                es_element_latest(elements[i], &tuple, &position);
            free(elements);
            es_run_refresh(run);
        }
        es_run_close(run);
        atomic_fetch_add(&reading->rounds, 1);
    }
    return NULL;
}

static void runs_of_several_threads_follow_what_comes_and_goes(void **state)
{
    enum { THREADS = 4 };
    _Atomic bool stop = false;
    struct reading readings[THREADS];
    pthread_t threads[THREADS];
    struct esi_writer writer;
    struct scene scene;
    char name[16];

    (void)state;
    begin(&scene);
    for (int i = 0; i < THREADS; i++) {
        readings[i] = (struct reading){.scene = &scene, .stop = &stop};
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readings[i]), 0);
    }
    for (int i = 0; i < RANKS; i++) {
        struct es_segment *segment = add_segment(&scene);

        for (int j = 0; j < MANY; j++) {
            snprintf(name, sizeof name, "%d.%d", i, j);
            fixture_element(segment, name, 15, &writer);
        }
        if (i % 3 == 0)
            esi_segment_remove(segment);
    }
    for (int i = 0; i < THREADS; i++)
        while (atomic_load(&readings[i].rounds) < 2)
            sched_yield();
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < scene.count; i++)
        assert_int_equal(watchers(scene.segments[i]), 0);
    end(&scene);
}

SUITE(test_segment_set)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_share_what_is_attached),
        cmocka_unit_test(more_segments_are_read_than_files_may_be_open),
        cmocka_unit_test(each_run_is_told_what_is_new_to_it),
        cmocka_unit_test(a_selection_is_that_of_the_last_refresh),
        cmocka_unit_test(what_is_gone_is_detached_with_its_last_run),
        cmocka_unit_test(a_watch_ends_with_the_last_run_that_reads),
        cmocka_unit_test(runs_of_several_threads_follow_what_comes_and_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
