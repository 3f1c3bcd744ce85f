/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Verdicts follow from what changed between two looks. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "monitors/follow/describe.h"
#include "monitors/follow/thread_state.h"
#include "tests/suites.h"

#define SECOND UINT64_C(1000000000)

/* A thread's looks, one a second; what is seen in each. */
struct look {
    enum es_process_state process;
    uint64_t events;
    uint64_t polls;
    uint64_t open_since; /* seconds; 0 = no operation under way */
    enum esi_verdict verdict;
};

struct thread_case {
    const char *what;
    struct look looks[6];
    size_t count;
};

static const struct thread_case cases[] = {
    {"events come",
     {{ES_PROCESS_RUNNING, 1, 0, 0, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 2, 0, 0, ES_VERDICT_PROGRESSING}},
     2},
    {"no event and no operation: it computes, for as long as it likes",
     {{ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING}},
     5},
    {"one operation for three looks: stalled, until it ends",
     {{ES_PROCESS_RUNNING, 5, 0, 1, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 5, 0, 1, ES_VERDICT_WAITING},
      {ES_PROCESS_RUNNING, 5, 0, 1, ES_VERDICT_WAITING},
      {ES_PROCESS_RUNNING, 5, 0, 1, ES_VERDICT_STALLED},
      {ES_PROCESS_RUNNING, 6, 0, 0, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 6, 0, 0, ES_VERDICT_COMPUTING}},
     6},
    {"an operation that has begun is progress",
     {{ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 9, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 5, 0, 9, ES_VERDICT_WAITING}},
     4},
    {"polls are not events",
     {{ES_PROCESS_RUNNING, 5, 10, 0, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 5, 20, 0, ES_VERDICT_POLLING},
      {ES_PROCESS_RUNNING, 5, 30, 0, ES_VERDICT_POLLING},
      {ES_PROCESS_RUNNING, 5, 40, 0, ES_VERDICT_STALLED},
      {ES_PROCESS_RUNNING, 6, 50, 0, ES_VERDICT_PROGRESSING}},
     5},
    {"a poll's own beginning is no progress",
     {{ES_PROCESS_RUNNING, 5, 10, 1, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 5, 20, 2, ES_VERDICT_POLLING},
      {ES_PROCESS_RUNNING, 5, 30, 3, ES_VERDICT_POLLING}},
     3},
    {"finalized", {{ES_PROCESS_FINALIZED, 5, 0, 0, ES_VERDICT_FINISHED}}, 1},
    {"killed in an operation",
     {{ES_PROCESS_RUNNING, 5, 0, 1, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_KILLED, 5, 0, 1, ES_VERDICT_DEAD}},
     2},
    {"aborted", {{ES_PROCESS_ABORTED, 5, 0, 0, ES_VERDICT_DEAD}}, 1},
    {"gone", {{ES_PROCESS_LOST, 5, 0, 0, ES_VERDICT_DEAD}}, 1},
};

static struct esi_thread_state seen(const struct look *look)
{
    struct esi_thread_state state = {
        .process = look->process, .events = look->events, .polls = look->polls};

    state.last.present = look->events > 0;
    state.last.stop_ns = look->events * SECOND;
    state.open.present = look->open_since > 0;
    state.open.start_ns = look->open_since * SECOND;
    return state;
}

static void each_look_has_its_verdict(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esi_thread_state before;

        print_message("# %s\n", cases[i].what);
        for (size_t j = 0; j < cases[i].count; j++) {
            struct esi_thread_state now = seen(&cases[i].looks[j]);

            esi_thread_judge(&now, j ? &before : NULL, 3, (20 + j) * SECOND);
            assert_string_equal(esi_verdict_name(now.verdict),
                                esi_verdict_name(cases[i].looks[j].verdict));
            before = now;
        }
    }
}

static void exit_status_decides_between_finished_and_dead(void **state)
{
    struct esi_thread_state thread = {.process = ES_PROCESS_EXITED, .exit_code = 0};
    char words[64];

    (void)state;
    esi_thread_judge(&thread, NULL, 3, SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_FINISHED);
    thread.exit_code = 3;
    esi_thread_judge(&thread, NULL, 3, SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_DEAD);
    assert_string_equal(esi_describe_end(words, sizeof words, &thread),
                        "exited with 3 without MPI_Finalize");
    thread.process = ES_PROCESS_KILLED;
    thread.signal = 9;
    assert_string_equal(esi_describe_end(words, sizeof words, &thread),
                        "killed by signal 9 (SIGKILL)");
}

static void a_single_look_judges_by_age(void **state)
{
    struct look look = {ES_PROCESS_RUNNING, 5, 0, 10, ES_VERDICT_PROGRESSING};
    struct esi_thread_state thread = seen(&look);

    (void)state;
    esi_thread_judge_by_age(&thread, 5 * SECOND, 12 * SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_WAITING);
    esi_thread_judge_by_age(&thread, 5 * SECOND, 15 * SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_STALLED);
    thread.open.present = false;
    esi_thread_judge_by_age(&thread, 5 * SECOND, 15 * SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_COMPUTING);
}

static void spans_and_ranks_read_well(void **state)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } spans[] = {
        {0, "0 ns"},
        {999, "999 ns"},
        {1500, "1 us"},
        {2000000, "2 ms"},
        {1500000000, "1.5 s"},
        {12 * SECOND, "12 s"},
        {200 * SECOND, "3 min 20 s"},
        {7260 * SECOND, "2 h 1 min"},
    };
    int ranks[] = {7, 0, 2, 1};
    int many[200];
    char words[96];

    (void)state;
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        assert_string_equal(esi_describe_span(words, sizeof words, spans[i].ns),
                            spans[i].text);
    assert_string_equal(esi_describe_ranks(words, sizeof words, ranks, 1), "rank 7");
    assert_string_equal(esi_describe_ranks(words, sizeof words, ranks, 4),
                        "ranks 0-2,7");
    for (int i = 0; i < 200; i++)
        many[i] = i * 2;
    assert_string_equal(
        esi_describe_ranks(words, sizeof words, many, 200),
        "ranks 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32 and 183 more");
}

SUITE(test_thread_state)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_look_has_its_verdict),
        cmocka_unit_test(exit_status_decides_between_finished_and_dead),
        cmocka_unit_test(a_single_look_judges_by_age),
        cmocka_unit_test(spans_and_ranks_read_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
