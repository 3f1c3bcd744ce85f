/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A live run is converted to an event set while it runs. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/causality/causality_scope.h"
#include "tests/causality/made_stream.h"
#include "tests/scopes/made_run.h"
#include "tests/suites.h"

struct fixture {
    struct made_run made;
    struct es_segment *segments[2];
    struct esi_writer *messages[2]; /* of both ranks */
    struct esi_writer *others[2];
    struct es_run *run;
    struct made_stream stream;
    struct esi_causality_scope *scope;
    uint64_t now; /* ticks */
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    uint32_t messages = 1u << ES_CLASS_SEND | 1u << ES_CLASS_RECEIVE;

    assert_non_null(fixture);
    made_run_begin(&fixture->made);
    for (int i = 0; i < 2; i++) {
        fixture->segments[i] = made_run_add_rank(&fixture->made, i, 2);
        fixture->messages[i] = made_run_add_element(
            &fixture->made, fixture->segments[i], i, 0, "messages", messages, 63);
        fixture->others[i] =
            made_run_add_element(&fixture->made, fixture->segments[i], i, 0, "others",
                                 ES_CLASSES_ALL & ~messages, 63);
    }
    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
    fixture->now = made_ticks(&fixture->made, 1000000000);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    esi_causality_scope_close(fixture->scope);
    made_stream_fini(&fixture->stream);
    es_run_close(fixture->run);
    made_run_end(&fixture->made);
    free(fixture);
    return 0;
}

static void open_scope(struct fixture *fixture, size_t max)
{
    struct esi_causality_scope_config config;

    esi_causality_scope_config_init(&config);
    config.causality.sink = made_stream_sink(&fixture->stream);
    config.causality.attributes = true;
    if (max)
        config.scope.max = max;
    assert_int_equal(
        esi_causality_scope_open(fixture->run, &config, NULL, &fixture->scope), 0);
}

static void write_message(struct fixture *fixture,
                          int rank,
                          const char *operation,
                          uint32_t sequence)
{
    struct es_tuple tuple = made_tuple(operation, fixture->now, fixture->now + 10);

    fixture->now += 20;
    tuple.peer = 1 - rank;
    tuple.sequence = sequence;
    esi_writer_write(fixture->messages[rank], &tuple);
}

static void write_barrier(struct fixture *fixture, int rank, uint32_t instance)
{
    struct es_tuple tuple = made_tuple("MPI_Barrier", fixture->now, fixture->now + 100);

    fixture->now += 1;
    tuple.sequence = instance;
    esi_writer_write(fixture->others[rank], &tuple);
}

static struct esi_causality_totals totals_of(const struct fixture *fixture)
{
    struct esi_causality_totals totals;

    esi_causality_totals(esi_causality_scope_causality(fixture->scope), &totals);
    return totals;
}

static void what_elements_hold_becomes_a_stream(void **state)
{
    struct fixture *fixture = *state;

    write_message(fixture, 0, "MPI_Send", 0);
    write_message(fixture, 1, "MPI_Recv", 0);
    write_barrier(fixture, 0, 0);
    write_barrier(fixture, 1, 0);
    open_scope(fixture, 0);
    assert_string_equal(fixture->stream.names[0], "0.0");
    assert_string_equal(fixture->stream.names[1], "1.0");
    assert_int_equal(esi_causality_scope_finish(fixture->scope), 0);
    assert_int_equal(totals_of(fixture).messages, 1);
    assert_int_equal(totals_of(fixture).collectives, 1);
    assert_int_equal(fixture->stream.count, 8);
    assert_false(
        esi_causality_is_incomplete(esi_causality_scope_causality(fixture->scope)));
}

static void what_comes_is_given_while_it_comes(void **state)
{
    struct fixture *fixture = *state;

    open_scope(fixture, 3);
    for (uint32_t i = 0; i < 40; i++) {
        write_message(fixture, 0, "MPI_Send", i);
        write_message(fixture, 1, "MPI_Recv", i);
        if (i % 8 == 7)
            while (esi_causality_scope_read(fixture->scope, true) > 0)
                continue;
    }
    assert_true(fixture->stream.count > 40);
    assert_int_equal(esi_causality_scope_finish(fixture->scope), 0);
    assert_int_equal(totals_of(fixture).messages, 40);
    assert_int_equal(totals_of(fixture).late, 0);
}

static void what_is_overwritten_is_lost(void **state)
{
    struct fixture *fixture = *state;

    open_scope(fixture, 0);
    for (uint32_t i = 0; i < 1000; i++)
        write_message(fixture, 0, "MPI_Send", i);
    write_message(fixture, 1, "MPI_Recv", 0);
    assert_int_equal(esi_causality_scope_finish(fixture->scope), 0);
    assert_true(totals_of(fixture).lost > 900);
    assert_int_equal(totals_of(fixture).unmatched_receives, 1);
    assert_true(
        esi_causality_is_incomplete(esi_causality_scope_causality(fixture->scope)));
}

static void what_was_overwritten_before_is_lost_once(void **state)
{
    struct fixture *fixture = *state;

    for (uint32_t i = 0; i < 1000; i++)
        write_message(fixture, 0, "MPI_Send", i);
    open_scope(fixture, 0);
    assert_int_equal(esi_causality_scope_finish(fixture->scope), 0);
    assert_true(totals_of(fixture).lost > 900);
    assert_int_equal(totals_of(fixture).lost + totals_of(fixture).tuples, 1000);
}

static void what_is_under_way_comes_at_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct es_tuple open = made_tuple("MPI_Recv", fixture->now + 1000, 0);

    write_message(fixture, 0, "MPI_Send", 0);
    esi_writer_open(fixture->messages[1], &open);
    open_scope(fixture, 0);
    assert_int_equal(esi_causality_scope_finish(fixture->scope), 0);
    assert_non_null(made_stream_find(&fixture->stream, "1.0", "MPI_Recv open"));
    assert_int_equal(fixture->stream.count, 2);
}

/* A program that executes another one keeps its pid. */
static void a_pid_that_comes_again_is_another_process(void **state)
{
    struct fixture *fixture = *state;
    struct es_segment *again;

    open_scope(fixture, 0);
    write_message(fixture, 0, "MPI_Send", 0);
    while (esi_causality_scope_read(fixture->scope, true) > 0)
        continue;
    again = made_run_add_rank(&fixture->made, 0, 2);
    fixture->messages[0] = made_run_add_element(&fixture->made, again, 0, 0, "messages",
                                                1u << ES_CLASS_SEND, 63);
    write_message(fixture, 0, "MPI_Send", 0);
    assert_int_equal(esi_causality_scope_finish(fixture->scope), 0);
    assert_int_equal(fixture->stream.trace_count, 3);
    assert_string_equal(fixture->stream.names[2], "0.0#2");
}

SUITE(test_causality_scope)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(what_elements_hold_becomes_a_stream),
        cmocka_unit_test(what_comes_is_given_while_it_comes),
        cmocka_unit_test(what_is_overwritten_is_lost),
        cmocka_unit_test(what_was_overwritten_before_is_lost_once),
        cmocka_unit_test(what_is_under_way_comes_at_the_end),
        cmocka_unit_test(a_pid_that_comes_again_is_another_process),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
