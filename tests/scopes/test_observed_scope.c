/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A second consumer can observe the first one's tree; a scope that does not select it
 * has the program's elements only. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eventspace/scope.h"
#include "tests/scopes/made_run.h"
#include "tests/suites.h"

enum { RANKS = 3, PULLS = 7 };

struct fixture {
    struct made_run made;
    struct es_run *run; /* the first consumer's */
    struct es_scope *scope;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct es_scope_config config;
    struct es_error error = {.text = ""};

    fixture = (struct fixture){.run = NULL};
    made_run_begin(&fixture.made);
    for (int rank = 0; rank < RANKS; rank++) {
        struct es_segment *segment = made_run_add_rank(&fixture.made, rank, RANKS);
        struct esi_writer *writer = made_run_add_element(
            &fixture.made, segment, rank, 0, "all", 1u << ES_CLASS_SEND, 100);
        struct es_tuple tuple = made_tuple("MPI_Send", 10, 20);

        esi_writer_write(writer, &tuple);
    }
    assert_int_equal(es_run_open(fixture.made.name, NULL, &fixture.run), 0);
    es_scope_config_init(&config);
    config.tree.observe = "all first";
    if (es_scope_open(fixture.run, &config, &error, &fixture.scope) < 0)
        fail_msg("%s", error.text);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    es_scope_close(fixture->scope);
    es_run_close(fixture->run);
    made_run_end(&fixture->made);
    return 0;
}

static void pull_times(struct es_scope *scope, int times)
{
    const struct es_batch *batch;

    for (int i = 0; i < times; i++)
        assert_int_equal(es_scope_pull(scope, 0, &batch), 0);
}

/* A scope with these classes, opened by another consumer. */
static struct es_scope *open_view(const struct fixture *fixture,
                                  uint32_t classes,
                                  struct es_run **ret_run)
{
    struct es_scope_config config;
    struct es_scope *scope;

    assert_int_equal(es_run_open(fixture->made.name, NULL, ret_run), 0);
    es_scope_config_init(&config);
    config.view.selection.classes = classes;
    assert_int_equal(es_scope_open(*ret_run, &config, NULL, &scope), 0);
    return scope;
}

static void each_stage_of_the_tree_is_seen_at_work(void **state)
{
    struct fixture *fixture = *state;
    const struct es_batch *batch;
    struct es_scope *second;
    struct es_run *run;
    size_t tuples = 0;

    pull_times(fixture->scope, PULLS);
    second = open_view(fixture, 1u << ES_CLASS_MONITOR, &run);
    assert_true(es_scope_origin_count(second) > 0);
    assert_int_equal(es_scope_pull(second, 0, &batch), 0);
    assert_int_equal(batch->count, PULLS * es_scope_origin_count(second));
    for (size_t i = 0; i < batch->count; i++) {
        const struct es_origin *origin =
            es_scope_origin(second, batch->marks[i].origin);

        assert_memory_equal(origin->name, "scope/first/", 12);
        assert_string_equal(es_operation_name(batch->tuples[i].operation),
                            "EventSpace pull");
        /* The first pull delivered all tuples, through each stage above them. */
        assert_true(batch->tuples[i].bytes == 0 || batch->tuples[i].sequence == 1);
        tuples += batch->tuples[i].bytes;
    }
    assert_true(tuples >= RANKS);
    es_scope_close(second);
    es_run_close(run);
}

static void other_views_see_the_program_alone(void **state)
{
    static const uint32_t classes[] = {0, ES_CLASSES_ALL, 1u << ES_CLASS_SEND};
    struct fixture *fixture = *state;

    pull_times(fixture->scope, PULLS);
    for (size_t i = 0; i < 3; i++) {
        const struct es_batch *batch;
        struct es_run *run;
        struct es_scope *scope = open_view(fixture, classes[i], &run);

        assert_int_equal(es_scope_origin_count(scope), RANKS);
        assert_int_equal(es_scope_pull(scope, 0, &batch), 0);
        assert_int_equal(batch->count, RANKS);
        es_scope_close(scope);
        es_run_close(run);
    }
}

static void both_can_be_seen_together(void **state)
{
    struct fixture *fixture = *state;
    const struct es_batch *batch;
    struct es_scope *scope;
    struct es_run *run;

    pull_times(fixture->scope, 1);
    scope = open_view(fixture, 1u << ES_CLASS_SEND | 1u << ES_CLASS_MONITOR, &run);
    assert_true(es_scope_origin_count(scope) > RANKS);
    assert_int_equal(es_scope_pull(scope, 0, &batch), 0);
    assert_int_equal(batch->count, es_scope_origin_count(scope));
    es_scope_close(scope);
    es_run_close(run);
}

static void observing_oneself_does_not_keep_the_run(void **state)
{
    struct fixture *fixture = *state;

    pull_times(fixture->scope, 1);
    assert_false(es_scope_has_vanished(fixture->scope));
    made_run_end(&fixture->made);
    assert_true(es_scope_has_vanished(fixture->scope));
    made_run_begin(&fixture->made);
}

SUITE(test_observed_scope)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_of_the_tree_is_seen_at_work),
        cmocka_unit_test(other_views_see_the_program_alone),
        cmocka_unit_test(both_can_be_seen_together),
        cmocka_unit_test(observing_oneself_does_not_keep_the_run),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
