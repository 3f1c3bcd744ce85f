/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The heartbeat reports from real segments which ranks are stuck, where and why. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/verdict/heartbeat_print.h"
#include "tests/scopes/made_run.h"
#include "tests/suites.h"

#define POINT_TO_POINT                                                                 \
    (1u << ES_CLASS_SEND | 1u << ES_CLASS_RECEIVE | 1u << ES_CLASS_COMPLETION)
#define COLLECTIVE (1u << ES_CLASS_COLLECTIVE | 1u << ES_CLASS_COMMUNICATOR)

enum { RANKS = 3 };

#define SECOND UINT64_C(1000000000)
/* Shorter than the time for which operations have been under way. */
#define SHORT_LIMIT_NS (SECOND / 2)

struct fixture {
    struct made_run made;
    struct esi_writer *messages[RANKS];
    struct esi_writer *collectives[RANKS];
    struct es_run *run;
    struct esi_observer *observer;
    struct esi_observation report;
};

static void watch(struct fixture *fixture, uint64_t stalled_after_ns)
{
    struct esi_observer_config config = {.stalled_after_ns = stalled_after_ns};

    esi_observer_destroy(fixture->observer);
    assert_int_equal(
        esi_observer_create(fixture->run, &config, NULL, &fixture->observer), 0);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    made_run_begin(&fixture->made);
    for (int i = 0; i < RANKS; i++) {
        struct es_segment *segment = made_run_add_rank(&fixture->made, i, RANKS);

        fixture->messages[i] = made_run_add_element(
            &fixture->made, segment, i, 0, "point-to-point", POINT_TO_POINT, 100);
        fixture->collectives[i] = made_run_add_element(&fixture->made, segment, i, 0,
                                                       "collective", COLLECTIVE, 100);
    }
    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
    watch(fixture, SHORT_LIMIT_NS);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    esi_observer_destroy(fixture->observer);
    es_run_close(fixture->run);
    made_run_end(&fixture->made);
    free(fixture);
    return 0;
}

static void beat(struct fixture *fixture, int times)
{
    for (int i = 0; i < times; i++)
        assert_int_equal(esi_observer_look(fixture->observer, &fixture->report), 0);
}

static void open_message(struct fixture *fixture, int rank, const char *name, int peer)
{
    struct es_tuple tuple = made_tuple(name, made_ticks(&fixture->made, SECOND), 0);

    tuple.peer = peer;
    tuple.tag = 7;
    esi_writer_open(fixture->messages[rank], &tuple);
}

static void open_barrier(struct fixture *fixture, int rank, uint32_t instance)
{
    struct es_tuple tuple =
        made_tuple("MPI_Barrier", made_ticks(&fixture->made, SECOND), 0);

    tuple.sequence = instance;
    esi_writer_open(fixture->collectives[rank], &tuple);
}

static void write_barrier(struct fixture *fixture, int rank, uint32_t instance)
{
    struct es_tuple tuple =
        made_tuple("MPI_Barrier", made_ticks(&fixture->made, 5000000),
                   made_ticks(&fixture->made, 4000000));

    tuple.sequence = instance;
    esi_writer_write(fixture->collectives[rank], &tuple);
}

/* The text of the report; caller frees. */
static char *shown(const struct fixture *fixture)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(esi_heartbeat_print_text(&fixture->report, false, out), 0);
    fclose(out);
    return text;
}

static void assert_shows(const struct fixture *fixture, const char *words)
{
    char *text = shown(fixture);

    if (!strstr(text, words))
        fail_msg("\"%s\" is not in:\n%s", words, text);
    free(text);
}

static void a_receive_cycle_is_a_deadlock(void **state)
{
    struct fixture *fixture = *state;

    open_message(fixture, 0, "MPI_Recv", 1);
    open_message(fixture, 1, "MPI_Recv", 2);
    open_message(fixture, 2, "MPI_Recv", 0);
    beat(fixture, 1);
    assert_int_equal(fixture->report.verdicts[ES_VERDICT_STALLED], 3);
    assert_shows(fixture, "rank 0 waits in MPI_Recv for rank 1 (tag 7, ");
    assert_shows(fixture, "DEADLOCK (possible): 0 -> 1 -> 2 -> 0, for ");
    assert_int_equal(fixture->report.diagnosis->holder_count, 0);
    /* A possible deadlock is reported before its threads count as stalled. */
    watch(fixture, 3600 * SECOND);
    beat(fixture, 1);
    assert_int_equal(fixture->report.verdicts[ES_VERDICT_STALLED], 0);
    assert_shows(fixture, "DEADLOCK (possible): 0 -> 1 -> 2 -> 0, for ");
    assert_shows(fixture, " s), not yet counted as stalled\n");
}

