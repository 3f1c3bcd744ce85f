/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Costs of a scope and its stages: each level accounts for its tuples, also if elements
 * are pulled directly. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eventspace/scope.h"
#include "tests/scopes/made_scope.h"
#include "tests/suites.h"

#define POINT_TO_POINT (1u << ES_CLASS_SEND)

static void write_one(struct esi_writer *writer)
{
    struct es_tuple tuple = made_tuple("MPI_Send", 1, 5);

    esi_writer_write(writer, &tuple);
}

static void stages_account_for_what_they_gave(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writer =
        made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT, 100);
    struct es_scope_config config;
    struct es_scope_cost cost;

    es_scope_config_init(&config);
    made_scope_open(fixture, &config);
    for (int i = 0; i < 70; i++)
        write_one(writer);
    for (int i = 0; i < 130; i++)
        made_scope_pull(fixture, 0);
    es_scope_cost(fixture->scope, &cost);
    assert_int_equal(cost.pulls, 130);
    assert_int_equal(cost.tuples, 70);
    assert_int_equal(cost.lost, 0);
    assert_int_equal(cost.origins, 1);
    assert_int_equal(cost.stages, 3); /* host, thread, element */
    assert_true(cost.total_ns > 0 && cost.cpu_ns > 0);
}

enum { LEVELS = 3 }; /* host, thread, element */

/* Sums the costs of each level. */
static void count_level(const struct es_stage *stage, int depth, void *data)
{
    struct es_stage_cost *sums = data;
    struct es_stage_cost cost;

    assert_in_range(depth, 0, LEVELS - 1);
    es_stage_cost(stage, &cost);
    sums[depth].calls += cost.calls;
    sums[depth].tuples += cost.tuples;
}

static void check_levels(const struct made_scope *fixture,
                         const unsigned calls[LEVELS],
                         unsigned tuples)
{
    struct es_stage_cost sums[LEVELS] = {{0}};

    es_scope_foreach_stage(fixture->scope, count_level, sums);
    for (int i = 0; i < LEVELS; i++) {
        assert_int_equal(sums[i].calls, calls[i]);
        assert_int_equal(sums[i].tuples, tuples);
    }
}

static void elements_pulled_together_are_accounted_for_each(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writer =
        made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT, 100);
    struct esi_writer *alone =
        made_run_add_element(&fixture->made, segment, 0, 1, "p2p", POINT_TO_POINT, 100);
    static const unsigned calls[LEVELS] = {200, 400, 600};
    struct es_scope_config config;

    made_run_add_element(&fixture->made, segment, 0, 0, "empty", POINT_TO_POINT, 100);
    write_one(writer);
    write_one(alone);
    es_scope_config_init(&config);
    config.take = ES_TAKE_LATEST;
    made_scope_open(fixture, &config);
    for (int i = 0; i < 200; i++)
        assert_int_equal(made_scope_pull(fixture, 0)->count, 2);
    check_levels(fixture, calls, 400);
}

static void an_only_element_is_accounted_for_on_each_level(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writer =
        made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT, 100);
    static const unsigned calls[LEVELS] = {200, 200, 200};
    struct es_scope_config config;

    es_scope_config_init(&config);
    config.take = ES_TAKE_LATEST;
    made_scope_open(fixture, &config);
    for (int i = 0; i < 200; i++) {
        if (i == 100)
            write_one(writer);
        assert_int_equal(made_scope_pull(fixture, 0)->count, i >= 100);
    }
    check_levels(fixture, calls, 100);
}

SUITE(test_scope_costs)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_account_for_what_they_gave),
        cmocka_unit_test(elements_pulled_together_are_accounted_for_each),
        cmocka_unit_test(an_only_element_is_accounted_for_on_each_level),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, made_scope_set_up,
                       made_scope_tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
