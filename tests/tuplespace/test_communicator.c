/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Communicators: what is written is read, and world ranks are found, also in other
 * segments. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

struct scene {
    char id[64];
    struct es_segment *segments[2]; /* of ranks 0 and 1 */
    struct es_run *run;
};

static int set_up(void **state)
{
    static struct scene scene;

    fixture_run("communicator", scene.id);
    for (int i = 0; i < 2; i++)
        scene.segments[i] = fixture_segment(scene.id, i);
    scene.run = fixture_open(scene.id);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    es_run_close(scene->run);
    for (int i = 0; i < 2; i++)
        es_segment_destroy(scene->segments[i]);
    return 0;
}

static struct es_communicator_config config_of(const int32_t *group, int size)
{
    return (struct es_communicator_config){
        .key = {11, 22},
        .rank = 1,
        .parent = ES_COMMUNICATOR_NONE,
        .name = "cart",
        .group = group,
        .group_size = size,
    };
}

static uint16_t add(struct es_segment *segment,
                    const struct es_communicator_config *config)
{
    uint16_t index;

    assert_int_equal(es_segment_add_communicator(segment, config, &index), 0);
    return index;
}

static void what_was_written_is_read(void **state)
{
    static const int32_t group[] = {0, 1, 2};
    struct scene *scene = *state;
    struct es_communicator_config config = config_of(group, 3);
    struct es_communicator_info info;
    const struct es_segment_view *view = es_run_segment(scene->run, 0);

    assert_int_equal(es_segment_view_communicator_count(view), 0);
    assert_int_equal(add(scene->segments[0], &config), 0);
    config.parent = 0;
    config.name = "child";
    assert_int_equal(add(scene->segments[0], &config), 1);
    assert_int_equal(es_segment_view_communicator_count(view), 2);
    assert_int_equal(es_segment_view_communicator(view, 1, &info), 0);
    assert_int_equal(info.key[0], 11);
    assert_int_equal(info.key[1], 22);
    assert_int_equal(info.rank, 1);
    assert_int_equal(info.size, 3);
    assert_int_equal(info.remote_size, 0);
    assert_int_equal(info.parent, 0);
    assert_false(info.freed);
    assert_string_equal(info.name, "child");
    assert_int_equal(es_segment_view_communicator(view, 2, &info), -ENOENT);
}

static void names_change_and_are_cut(void **state)
{
    static const int32_t group[] = {0};
    struct scene *scene = *state;
    struct es_communicator_config config = config_of(group, 1);
    struct es_communicator_info info;
    const struct es_segment_view *view = es_run_segment(scene->run, 0);
    char long_name[100];

    add(scene->segments[0], &config);
    es_segment_name_communicator(scene->segments[0], 0, "ocean");
    assert_int_equal(es_segment_view_communicator(view, 0, &info), 0);
    assert_string_equal(info.name, "ocean");
    memset(long_name, 'x', sizeof long_name);
    long_name[99] = '\0';
    es_segment_name_communicator(scene->segments[0], 0, long_name);
    assert_int_equal(es_segment_view_communicator(view, 0, &info), 0);
    assert_int_equal(strlen(info.name), 63);
    es_segment_free_communicator(scene->segments[0], 0);
    assert_int_equal(es_segment_view_communicator(view, 0, &info), 0);
    assert_true(info.freed);
}

static int world_rank(const struct scene *scene,
                      int segment,
                      uint16_t index,
                      bool remote,
                      int rank)
{
    return es_run_world_rank(scene->run, es_run_segment(scene->run, (size_t)segment),
                             index, remote, rank);
}

static void groups_give_world_ranks(void **state)
{
    static const int32_t groups[][4] = {
        {0, 1, 2, 3}, {3, 2, 1, 0}, {5, 5, 5, 5}, {0, 10, 20, 30}, {7, 3, 9, 1},
    };
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        struct es_communicator_config config = config_of(groups[i], 4);
        uint16_t index;

        config.key[0] = i;
        config.keep_list = true;
        index = add(scene->segments[0], &config);
        for (int rank = 0; rank < 4; rank++)
            assert_int_equal(world_rank(scene, 0, index, false, rank), groups[i][rank]);
        assert_int_equal(world_rank(scene, 0, index, false, 4), -ENOENT);
        assert_int_equal(world_rank(scene, 0, index, false, -1), -ENOENT);
        assert_int_equal(world_rank(scene, 0, index, true, 0), -ENOENT);
    }
    assert_int_equal(world_rank(scene, 0, 99, false, 0), -ENOENT);
}

static void a_list_is_found_in_the_segment_that_keeps_it(void **state)
{
    static const int32_t group[] = {4, 0, 9, 2};
    struct scene *scene = *state;
    struct es_communicator_config config = config_of(group, 4);
    uint16_t index;

    config.keep_list = false;
    index = add(scene->segments[1], &config);
    assert_int_equal(world_rank(scene, 1, index, false, 2), -ENOENT);
    config.keep_list = true;
    add(scene->segments[0], &config);
    assert_int_equal(world_rank(scene, 1, index, false, 2), 9);
}

/* The other side of an intercommunicator calls our group the remote one. */
static void sides_of_an_intercommunicator_are_told_apart(void **state)
{
    static const int32_t here[] = {0, 7, 3};
    static const int32_t there[] = {1, 8, 4};
    struct scene *scene = *state;
    struct es_communicator_config config = config_of(here, 3);
    struct es_communicator_info info;
    uint16_t index;

    config.flags = ES_COMMUNICATOR_INTER;
    config.remote = there;
    config.remote_size = 3;
    config.keep_list = true;
    add(scene->segments[0], &config);
    config.group = there;
    config.remote = here;
    config.keep_list = false;
    index = add(scene->segments[1], &config);
    assert_int_equal(
        es_segment_view_communicator(es_run_segment(scene->run, 1), index, &info), 0);
    assert_int_equal(info.remote_size, 3);
    assert_int_equal(world_rank(scene, 1, index, false, 1), 8);
    assert_int_equal(world_rank(scene, 1, index, true, 1), 7);
}

static void a_full_table_refuses_and_counts(void **state)
{
    static const int32_t group[] = {0};
    struct scene *scene = *state;
    struct es_communicator_config config = config_of(group, 1);
    struct es_segment_info info;
    uint16_t index;

    for (int i = 0; i < 256; i++)
        add(scene->segments[0], &config);
    assert_int_equal(es_segment_add_communicator(scene->segments[0], &config, &index),
                     -ENOSPC);
    es_segment_view_info(es_run_segment(scene->run, 0), &info);
    assert_int_equal(info.communicators_refused, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_written_is_read),
        TEST(names_change_and_are_cut),
        TEST(groups_give_world_ranks),
        TEST(a_list_is_found_in_the_segment_that_keeps_it),
        TEST(sides_of_an_intercommunicator_are_told_apart),
        TEST(a_full_table_refuses_and_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
