/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* One element with one writer and one reader that take turns: contents,
 * losses and switches. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/suites.h"
#include "tuplespace/element_view.h"

struct scene {
    char run_id[64];
    struct es_segment *segment;
    struct esi_writer writer;
    struct es_run *run;
    struct es_element_view *element;
};

/* Makes a ring of 16 slots, which guarantees to retain 15 tuples. */
static int set_up(void **state)
{
    static struct scene scene;

    scene.segment = fixture_segment(fixture_run("element", scene.run_id), 0);
    fixture_element(scene.segment, "0.0/test", 15, &scene.writer);
    scene.run = fixture_open(scene.run_id);
    scene.element = fixture_find(scene.run, "0.0/test");
    *state = &scene;
    return scene.element ? 0 : -1;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    es_run_close(scene->run);
    esi_segment_destroy(scene->segment);
    return 0;
}

static void write_tuples(struct scene *scene, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        struct es_tuple tuple = fixture_tuple(i);

        esi_writer_write(&scene->writer, &tuple);
    }
}

static struct es_element_info info_of(const struct scene *scene)
{
    struct es_element_info info;

    es_element_view_info(scene->element, &info);
    return info;
}

/* Reads up to 64 tuples and checks that their positions begin with `first`.
 * Returns their number. */
static size_t read_from(struct scene *scene, struct es_cursor *cursor, uint64_t first)
{
    struct es_tuple tuples[64];
    size_t count = es_element_read(scene->element, cursor, tuples, 64);

    for (size_t i = 0; i < count; i++) {
        assert_true(fixture_is_whole(&tuples[i], false));
        assert_int_equal(fixture_position(&tuples[i]), first + i);
    }
    return count;
}

static void an_empty_element_has_nothing_to_read(void **state)
{
    struct scene *scene = *state;
    struct es_tuple tuple = {.tag = 77};
    struct es_cursor cursor;
    uint64_t position = 88;

    es_cursor_init(&cursor, scene->element, false);
    assert_int_equal(cursor.position, 0);
    assert_int_equal(es_element_read(scene->element, &cursor, &tuple, 1), 0);
    assert_int_equal(es_element_latest(scene->element, &tuple, &position), 0);
    assert_int_equal(es_element_open(scene->element, &tuple), 0);
    assert_int_equal(tuple.tag, 77);
    assert_int_equal(position, 88);
}

static void tuples_come_back_in_order_as_they_were_written(void **state)
{
    struct scene *scene = *state;
    struct es_cursor cursor = {0};

    write_tuples(scene, 0, 10);
    assert_int_equal(read_from(scene, &cursor, 0), 10);
    write_tuples(scene, 10, 5);
    assert_int_equal(read_from(scene, &cursor, 10), 5);
    assert_int_equal(read_from(scene, &cursor, 15), 0);
    assert_int_equal(cursor.position, 15);
    assert_int_equal(cursor.lost, 0);
}

static void a_read_copies_no_more_than_asked_for(void **state)
{
    struct scene *scene = *state;
    struct es_cursor cursor = {0};
    struct es_tuple tuples[4] = {0};

    write_tuples(scene, 0, 10);
    assert_int_equal(es_element_read(scene->element, &cursor, tuples, 3), 3);
    assert_int_equal(tuples[3].operation, 0);
    assert_int_equal(cursor.position, 3);
}

static void an_overtaken_reader_counts_the_loss(void **state)
{
    struct scene *scene = *state;
    struct es_cursor cursor = {0};

    write_tuples(scene, 0, 100);
    assert_int_equal(read_from(scene, &cursor, 85), 15);
    assert_int_equal(cursor.lost, 85);
    assert_int_equal(cursor.position, 100);
    write_tuples(scene, 100, 16);
    assert_int_equal(read_from(scene, &cursor, 101), 15);
    assert_int_equal(cursor.lost, 86);
}

static void the_threshold_is_kept_also_while_a_tuple_is_open(void **state)
{
    struct scene *scene = *state;
    struct es_cursor cursor = {0};
    struct es_tuple open = fixture_tuple(100);

    open.stop = 0;
    write_tuples(scene, 0, 100);
    esi_writer_open(&scene->writer, &open);
    assert_int_equal(read_from(scene, &cursor, 85), 15);
}

static void the_newest_tuple_is_found_with_its_position(void **state)
{
    struct scene *scene = *state;
    struct es_tuple tuple;
    uint64_t position;

    write_tuples(scene, 0, 40);
    assert_int_equal(es_element_latest(scene->element, &tuple, &position), 1);
    assert_int_equal(position, 39);
    assert_true(fixture_is_whole(&tuple, false));
    assert_int_equal(fixture_position(&tuple), 39);
}

