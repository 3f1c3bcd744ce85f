/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Verdicts are derived from the changes between two looks. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/follow/describe.h"
#include "monitors/follow/thread_state.h"
#include "tests/suites.h"

#define SECOND UINT64_C(1000000000)

/* The looks at a thread, one each second: what is seen and the expected verdict. */
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

/* The first look is at second 20; the limit is three seconds. */
static const struct thread_case cases[] = {
    {"events come; a first look has nothing to compare with",
     {{ES_PROCESS_RUNNING, 1, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 2, 0, 0, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 3, 0, 0, ES_VERDICT_PROGRESSING}},
     3},
    {"no event and no operation: it computes, for as long as it likes",
     {{ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING}},
     5},
    {"one operation for three seconds: stalled, until it ends",
     {{ES_PROCESS_RUNNING, 5, 0, 20, ES_VERDICT_WAITING},
      {ES_PROCESS_RUNNING, 5, 0, 20, ES_VERDICT_WAITING},
      {ES_PROCESS_RUNNING, 5, 0, 20, ES_VERDICT_WAITING},
      {ES_PROCESS_RUNNING, 5, 0, 20, ES_VERDICT_STALLED},
      {ES_PROCESS_RUNNING, 6, 0, 0, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 6, 0, 0, ES_VERDICT_COMPUTING}},
     6},
    {"in one operation for long when it is first seen",
     {{ES_PROCESS_RUNNING, 5, 0, 1, ES_VERDICT_STALLED}},
     1},
    {"an operation that has begun is progress",
     {{ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 0, 21, ES_VERDICT_PROGRESSING},
      {ES_PROCESS_RUNNING, 5, 0, 21, ES_VERDICT_WAITING}},
     4},
    {"polls are not events, and count since they rise",
     {{ES_PROCESS_RUNNING, 5, 10, 0, ES_VERDICT_COMPUTING},
      {ES_PROCESS_RUNNING, 5, 20, 0, ES_VERDICT_POLLING},
      {ES_PROCESS_RUNNING, 5, 30, 0, ES_VERDICT_POLLING},
      {ES_PROCESS_RUNNING, 5, 40, 0, ES_VERDICT_POLLING},
      {ES_PROCESS_RUNNING, 5, 50, 0, ES_VERDICT_STALLED},
      {ES_PROCESS_RUNNING, 6, 60, 0, ES_VERDICT_PROGRESSING}},
     6},
    {"a poll's own beginning is no progress",
     {{ES_PROCESS_RUNNING, 5, 10, 20, ES_VERDICT_WAITING},
      {ES_PROCESS_RUNNING, 5, 20, 21, ES_VERDICT_POLLING},
      {ES_PROCESS_RUNNING, 5, 30, 22, ES_VERDICT_POLLING}},
     3},
    {"finalized", {{ES_PROCESS_FINALIZED, 5, 0, 0, ES_VERDICT_FINISHED}}, 1},
    {"killed in an operation",
     {{ES_PROCESS_RUNNING, 5, 0, 20, ES_VERDICT_WAITING},
      {ES_PROCESS_KILLED, 5, 0, 20, ES_VERDICT_DEAD}},
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

            esi_thread_judge(&now, j ? &before : NULL, 3 * SECOND, (20 + j) * SECOND);
            assert_string_equal(esi_verdicts[now.verdict].name,
                                esi_verdicts[cases[i].looks[j].verdict].name);
            before = now;
        }
    }
}

static void exit_status_decides_between_finished_and_dead(void **state)
{
    struct esi_thread_state thread = {.process = ES_PROCESS_EXITED, .exit_code = 0};
    char words[64];

    (void)state;
    esi_thread_judge(&thread, NULL, 3 * SECOND, SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_FINISHED);
    thread.exit_code = 3;
    esi_thread_judge(&thread, NULL, 3 * SECOND, SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_DEAD);
    assert_string_equal(esi_describe_end(words, sizeof words, &thread),
                        "exited with 3 without MPI_Finalize");
    thread.process = ES_PROCESS_FINALIZED;
    esi_thread_judge(&thread, NULL, 3 * SECOND, SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_DEAD);
    assert_string_equal(esi_describe_end(words, sizeof words, &thread),
                        "exited with 3 after MPI_Finalize");
    thread.exit_code = -1;
    esi_thread_judge(&thread, NULL, 3 * SECOND, SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_FINISHED);
    thread.process = ES_PROCESS_KILLED;
    thread.signal = 9;
    assert_string_equal(esi_describe_end(words, sizeof words, &thread),
                        "killed by signal 9 (SIGKILL)");
}

