/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the comparison of two runs: differences explained by chance, and orders. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/compare/compare.h"
#include "tests/causality/made_tuples.h"
#include "tests/monitors/draw.h"
#include "tests/suites.h"

#define CALL(...) (&(struct made_call){__VA_ARGS__})

enum { BLOCKS = 64, TRIALS = 500 };

/* --- Chance ----------------------------------------------------------------------- */

/* Draws blocks of 1000 on average, each up to 100 more or less, and adds `more`. */
static void draw_blocks(double more, double ret_blocks[BLOCKS])
{
    for (size_t i = 0; i < BLOCKS; i++)
        ret_blocks[i] = 900 + (double)(draw_below(201)) + more;
}

static bool is_clear(const struct esi_bootstrap *noise)
{
    assert_true(noise->known);
    assert_true(noise->low <= noise->high);
    return noise->low > 0 || noise->high < 0;
}

/* About 1 % of equal runs count as different; with so few trials up to 4 % are
 * accepted. */
static void what_is_alike_does_not_differ(void **state)
{
    int found = 0;

    (void)state;
    draw_state = 20261124;
    for (int i = 0; i < TRIALS; i++) {
        double a[BLOCKS], b[BLOCKS];
        struct esi_bootstrap noise;

        draw_blocks(0, a);
        draw_blocks(0, b);
        noise = esi_bootstrap_compare(a, BLOCKS, b, BLOCKS);
        found += is_clear(&noise);
    }
    print_message("# %d of %d\n", found, TRIALS);
    assert_in_range(found, 0, TRIALS / 25);
}

static void what_grew_is_found(void **state)
{
    (void)state;
    draw_state = 7;
    for (int i = 0; i < TRIALS; i++) {
        double a[BLOCKS], b[BLOCKS];
        struct esi_bootstrap noise;

        draw_blocks(0, a);
        draw_blocks(100, b);
        noise = esi_bootstrap_compare(a, BLOCKS, b, BLOCKS);
        assert_true(is_clear(&noise) && noise.low > 0);
        assert_true(noise.difference > 0);
    }
}

/* Both runs become slower over time. Blocks are compared in pairs, so this cancels. */
static void what_both_go_through_cancels(void **state)
{
    double a[BLOCKS], b[BLOCKS];
    struct esi_bootstrap noise;

    (void)state;
    for (size_t i = 0; i < BLOCKS; i++) {
        a[i] = 1000 * (double)i;
        b[i] = a[i] + 10 + (double)(i % 3);
    }
    noise = esi_bootstrap_compare(a, BLOCKS, b, BLOCKS);
    assert_true(is_clear(&noise));
}

static void few_blocks_say_nothing(void **state)
{
    const double a[ESI_BOOTSTRAP_LEAST] = {1}, b[ESI_BOOTSTRAP_LEAST] = {9};

    (void)state;
    assert_true(
        esi_bootstrap_compare(a, ESI_BOOTSTRAP_LEAST, b, ESI_BOOTSTRAP_LEAST).known);
    assert_false(
        esi_bootstrap_compare(a, ESI_BOOTSTRAP_LEAST - 1, b, ESI_BOOTSTRAP_LEAST)
            .known);
}

/* --- Runs ------------------------------------------------------------------------- */

/* A master receives two messages from any source; then rank 1 is late for a barrier. */
static void add_run(struct esi_compare *compare,
                    enum esi_compare_run run,
                    int first,
                    uint64_t late)
{
    const struct esi_causality_config config = {.listener =
                                                    esi_compare_listener(compare, run)};
    int second = 3 - first;
    struct made_tuples made;

    made_tuples_begin_with(&made, 3, config);
    made_add(&made, first, CALL("MPI_Send", 10, 11, .peer = 0, .tag = 5));
    made_add(&made, second, CALL("MPI_Send", 20, 21, .peer = 0, .tag = 5));
    made_add(&made, 0,
             CALL("MPI_Recv", 1, 12, .peer = first, .tag = 5, .any_source = true));
    made_add(&made, 0,
             CALL("MPI_Recv", 13, 22, .peer = second, .tag = 5, .any_source = true));
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t begin = 10000 * (i + 1), end = begin + 1000 + late + i % 7;

        for (int rank = 0; rank < 3; rank++)
            made_add(&made, rank,
                     CALL("MPI_Barrier", rank == 1 ? end - 10 : begin, end,
                          .peer = ES_PEER_NONE, .sequence = i));
    }
    made_finish(&made);
    made_tuples_end(&made);
}

