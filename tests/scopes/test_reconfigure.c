/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reconfiguring a scope while it is read neither loses nor repeats a tuple. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/scopes/changes.h"
#include "tests/scopes/made_scope.h"
#include "tests/suites.h"

static void set(struct made_scope *fixture, const char *name, const char *value)
{
    struct es_scope_config config = *es_scope_config(fixture->scope);
    struct es_error error = {.text = ""};

    assert_int_equal(es_scope_config_set(&config, name, value, NULL), 0);
    if (es_scope_reconfigure(fixture->scope, &config, &error) != 0)
        fail_msg("%s=%s: %s", name, value, error.text);
}

/* Writes one tuple for each `step` ns before now, the oldest first, to
 * the writers in turn. */
static void deal(const struct made_scope *fixture,
                 struct esi_writer *const *writers,
                 size_t writer_count,
                 int first,
                 int count,
                 uint64_t step_ns)
{
    for (int i = 0; i < count; i++) {
        uint64_t at =
            made_ticks(&fixture->made, (uint64_t)(count - i) * step_ns + 1000000);
        struct es_tuple tuple = made_tuple("MPI_Send", at - 1, at);

        tuple.tag = first + i;
        esi_writer_write(writers[(size_t)(first + i) * 7 % writer_count], &tuple);
    }
}

/* --- Single changes ---------------------------------------------------------- */

static void what_was_used_does_not_come_again_after_a_change(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writer = made_run_add_element(&fixture->made, segment, 0, 0,
                                                     "p2p", 1u << ES_CLASS_SEND, 100);
    struct es_scope_config config;

    es_scope_config_init(&config);
    config.window_ns = 0;
    made_scope_open(fixture, &config);
    deal(fixture, &writer, 1, 0, 10, 1000);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 10);
    set(fixture, "sort", "stop");
    assert_int_equal(made_scope_pull(fixture, 0)->count, 0);
    deal(fixture, &writer, 1, 10, 10, 1000);
    assert_int_equal(made_scope_pull(fixture, ES_PULL_DRAIN)->count, 10);
    set(fixture, "sort", "none");
    set(fixture, "shape", "flat");
    assert_int_equal(made_scope_pull(fixture, 0)->count, 0);
}

static void what_was_not_used_comes_again_after_a_change(void **state)
{
    static const char *const changes[][2] = {
        {"shape", "flat"}, {"sort", "stop"}, {"max", "5"},          {"sort", "start"},
        {"sort", "none"},  {"max", "9"},     {"mode", "sequential"}};
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writer = made_run_add_element(&fixture->made, segment, 0, 0,
                                                     "p2p", 1u << ES_CLASS_SEND, 100);
    struct es_scope_config config;
    const struct es_batch *batch;

    es_scope_config_init(&config);
    config.window_ns = 0;
    made_scope_open(fixture, &config);
    deal(fixture, &writer, 1, 0, 10, 1000);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 10);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        set(fixture, changes[i][0], changes[i][1]);
        batch = made_scope_pull(fixture, ES_PULL_REPEAT);
        assert_int_equal(batch->count, 10);
        for (int j = 0; j < 10; j++)
            assert_int_equal(batch->tuples[j].tag, j);
    }
    assert_int_equal(made_scope_pull(fixture, ES_PULL_DRAIN)->count, 0);
}