static void an_open_tuple_is_seen_until_it_is_closed(void **state)
{
    struct scene *scene = *state;
    struct es_tuple expected = fixture_tuple(40);
    struct es_tuple open = expected;
    struct es_tuple tuple;
    struct es_cursor cursor = {.position = 40};

    open.stop = 0;
    write_tuples(scene, 0, 40);
    assert_int_equal(es_element_open(scene->element, &tuple), 0);
    esi_writer_open(&scene->writer, &open);
    assert_int_equal(es_element_open(scene->element, &tuple), 1);
    assert_memory_equal(&tuple, &open, sizeof tuple);
    assert_int_equal(read_from(scene, &cursor, 40), 0);
    esi_writer_close(&scene->writer, expected.stop);
    assert_int_equal(es_element_open(scene->element, &tuple), 0);
    assert_int_equal(read_from(scene, &cursor, 40), 1);
}

static void a_tuple_can_be_closed_with_the_payload(void **state)
{
    struct scene *scene = *state;
    struct es_tuple expected = fixture_tuple(0);
    struct es_tuple open = expected;
    struct es_cursor cursor = {0};

    open.stop = 0;
    open.bytes = 0;
    esi_writer_open(&scene->writer, &open);
    esi_writer_close_with(&scene->writer, expected.stop, expected.bytes);
    assert_int_equal(read_from(scene, &cursor, 0), 1);
}

static void a_withdrawn_tuple_leaves_nothing(void **state)
{
    struct scene *scene = *state;
    struct es_tuple open = {.operation = 3, .start = 1};
    struct es_tuple tuple;

    esi_writer_open(&scene->writer, &open);
    esi_writer_withdraw(&scene->writer);
    assert_int_equal(es_element_open(scene->element, &tuple), 0);
    assert_int_equal(info_of(scene).head, 0);
}

static void a_written_tuple_takes_the_open_ones_place(void **state)
{
    struct scene *scene = *state;
    struct es_tuple open = {.operation = 3, .start = 1};
    struct es_cursor cursor = {0};

    esi_writer_open(&scene->writer, &open);
    write_tuples(scene, 0, 1);
    assert_int_equal(es_element_open(scene->element, &open), 0);
    assert_int_equal(read_from(scene, &cursor, 0), 1);
}

static void discarded_tuples_are_not_seen_again(void **state)
{
    struct scene *scene = *state;
    struct es_cursor cursor = {0};
    struct es_tuple tuple;
    uint64_t position;

    write_tuples(scene, 0, 10);
    es_element_discard(scene->element, 6);
    assert_int_equal(info_of(scene).oldest, 6);
    es_element_discard(scene->element, 2);
    assert_int_equal(info_of(scene).oldest, 6);
    assert_int_equal(read_from(scene, &cursor, 6), 4);
    assert_int_equal(cursor.lost, 6);
    /* Discarding stops at the head: tuples written later are retained. */
    es_element_discard(scene->element, 1000);
    assert_int_equal(es_element_latest(scene->element, &tuple, &position), 0);
    write_tuples(scene, 10, 1);
    assert_int_equal(read_from(scene, &cursor, 10), 1);
}

static void a_lower_threshold_shows_fewer_tuples(void **state)
{
    struct scene *scene = *state;
    struct es_cursor cursor = {0};

    write_tuples(scene, 0, 10);
    assert_int_equal(es_element_set_threshold(scene->element, 4), 0);
    assert_int_equal(info_of(scene).threshold, 4);
    assert_int_equal(info_of(scene).oldest, 6);
    assert_int_equal(read_from(scene, &cursor, 6), 4);
    assert_int_equal(cursor.lost, 6);
    assert_int_equal(es_element_set_threshold(scene->element, 15), 0);
    assert_int_equal(info_of(scene).oldest, 0);
}

static void a_threshold_out_of_range_is_refused(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(es_element_set_threshold(scene->element, 0), -ERANGE);
    assert_int_equal(es_element_set_threshold(scene->element, 16), -ERANGE);
    assert_int_equal(info_of(scene).threshold, 15);
}

static void the_enabled_switch_reaches_the_writer(void **state)
{
    struct scene *scene = *state;

    assert_true(esi_writer_is_enabled(&scene->writer));
    es_element_enable(scene->element, false);
    assert_false(esi_writer_is_enabled(&scene->writer));
    assert_false(info_of(scene).enabled);
    es_element_enable(scene->element, true);
    assert_true(esi_writer_is_enabled(&scene->writer));
}

