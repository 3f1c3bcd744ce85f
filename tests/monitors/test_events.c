/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The events monitor lists stored events, new events and losses. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/events/events_print.h"
#include "tests/scopes/made_run.h"
#include "tests/suites.h"

struct fixture {
    struct made_run made;
    struct esi_writer *writers[2];
    struct es_run *run;
    struct esi_events *events;
    char *text; /* printed output */
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    made_run_begin(&fixture->made);
    for (int i = 0; i < 2; i++)
        fixture->writers[i] = made_run_add_element(
            &fixture->made, made_run_add_rank(&fixture->made, i, 2), i, 0, "all",
            ES_CLASSES_ALL, 15);
    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    esi_events_destroy(fixture->events);
    es_run_close(fixture->run);
    made_run_end(&fixture->made);
    free(fixture->text);
    free(fixture);
    return 0;
}

/* Writes an operation of a rank, `ago` milliseconds ago; its tag is `number`. */
static void write_event(struct fixture *fixture, int rank, uint64_t ago, int number)
{
    uint64_t start = made_ticks(&fixture->made, ago * 1000000);
    struct es_tuple tuple = made_tuple("MPI_Send", start, start + 1000);

    tuple.peer = 1 - rank;
    tuple.tag = number;
    tuple.bytes = 8;
    tuple.sequence = (uint32_t)number;
    esi_writer_write(fixture->writers[rank], &tuple);
}

static struct esi_events_config made_config(enum es_sorting sorting)
{
    struct esi_events_config config = {.repair = ES_REPAIR_NONE};

    es_scope_config_init(&config.scope);
    config.scope.sorting = sorting;
    config.scope.window_ns = 0;
    return config;
}

static void open_events(struct fixture *fixture, const struct esi_events_config *config)
{
    assert_int_equal(esi_events_create(fixture->run, config, NULL, &fixture->events),
                     0);
}

/* Prints the backlog, or new events, into fixture->text. */
static void print(struct fixture *fixture, enum esi_rows_format format, bool backlog)
{
    struct esi_events_printer printer = {
        .format = format, .start_ns = esi_events_start_ns(fixture->events)};
    struct esi_event_sink sink = esi_events_printer_sink(&printer);
    size_t size;

    free(fixture->text);
    printer.stream = open_memstream(&fixture->text, &size);
    assert_non_null(printer.stream);
    if (backlog)
        assert_int_equal(esi_events_read_backlog(fixture->events, true, &sink), 0);
    else
        assert_true(esi_events_read_new(fixture->events, true, &sink) >= 0);
    fclose(printer.stream);
}

/* The tags of the lines of a table, in their order. */
static void assert_tags(const struct fixture *fixture, const char *expected)
{
    char tags[256] = "";

    for (const char *at = fixture->text; (at = strstr(at, ", tag ")) != NULL;) {
        at += strlen(", tag ");
        snprintf(tags + strlen(tags), sizeof tags - strlen(tags), "%s%d",
                 tags[0] ? " " : "", atoi(at));
    }
    assert_string_equal(tags, expected);
}

static void events_of_all_ranks_come_in_order_of_time(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_STOP);

    /* Other load may delay each call by less than a second. */
    write_event(fixture, 0, 5000, 1);
    write_event(fixture, 0, 3000, 3);
    write_event(fixture, 1, 4000, 2);
    write_event(fixture, 1, 2000, 4);
    open_events(fixture, &config);
    print(fixture, ESI_ROWS_TABLE, true);
    assert_tags(fixture, "1 2 3 4");
    write_event(fixture, 0, 1, 5);
    print(fixture, ESI_ROWS_TABLE, false);
    assert_tags(fixture, "5");
}

static void only_the_newest_are_given_if_asked(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_STOP);

    config.last = 3;
    for (int i = 0; i < 12; i++)
        write_event(fixture, i % 2, 100 - (uint64_t)i, i);
    open_events(fixture, &config);
    print(fixture, ESI_ROWS_TABLE, true);
    assert_tags(fixture, "9 10 11");
    /* Later events are all listed. */
    for (int i = 12; i < 17; i++)
        write_event(fixture, 0, 50 - (uint64_t)i, i);
    print(fixture, ESI_ROWS_TABLE, false);
    assert_tags(fixture, "12 13 14 15 16");
}

static void events_before_a_time_are_left_out(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_STOP);
    const struct es_clock *clock =
        &esi_segment_layout(fixture->made.segments[0])->clock;

    write_event(fixture, 0, 10000, 1);
    write_event(fixture, 0, 10, 2);
    config.since_ns = es_clock_realtime_ns(
        clock, made_ticks(&fixture->made, UINT64_C(5000000000)), NULL);
    open_events(fixture, &config);
    print(fixture, ESI_ROWS_TABLE, true);
    assert_tags(fixture, "2");
}