static void the_order_holds_across_changes(void **state)
{
    enum { WRITERS = 6, ROUNDS = 60, EACH = 300 };
    static const char *const changes[][2] = {
        {"shape", "flat"}, {"window", "3ms"},  {"shape", "views"}, {"shape", "hosts"},
        {"max", "50"},     {"window", "20ms"}, {"max", "10000"},   {"shape", "levels"}};
    struct made_scope *fixture = *state;
    struct es_segment *first = made_run_add_rank_on(&fixture->made, "a", 0, 2);
    struct es_segment *second = made_run_add_rank_on(&fixture->made, "b", 1, 2);
    struct esi_writer *writers[WRITERS];
    struct es_scope_config config;
    const struct es_batch *batch;
    int next = 0;

    for (int i = 0; i < WRITERS; i++)
        writers[i] = made_run_add_element(&fixture->made, i % 2 ? second : first, i % 2,
                                          i / 2, "p2p", 1u << ES_CLASS_SEND, 60000);
    es_scope_config_init(&config);
    config.sorting = ES_SORTING_STOP;
    config.max = 200;
    config.window_ns = 5000000;
    made_scope_open(fixture, &config);
    /* All tuples exist; the last ones lie within the windows, so
     * sorts hold many of them. */
    deal(fixture, writers, WRITERS, 0, ROUNDS * EACH, 2000);
    for (int round = 0; next < ROUNDS * EACH; round++) {
        const char *const *change = changes[round % 8];
        unsigned flags = round % 5 == 4 ? ES_PULL_REPEAT : 0;

        assert_true(round < 100000);
        batch = made_scope_pull(fixture, flags);
        if (flags && round > 0)
            next -= (int)(batch->count && batch->tuples[0].tag < next
                              ? next - batch->tuples[0].tag
                              : 0);
        for (size_t i = 0; i < batch->count; i++)
            assert_int_equal(batch->tuples[i].tag, next++);
        if (round % 3 == 0)
            set(fixture, change[0], change[1]);
    }
    assert_int_equal(made_scope_pull(fixture, ES_PULL_DRAIN)->count, 0);
}

static void a_change_that_cannot_be_leaves_the_scope_as_it_was(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writer = made_run_add_element(&fixture->made, segment, 0, 0,
                                                     "p2p", 1u << ES_CLASS_SEND, 100);
    struct es_scope_config config;
    struct es_error error = {.text = ""};

    es_scope_config_init(&config);
    made_scope_open(fixture, &config);
    deal(fixture, &writer, 1, 0, 5, 1000);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 5);
    config = *es_scope_config(fixture->scope);
    config.max = 0;
    assert_int_equal(es_scope_reconfigure(fixture->scope, &config, &error), -EINVAL);
    assert_true(error.text[0] != '\0');
    es_error_clear(&error);
    config = *es_scope_config(fixture->scope);
    config.tree.reduce = "no such reduction";
    assert_int_equal(es_scope_reconfigure(fixture->scope, &config, &error), -EINVAL);
    assert_true(error.text[0] != '\0');
    assert_null(es_scope_config(fixture->scope)->tree.reduce);
    deal(fixture, &writer, 1, 5, 5, 1000);
    assert_int_equal(made_scope_pull(fixture, ES_PULL_REPEAT)->count, 10);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 0);
}

static void the_latest_can_be_had_in_any_shape(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writer = made_run_add_element(&fixture->made, segment, 0, 0,
                                                     "p2p", 1u << ES_CLASS_SEND, 100);
    struct es_scope_config config;

    es_scope_config_init(&config);
    config.take = ES_TAKE_LATEST_OF_THREAD;
    made_scope_open(fixture, &config);
    deal(fixture, &writer, 1, 0, 5, 1000);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 1);
    set(fixture, "shape", "flat");
    assert_int_equal(made_scope_pull(fixture, 0)->tuples[0].tag, 4);
    set(fixture, "shape", "hosts");
    assert_int_equal(made_scope_pull(fixture, 0)->tuples[0].tag, 4);
}

/* --- Under load -------------------------------------------------------------- */

static void the_stream_is_complete_while_the_scope_is_changed(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *first = made_run_add_rank_on(&fixture->made, "a", 0, 2);
    struct es_segment *second = made_run_add_rank_on(&fixture->made, "b", 1, 2);
    struct changes changes = {
        .made = &fixture->made, .tuples = 40000, .least = 150, .block = true};

    for (int i = 0; i < 4; i++)
        changes_add_writer(&changes, made_run_add_element(
                                         &fixture->made, i % 2 ? second : first, i % 2,
                                         i / 2, "p2p", 1u << ES_CLASS_SEND, 2000));
    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
    changes_run(&changes, fixture->run, NULL);
}

SUITE(test_reconfigure)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_used_does_not_come_again_after_a_change),
        cmocka_unit_test(what_was_not_used_comes_again_after_a_change),
        cmocka_unit_test(the_order_holds_across_changes),
        cmocka_unit_test(a_change_that_cannot_be_leaves_the_scope_as_it_was),
        cmocka_unit_test(the_latest_can_be_had_in_any_shape),
        cmocka_unit_test(the_stream_is_complete_while_the_scope_is_changed),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, made_scope_set_up,
                       made_scope_tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