static void collectors_that_are_off_leave_a_state_unknown(void **state)
{
    struct fixture *fixture = *state;
    struct es_selection all;
    struct es_element_view **elements;

    es_selection_init(&all);
    write_barrier(fixture, 1, 4);
    int count = es_run_select(fixture->run, &all, &elements);
    assert_int_equal(count, 2 * RANKS);
    for (int i = 0; i < count; i++)
        es_element_enable(elements[i], false);
    es_element_enable(elements[0], true);
    free(elements);
    open_message(fixture, 2, "MPI_Recv", 0);
    beat(fixture, 2);
    assert_int_equal(fixture->report.verdicts[ES_VERDICT_UNKNOWN], 2);
    assert_int_equal(fixture->report.diagnosis->facts->threads[0].verdict,
                     ES_VERDICT_UNKNOWN);
    assert_int_equal(fixture->report.diagnosis->facts->threads[1].verdict,
                     ES_VERDICT_UNKNOWN);
    assert_int_equal(fixture->report.diagnosis->facts->threads[2].verdict,
                     ES_VERDICT_STALLED);
    assert_shows(fixture, "0 finished, 2 unknown\n");
    assert_shows(fixture, "\nsome collectors of rank 0 are off: ");
    assert_shows(fixture, "\ncollectors of ranks 1-2 are off: ");
    assert_shows(fixture, "collectors are off, after MPI_Barrier");
}

static void who_is_missing_from_a_barrier_is_named(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < RANKS; i++)
        write_barrier(fixture, i, 4);
    open_barrier(fixture, 0, 5);
    /* A rank that has left the barrier has also entered it. */
    write_barrier(fixture, 1, 5);
    beat(fixture, 2);
    assert_int_equal(fixture->report.verdicts[ES_VERDICT_STALLED], 1);
    assert_shows(fixture, "rank 0 waits in MPI_Barrier on MPI_COMM_WORLD, instance 5 "
                          "for rank 2 to enter");
    assert_shows(fixture,
                 "no deadlock: rank 2 holds up 1 thread; it has been computing for ");
    assert_shows(fixture, "s: after MPI_Barrier on MPI_COMM_WORLD, instance 4\n");
    assert_int_equal(fixture->report.diagnosis->count, 0);
    /* The missing rank enters. */
    write_barrier(fixture, 2, 5);
    esi_writer_close(fixture->collectives[0], made_ticks(&fixture->made, 0));
    beat(fixture, 1);
    assert_int_equal(fixture->report.verdicts[ES_VERDICT_STALLED], 0);
    assert_int_equal(fixture->report.diagnosis->facts->threads[0].verdict,
                     ES_VERDICT_PROGRESSING);
}

/* Opens a call that completes `count` requests; `tag` is a collective's instance. */
static void open_wait(struct fixture *fixture,
                      int rank,
                      const char *awaited,
                      int peer,
                      int tag,
                      uint32_t count)
{
    struct es_tuple tuple = made_tuple(count > 1 ? "MPI_Waitall" : "MPI_Wait",
                                       made_ticks(&fixture->made, SECOND), 0);

    tuple.sequence = es_operation_by_name(awaited)->code;
    tuple.peer = peer;
    tuple.tag = tag;
    tuple.bytes = count;
    esi_writer_open(fixture->messages[rank], &tuple);
}

static void what_a_wait_is_for_is_told(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < RANKS; i++)
        write_barrier(fixture, i, 4);
    open_wait(fixture, 0, "MPI_Iallreduce", ES_PEER_NONE, 5, 1);
    open_wait(fixture, 1, "MPI_Isend", 0, 3, 2);
    /* A rank that waits for the same instance has entered it. */
    open_wait(fixture, 2, "MPI_Iallreduce", ES_PEER_NONE, 5, 1);
    beat(fixture, 2);
    assert_shows(fixture, "rank 0 waits in MPI_Wait for MPI_Iallreduce on "
                          "MPI_COMM_WORLD, instance 5, for rank 1 to enter (");
    assert_shows(fixture, "rank 1 waits in MPI_Waitall for 2 requests, the first of "
                          "them with rank 0 (MPI_Isend, tag 3, ");
    assert_shows(fixture, "\nDEADLOCK (possible): 0 -> 1 -> 0, for ");
}

