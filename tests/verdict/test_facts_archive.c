/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The facts of a run's end are read back from an archive, or the error is reported. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/archive/archive_file.h"
#include "monitors/archive/archive_records.h"
#include "monitors/verdict/facts_archive.h"
#include "monitors/verdict/verdict.h"
#include "tests/archive/made_archive.h"
#include "tests/suites.h"

#define SECOND UINT64_C(1000000000)

enum { RANKS = 2, TAG = 7, HANDLE = 77 };

#define LEDGERS ESI_ARCHIVE_SIDE "/" ESI_ARCHIVE_LEDGERS
#define TABLES ESI_ARCHIVE_SIDE "/" ESI_ARCHIVE_TABLES

static const char error_text[] = "Message truncated";

static uint16_t code_of(const char *name)
{
    return es_operation_by_name(name)->code;
}

/* --- A run of two ranks that wait for each other ---------------------------------- */

static struct esi_ledger_request describe_request(int rank)
{
    return (struct esi_ledger_request){.handle = HANDLE,
                                       .start = SECOND,
                                       .site = 99,
                                       .operation = code_of("MPI_Irecv"),
                                       .sequence = 3,
                                       .peer = !rank,
                                       .tag = TAG + 1,
                                       .bytes = 8,
                                       .kind = ESI_LEDGER_RECEIVE,
                                       .persistent = true,
                                       .active = true};
}

static struct esi_ledger_channel describe_channel(int rank)
{
    return (struct esi_ledger_channel){
        .received = true, .peer = !rank, .tag = TAG, .count = 1};
}

/* If `has_error` is set, a call of rank 1 has failed. */
static void write_ledgers(struct made_archive *made, bool has_error)
{
    struct esi_ledger_request requests[RANKS];
    struct esi_ledger_channel channels[RANKS];
    struct esi_archive_record rows[RANKS];
    struct esi_archive_records ledgers = {.processes = rows, .count = RANKS};

    for (int i = 0; i < RANKS; i++) {
        requests[i] = describe_request(i);
        channels[i] = describe_channel(i);
        rows[i] =
            (struct esi_archive_record){.is_known = true,
                                        .ledger = {.requests = &requests[i],
                                                   .request_count = 1,
                                                   .channels = &channels[i],
                                                   .channel_count = 1,
                                                   .unfreed = {[ESI_LEDGER_TYPES] = 4},
                                                   .changes = 5}};
        if (has_error && i == 1) {
            struct esi_ledger *ledger = &rows[i].ledger;

            ledger->error_class = 15;
            ledger->error_operation = code_of("MPI_Recv");
            snprintf(ledger->error_text, sizeof ledger->error_text, "%s", error_text);
        }
    }
    assert_int_equal(esi_archive_write_records(made->archive, &ledgers), 0);
}

/* Both ranks are in MPI_Recv from the other one. */
static void add_receives(struct made_archive *made)
{
    struct esi_archive_tables *tables = esi_archive_writer_tables(made->archive);

    for (int i = 0; i < RANKS; i++) {
        struct esi_archive_open open = {.element = (uint32_t)i,
                                        .tuple = {.operation = code_of("MPI_Recv"),
                                                  .start = SECOND,
                                                  .peer = !i,
                                                  .tag = TAG,
                                                  .bytes = 4}};

        assert_int_equal(esi_archive_tables_add_open(tables, &open), 0);
    }
}

static void set_states(struct made_archive *made, const char *state, int number)
{
    struct esi_archive_tables *tables = esi_archive_writer_tables(made->archive);

    for (int i = 0; i < RANKS; i++) {
        struct esi_archive_process *process = &tables->processes[i];

        snprintf(process->state, sizeof process->state, "%s", state);
        process->signal = number;
        process->ended_realtime_ns = number ? 10 * SECOND : 0;
    }
}

static void close_archive(struct made_archive *made)
{
    assert_int_equal(esi_archive_close(made->archive, 11 * SECOND, NULL), 0);
    made->archive = NULL;
}

static void set_up_deadlock(struct made_archive *made, bool has_error)
{
    add_receives(made);
    write_ledgers(made, has_error);
    set_states(made, "killed", SIGTERM);
    close_archive(made);
}

static int set_up(void **state)
{
    struct made_archive *made = calloc(1, sizeof *made);

    assert_non_null(made);
    made_archive_begin(made, RANKS);
    *state = made;
    return 0;
}

static int tear_down(void **state)
{
    made_archive_remove(*state);
    free(*state);
    return 0;
}