static void polls_are_counted_not_written(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 1000; i++)
        esi_writer_count_poll(&scene->writer);
    assert_int_equal(info_of(scene).polls, 1000);
    assert_int_equal(info_of(scene).head, 0);
}

static void a_cursor_at_the_end_sees_only_what_comes(void **state)
{
    struct scene *scene = *state;
    struct es_cursor cursor;

    write_tuples(scene, 0, 10);
    es_cursor_init(&cursor, scene->element, true);
    assert_int_equal(read_from(scene, &cursor, 10), 0);
    write_tuples(scene, 10, 2);
    assert_int_equal(read_from(scene, &cursor, 10), 2);
    assert_int_equal(cursor.lost, 0);
}

static void the_info_tells_what_the_element_is(void **state)
{
    struct scene *scene = *state;
    struct es_element_info info;

    write_tuples(scene, 0, 20);
    info = info_of(scene);
    assert_string_equal(info.name, "0.0/test");
    assert_string_equal(info.collector, "test");
    assert_string_equal(info.host, "testhost.local");
    assert_int_equal(info.capacity, 16);
    assert_int_equal(info.tuple_bytes, 36);
    assert_int_equal(info.head, 20);
    assert_int_equal(info.oldest, 5);
    assert_false(info.shared);
    assert_false(info.block);
}

/* Takes the newest tuples of many elements.  Every third element is empty, and the
 * rings of some have wrapped. */
static void the_newest_of_many_are_those_of_each(void **state)
{
    enum { MANY = 50 }; /* more than one call fetches at once */
    const struct es_element_view *elements[MANY];
    struct es_tuple tuples[MANY], tuple;
    uint64_t positions[MANY], stops[MANY], position;
    uint32_t indices[MANY];
    struct scene *scene = *state;
    char name[64];
    size_t found, next = 0;

    for (int i = 0; i < MANY; i++) {
        struct esi_writer writer;

        snprintf(name, sizeof name, "1.%d/test", i);
        fixture_element(scene->segment, name, 15, &writer);
        for (int k = 0; k < i % 3 * (i + 1); k++) {
            tuple = fixture_tuple((uint64_t)(100 * i + k));
            esi_writer_write(&writer, &tuple);
        }
    }
    assert_true(es_run_refresh(scene->run) >= MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "1.%d/test", i);
        elements[i] = fixture_find(scene->run, name);
        assert_non_null(elements[i]);
    }
    found = es_element_latest_of_each(elements, MANY, tuples, positions, indices);
    esi_element_view_latest_stops(elements, MANY, stops);
    for (uint32_t i = 0; i < MANY; i++) {
        if (es_element_latest(elements[i], &tuple, &position) == 0) {
            assert_int_equal(stops[i], 0);
            continue;
        }
        assert_int_equal(stops[i], tuple.stop);
        assert_true(next < found);
        assert_int_equal(indices[next], i);
        assert_int_equal(positions[next], position);
        assert_memory_equal(&tuples[next], &tuple, sizeof tuple);
        next++;
    }
    assert_int_equal(next, found);
    assert_int_equal(found, MANY - (MANY + 2) / 3);
}

SUITE(test_element)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_element_has_nothing_to_read),
        cmocka_unit_test(tuples_come_back_in_order_as_they_were_written),
        cmocka_unit_test(a_read_copies_no_more_than_asked_for),
        cmocka_unit_test(an_overtaken_reader_counts_the_loss),
        cmocka_unit_test(the_threshold_is_kept_also_while_a_tuple_is_open),
        cmocka_unit_test(the_newest_tuple_is_found_with_its_position),
        cmocka_unit_test(an_open_tuple_is_seen_until_it_is_closed),
        cmocka_unit_test(a_tuple_can_be_closed_with_the_payload),
        cmocka_unit_test(a_withdrawn_tuple_leaves_nothing),
        cmocka_unit_test(a_written_tuple_takes_the_open_ones_place),
        cmocka_unit_test(discarded_tuples_are_not_seen_again),
        cmocka_unit_test(a_lower_threshold_shows_fewer_tuples),
        cmocka_unit_test(a_threshold_out_of_range_is_refused),
        cmocka_unit_test(the_enabled_switch_reaches_the_writer),
        cmocka_unit_test(polls_are_counted_not_written),
        cmocka_unit_test(a_cursor_at_the_end_sees_only_what_comes),
        cmocka_unit_test(the_info_tells_what_the_element_is),
        cmocka_unit_test(the_newest_of_many_are_those_of_each),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