static void losses_are_shown_where_they_happened_and_in_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_NONE);
    uint64_t lost;
    uint64_t missed;

    for (int i = 0; i < 20; i++)
        write_event(fixture, 0, 100, i);
    open_events(fixture, &config);
    print(fixture, ESI_ROWS_JSON, true);
    assert_null(strstr(fixture->text, "\"loss\""));
    for (int i = 20; i < 60; i++)
        write_event(fixture, 0, 100, i);
    print(fixture, ESI_ROWS_JSON, false);
    assert_non_null(
        strstr(fixture->text, "{\"type\":\"loss\",\"rank\":0,\"thread\":0,"));
    esi_follower_losses(esi_events_follower(fixture->events), &lost, &missed);
    assert_int_equal(missed, 5);
    assert_int_equal(lost, 25);
}

static void json_and_csv_have_their_fields(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_NONE);

    write_event(fixture, 1, 10, 7);
    open_events(fixture, &config);
    print(fixture, ESI_ROWS_JSON, true);
    assert_non_null(
        strstr(fixture->text,
               "{\"type\":\"event\",\"rank\":1,\"thread\":0,\"host\":\"made\","
               "\"element\":\"1.0/all\",\"position\":0,\"operation\":\"MPI_Send\","
               "\"class\":\"send\",\"communicator\":\"MPI_COMM_WORLD\",\"peer\":0,"
               "\"tag\":7,\"bytes\":8,\"sequence\":7,\"failed\":null,\"start_ns\":"));
    assert_non_null(strstr(fixture->text, ",\"start_unix_ns\":"));
    assert_non_null(strstr(fixture->text, ",\"stop_unix_ns\":"));
    write_event(fixture, 1, 10, 8);
    print(fixture, ESI_ROWS_CSV, false);
    assert_ptr_equal(
        strstr(fixture->text,
               "event,1,0,made,1.0/all,1,MPI_Send,send,MPI_COMM_WORLD,0,8,8,8,"),
        fixture->text);
    assert_string_equal(fixture->text + strlen(fixture->text) - 3, ",\r\n");
}

static void open_operations_of_the_dead_are_listed(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_STOP);
    struct esi_events_printer printer = {.format = ESI_ROWS_TABLE};
    struct esi_event_sink sink = esi_events_printer_sink(&printer);
    struct es_tuple tuple =
        made_tuple("MPI_Recv", made_ticks(&fixture->made, UINT64_C(2000000000)), 0);
    size_t size;

    config.scope.view.selection.ranks = "1";
    tuple.peer = 0;
    tuple.tag = 3;
    esi_writer_open(fixture->writers[1], &tuple);
    open_events(fixture, &config);
    printer.stream = open_memstream(&fixture->text, &size);
    assert_non_null(printer.stream);
    assert_int_equal(esi_events_read_open(fixture->events, &sink), 0);
    fclose(printer.stream);
    assert_non_null(strstr(fixture->text, "MPI_Recv from 0, tag 3, still under way"));
}

/* Writes a call that completes or starts requests. `awaited` is the operation of one of
 * them: its code, or an invalid code. */
static void write_wait(struct fixture *fixture,
                       const char *call,
                       uint32_t awaited,
                       int peer,
                       int tag,
                       uint32_t count)
{
    uint64_t start = made_ticks(&fixture->made, 1000000);
    struct es_tuple tuple = made_tuple(call, start, start + 1000);

    tuple.sequence = awaited;
    tuple.peer = peer;
    tuple.tag = tag;
    tuple.bytes = count;
    esi_writer_write(fixture->writers[0], &tuple);
}

static uint32_t code_of(const char *operation)
{
    const struct es_operation *found = es_operation_by_name(operation);

    assert_non_null(found);
    return found->code;
}

static void write_waits(struct fixture *fixture)
{
    write_wait(fixture, "MPI_Wait", code_of("MPI_Irecv"), 1, 3, 1);
    write_wait(fixture, "MPI_Waitall", code_of("MPI_Irecv"), 1, 0, 8);
    write_wait(fixture, "MPI_Wait", code_of("MPI_Iallreduce"), ES_PEER_NONE, 4, 1);
    write_wait(fixture, "MPI_Startall", code_of("MPI_Start send"), 1, 2, 5);
    write_wait(fixture, "MPI_Cancel", code_of("MPI_Irecv"), 1, 6, 1);
    write_wait(fixture, "MPI_Waitany", ES_SEQUENCE_UNKNOWN, ES_PEER_NONE, 0, 2);
}

static void waits_tell_in_words_for_what(void **state)
{
    static const char *const lines[] = {
        "  MPI_Wait for MPI_Irecv from 1, tag 3\n",
        "  MPI_Waitall of 8 requests, first MPI_Irecv from 1, tag 0\n",
        "  MPI_Wait for MPI_Iallreduce on MPI_COMM_WORLD, instance 4\n",
        "  MPI_Startall of 5 requests, first MPI_Start send to 1, tag 2\n",
        "  MPI_Cancel of MPI_Irecv from 1, tag 6\n",
        "  MPI_Waitany of 2 requests\n",
    };
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_NONE);
    const char *at;

    write_waits(fixture);
    open_events(fixture, &config);
    print(fixture, ESI_ROWS_TABLE, true);
    at = fixture->text;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        at = strstr(at, lines[i]);
        if (!at)
            fail_msg("no '%s' in its place in:\n%s", lines[i], fixture->text);
    }
}