static void who_waits_for_one_that_has_finished_is_stuck(void **state)
{
    struct fixture *fixture = *state;

    open_message(fixture, 0, "MPI_Recv", 1);
    esi_segment_set_state(fixture->made.segments[1], ES_SEGMENT_FINALIZED);
    beat(fixture, 2);
    assert_int_equal(fixture->report.verdicts[ES_VERDICT_FINISHED], 1);
    assert_true(fixture->report.diagnosis->conditions.waits[0].stuck);
    assert_shows(fixture, "MISSING (possible): rank 1 is in MPI_Finalize or after it");
    assert_shows(fixture, "rank 1 holds up 1 thread; it is finished: finalized\n");
}

static void one_that_was_killed_is_shown_with_its_signal_and_last_operation(
    void **state)
{
    struct fixture *fixture = *state;

    open_message(fixture, 2, "MPI_Recv", 0);
    /* As noted by the supervisor: status 9 is SIGKILL. */
    assert_int_equal(es_run_note_exit(fixture->made.name, getpid(), 9, 1), RANKS);
    beat(fixture, 1);
    assert_int_equal(fixture->report.verdicts[ES_VERDICT_DEAD], RANKS);
    assert_shows(fixture, "killed by signal 9 (SIGKILL), in MPI_Recv from 0, tag 7");
}

/* Another rank may have died first, and its end is recorded later. */
static void a_death_is_certain_if_no_end_is_new(void **state)
{
    struct fixture *fixture = *state;

    beat(fixture, 2);
    esi_segment_set_state(fixture->made.segments[2], ES_SEGMENT_ABORTED);
    beat(fixture, 1);
    assert_shows(fixture, "DIED (possible): rank 2 called MPI_Abort");
    assert_true(fixture->report.again);
    esi_segment_set_state(fixture->made.segments[1], ES_SEGMENT_ABORTED);
    beat(fixture, 1);
    assert_shows(fixture, "DIED (possible): ranks 1-2");
    assert_true(fixture->report.again);
    beat(fixture, 1);
    assert_shows(fixture, "DIED (certain): ranks 1-2");
    assert_false(fixture->report.again);
}

static void polls_in_vain_are_not_progress(void **state)
{
    struct fixture *fixture = *state;

    watch(fixture, 1);
    for (int i = 0; i < 2; i++) {
        esi_writer_count_poll(fixture->messages[1]);
        beat(fixture, 1);
        assert_int_equal(fixture->report.diagnosis->facts->threads[1].verdict,
                         i ? ES_VERDICT_POLLING : ES_VERDICT_COMPUTING);
    }
    esi_writer_count_poll(fixture->messages[1]);
    beat(fixture, 1);
    assert_int_equal(fixture->report.verdicts[ES_VERDICT_STALLED], 1);
    assert_shows(fixture, "polling for ");
    assert_shows(fixture, "rank 1 polls in vain (");
}

static void threads_that_appear_late_join(void **state)
{
    struct fixture *fixture = *state;
    struct esi_writer *writer;
    struct es_tuple tuple = made_tuple("MPI_Send", 1, 2);

    beat(fixture, 2);
    assert_int_equal(fixture->report.diagnosis->facts->thread_count, 3);
    writer = made_run_add_element(&fixture->made, fixture->made.segments[0], 0, 1,
                                  "point-to-point", POINT_TO_POINT, 10);
    esi_writer_write(writer, &tuple);
    beat(fixture, 1);
    assert_int_equal(fixture->report.diagnosis->facts->thread_count, 4);
    assert_int_equal(fixture->report.diagnosis->facts->threads[1].rank, 0);
    assert_int_equal(fixture->report.diagnosis->facts->threads[1].thread, 1);
    assert_int_equal(fixture->report.diagnosis->facts->threads[1].verdict,
                     ES_VERDICT_PROGRESSING);
    assert_int_equal(fixture->report.diagnosis->facts->threads[1].events, 1);
    /* The other threads kept their history. */
    assert_int_equal(fixture->report.diagnosis->facts->threads[2].unchanged, 2);
    beat(fixture, 1);
    assert_int_equal(fixture->report.diagnosis->facts->threads[1].verdict,
                     ES_VERDICT_COMPUTING);
}