static const struct esi_compare_row *find_rank(const struct esi_compare *compare,
                                               int rank,
                                               enum esi_compare_metric metric)
{
    size_t count;
    const struct esi_compare_row *rows = esi_compare_rows(compare, &count);

    for (size_t i = 0; i < count; i++)
        if (rows[i].rank == rank && rows[i].metric == metric)
            return &rows[i];
    return NULL;
}

/* In the second run rank `first` sends first and rank 1 is late by `late`. */
static struct esi_compare *compare_runs(int first, uint64_t late)
{
    struct esi_compare *compare;

    assert_int_equal(esi_compare_create(&compare), 0);
    add_run(compare, ESI_COMPARE_A, 1, 500);
    add_run(compare, ESI_COMPARE_B, first, late);
    assert_int_equal(esi_compare_finish(compare), 0);
    return compare;
}

static void the_same_twice_is_the_same(void **state)
{
    struct esi_compare_totals totals;
    struct esi_compare *compare = compare_runs(1, 500);

    (void)state;
    esi_compare_totals(compare, &totals);
    assert_false(totals.orders_differ);
    assert_int_equal(totals.alike, 4 + 300);
    assert_int_equal(totals.differing, 0);
    esi_compare_destroy(compare);
}

static void another_message_is_the_first_difference(void **state)
{
    struct esi_compare_totals totals;
    struct esi_compare *compare = compare_runs(2, 500);

    (void)state;
    esi_compare_totals(compare, &totals);
    assert_true(totals.orders_differ);
    assert_int_equal(totals.first.rank, 0);
    assert_int_equal(totals.first.number, 1);
    assert_true(totals.first.a->any);
    assert_int_equal(totals.first.a->peer, 1);
    assert_int_equal(totals.first.b->peer, 2);
    esi_compare_destroy(compare);
}

static void who_became_late_is_told(void **state)
{
    struct esi_compare_totals totals;
    const struct esi_compare_row *row;
    struct esi_compare *compare = compare_runs(1, 2500);

    (void)state;
    esi_compare_totals(compare, &totals);
    assert_false(totals.orders_differ);
    row = find_rank(compare, 1, ESI_COMPARE_CAUSED);
    assert_non_null(row);
    assert_true(row->differs);
    assert_true(row->noise.difference > 2 * 100 * 1900.0);
    row = find_rank(compare, 0, ESI_COMPARE_WAITED);
    assert_true(row && row->differs && row->noise.low > 0);
    esi_compare_destroy(compare);
}

/* The critical path goes through the late rank; its blocks give a range of noise. */
static void the_critical_path_has_a_yardstick(void **state)
{
    struct esi_compare_totals totals;
    const struct esi_compare_row *row;
    struct esi_compare *compare = compare_runs(1, 2500);

    (void)state;
    esi_compare_totals(compare, &totals);
    row = find_rank(compare, 1, ESI_COMPARE_CRITICAL);
    assert_true(row && row->noise.known);
    assert_true(row->a > 0 && row->a <= totals.runs[ESI_COMPARE_A].critical);
    /* Blocks cover the whole path. */
    assert_true(row->noise.difference - (row->b - row->a) < 1);
    assert_true(row->noise.difference - (row->b - row->a) > -1);
    esi_compare_destroy(compare);
}

/* --- Profiles --------------------------------------------------------------------- */

static struct esi_profile_report make_profile(struct esi_profile_operation *operations,
                                              uint64_t barriers,
                                              uint64_t receives,
                                              uint64_t bytes)
{
    operations[0] = (struct esi_profile_operation){
        .code = es_operation_by_name("MPI_Barrier")->code, .sums = {.calls = barriers}};
    operations[1] =
        (struct esi_profile_operation){.code = es_operation_by_name("MPI_Irecv")->code,
                                       .sums = {.calls = receives, .bytes = bytes}};
    operations[2] = (struct esi_profile_operation){
        .code = es_operation_by_name("MPI_Init")->code,
        .is_outer = true,
        .sums = {.calls = barriers + receives, .time_ns = 1000 * bytes}};
    return (struct esi_profile_report){.operations = operations, .operation_count = 3};
}

