/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Metrics of runs: values of looks of any size, and the number of series. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/metrics/metrics.h"
#include "tests/monitors/made_timeline.h"
#include "tests/random.h"
#include "tests/scopes/made_run.h"
#include "tests/suites.h"

enum { ROWS_MOST = 3000, TRIALS = 60, MEETINGS = 60, MADE_LATE = 7 };

/* A random look, and the text made of it. */
struct made_look {
    struct made_run run;
    struct es_run *opened;
    struct es_scope *scope;
    struct esi_thread_state threads[ROWS_MOST];
    struct esi_top_row rows[ROWS_MOST];
    struct esi_profile_report profile;
    struct esi_facts facts;
    struct esi_diagnosis diagnosis;
    struct esi_top_look look;
    char *text;
};

static int set_up(void **state)
{
    struct made_look *made = calloc(1, sizeof *made);
    struct es_scope_config config;

    if (!made)
        return -1;
    made_run_begin(&made->run);
    made_run_add_rank(&made->run, 0, 1);
    es_scope_config_init(&config);
    if (es_run_open(made->run.name, NULL, &made->opened) < 0 ||
        es_scope_open(made->opened, &config, NULL, &made->scope) < 0)
        return -1;
    made->facts.run = made->run.name;
    made->diagnosis.facts = &made->facts;
    made->look.observation.diagnosis = &made->diagnosis;
    made->look.observation.scope = made->scope;
    made->look.rows = made->rows;
    made->look.profile = &made->profile;
    *state = made;
    return 0;
}

static int tear_down(void **state)
{
    struct made_look *made = *state;

    es_scope_close(made->scope);
    es_run_close(made->opened);
    made_run_end(&made->run);
    free(made->profile.ranks);
    free(made->profile.operations);
    free(made->text);
    free(made);
    return 0;
}

static void draw_rows(struct made_look *made, size_t count, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        struct esi_activity last = {
            .present = random_int(seed, 4) > 0,
            .error_ns = random_int(seed, 4) ? random_below(seed, 1000) : UINT64_MAX};

        made->threads[i] = (struct esi_thread_state){.last = last};
        made->rows[i] = (struct esi_top_row){
            .rank = (int)i,
            .verdict = (enum esi_verdict)random_int(seed, ES_VERDICTS),
            .finding = random_int(seed, 3) ? -1 : random_int(seed, 4),
            .quiet_ns = random_below(seed, 1000) * 1000000,
            .thread = &made->threads[i]};
    }
    made->look.row_count = count;
}

static const char *print_look(struct made_look *made, enum esi_metrics_format format)
{
    const struct esi_top_look *look = &made->look;
    size_t length;
    FILE *out;

    free(made->text);
    made->text = NULL;
    out = open_memstream(&made->text, &length);
    assert_non_null(out);
    assert_int_equal(esi_metrics_print(&look, 1, format, out), 0);
    assert_int_equal(fclose(out), 0);
    return made->text;
}

/* The value of the series whose label besides "run" is `label` ("" = no other label);
 * -1 if there is none. */
static double find_value(const struct made_look *made,
                         const char *name,
                         const char *label)
{
    char begin[256];
    const char *found;

    snprintf(begin, sizeof begin, "\n%s{run=\"%s\"%s%s} ", name, made->run.name,
             *label ? "," : "", label);
    found = strstr(made->text, begin);
    return found ? strtod(found + strlen(begin), NULL) : -1;
}

static size_t count_series(const char *text)
{
    size_t count = 0;

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += *line && *line != '#';
    }
    return count;
}

/* --- Rows ------------------------------------------------------------------------- */

/* Checks minimum, median and maximum by counting the values below and above. */
static void check_spread(const struct made_look *made,
                         const char *name,
                         const double *values,
                         size_t count)
{
    double least = find_value(made, name, "stat=\"min\"");
    double median = find_value(made, name, "stat=\"median\"");
    double most = find_value(made, name, "stat=\"max\"");
    size_t below = 0, above = 0, at_least = 0, at_most = 0;

    for (size_t i = 0; i < count; i++) {
        assert_true(values[i] >= least && values[i] <= most);
        below += values[i] < median;
        above += values[i] > median;
        at_least += values[i] == least;
        at_most += values[i] == most;
    }
    assert_true(count == 0 ? least < 0 && most < 0 : at_least > 0 && at_most > 0);
    assert_true(below <= count / 2 && above <= count / 2);
}