static void what_is_not_recorded_is_not_known(void **state)
{
    struct look look = {ES_PROCESS_RUNNING, 5, 0, 0, ES_VERDICT_UNKNOWN};
    struct esi_thread_state thread = seen(&look);
    struct esi_thread_state before = thread;

    (void)state;
    thread.elements = 2;
    thread.elements_off = 1;
    esi_thread_judge(&thread, NULL, 3 * SECOND, 20 * SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_UNKNOWN);
    esi_thread_judge(&thread, &before, 3 * SECOND, 20 * SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_UNKNOWN);
    /* An event that is seen anyway proves progress. */
    thread.events++;
    esi_thread_judge(&thread, &before, 3 * SECOND, 20 * SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_PROGRESSING);
    thread.open.present = true;
    thread.open.start_ns = 18 * SECOND;
    esi_thread_judge(&thread, NULL, 3 * SECOND, 20 * SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_WAITING);
    thread.process = ES_PROCESS_FINALIZED;
    esi_thread_judge(&thread, NULL, 3 * SECOND, 20 * SECOND);
    assert_int_equal(thread.verdict, ES_VERDICT_FINISHED);
}

static void waits_that_last_are_told_before_they_stall(void **state)
{
    struct look look = {ES_PROCESS_RUNNING, 5, 0, 20, ES_VERDICT_WAITING};
    struct esi_thread_state thread = seen(&look);

    (void)state;
    esi_thread_judge(&thread, NULL, 3 * SECOND, 20 * SECOND + SECOND / 10);
    assert_false(thread.lasts);
    esi_thread_judge(&thread, NULL, 3 * SECOND, 21 * SECOND);
    assert_true(thread.lasts);
    assert_int_equal(thread.verdict, ES_VERDICT_WAITING);
    thread.open.present = false;
    esi_thread_judge(&thread, NULL, 3 * SECOND, 21 * SECOND);
    assert_false(thread.lasts);
}

static void collectors_that_are_off_are_told_with_what_helps(void **state)
{
    int ranks[200];
    char words[320];

    (void)state;
    for (int i = 0; i < 200; i++)
        ranks[i] = i * 2;
    assert_string_equal(esi_describe_off(words, sizeof words, "flow", ranks, 2, false),
                        "collectors of ranks 0,2 are off: what they do is not known; "
                        "'eventspace collect on --rank 0,2 flow' switches them on");
    assert_string_equal(
        esi_describe_off(words, sizeof words, "flow", ranks, 1, true),
        "some collectors of rank 0 are off: what else it does is not "
        "known; 'eventspace collect on --rank 0 flow' switches them on");
    esi_describe_off(words, sizeof words, "flow", ranks, 200, false);
    assert_non_null(strstr(words, "'eventspace collect on flow' switches all on"));
}

static void sets_of_ranks_read_well(void **state)
{
    int ranks[] = {7, 0, 2, 1};
    int many[200];
    char words[96];

    (void)state;
    assert_string_equal(esi_describe_ranks(words, sizeof words, ranks, 1), "rank 7");
    assert_string_equal(esi_describe_ranks(words, sizeof words, ranks, 4),
                        "ranks 0-2,7");
    for (int i = 0; i < 200; i++)
        many[i] = i * 2;
    assert_string_equal(
        esi_describe_ranks(words, sizeof words, many, 200),
        "ranks 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32 and 183 more");
}

static void a_probe_has_a_message_and_no_requests(void **state)
{
    struct esi_activity probe = {.present = true, .peer = 1, .tag = 7, .bytes = 32};
    char words[160];

    (void)state;
    probe.operation = es_operation_by_name("MPI_Iprobe")->code;
    esi_describe_activity(words, sizeof words, &probe);
    assert_null(strstr(words, "requests"));
    probe.operation = es_operation_by_name("MPI_Waitall")->code;
    esi_describe_activity(words, sizeof words, &probe);
    assert_non_null(strstr(words, "of 32 requests"));
}

SUITE(test_thread_state)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_look_has_its_verdict),
        cmocka_unit_test(exit_status_decides_between_finished_and_dead),
        cmocka_unit_test(what_is_not_recorded_is_not_known),
        cmocka_unit_test(waits_that_last_are_told_before_they_stall),
        cmocka_unit_test(collectors_that_are_off_are_told_with_what_helps),
        cmocka_unit_test(sets_of_ranks_read_well),
        cmocka_unit_test(a_probe_has_a_message_and_no_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