/* A program that executes another one keeps its pid. */
static void a_pid_that_comes_again_is_another_process(void **state)
{
    struct fixture *fixture = *state;
    struct es_tuple tuple = made_tuple("MPI_Send", 1, 2);

    esi_writer_write(fixture->messages[0], &tuple);
    beat(fixture, 1);
    struct es_segment *again = made_run_add_rank(&fixture->made, 0, RANKS);
    struct esi_writer *writer = made_run_add_element(
        &fixture->made, again, 0, 0, "point-to-point", POINT_TO_POINT, 10);
    tuple.operation = es_operation_by_name("MPI_Recv")->code;
    esi_writer_write(writer, &tuple);
    beat(fixture, 1);
    assert_int_equal(fixture->report.diagnosis->facts->thread_count, RANKS + 1);
    assert_int_equal(fixture->report.diagnosis->facts->threads[0].events, 1);
    assert_string_equal(
        es_operation_name(fixture->report.diagnosis->facts->threads[0].last.operation),
        "MPI_Send");
    assert_int_equal(fixture->report.diagnosis->facts->threads[1].rank, 0);
    assert_int_equal(fixture->report.diagnosis->facts->threads[1].events, 1);
    assert_string_equal(
        es_operation_name(fixture->report.diagnosis->facts->threads[1].last.operation),
        "MPI_Recv");
    assert_int_equal(fixture->report.diagnosis->facts->process_count, RANKS + 1);
}

static void a_run_that_is_cleaned_up_has_vanished(void **state)
{
    struct fixture *fixture = *state;

    beat(fixture, 1);
    assert_false(fixture->report.vanished);
    assert_int_equal(es_run_remove(fixture->made.name, true), RANKS);
    beat(fixture, 1);
    assert_true(fixture->report.vanished);
}

static void json_is_one_line_with_every_thread(void **state)
{
    struct fixture *fixture = *state;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    open_message(fixture, 0, "MPI_Recv", ES_PEER_ANY);
    beat(fixture, 2);
    assert_non_null(out);
    esi_heartbeat_print_json(&fixture->report, out);
    fclose(out);
    assert_ptr_equal(strchr(text, '\n'), text + size - 1);
    assert_non_null(strstr(text,
                           "\"waits_for\":{\"reason\":\"receive\",\"ranks\":[1,2],"
                           "\"any\":true,\"certain\":false,\"stuck\":false}"));
    assert_non_null(strstr(text, "\"peer\":\"any\""));
    free(text);
}

/* Rank 0 computes and 1000 others wait for it. */
static void many_that_do_the_same_share_a_row(void **state)
{
    enum { MANY = 1001 };
    struct esi_thread_state *threads = calloc(MANY, sizeof *threads);
    struct esi_facts facts = {.run = "many", .now_ns = 20 * SECOND};
    struct esi_verdict_memory memory = {.count = 0};
    struct esi_diagnosis diagnosis;
    struct fixture fixture = {
        .report = {.number = 1,
                   .diagnosis = &diagnosis,
                   .verdicts = {[ES_VERDICT_STALLED] = MANY - 1}}};

    (void)state;
    assert_non_null(threads);
    threads[0] =
        (struct esi_thread_state){.host = "h", .verdict = ES_VERDICT_COMPUTING};
    for (int i = 1; i < MANY; i++)
        threads[i] = (struct esi_thread_state){
            .host = "h",
            .rank = i,
            .verdict = ES_VERDICT_STALLED,
            .lasts = true,
            .quiet_since_ns = 10 * SECOND,
            .open = {.present = true,
                     .operation = es_operation_by_name("MPI_Recv")->code,
                     .peer = 0,
                     .tag = 3}};
    assert_int_equal(esi_facts_set_threads(&facts, threads, MANY), 0);
    assert_int_equal(esi_diagnosis_make(&facts, &memory, &diagnosis), 0);
    assert_shows(&fixture,
                 "\n\nno deadlock: rank 0 holds up 1000 threads; it is computing\n"
                 "ranks 1-1000 wait in MPI_Recv for rank 0 (tag 3, ");
    assert_shows(&fixture, "\n1-1000.0 ");
    char *text = shown(&fixture);
    assert_true(strlen(text) < 1000);
    free(text);
    esi_diagnosis_fini(&diagnosis);
    esi_verdict_memory_fini(&memory);
    esi_facts_fini(&facts);
    free(threads);
}

SUITE(test_heartbeat)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_receive_cycle_is_a_deadlock, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(collectors_that_are_off_leave_a_state_unknown,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_is_missing_from_a_barrier_is_named, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_a_wait_is_for_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_waits_for_one_that_has_finished_is_stuck,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            one_that_was_killed_is_shown_with_its_signal_and_last_operation, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(a_death_is_certain_if_no_end_is_new, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(polls_in_vain_are_not_progress, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(threads_that_appear_late_join, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_pid_that_comes_again_is_another_process,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_is_cleaned_up_has_vanished, set_up,
                                        tear_down),
        cmocka_unit_test(many_that_do_the_same_share_a_row),
        cmocka_unit_test_setup_teardown(json_is_one_line_with_every_thread, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
