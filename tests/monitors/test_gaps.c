/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of gaps: what was overwritten is neither computing nor waiting. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/delay/delay.h"
#include "monitors/diagram/diagram.h"
#include "tests/causality/made_tuples.h"
#include "tests/suites.h"

#define S UINT64_C(1000000000)

#define CALL(OPERATION, START, STOP, ...)                                              \
    &(struct made_call)                                                                \
    {                                                                                  \
        .operation = OPERATION, .start = START, .stop = STOP, __VA_ARGS__              \
    }

/* --- Intervals -------------------------------------------------------------------- */

static void gaps_merge(void **state)
{
    static const struct {
        struct esi_gap added[4];
        const char *merged;
    } cases[] = {
        {{{5, 5}}, ""},
        {{{5, 4}}, ""},
        {{{5, 7}}, "5-7 "},
        {{{5, 7}, {1, 2}}, "1-2 5-7 "},
        {{{5, 7}, {7, 9}}, "5-9 "},
        {{{5, 7}, {3, 5}}, "3-7 "},
        {{{5, 7}, {5, 7}}, "5-7 "},
        {{{5, 7}, {1, 2}, {9, 11}, {2, 9}}, "1-11 "},
        {{{5, 7}, {1, 2}, {9, 11}, {6, 8}}, "1-2 5-8 9-11 "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esi_gaps gaps = {.count = 0};
        char text[64] = "";

        for (size_t j = 0; j < 4; j++)
            assert_int_equal(esi_gaps_add(&gaps, cases[i].added[j].begin_ns,
                                          cases[i].added[j].end_ns),
                             0);
        for (size_t j = 0; j < gaps.count; j++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%d-%d ",
                     (int)gaps.items[j].begin_ns, (int)gaps.items[j].end_ns);
        assert_string_equal(text, cases[i].merged);
        esi_gaps_fini(&gaps);
    }
}

static void what_lies_in_gaps_is_summed(void **state)
{
    struct esi_gaps gaps = {.count = 0};

    (void)state;
    assert_int_equal(esi_gaps_overlap(&gaps, 0, 100), 0);
    assert_int_equal(esi_gaps_end_before(&gaps, 100), 0);
    assert_int_equal(esi_gaps_add(&gaps, 10, 20), 0);
    assert_int_equal(esi_gaps_add(&gaps, 40, 45), 0);
    assert_int_equal(esi_gaps_overlap(&gaps, 0, 100), 15);
    assert_int_equal(esi_gaps_overlap(&gaps, 15, 42), 7);
    assert_int_equal(esi_gaps_overlap(&gaps, 20, 40), 0);
    assert_int_equal(esi_gaps_end_before(&gaps, 10), 0);
    assert_int_equal(esi_gaps_end_before(&gaps, 11), 20);
    assert_int_equal(esi_gaps_end_before(&gaps, 40), 20);
    assert_int_equal(esi_gaps_end_before(&gaps, 41), 45);
    esi_gaps_fini(&gaps);
}

static void the_part_that_is_seen_is_told(void **state)
{
    static const struct {
        struct esi_gap gaps[2];
        uint64_t begin_ns, end_ns;
        const char *words; /* the text begins with it */
    } cases[] = {
        {{{0}}, 3 * S, 12 * S, ""},
        {{{1 * S, 3 * S}}, 3 * S, 12 * S, "the last 9.00 s of 11.0 s: earlier op"},
        {{{1 * S, 3 * S}, {5 * S, 6 * S}}, 3 * S, 12 * S, "8.00 s of 11.0 s: in the"},
        {{{5 * S, 6 * S}}, 3 * S, 12 * S, "8.00 s of 9.00 s: in the rest, op"},
        {{{1 * S, 12 * S}}, 3 * S, 12 * S, "the last 0 ns of 11.0 s: earlier op"},
        {{{0, 3 * S}}, 3 * S, 12 * S, "the last 9.00 s: earlier op"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esi_gaps gaps = {.count = 0};
        char text[ESI_COVERAGE_BYTES];
        struct esi_coverage seen;

        for (size_t j = 0; j < 2; j++)
            assert_int_equal(
                esi_gaps_add(&gaps, cases[i].gaps[j].begin_ns, cases[i].gaps[j].end_ns),
                0);
        seen = esi_gaps_coverage(&gaps, cases[i].begin_ns, cases[i].end_ns);
        assert_int_equal(esi_coverage_describe(&seen, text), *cases[i].words != '\0');
        text[strlen(cases[i].words)] = '\0';
        assert_string_equal(text, cases[i].words);
        esi_gaps_fini(&gaps);
    }
}

/* --- A run whose messages were overwritten up to second 10 ------------------------ */

/* The collective operations, in an element of their own, reach back to second 1. */
static void add_collectives(struct made_tuples *made)
{
    for (int rank = 0; rank < 2; rank++) {
        uint32_t element = made_element(made, rank, 0);

        for (uint64_t i = 0; i < 3; i++)
            made_add_to(made, element,
                        CALL("MPI_Barrier", (1 + 4 * i) * S, (1 + 4 * i) * S + 1000,
                             .peer = ES_PEER_NONE, .sequence = (uint32_t)i));
    }
}

/* Rank 1 receives for half a second from rank 0, which computes meanwhile. */
static void add_messages(struct made_tuples *made)
{
    for (int rank = 0; rank < 2; rank++)
        esi_causality_lose(made->causality, made->elements[rank], 100, 0);
    made_add(made, 0, CALL("MPI_Send", 10 * S, 10 * S + 1000, .peer = 1));
    made_add(made, 0,
             CALL("MPI_Send", 12 * S, 12 * S + 1000, .peer = 1, .sequence = 1));
    made_add(made, 1, CALL("MPI_Recv", 10 * S, 10 * S + 1000, .peer = 0));
    made_add(made, 1,
             CALL("MPI_Recv", 12 * S - S / 2, 12 * S + 1000, .peer = 0, .sequence = 1));
}

static const struct esi_delay_times *rank_times(const struct esi_delay *delay, int rank)
{
    size_t count;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);

    assert_int_equal(count, 2);
    return &rows[rows[0].rank == rank ? 0 : 1].times;
}

static void what_was_overwritten_is_no_computing(void **state)
{
    const struct esi_delay_config config = {.window = 0};
    struct esi_causality_config causality = {.attributes = false};
    struct esi_delay_totals totals;
    struct made_tuples made;
    struct esi_delay *delay;

    (void)state;
    assert_int_equal(esi_delay_create(&config, &delay), 0);
    causality.listener = esi_delay_listener(delay);
    made_tuples_begin_with(&made, 2, causality);
    add_collectives(&made);
    add_messages(&made);
    made_finish(&made);
    made_tuples_end(&made);
    assert_int_equal(esi_delay_settle(delay), 0);
    assert_int_equal(esi_delay_find_critical(delay), 0);
    esi_delay_totals(delay, &totals);
    assert_int_equal(totals.seen.from_ns, 10 * S);
    assert_int_equal(totals.seen.seen_ns, 2 * S + 1000);
    assert_int_equal(totals.begin_ns, 10 * S);
    assert_int_equal(totals.waits, 1);
    assert_true(totals.waited == (double)S / 2);
    assert_true(totals.critical <= (double)totals.seen.seen_ns);
    for (int rank = 0; rank < 2; rank++) {
        const struct esi_delay_times *times = rank_times(delay, rank);

        assert_int_equal(times->calls, 2);
        assert_true(times->computed + times->called + times->waited <=
                    (double)totals.seen.seen_ns);
    }
    assert_true(rank_times(delay, 0)->computed == (double)(2 * S - 1000));
    esi_delay_destroy(delay);
}

static void a_gap_in_the_middle_is_left_out(void **state)
{
    const struct esi_delay_config config = {.window = 0};
    struct esi_causality_config causality = {.attributes = false};
    struct esi_delay_totals totals;
    struct made_tuples made;
    struct esi_delay *delay;

    (void)state;
    assert_int_equal(esi_delay_create(&config, &delay), 0);
    causality.listener = esi_delay_listener(delay);
    made_tuples_begin_with(&made, 2, causality);
    for (int rank = 0; rank < 2; rank++)
        made_add(&made, rank, CALL("MPI_Wait", 1 * S, 1 * S + 1000, .peer = -1));
    esi_causality_lose(made.causality, made.elements[0], 5, 0);
    for (int rank = 0; rank < 2; rank++)
        made_add(&made, rank, CALL("MPI_Wait", 9 * S, 9 * S + 1000, .peer = -1));
    made_finish(&made);
    made_tuples_end(&made);
    assert_int_equal(esi_delay_settle(delay), 0);
    esi_delay_totals(delay, &totals);
    assert_int_equal(totals.seen.seen_ns, 2000);
    assert_true(rank_times(delay, 0)->computed == 0);
    assert_true(rank_times(delay, 1)->computed == 0);
    esi_delay_destroy(delay);
}

/* A source that has read everything up to second 6 knows that the gap begins then. */
static void a_gap_begins_after_what_was_read(void **state)
{
    const struct esi_delay_config config = {.window = 0};
    struct esi_causality_config causality = {.attributes = false};
    struct esi_delay_totals totals;
    struct made_tuples made;
    struct esi_delay *delay;

    (void)state;
    assert_int_equal(esi_delay_create(&config, &delay), 0);
    causality.listener = esi_delay_listener(delay);
    made_tuples_begin_with(&made, 1, causality);
    made_add(&made, 0, CALL("MPI_Wait", 1 * S, 1 * S + 1000, .peer = -1));
    esi_causality_lose(made.causality, made.elements[0], 5, 6 * S);
    made_add(&made, 0, CALL("MPI_Wait", 9 * S, 9 * S + 1000, .peer = -1));
    made_finish(&made);
    made_tuples_end(&made);
    esi_delay_totals(delay, &totals);
    assert_int_equal(totals.seen.seen_ns, 5 * S + 1000);
    esi_delay_destroy(delay);
}

/* --- Diagrams --------------------------------------------------------------------- */

static void the_whole_bar_of_a_gap_is_lost(void **state)
{
    const struct esi_diagram_config config = {.calls_max = 0};
    struct esi_causality_config causality = {.attributes = false};
    /* Two columns in the gap, one after it. */
    const struct esi_diagram_window window = {
        .axis = ESI_DIAGRAM_TIME, .from = 1 * S, .to = 13 * S, .columns = 4};
    struct esi_diagram_cell cells[4];
    struct esi_diagram_call calls[16];
    struct esi_diagram *diagram;
    struct made_tuples made;
    struct es_set_sink sink;

    (void)state;
    assert_int_equal(esi_diagram_create(&config, &diagram), 0);
    sink = esi_diagram_sink(diagram);
    causality.listener = esi_diagram_listener(diagram);
    made_tuples_begin_with(&made, 2, causality);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(sink.trace(sink.data, i, i ? "1.0" : "0.0"), 0);
    add_messages(&made);
    for (int rank = 0; rank < 2; rank++)
        made_add_to(&made, made_element(&made, rank, 0),
                    CALL("MPI_Wait", 2 * S, 3 * S, .peer = -1));
    made_finish(&made);
    made_tuples_end(&made);
    assert_int_equal(esi_diagram_cells(diagram, 0, &window, cells), 0);
    for (int i = 0; i < 3; i++) {
        assert_true(cells[i].of[ESI_DIAGRAM_LOST] == (double)(3 * S));
        assert_true(cells[i].of[ESI_DIAGRAM_COMPUTING] == 0);
        assert_true(cells[i].of[ESI_DIAGRAM_RECEIVE] == 0);
    }
    assert_true(cells[3].of[ESI_DIAGRAM_LOST] == 0);
    assert_true(cells[3].of[ESI_DIAGRAM_COMPUTING] > 0);
    assert_int_equal(esi_diagram_calls(diagram, 0, &window, calls, 16), 4);
    assert_int_equal(calls[0].state, ESI_DIAGRAM_LOST);
    assert_int_equal(calls[0].end_ns, 10 * S);
    esi_diagram_destroy(diagram);
}

SUITE(test_gaps)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_merge),
        cmocka_unit_test(what_lies_in_gaps_is_summed),
        cmocka_unit_test(the_part_that_is_seen_is_told),
        cmocka_unit_test(what_was_overwritten_is_no_computing),
        cmocka_unit_test(a_gap_in_the_middle_is_left_out),
        cmocka_unit_test(a_gap_begins_after_what_was_read),
        cmocka_unit_test(the_whole_bar_of_a_gap_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
