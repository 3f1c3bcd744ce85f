/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Communicators: readers get what was written, and resolve world ranks,
 * also of other segments. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/suites.h"

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
        esi_segment_destroy(scene->segments[i]);
    return 0;
}

static struct esi_communicator_config config_of(const int32_t *group, int size)
{
    return (struct esi_communicator_config){
        .key = {11, 22},
        .rank = 1,
        .parent = ES_COMMUNICATOR_NONE,
        .name = "cart",
        .group = group,
        .group_size = size,
    };
}

static uint16_t add(struct es_segment *segment,
                    const struct esi_communicator_config *config)
{
    uint16_t index;

    assert_int_equal(esi_segment_add_communicator(segment, config, &index), 0);
    return index;
}

static void what_was_written_is_read(void **state)
{
    static const int32_t group[] = {0, 1, 2};
    struct scene *scene = *state;
    struct esi_communicator_config config = config_of(group, 3);
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
    struct esi_communicator_config config = config_of(group, 1);
    struct es_communicator_info info;
    const struct es_segment_view *view = es_run_segment(scene->run, 0);
    char long_name[100];

    add(scene->segments[0], &config);
    esi_segment_name_communicator(scene->segments[0], 0, "ocean");
    assert_int_equal(es_segment_view_communicator(view, 0, &info), 0);
    assert_string_equal(info.name, "ocean");
    memset(long_name, 'x', sizeof long_name);
    long_name[99] = '\0';
    esi_segment_name_communicator(scene->segments[0], 0, long_name);
    assert_int_equal(es_segment_view_communicator(view, 0, &info), 0);
    assert_int_equal(strlen(info.name), 63);
    esi_segment_free_communicator(scene->segments[0], 0);
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
        struct esi_communicator_config config = config_of(groups[i], 4);
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
    struct esi_communicator_config config = config_of(group, 4);
    uint16_t index;

    config.keep_list = false;
    index = add(scene->segments[1], &config);
    assert_int_equal(world_rank(scene, 1, index, false, 2), -ENOENT);
    config.keep_list = true;
    add(scene->segments[0], &config);
    assert_int_equal(world_rank(scene, 1, index, false, 2), 9);
}

/* The other side of an intercommunicator calls our group the remote one.  The entry
 * tells which group is local. */
static void sides_of_an_intercommunicator_are_told_apart(void **state)
{
    static const int32_t here[] = {0, 7, 3};
    static const int32_t there[] = {1, 8, 4};
    struct scene *scene = *state;
    struct esi_communicator_config config = config_of(here, 3);
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

/* Returns the segment's entry for a communicator, so that a test can corrupt it. */
static struct esi_communicator_layout *entry_of(struct es_segment *segment,
                                                uint16_t index)
{
    struct esi_segment_layout *layout = esi_segment_layout(segment);

    return (void *)((char *)layout + layout->communicators_offset +
                    index * sizeof(struct esi_communicator_layout));
}

/* One flipped bit must not make readers loop over two billion ranks. */
static void a_group_larger_than_it_can_be_is_not_known(void **state)
{
    static const int32_t strided[] = {0, 1, 2}, list[] = {3, 0, 1};
    static const int sizes[] = {3 | 1 << 30, 5, INT32_MIN, -1, INT32_MAX, 1 << 21};
    struct scene *scene = *state;
    const struct es_segment_view *view = es_run_segment(scene->run, 0);
    struct es_communicator_info info;

    for (int kind = 0; kind < 3; kind++) {
        struct esi_communicator_config config = config_of(kind ? list : strided, 3);
        config.key[0] = 100 + (uint64_t)kind;
        config.keep_list = kind == 1;
        uint16_t index = add(scene->segments[0], &config);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            if (kind > 0 && sizes[i] == 5) /* a possible size */
                continue;
            entry_of(scene->segments[0], index)->local.size = sizes[i];
            assert_int_equal(es_segment_view_communicator(view, index, &info), 0);
            /* Only a size that fits into the file is reported. */
            assert_in_range(info.size, 0, kind == 1 ? ES_GROUP_MAX : 0);
            assert_int_equal(world_rank(scene, 0, index, false, sizes[i] / 2), -ENOENT);
        }
    }
}

