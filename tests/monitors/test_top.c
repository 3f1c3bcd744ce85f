/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the rows of a run: order, filters, groups by host, and strips of time. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/top/top_rows.h"
#include "monitors/verdict/verdict.h"
#include "tests/random.h"
#include "tests/suites.h"

#define SECOND UINT64_C(1000000000)

enum { ROWS_MOST = 60, TRIALS = 300 };

static const char *const hosts[] = {"alpha", "beta", "gamma", "node-1"};

/* Ranks in random order, with threads in various states. */
struct made_rows {
    struct esi_thread_state threads[ROWS_MOST];
    struct esi_wait waits[ROWS_MOST];
    struct esi_top_row rows[ROWS_MOST];
    size_t count;
};

static void make_row(struct made_rows *made, size_t i, uint64_t *seed)
{
    enum esi_verdict verdict = (enum esi_verdict)random_int(seed, ES_VERDICTS);
    int rate = random_int(seed, 5);

    made->threads[i] = (struct esi_thread_state){.host = hosts[random_int(seed, 4)],
                                                 .pid = 100 + (int)i,
                                                 .rank = (int)i,
                                                 .verdict = verdict,
                                                 .process = ES_PROCESS_RUNNING};
    made->threads[i].open.present = random_int(seed, 2);
    made->threads[i].open.operation =
        es_operation_by_name(random_int(seed, 2) ? "MPI_Recv" : "MPI_Barrier")->code;
    made->threads[i].open.site = random_int(seed, 2) ? "solver.c:21 in step()" : "";
    made->rows[i] =
        (struct esi_top_row){.host = made->threads[i].host,
                             .rank = (int)i,
                             .pid = 100 + (int)i,
                             .ranks = 1,
                             .verdict = verdict,
                             .finding = random_int(seed, 8) ? -1 : ESI_VERDICT_DEADLOCK,
                             .quiet_ns = SECOND * (uint64_t)random_int(seed, 4),
                             .thread = &made->threads[i],
                             .wait = &made->waits[i],
                             .rate = rate - 1,
                             .share = random_int(seed, 3) / 2.0,
                             .caused_ns = -1,
                             .suffered_ns = -1};
    made->rows[i].verdicts[verdict] = 1;
}

static void make_rows(struct made_rows *made, uint64_t *seed)
{
    memset(made, 0, sizeof *made);
    made->count = random_below(seed, ROWS_MOST);
    for (size_t i = 0; i < made->count; i++)
        make_row(made, i, seed);
}

/* --- Order ------------------------------------------------------------------------ */

/* The number by which a column sorts, if it has one. */
static double reference_number(const struct esi_top_row *row,
                               enum esi_top_column column)
{
    switch (column) {
    case ESI_TOP_RATE:
        return row->rate;
    case ESI_TOP_SHARE:
        return row->share;
    case ESI_TOP_FOR:
        return row->verdict == ES_VERDICT_FINISHED ? 0 : (double)row->quiet_ns;
    default:
        return row->rank;
    }
}

static void rows_are_sorted(void **state)
{
    static const enum esi_top_column sorts[] = {ESI_TOP_RANK, ESI_TOP_RATE,
                                                ESI_TOP_SHARE, ESI_TOP_FOR};
    struct esi_top_list list = {.count = 0};
    struct made_rows made;
    uint64_t seed = 1;

    (void)state;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct esi_top_choice choice = {.sort = sorts[trial % 4],
                                        .turned = trial % 3 == 0};
        bool up = !esi_top_column_info(choice.sort)->descending != choice.turned;

        make_rows(&made, &seed);
        assert_int_equal(esi_top_list_make(&list, made.rows, made.count, &choice), 0);
        assert_int_equal(list.count, made.count);
        for (size_t i = 1; i < list.count; i++) {
            double a = reference_number(&list.items[i - 1], choice.sort);
            double b = reference_number(&list.items[i], choice.sort);

            assert_true(up ? a <= b : a >= b);
            assert_true(a != b || list.items[i - 1].rank < list.items[i].rank);
        }
    }
    esi_top_list_fini(&list);
}