struct read_facts {
    struct esi_archive_reader *reader;
    struct esi_archived_facts *archived;
    const struct esi_facts *facts;
};

static void release_facts(struct read_facts *read)
{
    esi_archived_facts_destroy(read->archived);
    esi_archive_read_close(read->reader);
}

static int add_item(void *data, const struct esi_archive_item *item)
{
    return esi_archived_facts_add(data, item);
}

static int try_facts(const struct made_archive *made,
                     struct es_error *error,
                     struct read_facts *read)
{
    int result;

    *read = (struct read_facts){.reader = NULL};
    result = esi_archive_open(made->directory, error, &read->reader);
    if (result == 0)
        result = esi_archived_facts_create(read->reader, error, &read->archived);
    if (result == 0)
        result =
            esi_archive_foreach_item(read->reader, add_item, read->archived, error);
    if (result < 0) {
        release_facts(read);
        return result;
    }
    esi_archived_facts_finish(read->archived);
    read->facts = esi_archived_facts_get(read->archived);
    return 0;
}

static struct read_facts read_facts(const struct made_archive *made)
{
    struct read_facts read;

    assert_int_equal(try_facts(made, NULL, &read), 0);
    return read;
}

/* --- Reading back what was written ------------------------------------------------ */

static void assert_process(const struct esi_facts *facts, int rank)
{
    const struct esi_fact_process *process = &facts->processes[rank];
    const struct esi_thread_state *thread = &facts->threads[process->first_thread];
    struct esi_ledger_request request = describe_request(rank);
    struct esi_ledger_channel channel = describe_channel(rank);

    assert_int_equal(process->rank, rank);
    assert_int_equal(process->pid, 100 + rank);
    assert_int_equal(process->state, ES_PROCESS_KILLED);
    assert_int_equal(process->signal, SIGTERM);
    assert_int_equal(process->ended_ns, 10 * SECOND);
    assert_int_equal(process->thread_count, 1);
    assert_true(thread->open.present);
    assert_int_equal(thread->open.operation, code_of("MPI_Recv"));
    assert_int_equal(thread->open.peer, !rank);
    assert_int_equal(thread->open.start_ns, SECOND);
    assert_non_null(process->ledger);
    assert_int_equal(process->ledger->request_count, 1);
    assert_int_equal(process->ledger->requests[0].handle, HANDLE);
    assert_memory_equal(&process->ledger->requests[0], &request, sizeof request);
    assert_int_equal(process->ledger->channel_count, 1);
    assert_memory_equal(&process->ledger->channels[0], &channel, sizeof channel);
    assert_int_equal(process->ledger->unfreed[ESI_LEDGER_TYPES], 4);
    assert_int_equal(process->ledger->changes, 5);
    assert_int_equal(process->ledger->error_class, rank == 1 ? 15 : 0);
    assert_int_equal(process->ledger->error_operation,
                     rank == 1 ? code_of("MPI_Recv") : 0);
    assert_string_equal(process->ledger->error_text, rank == 1 ? error_text : "");
}

static void facts_come_back_as_they_were(void **state)
{
    struct made_archive *made = *state;
    struct read_facts read;
    const struct esi_facts *facts;

    set_up_deadlock(made, true);
    read = read_facts(made);
    facts = read.facts;
    assert_false(esi_archived_facts_ended_well(read.archived));
    assert_string_equal(facts->run, "made");
    assert_true(facts->over);
    assert_int_equal(facts->now_ns, 11 * SECOND);
    assert_int_equal(facts->process_count, RANKS);
    assert_int_equal(facts->model->communicator_count, 1);
    assert_int_equal(esi_fact_group(facts, 0)->sizes[0], RANKS);
    assert_int_equal(esi_run_side_ranks(esi_fact_group(facts, 0), 0)[1], 1);
    for (int i = 0; i < RANKS; i++)
        assert_process(facts, i);
    release_facts(&read);
}

static void assert_verdict(const struct made_archive *made,
                           enum esi_verdict_kind kind,
                           size_t ranks)
{
    struct read_facts read = read_facts(made);
    struct esi_diagnosis diagnosis;

    assert_int_equal(esi_diagnosis_make(read.facts, NULL, &diagnosis), 0);
    assert_int_equal(diagnosis.count, 1);
    assert_int_equal(diagnosis.items[0].kind, kind);
    assert_true(diagnosis.items[0].certain);
    assert_int_equal(diagnosis.items[0].ranks.count, ranks);
    assert_int_equal(diagnosis.items[0].ranks.items[ranks - 1], 1);
    esi_diagnosis_fini(&diagnosis);
    release_facts(&read);
}