/* The world has four ranks.  That does not bound the size of another world's group. */
static void a_group_of_another_world_may_be_larger(void **state)
{
    static const int32_t own[] = {0, 1, 2},
                         others[] = {1000, 1001, 1002, 1003, 1004, 1005};
    static const int32_t first_two[] = {0, 1000};
    struct scene *scene = *state;
    const struct es_segment_view *view = es_run_segment(scene->run, 0);
    struct esi_communicator_config config = config_of(own, 3);
    struct es_communicator_info info;

    config.flags = ES_COMMUNICATOR_INTER;
    config.remote = others;
    config.remote_size = 6;
    add(scene->segments[0], &config);
    assert_int_equal(es_segment_view_communicator(view, 0, &info), 0);
    assert_int_equal(info.remote_size, 6);
    assert_int_equal(world_rank(scene, 0, 0, true, 5), 1005);
    config = config_of(first_two, 2);
    add(scene->segments[0], &config);
    assert_int_equal(world_rank(scene, 0, 1, false, 1), 1000);
}

static void ranks_that_cannot_be_are_not_known(void **state)
{
    struct scene *scene = *state;
    struct esi_segment_layout *layout = esi_segment_layout(scene->segments[0]);
    struct es_segment_info info;

    atomic_store(&layout->world_rank, INT32_MAX);
    atomic_store(&layout->world_size, INT32_MIN);
    es_segment_view_info(es_run_segment(scene->run, 0), &info);
    assert_int_equal(info.rank, -1);
    assert_int_equal(info.size, -1);
}

static void a_full_table_refuses_and_counts(void **state)
{
    static const int32_t group[] = {0};
    struct scene *scene = *state;
    struct esi_communicator_config config = config_of(group, 1);
    struct es_segment_info info;
    uint16_t index;

    for (int i = 0; i < 256; i++)
        add(scene->segments[0], &config);
    assert_int_equal(esi_segment_add_communicator(scene->segments[0], &config, &index),
                     -ENOSPC);
    es_segment_view_info(es_run_segment(scene->run, 0), &info);
    assert_int_equal(info.communicators_refused, 1);
}

/* --- Reused indices -------------------------------------------------------------- */

/* Makes a communicator as the interposer does.  `in_use` stays empty: only the rings
 * and the parents of entries refer to indices here. */
static uint16_t make(struct es_segment *segment, uint64_t key, uint16_t parent)
{
    static const int32_t group[] = {3, 0, 7}; /* no stride: a list */
    uint8_t in_use[ES_COMMUNICATOR_BITS_BYTES] = {0};
    struct esi_communicator_config config = config_of(group, 3);

    if (esi_segment_should_sweep(segment))
        esi_segment_sweep_communicators(segment, in_use);
    config.key[0] = key;
    config.parent = parent;
    config.keep_list = true;
    return add(segment, &config);
}

static void end(struct es_segment *segment, uint16_t index)
{
    esi_segment_free_communicator(segment, index);
    esi_segment_release_communicator(segment, index);
}

static void write_naming(struct esi_writer *writer, uint16_t index)
{
    struct es_tuple tuple = fixture_tuple(writer->head);

    tuple.communicator = index;
    esi_writer_write(writer, &tuple);
}

static uint32_t refused(const struct scene *scene)
{
    struct es_segment_info info;

    es_segment_view_info(es_run_segment(scene->run, 0), &info);
    return info.communicators_refused;
}

static void very_many_that_come_and_go_take_little(void **state)
{
    struct scene *scene = *state;
    struct es_segment *segment = scene->segments[0];
    struct es_communicator_info info;
    uint16_t world = make(segment, 0, ES_COMMUNICATOR_NONE);
    uint16_t last = world;
    uint64_t arena;

    for (uint64_t i = 1; i <= 1000; i++)
        end(segment, last = make(segment, i, world));
    arena = esi_segment_layout(segment)->arena_used;
    for (uint64_t i = 1001; i <= 100000; i++)
        end(segment, last = make(segment, i, world));
    assert_int_equal(refused(scene), 0);
    assert_true(esi_segment_layout(segment)->communicator_count < 200);
    assert_int_equal(esi_segment_layout(segment)->arena_used, arena);
    assert_int_equal(
        es_segment_view_communicator(es_run_segment(scene->run, 0), last, &info), 0);
    assert_int_equal(info.key[0], 100000);
    assert_true(info.freed);
    assert_int_equal(world_rank(scene, 0, last, false, 2), 7);
}