static void ranks_are_told_by_least_median_and_most(void **state)
{
    struct made_look *made = *state;
    static double stalls[ROWS_MOST], errors[ROWS_MOST];
    uint64_t seed = random_seed();

    for (int trial = 0; trial < TRIALS; trial++) {
        size_t stall_count = 0, error_count = 0, deadlocked = 0;

        draw_rows(made, random_below(&seed, trial < TRIALS / 2 ? 5 : ROWS_MOST), &seed);
        for (size_t i = 0; i < made->look.row_count; i++) {
            const struct esi_top_row *row = &made->rows[i];
            const struct esi_activity *last = &made->threads[i].last;

            if (row->verdict < ES_VERDICT_FINISHED)
                stalls[stall_count++] = row->verdict == ES_VERDICT_STALLED
                                            ? (double)row->quiet_ns / 1e9
                                            : 0;
            if (last->present && last->error_ns != UINT64_MAX)
                errors[error_count++] = (double)last->error_ns / 1e9;
            deadlocked += row->finding == ESI_VERDICT_DEADLOCK;
        }
        print_look(made, ESI_METRICS_OPENMETRICS);
        check_spread(made, "eventspace_stall_seconds", stalls, stall_count);
        check_spread(made, "eventspace_clock_error_seconds", errors, error_count);
        assert_int_equal((int)find_value(made, "eventspace_deadlocked_ranks", ""),
                         deadlocked);
    }
}

/* --- Profiles --------------------------------------------------------------------- */

static void add_operation(struct made_look *made, const char *name, uint64_t calls)
{
    struct esi_profile_operation *operation =
        &made->profile.operations[made->profile.operation_count++];

    *operation = (struct esi_profile_operation){
        .code = es_operation_by_name(name)->code,
        .is_outer = strcmp(name, "MPI_Init") == 0,
        .sums = {.calls = calls, .time_ns = calls * 1000, .bytes = calls * 8}};
}

static void operations_are_told_by_class(void **state)
{
    struct made_look *made = *state;

    print_look(made, ESI_METRICS_OPENMETRICS);
    assert_true(find_value(made, "eventspace_operations_total", "class=\"send\"") < 0);
    made->profile.operations = calloc(8, sizeof *made->profile.operations);
    made->profile.ranks = calloc(2, sizeof *made->profile.ranks);
    assert_true(made->profile.operations && made->profile.ranks);
    made->profile.rank_count = 2;
    made->profile.ranks[0] = (struct esi_profile_rank){.run_ns = 100, .bytes = 40};
    made->profile.ranks[1] = (struct esi_profile_rank){.run_ns = 100, .bytes = 2};
    add_operation(made, "MPI_Init", 1000);
    add_operation(made, "MPI_Send", 5);
    add_operation(made, "MPI_Isend", 2);
    add_operation(made, "MPI_Irecv", 3);
    add_operation(made, "MPI_Barrier", 1);
    print_look(made, ESI_METRICS_OPENMETRICS);
    assert_int_equal(
        (int)find_value(made, "eventspace_operations_total", "class=\"send\""), 7);
    assert_int_equal(
        (int)find_value(made, "eventspace_operations_total", "class=\"other\""), 0);
    assert_true(find_value(made, "eventspace_operation_seconds_total",
                           "class=\"send\"") == 7e-6);
    assert_int_equal((int)find_value(made, "eventspace_message_bytes_total",
                                     "direction=\"received\""),
                     24);
    assert_int_equal(
        (int)find_value(made, "eventspace_message_bytes_total", "direction=\"sent\""),
        42);
}

/* --- Waits ------------------------------------------------------------------------ */