/* Certain findings come first, then dead, stalled and finished ranks. */
static void trouble_comes_first(void **state)
{
    struct esi_top_list list = {.count = 0};
    const struct esi_top_choice choice = {.sort = ESI_TOP_STATE};
    struct esi_top_row rows[4] = {
        {.host = "a", .rank = 0, .verdict = ES_VERDICT_FINISHED, .finding = -1},
        {.host = "a", .rank = 1, .verdict = ES_VERDICT_STALLED, .finding = -1},
        {.host = "a",
         .rank = 2,
         .verdict = ES_VERDICT_WAITING,
         .finding = ESI_VERDICT_DEADLOCK},
        {.host = "a", .rank = 3, .verdict = ES_VERDICT_DEAD, .finding = -1}};

    (void)state;
    assert_int_equal(esi_top_list_make(&list, rows, 4, &choice), 0);
    assert_int_equal(list.items[0].rank, 2);
    assert_int_equal(list.items[1].rank, 3);
    assert_int_equal(list.items[2].rank, 1);
    assert_int_equal(list.items[3].rank, 0);
    assert_string_equal(esi_top_row_state(&list.items[0]), "DEADLOCK");
    esi_top_list_fini(&list);
}

/* --- Filters ---------------------------------------------------------------------- */

struct filter_case {
    const char *filter;
    bool matches; /* rank 12 on node-3, stalled in MPI_Recv at solver.c:21 */
};

static const struct filter_case filter_cases[] = {
    {NULL, true},        {"", true},
    {"12", true},        {"0-20", true},
    {"3,10-13", true},   {"0-11", false},
    {"STALLED", true},   {"recv", true},
    {"solver", true},    {"node-3", true},
    {"node-4", false},   {"12 stalled recv", true},
    {"12  recv ", true}, {"13 stalled", false},
    {"barrier", false},  {"12 barrier", false},
    {"5-", true},        {"-", false},
};

static void filters_match(void **state)
{
    struct esi_thread_state thread = {.verdict = ES_VERDICT_STALLED};
    struct esi_wait wait = {.target_count = 0};
    struct esi_top_row row = {.host = "node-3",
                              .rank = 12,
                              .thread = &thread,
                              .wait = &wait,
                              .verdict = ES_VERDICT_STALLED,
                              .finding = -1};

    (void)state;
    thread.open =
        (struct esi_activity){.present = true,
                              .operation = es_operation_by_name("MPI_Recv")->code,
                              .site = "solver.c:21 in step()"};
    for (size_t i = 0; i < sizeof filter_cases / sizeof *filter_cases; i++)
        if (esi_top_row_matches(&row, filter_cases[i].filter) !=
            filter_cases[i].matches)
            fail_msg("filter '%s'", filter_cases[i].filter);
}

/* --- Hosts ------------------------------------------------------------------------ */

static void check_host(const struct esi_top_row *host, const struct made_rows *made)
{
    size_t ranks = 0, stalled = 0;
    double rate = -1;

    for (size_t i = 0; i < made->count; i++) {
        const struct esi_top_row *row = &made->rows[i];

        if (strcmp(row->host, host->host) != 0)
            continue;
        ranks++;
        stalled += row->verdict == ES_VERDICT_STALLED;
        if (row->rate >= 0)
            rate = (rate < 0 ? 0 : rate) + row->rate;
        assert_true(esi_verdicts[row->verdict].severity <=
                    esi_verdicts[host->verdict].severity);
    }
    assert_int_equal(host->ranks, ranks);
    assert_int_equal(host->verdicts[ES_VERDICT_STALLED], stalled);
    assert_true(host->rate == rate);
}