static const struct esi_compare_row *find_profile(const struct esi_compare *compare,
                                                  const char *operation,
                                                  enum esi_compare_metric metric)
{
    size_t count;
    const struct esi_compare_row *rows = esi_compare_profile_rows(compare, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, operation) == 0 && rows[i].metric == metric)
            return &rows[i];
    return NULL;
}

/* Compares two equal runs that have these profiles. */
static struct esi_compare *compare_profiles(const struct esi_profile_report *a,
                                            const struct esi_profile_report *b)
{
    struct esi_compare *compare;

    assert_int_equal(esi_compare_create(&compare), 0);
    add_run(compare, ESI_COMPARE_A, 1, 500);
    add_run(compare, ESI_COMPARE_B, 1, 500);
    esi_compare_set_profile(compare, ESI_COMPARE_A, a);
    esi_compare_set_profile(compare, ESI_COMPARE_B, b);
    assert_int_equal(esi_compare_finish(compare), 0);
    return compare;
}

static void profiles_differ_in_calls_and_bytes(void **state)
{
    struct esi_profile_operation a_operations[3], b_operations[3];
    struct esi_profile_report a = make_profile(a_operations, 300, 100, 4000);
    struct esi_profile_report b = make_profile(b_operations, 300, 102, 9000);
    struct esi_compare *compare = compare_profiles(&a, &b);
    const struct esi_compare_row *row;
    struct esi_compare_totals totals;

    (void)state;
    esi_compare_totals(compare, &totals);
    assert_true(totals.profiled);
    assert_int_equal(totals.profile_differing, 2);
    row = find_profile(compare, "MPI_Irecv", ESI_COMPARE_CALLS);
    assert_true(row && row->differs && !row->noise.known);
    row = find_profile(compare, "MPI_Irecv", ESI_COMPARE_BYTES);
    assert_true(row && row->differs && row->noise.difference == 5000);
    row = find_profile(compare, "MPI_Barrier", ESI_COMPARE_CALLS);
    assert_true(row && !row->differs && row->noise.known);
    assert_null(find_profile(compare, "MPI_Init", ESI_COMPARE_CALLS));
    esi_compare_destroy(compare);
}

/* A profile has more barriers, but the blocks of events have not. */
static void calls_by_chance_do_not_differ(void **state)
{
    struct esi_profile_operation a_operations[3], b_operations[3];
    struct esi_profile_report a = make_profile(a_operations, 300, 100, 4000);
    struct esi_profile_report b = make_profile(b_operations, 330, 100, 4000);
    struct esi_compare *compare = compare_profiles(&a, &b);
    const struct esi_compare_row *row =
        find_profile(compare, "MPI_Barrier", ESI_COMPARE_CALLS);

    (void)state;
    assert_true(row && !row->differs && row->a == 300 && row->b == 330);
    esi_compare_destroy(compare);
}

/* Only one of the runs has a profile. */
static void without_profiles_none_are_compared(void **state)
{
    struct esi_profile_operation operations[3];
    struct esi_profile_report a = make_profile(operations, 300, 100, 4000);
    struct esi_compare *compare = compare_profiles(&a, NULL);
    struct esi_compare_totals totals;
    size_t count;

    (void)state;
    esi_compare_totals(compare, &totals);
    esi_compare_profile_rows(compare, &count);
    assert_false(totals.profiled);
    assert_int_equal(count, 0);
    esi_compare_destroy(compare);
}

SUITE(test_compare)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_alike_does_not_differ),
        cmocka_unit_test(what_grew_is_found),
        cmocka_unit_test(what_both_go_through_cancels),
        cmocka_unit_test(few_blocks_say_nothing),
        cmocka_unit_test(the_same_twice_is_the_same),
        cmocka_unit_test(another_message_is_the_first_difference),
        cmocka_unit_test(who_became_late_is_told),
        cmocka_unit_test(the_critical_path_has_a_yardstick),
        cmocka_unit_test(profiles_differ_in_calls_and_bytes),
        cmocka_unit_test(calls_by_chance_do_not_differ),
        cmocka_unit_test(without_profiles_none_are_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