/* Collective operations of many names, each with late ranks. */
static void make_waits(struct made_timeline *timeline, struct esi_delay *delay)
{
    static const enum made_step_kind kinds[] = {MADE_STEP_ALLREDUCE, MADE_STEP_BCAST,
                                                MADE_STEP_REDUCE, MADE_STEP_SCAN};
    static const char *const names[4][7] = {
        {"MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv",
         "MPI_Alltoallw", "MPI_Allreduce", "MPI_Reduce_scatter"},
        {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"},
        {"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"},
        {"MPI_Scan", "MPI_Exscan"}};
    static const size_t counts[4] = {7, 3, 3, 2};
    const struct esi_causal_listener listener = esi_delay_listener(delay);

    made_timeline_init(timeline, TIMELINE_RANKS);
    made_timeline_step_all(timeline, (struct made_step){.kind = MADE_STEP_INIT});
    for (int i = 0; i < MEETINGS; i++) {
        made_timeline_step(timeline, i % MADE_LATE,
                           (struct made_step){.kind = MADE_COMPUTE,
                                              .ns = 1000000 + 1000 * (uint64_t)i});
        made_timeline_step_all(timeline, (struct made_step){.kind = kinds[i % 4]});
    }
    made_timeline_run(timeline);
    for (size_t i = 0; i < timeline->tuple_count; i++) {
        struct es_tuple *tuple = &timeline->tuples[i].tuple;
        size_t kind = tuple->sequence % 4;

        if (es_operation_find(tuple->operation)->op_class == ES_CLASS_COLLECTIVE)
            tuple->operation =
                es_operation_by_name(names[kind][tuple->sequence / 4 % counts[kind]])
                    ->code;
    }
    made_timeline_tell(timeline, &listener);
    assert_int_equal(esi_delay_settle(delay), 0);
}

/* The sum of all series of a metric; counts them. */
static double add_series(const struct made_look *made, const char *name, size_t *count)
{
    double sum = 0;

    *count = 0;
    for (const char *line = made->text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, strlen(name)) != 0 || line[strlen(name)] != '{')
            continue;
        sum += strtod(strchr(line, '}') + 1, NULL);
        ++*count;
    }
    return sum;
}

static void check_collective_waits(const struct made_look *made,
                                   const struct esi_delay *delay)
{
    size_t count, series, collectives = 0;
    const struct esi_delay_row *rows =
        esi_delay_rows(delay, ESI_DELAY_BY_OPERATION, &count);
    double expected = 0;
    double sum = add_series(made, "eventspace_collective_wait_seconds_total", &series);

    for (size_t i = 0; i < count; i++)
        if (es_operation_by_name(rows[i].name)->op_class == ES_CLASS_COLLECTIVE) {
            expected += rows[i].times.waited / 1e9;
            collectives++;
        }
    assert_int_equal(collectives, 15);
    assert_int_equal(series, 13);
    assert_true(find_value(made, "eventspace_collective_wait_seconds_total",
                           "operation=\"other\"") > 0);
    assert_true(expected > 0.05 && sum > expected * 0.999999 &&
                sum < expected * 1.000001);
}

static void check_late_ranks(const struct made_look *made,
                             const struct esi_delay *delay)
{
    static const char name[] = "eventspace_late_rank_wait_seconds_total";
    size_t count, series, greater;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);
    char label[32];

    add_series(made, name, &series);
    assert_int_equal(count, TIMELINE_RANKS);
    assert_int_equal(series, 5);
    for (size_t i = 0; i < count; i++) {
        greater = 0;
        for (size_t j = 0; j < count; j++)
            greater += rows[j].times.caused > rows[i].times.caused;
        snprintf(label, sizeof label, "rank=\"%d\"", rows[i].rank);
        assert_true((find_value(made, name, label) >= 0) == (greater < 5));
    }
}

static void a_run_of_any_size_has_few_series(void **state)
{
    struct made_look *made = *state;
    static const struct esi_delay_config config = {.window = 0};
    struct made_timeline timeline;
    struct esi_delay *delay;
    uint64_t seed = random_seed();
    const char *text;

    assert_int_equal(esi_delay_create(&config, &delay), 0);
    make_waits(&timeline, delay);
    made->look.waits.delay = delay;
    made->look.host_count = 100;
    made->profile.ranks = calloc(ROWS_MOST, sizeof *made->profile.ranks);
    assert_non_null(made->profile.ranks);
    made->profile.rank_count = ROWS_MOST;
    for (size_t i = 0; i < ROWS_MOST; i++)
        made->profile.ranks[i] =
            (struct esi_profile_rank){.rank = (int)i, .run_ns = 10, .threads = 1};
    draw_rows(made, ROWS_MOST, &seed);
    text = print_look(made, ESI_METRICS_PROMETHEUS);
    assert_null(strstr(text, "# EOF"));
    assert_true(count_series(text) > 60);
    assert_true(count_series(text) <= ESI_METRICS_SERIES);
    text = print_look(made, ESI_METRICS_OPENMETRICS);
    assert_true(count_series(text) <= ESI_METRICS_SERIES);
    assert_string_equal(text + strlen(text) - strlen("\n# EOF\n"), "\n# EOF\n");
    check_collective_waits(made, delay);
    check_late_ranks(made, delay);
    made_timeline_fini(&timeline);
    esi_delay_destroy(delay);
}

SUITE(test_metrics)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_told_by_least_median_and_most),
        cmocka_unit_test(operations_are_told_by_class),
        cmocka_unit_test(a_run_of_any_size_has_few_series),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