static void trees_have_all_ranks_below_their_hosts(void **state)
{
    static const char *const folded[] = {"beta"};
    struct esi_top_list list = {.count = 0};
    struct made_rows made;
    uint64_t seed = 2;

    (void)state;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct esi_top_choice choice = {.sort = ESI_TOP_RATE,
                                        .shape = trial % 4 ? ESI_TOP_BY_TREE
                                                           : ESI_TOP_BY_HOST,
                                        .folded = folded,
                                        .folded_count = 1};
        const struct esi_top_row *host = NULL;
        size_t ranks = 0, hidden = 0;

        make_rows(&made, &seed);
        assert_int_equal(esi_top_list_make(&list, made.rows, made.count, &choice), 0);
        for (size_t i = 0; i < list.count; i++) {
            if (list.items[i].rank < 0) {
                host = &list.items[i];
                check_host(host, &made);
                hidden += host->is_folded ? host->ranks : 0;
                assert_true(host->is_folded == (choice.shape == ESI_TOP_BY_HOST ||
                                                strcmp(host->host, "beta") == 0));
            } else {
                ranks++;
                assert_non_null(host);
                assert_false(host->is_folded);
                assert_string_equal(list.items[i].host, host->host);
            }
        }
        assert_int_equal(ranks + hidden, made.count);
    }
    esi_top_list_fini(&list);
}

/* --- Cells ------------------------------------------------------------------------ */

static void cells_say_what_is_known(void **state)
{
    const int targets[] = {3, 4, 5};
    struct esi_thread_state thread = {.verdict = ES_VERDICT_STALLED,
                                      .process = ES_PROCESS_RUNNING};
    struct esi_wait wait = {.targets = targets, .target_count = 3};
    struct esi_top_row row = {.host = "a",
                              .rank = 7,
                              .thread = &thread,
                              .wait = &wait,
                              .verdict = ES_VERDICT_STALLED,
                              .finding = -1,
                              .quiet_ns = 12 * SECOND,
                              .rate = -1,
                              .share = 0.5,
                              .caused_ns = -1,
                              .suffered_ns = 2e9};
    char text[64];

    (void)state;
    thread.open = (struct esi_activity){
        .present = true, .operation = es_operation_by_name("MPI_Barrier")->code};
    assert_string_equal(esi_top_cell(&row, ESI_TOP_DOING, text, sizeof text),
                        "MPI_Barrier");
    assert_string_equal(esi_top_cell(&row, ESI_TOP_PEER, text, sizeof text), "3-5");
    assert_string_equal(esi_top_cell(&row, ESI_TOP_FOR, text, sizeof text), "12.0 s");
    assert_string_equal(esi_top_cell(&row, ESI_TOP_RATE, text, sizeof text), "");
    assert_string_equal(esi_top_cell(&row, ESI_TOP_SHARE, text, sizeof text), "50 %");
    assert_string_equal(esi_top_cell(&row, ESI_TOP_CAUSED, text, sizeof text), "");
    assert_string_equal(esi_top_cell(&row, ESI_TOP_SUFFERED, text, sizeof text),
                        "2.00 s");
    assert_string_equal(esi_top_cell(&row, ESI_TOP_DOING, text, 4), "MPI");
    row.verdict = ES_VERDICT_FINISHED;
    assert_string_equal(esi_top_cell(&row, ESI_TOP_DOING, text, sizeof text), "");
}

/* --- Strips ----------------------------------------------------------------------- */

static void strips_show_what_fills_columns(void **state)
{
    static const struct esi_top_span spans[] = {
        {200, 300, 's'}, {300, 320, 'r'}, {380, 400, 'r'}, {410, 470, 'C'},
        {500, 530, 's'}, {540, 590, 'r'}, {600, 900, 'o'}};
    char strip[16];

    (void)state;
    esi_top_strip(spans, 7, 0, 100, 10, strip);
    assert_string_equal(strip, "??s.Crooo.");
    esi_top_strip(spans, 0, 0, 100, 3, strip);
    assert_string_equal(strip, "???");
}

SUITE(test_top)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted),
        cmocka_unit_test(trouble_comes_first),
        cmocka_unit_test(filters_match),
        cmocka_unit_test(trees_have_all_ranks_below_their_hosts),
        cmocka_unit_test(cells_say_what_is_known),
        cmocka_unit_test(strips_show_what_fills_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