/* Both ranks were in the deadlock when somebody ended the run. */
static void killed_ranks_were_in_a_deadlock(void **state)
{
    set_up_deadlock(*state, false);
    assert_verdict(*state, ESI_VERDICT_DEADLOCK, RANKS);
}

static void of_a_run_that_ended_well_no_last_operations_are_read(void **state)
{
    struct made_archive *made = *state;
    struct read_facts read;

    made_archive_append(made, 0, 2000, 1);
    set_states(made, "finalized", 0);
    close_archive(made);
    read = read_facts(made);
    assert_true(esi_archived_facts_ended_well(read.archived));
    assert_int_equal(read.facts->process_count, RANKS);
    assert_int_equal(read.facts->processes[1].participant->member_count, 1);
    assert_int_equal(esi_fact_member(&read.facts->processes[1], 0)->rank, 1);
    assert_false(read.facts->threads[0].last.present);
    release_facts(&read);
}

/* --- Unknown facts ---------------------------------------------------------------- */

static enum esi_verdict find_verdict(const struct made_archive *made,
                                     int rank,
                                     bool is_whole)
{
    struct read_facts read = read_facts(made);
    enum esi_verdict verdict = read.facts->threads[rank].verdict;

    assert_true(esi_archived_facts_are_whole(read.archived) == is_whole);
    release_facts(&read);
    return verdict;
}

static void who_is_switched_off_is_not_known(void **state)
{
    struct made_archive *made = *state;

    esi_archive_writer_tables(made->archive)->elements[1].off = true;
    close_archive(made);
    assert_int_equal(find_verdict(made, 0, true), ES_VERDICT_COMPUTING);
    assert_int_equal(find_verdict(made, 1, true), ES_VERDICT_UNKNOWN);
}

static void what_a_killed_recorder_left_says_nothing_of_the_end(void **state)
{
    struct made_archive *made = *state;

    made_archive_append(made, 0, 2000, 1);
    assert_int_equal(esi_archive_flush(made->archive, 0), 0);
    assert_int_equal(esi_archive_write_tables(made->archive), 0);
    assert_int_equal(find_verdict(made, 0, false), ES_VERDICT_UNKNOWN);
    assert_int_equal(find_verdict(made, 1, false), ES_VERDICT_UNKNOWN);
}

/* --- Damage ----------------------------------------------------------------------- */

/* Whether reading gives facts, or an error that names a file. */
static bool is_answered(const struct made_archive *made)
{
    struct es_error error = {.text = ""};
    struct read_facts read;
    int result = try_facts(made, &error, &read);

    if (result == 0) {
        release_facts(&read);
        return true;
    }
    assert_int_equal(result, -EINVAL);
    assert_true(error.source[0] && error.text[0] && !strchr(error.text, '\n'));
    return false;
}

static void assert_damage_is_told(struct made_archive *made, const char *file)
{
    size_t length, faults = 0;
    char *bytes, kept;

    set_up_deadlock(made, true);
    bytes = made_archive_load(made, file, &length);
    for (size_t cut = 0; cut < length; cut += 1 + length / 256) {
        made_archive_store(made, file, bytes, cut);
        faults += !is_answered(made);
    }
    assert_true(faults > 100);
    faults = 0;
    for (size_t i = 0; i < length; i += 1 + length / 256) {
        kept = bytes[i];
        bytes[i] = kept == '"' ? '\0' : '"';
        made_archive_store(made, file, bytes, length);
        faults += !is_answered(made);
        bytes[i] = kept;
    }
    assert_true(faults > 100);
    made_archive_store(made, file, bytes, length);
    assert_true(is_answered(made));
    free(bytes);
}

static void damaged_ledgers_are_told(void **state)
{
    assert_damage_is_told(*state, LEDGERS);
}

static void damaged_tables_are_told(void **state)
{
    assert_damage_is_told(*state, TABLES);
}

SUITE(test_facts_archive)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_come_back_as_they_were),
        cmocka_unit_test(killed_ranks_were_in_a_deadlock),
        cmocka_unit_test(of_a_run_that_ended_well_no_last_operations_are_read),
        cmocka_unit_test(who_is_switched_off_is_not_known),
        cmocka_unit_test(what_a_killed_recorder_left_says_nothing_of_the_end),
        cmocka_unit_test(damaged_ledgers_are_told),
        cmocka_unit_test(damaged_tables_are_told),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