static void the_begin_of_a_collective_says_of_which(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_NONE);
    int code = (int)code_of("MPI_Ibcast");

    write_wait(fixture, "MPI collective post", 7, 1, code, 4096);
    open_events(fixture, &config);
    print(fixture, ESI_ROWS_TABLE, true);
    assert_non_null(strstr(fixture->text,
                           "  MPI collective post of MPI_Ibcast root 1 on "
                           "MPI_COMM_WORLD, instance 7\n"));
    write_wait(fixture, "MPI collective post", 8, 1, code, 4096);
    print(fixture, ESI_ROWS_JSON, false);
    assert_non_null(strstr(fixture->text, "\"tag\":0,\"bytes\":4096,\"sequence\":8,"));
    assert_non_null(strstr(fixture->text, ",\"awaits\":\"MPI_Ibcast\"}\n"));
    /* A tag that is not the code of an operation. */
    write_wait(fixture, "MPI collective post", 8, 1, -1, 0);
    print(fixture, ESI_ROWS_TABLE, true);
    assert_non_null(strstr(fixture->text, "  MPI collective post with 1\n"));
}

static void waits_have_no_matching_number_but_what_they_await(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_NONE);

    write_wait(fixture, "MPI_Wait", code_of("MPI_Irecv"), 1, 3, 1);
    open_events(fixture, &config);
    print(fixture, ESI_ROWS_JSON, true);
    assert_non_null(strstr(fixture->text, "\"tag\":3,\"bytes\":1,\"sequence\":null,"));
    assert_non_null(strstr(fixture->text, ",\"awaits\":\"MPI_Irecv\"}\n"));
    write_wait(fixture, "MPI_Wait", code_of("MPI_Iallreduce"), ES_PEER_NONE, 4, 1);
    print(fixture, ESI_ROWS_JSON, false);
    assert_non_null(strstr(fixture->text, "\"tag\":0,\"bytes\":1,\"sequence\":4,"));
    assert_non_null(strstr(fixture->text, ",\"awaits\":\"MPI_Iallreduce\"}\n"));
    /* A number that is not the code of an operation. */
    write_wait(fixture, "MPI_Wait", UINT16_MAX, 1, 3, 1);
    print(fixture, ESI_ROWS_JSON, false);
    assert_non_null(strstr(fixture->text, "\"sequence\":null,"));
    assert_non_null(strstr(fixture->text, ",\"awaits\":null}\n"));
    write_event(fixture, 0, 1, 9);
    print(fixture, ESI_ROWS_JSON, false);
    assert_non_null(strstr(fixture->text, "\"sequence\":9,"));
    assert_non_null(strstr(fixture->text, ",\"awaits\":null}\n"));
}

/* Number of commas in the first line. */
static int count_commas(const char *text)
{
    int count = 0;

    for (; *text && *text != '\r'; text++)
        count += *text == ',';
    return count;
}

static void csv_ends_with_what_is_awaited(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = made_config(ES_SORTING_NONE);
    struct esi_events_printer printer = {.format = ESI_ROWS_CSV};
    const char *end = ",MPI_Irecv\r\n";
    char *header;
    size_t size;

    printer.stream = open_memstream(&header, &size);
    assert_non_null(printer.stream);
    esi_events_print_header(&printer);
    esi_events_print_losses(&printer, 2, 3);
    fclose(printer.stream);
    write_wait(fixture, "MPI_Wait", code_of("MPI_Irecv"), 1, 3, 1);
    open_events(fixture, &config);
    print(fixture, ESI_ROWS_CSV, true);
    assert_string_equal(fixture->text + strlen(fixture->text) - strlen(end), end);
    assert_non_null(strstr(header, ",lost,awaits\r\nend,"));
    assert_int_equal(count_commas(header), count_commas(fixture->text));
    assert_int_equal(count_commas(header), count_commas(strchr(header, '\n') + 1));
    /* The line of a loss has as many columns. */
    for (int i = 0; i < 40; i++)
        write_event(fixture, 0, 1, i);
    print(fixture, ESI_ROWS_CSV, false);
    assert_ptr_equal(strstr(fixture->text, "loss,0,0,"), fixture->text);
    assert_int_equal(count_commas(header), count_commas(fixture->text));
    free(header);
}

SUITE(test_events)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_all_ranks_come_in_order_of_time),
        cmocka_unit_test(only_the_newest_are_given_if_asked),
        cmocka_unit_test(events_before_a_time_are_left_out),
        cmocka_unit_test(losses_are_shown_where_they_happened_and_in_the_end),
        cmocka_unit_test(json_and_csv_have_their_fields),
        cmocka_unit_test(waits_tell_in_words_for_what),
        cmocka_unit_test(the_begin_of_a_collective_says_of_which),
        cmocka_unit_test(waits_have_no_matching_number_but_what_they_await),
        cmocka_unit_test(csv_ends_with_what_is_awaited),
        cmocka_unit_test(open_operations_of_the_dead_are_listed),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
