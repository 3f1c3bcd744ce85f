/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Filter expressions match as their grammar says, and errors are
 * reported at their position. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "tests/suites.h"
#include "wrappers/stages/filter.h"

/* One tick is one nanosecond since 1970. */
static const struct es_clock clock_of_test = {.kind = ES_CLOCK_MONOTONIC,
                                              .frequency_hz = UINT64_C(1000000000)};

static const char *name_communicator(void *data, uint32_t origin, uint16_t communicator)
{
    (void)data;
    (void)origin;
    return communicator == 3 ? "row comm" : "";
}

static bool judge(const char *text, const struct es_tuple *tuple)
{
    struct es_origin origin = {.rank = 4, .thread = 1, .clock = &clock_of_test};
    struct es_stage_context context = {.communicator_name = name_communicator};
    struct esi_filter_event event = {
        .tuple = tuple, .origin = &origin, .realtime_ns = 9000000, .context = &context};
    struct es_error error = {.text = ""};
    struct esi_filter *filter;
    bool result;

    if (esi_filter_create(text, 1, 1, &error, &filter) != 0)
        fail_msg("%s: %s", text, error.text);
    result = esi_filter_matches(filter, &event);
    esi_filter_destroy(filter);
    return result;
}

static struct es_tuple example(void)
{
    return (struct es_tuple){.stop = 3000000,
                             .operation = es_operation_by_name("MPI_Send")->code,
                             .communicator = 3,
                             .start = 1000000,
                             .sequence = 12,
                             .peer = 2,
                             .tag = 77,
                             .bytes = 4096};
}

static void expressions_hold_or_not(void **state)
{
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        {"operation == MPI_Send", true},
        {"operation == \"MPI_Send\"", true},
        {"operation != MPI_Send", false},
        {"operation == \"MPI_Sendrecv receive\"", false},
        {"class == send", true},
        {"class == one-sided", false},
        {"communicator == \"row comm\"", true},
        {"communicator != MPI_COMM_WORLD", true},
        {"communicator == 3", true},
        {"peer == 2", true},
        {"peer == any", false},
        {"peer != none", true},
        {"peer > -1", true},
        {"tag >= 77 && tag <= 77", true},
        {"tag < 77 || tag > 77", false},
        {"bytes == 4KiB", true},
        {"bytes >= 1MiB", false},
        {"bytes < 4294967295", true},
        {"sequence == 12", true},
        {"duration == 2ms", true},
        {"duration > 1999us", true},
        {"duration < 0.002s", false},
        {"duration >= 2000000ns", true},
        {"rank == 4 && thread == 1", true},
        {"!(rank == 4)", false},
        {"!!(rank == 4)", true},
        {"!rank == 4", false},
        /* && binds closer than ||. */
        {"rank == 4 || rank == 5 && thread == 9", true},
        {"(rank == 4 || rank == 5) && thread == 9", false},
        {"  rank==4  ", true},
    };
    struct es_tuple tuple = example();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (judge(cases[i].text, &tuple) != cases[i].holds)
            fail_msg("%s: should be %s", cases[i].text,
                     cases[i].holds ? "true" : "false");
}

static void an_open_operation_lasts_until_now(void **state)
{
    struct es_tuple tuple = example();

    (void)state;
    tuple.stop = 0;
    assert_true(judge("duration == 8ms", &tuple));
    tuple.peer = ES_PEER_ANY;
    tuple.tag = ES_TAG_ANY;
    assert_true(judge("peer == any && tag == any", &tuple));
}

static void calls_that_failed_have_the_class_of_the_error(void **state)
{
    struct es_tuple tuple = example();
    uint32_t rank = 1;

    (void)state;
    assert_true(judge("failed == none", &tuple));
    assert_false(judge("failed != none", &tuple));
    while (strcmp(es_error_name(rank), "MPI_ERR_RANK") != 0)
        rank++;
    tuple.operation |= ES_OPERATION_FAILED;
    tuple.bytes = rank;
    assert_true(judge("failed == MPI_ERR_RANK && operation == send", &tuple));
    assert_true(judge("failed != MPI_ERR_TAG && bytes == 0", &tuple));
    assert_false(judge("failed == none", &tuple));
}

static void faults_are_found_where_they_are(void **state)
{
    static const struct {
        const char *text;
        int column;
        const char *words;
    } cases[] = {
        {"", 1, "expected a field"},
        {"rank", 5, "expected =="},
        {"rank = 4", 6, "expected =="},
        {"rank == ", 9, "whole number"},
        {"rank == x", 9, "whole number"},
        {"rank == 4 4", 11, "expected '&&'"},
        {"rank == 4 & thread == 1", 11, "expected '&&'"},
        {"(rank == 4", 11, "')'"},
        {"ranc == 4", 1, "did you mean 'rank'"},
        {"operation == MPI_Sent", 14, "did you mean 'MPI_Send'"},
        {"operation == barier", 14, "did you mean 'Barrier'"},
        {"operation < MPI_Send", 11, "== and !="},
        {"class == sent", 10, "did you mean 'send'"},
        {"failed == MPI_ERR_RANC", 11, "did you mean 'MPI_ERR_RANK'"},
        {"failed > none", 8, "== and !="},
        {"duration > 5", 12, "ns, us, ms"},
        {"duration > 5parsec", 12, "ns, us, ms"},
        {"bytes > 5kB", 9, "KiB"},
        {"bytes > -1", 9, "number of bytes"},
        {"tag == some", 8, "any or none"},
        {"communicator == \"row", 17, "quote"},
        {"rank == 99999999999999999999", 9, "whole number"},
        {"@", 1, "expected a field"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_error error = {.text = ""};
        struct esi_filter *filter = NULL;

        assert_int_equal(esi_filter_create(cases[i].text, 1, 1, &error, &filter),
                         -EINVAL);
        assert_null(filter);
        if (!strstr(error.text, cases[i].words) || error.column != cases[i].column)
            fail_msg("%s: column %d: %s", cases[i].text, error.column, error.text);
    }
}

static void columns_count_on_from_where_the_text_stands(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_filter *filter;

    (void)state;
    assert_int_equal(esi_filter_create("rank = 4", 3, 20, &error, &filter), -EINVAL);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 25);
}

static void depth_and_length_have_bounds(void **state)
{
    struct esi_filter *filter;
    char *text = malloc(100000);

    (void)state;
    assert_non_null(text);
    memset(text, '(', 99999);
    text[99999] = '\0';
    assert_int_equal(esi_filter_create(text, 1, 1, NULL, &filter), -EINVAL);
    memset(text, '!', 99999);
    assert_int_equal(esi_filter_create(text, 1, 1, NULL, &filter), -EINVAL);
    text[0] = '\0';
    for (int i = 0; i < 3000; i++)
        memcpy(text + i * 10, "rank==1 ||", 11);
    strcpy(text + 30000, "rank==1");
    assert_int_equal(esi_filter_create(text, 1, 1, NULL, &filter), -EINVAL);
    strcpy(text + 4000, "rank==1");
    assert_int_equal(esi_filter_create(text, 1, 1, NULL, &filter), 0);
    esi_filter_destroy(filter);
    free(text);
}

SUITE(test_filter_expression)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_hold_or_not),
        cmocka_unit_test(an_open_operation_lasts_until_now),
        cmocka_unit_test(calls_that_failed_have_the_class_of_the_error),
        cmocka_unit_test(faults_are_found_where_they_are),
        cmocka_unit_test(columns_count_on_from_where_the_text_stands),
        cmocka_unit_test(depth_and_length_have_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