static void what_a_ring_names_is_not_used_again(void **state)
{
    struct scene *scene = *state;
    struct es_segment *segment = scene->segments[0];
    uint16_t world = make(segment, 0, ES_COMMUNICATOR_NONE);
    uint16_t named, parent, opened;
    struct es_tuple tuple = fixture_tuple(0);
    struct esi_writer writer;

    fixture_element(segment, "0.0/test", 15, &writer);
    parent = make(segment, 1, world);
    named = make(segment, 2, parent);
    opened = make(segment, 3, world);
    write_naming(&writer, named);
    tuple.communicator = opened;
    tuple.stop = 0;
    esi_writer_open(&writer, &tuple);
    end(segment, parent);
    end(segment, named);
    end(segment, opened);
    for (uint64_t i = 4; i < 2000; i++) {
        uint16_t index = make(segment, i, world);

        if (index == named || index == parent || index == opened)
            fail_msg("%u is used again, of %u, %u and %u", index, named, parent,
                     opened);
        end(segment, index);
    }
    /* Once overwritten, it is free. */
    for (int i = 0; i < 16; i++)
        write_naming(&writer, world);
    for (uint64_t i = 2000; i < 4000; i++) {
        uint16_t index = make(segment, i, world);

        end(segment, index);
        named = index == named ? ES_COMMUNICATOR_NONE : named;
        parent = index == parent ? ES_COMMUNICATOR_NONE : parent;
        opened = index == opened ? ES_COMMUNICATOR_NONE : opened;
    }
    assert_int_equal(named, ES_COMMUNICATOR_NONE);
    assert_int_equal(parent, ES_COMMUNICATOR_NONE);
    assert_int_equal(opened, ES_COMMUNICATOR_NONE);
}

static void nothing_is_used_again_while_somebody_reads(void **state)
{
    struct scene *scene = *state;
    struct es_segment *segment = scene->segments[0];
    uint16_t world = make(segment, 0, ES_COMMUNICATOR_NONE);
    struct es_cursor cursor = {0};
    struct es_tuple tuples[15];
    struct esi_writer writer;
    uint16_t seen;

    fixture_element(segment, "0.0/test", 15, &writer);
    assert_true(es_run_refresh(scene->run) >= 0);
    for (uint64_t i = 1; i < 150; i++) /* some are free by now */
        end(segment, make(segment, i, world));
    seen = make(segment, 150, world);
    write_naming(&writer, seen);
    assert_int_equal(
        es_element_read(fixture_find(scene->run, "0.0/test"), &cursor, tuples, 15), 1);
    end(segment, seen);
    for (int i = 0; i < 16; i++)
        write_naming(&writer, world);
    for (uint64_t i = 151; i < 200; i++) {
        uint16_t index = make(segment, i, world);

        assert_int_not_equal(index, tuples[0].communicator);
        end(segment, index);
    }
    es_run_close(scene->run);
    for (uint64_t i = 200; i < 2000; i++) {
        uint16_t index = make(segment, i, world);

        seen = index == seen ? ES_COMMUNICATOR_NONE : seen;
        end(segment, index);
    }
    assert_int_equal(seen, ES_COMMUNICATOR_NONE);
    scene->run = fixture_open(scene->id);
    assert_int_equal(refused(scene), 0);
}

static void what_the_process_may_still_write_is_not_used_again(void **state)
{
    static const int32_t group[] = {0};
    struct scene *scene = *state;
    struct es_segment *segment = scene->segments[0];
    struct esi_communicator_config config = config_of(group, 1);
    uint16_t pending = add(segment, &config);

    pending = add(segment, &config);
    end(segment, pending);
    for (int i = 0; i < 2000; i++) {
        uint8_t in_use[ES_COMMUNICATOR_BITS_BYTES] = {0};
        uint16_t index;

        in_use[pending / 8] = (uint8_t)(1u << pending % 8);
        if (esi_segment_should_sweep(segment))
            esi_segment_sweep_communicators(segment, in_use);
        index = add(segment, &config);
        assert_int_not_equal(index, pending);
        end(segment, index);
    }
}

SUITE(test_communicator)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(names_change_and_are_cut),
        cmocka_unit_test(groups_give_world_ranks),
        cmocka_unit_test(a_list_is_found_in_the_segment_that_keeps_it),
        cmocka_unit_test(sides_of_an_intercommunicator_are_told_apart),
        cmocka_unit_test(a_group_larger_than_it_can_be_is_not_known),
        cmocka_unit_test(a_group_of_another_world_may_be_larger),
        cmocka_unit_test(ranks_that_cannot_be_are_not_known),
        cmocka_unit_test(a_full_table_refuses_and_counts),
        cmocka_unit_test(very_many_that_come_and_go_take_little),
        cmocka_unit_test(what_a_ring_names_is_not_used_again),
        cmocka_unit_test(nothing_is_used_again_while_somebody_reads),
        cmocka_unit_test(what_the_process_may_still_write_is_not_used_again),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
