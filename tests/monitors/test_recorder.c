/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* An archive has the run as it was written: tuples, losses, tables and times. */
#include "config.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitors/archive/archive_read.h"
#include "monitors/archive/recorder.h"
#include "tests/scopes/made_run.h"
#include "tests/suites.h"

enum { RANKS = 2, THRESHOLD = 15 };

struct fixture {
    char folder[64];
    char directory[96];
    struct made_run made;
    struct esi_writer *writers[RANKS];
    struct es_run *run;
    struct esi_recorder *recorder;
    struct esi_recorder_totals totals;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    strcpy(fixture->folder, "/tmp/recorder-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    snprintf(fixture->directory, sizeof fixture->directory, "%s/a", fixture->folder);
    made_run_begin(&fixture->made);
    for (int rank = 0; rank < RANKS; rank++)
        fixture->writers[rank] = made_run_add_element(
            &fixture->made, made_run_add_rank(&fixture->made, rank, RANKS), rank, 0,
            "all", ES_CLASSES_ALL, THRESHOLD);
    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
    *state = fixture;
    return 0;
}

static int remove_one(const char *path,
                      const struct stat *status,
                      int kind,
                      struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    if (fixture->recorder)
        esi_recorder_close(fixture->recorder, NULL, NULL);
    es_run_close(fixture->run);
    made_run_end(&fixture->made);
    assert_int_equal(nftw(fixture->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(fixture);
    return 0;
}

static void write_tags(struct fixture *fixture, int rank, int first, int count)
{
    for (int tag = first; tag < first + count; tag++) {
        uint64_t stop = made_ticks(&fixture->made, 1000000);
        struct es_tuple tuple = made_tuple("MPI_Send", stop - 10, stop);

        tuple.tag = tag;
        esi_writer_write(fixture->writers[rank], &tuple);
    }
}

static void begin(struct fixture *fixture, bool skip_backlog)
{
    struct esi_recorder_config config = {.directory = fixture->directory};

    es_scope_config_init(&config.scope);
    config.scope.lossless = true;
    config.scope.take = skip_backlog ? ES_TAKE_NEW : ES_TAKE_EVERY;
    assert_int_equal(
        esi_recorder_create(fixture->run, &config, NULL, &fixture->recorder), 0);
}

static void read_all(struct fixture *fixture)
{
    int result;

    while ((result = esi_recorder_read(fixture->recorder, true)) > 0)
        continue;
    assert_int_equal(result, 0);
}

static void end(struct fixture *fixture)
{
    assert_int_equal(esi_recorder_close(fixture->recorder, &fixture->totals, NULL), 0);
    fixture->recorder = NULL;
}

/* Checks the tags and losses of a rank's element, as in "TAG TAG L<lost> TAG". */
static void assert_tags(const struct fixture *fixture, int rank, const char *expected)
{
    char tags[1024] = "";
    struct esi_archive_reader *reader;
    struct esi_archive_cursor *cursor;
    struct esi_archive_item item;
    size_t used = 0;

    assert_int_equal(esi_archive_open(fixture->directory, NULL, &reader), 0);
    const struct esi_archive_tables *tables = esi_archive_tables(reader);
    for (uint32_t i = 0; i < tables->element_count; i++) {
        if (tables->processes[tables->elements[i].process].rank != rank)
            continue;
        assert_int_equal(esi_archive_cursor_create(reader, i, NULL, &cursor), 0);
        while (esi_archive_cursor_next(cursor, &item, NULL) > 0 && used < 1000)
            used += (size_t)snprintf(tags + used, sizeof tags - used, "%s%s%d",
                                     used ? " " : "", item.lost ? "L" : "",
                                     item.lost ? (int)item.lost : item.tuple.tag);
        esi_archive_cursor_destroy(cursor);
    }
    esi_archive_read_close(reader);
    assert_string_equal(tags, expected);
}

static void what_is_there_and_what_comes_is_recorded(void **state)
{
    struct fixture *fixture = *state;

    write_tags(fixture, 0, 1, 3);
    begin(fixture, false);
    read_all(fixture);
    write_tags(fixture, 0, 4, 2);
    write_tags(fixture, 1, 7, 1);
    read_all(fixture);
    end(fixture);
    assert_tags(fixture, 0, "1 2 3 4 5");
    assert_tags(fixture, 1, "7");
    assert_int_equal(fixture->totals.tuples, 6);
    assert_int_equal(fixture->totals.lost + fixture->totals.missed, 0);
    assert_int_equal(fixture->totals.elements, RANKS);
    assert_int_equal(fixture->totals.processes, RANKS);
}

static void who_is_switched_off_at_the_end_is_in_the_tables(void **state)
{
    struct fixture *fixture = *state;
    struct esi_archive_reader *reader;
    const struct esi_archive_tables *tables;

    write_tags(fixture, 0, 1, 3);
    begin(fixture, false);
    read_all(fixture);
    atomic_store(&fixture->writers[1]->element->enabled, 0);
    end(fixture);
    assert_int_equal(esi_archive_open(fixture->directory, NULL, &reader), 0);
    tables = esi_archive_tables(reader);
    assert_int_equal(tables->element_count, RANKS);
    for (uint32_t i = 0; i < RANKS; i++)
        assert_int_equal(tables->elements[i].off,
                         tables->processes[tables->elements[i].process].rank == 1);
    esi_archive_read_close(reader);
}

static void nothing_of_before_is_recorded_where_only_what_is_new_is_wanted(void **state)
{
    struct fixture *fixture = *state;

    write_tags(fixture, 0, 1, 3);
    begin(fixture, true);
    write_tags(fixture, 0, 4, 2);
    read_all(fixture);
    end(fixture);
    assert_tags(fixture, 0, "4 5");
}

static void what_was_gone_before_is_missed_and_what_goes_later_is_lost(void **state)
{
    struct fixture *fixture = *state;

    write_tags(fixture, 0, 1, THRESHOLD + 10);
    begin(fixture, false);
    read_all(fixture);
    write_tags(fixture, 0, 101, THRESHOLD + 4);
    read_all(fixture);
    write_tags(fixture, 0, 201, 1);
    read_all(fixture);
    end(fixture);
    assert_int_equal(fixture->totals.missed, 10);
    assert_int_equal(fixture->totals.lost, 4);
    assert_tags(fixture, 0,
                "11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 L4 105 106 107 108 109 "
                "110 111 112 113 114 115 116 117 118 119 201");
}

static void an_element_that_blocks_has_its_reader_while_it_is_recorded(void **state)
{
    struct fixture *fixture = *state;
    struct esi_element_layout *element = fixture->writers[0]->element;

    atomic_store(&element->on_full, ES_ON_FULL_AWAIT);
    begin(fixture, false);
    assert_int_equal(atomic_load(&element->on_full), ES_ON_FULL_BLOCK);
    assert_true(atomic_load(&element->reader) != 0);
    assert_true(atomic_load(&fixture->writers[1]->element->reader) == 0);
    end(fixture);
    assert_true(atomic_load(&element->reader) == 0);
}

static void what_is_under_way_at_the_end_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct es_tuple open =
        made_tuple("MPI_Barrier", made_ticks(&fixture->made, 1000), 0);
    struct esi_archive_reader *reader;

    write_tags(fixture, 1, 1, 1);
    begin(fixture, false);
    esi_writer_open(fixture->writers[1], &open);
    read_all(fixture);
    end(fixture);
    assert_int_equal(fixture->totals.open, 1);
    assert_tags(fixture, 1, "1");
    assert_int_equal(esi_archive_open(fixture->directory, NULL, &reader), 0);
    const struct esi_archive_tables *tables = esi_archive_tables(reader);
    assert_int_equal(tables->open_count, 1);
    assert_int_equal(tables->open[0].tuple.operation,
                     es_operation_by_name("MPI_Barrier")->code);
    assert_int_equal(tables->open[0].tuple.stop, 0);
    esi_archive_read_close(reader);
}

static void elements_that_appear_are_recorded_from_their_first_tuple_on(void **state)
{
    struct fixture *fixture = *state;

    begin(fixture, false);
    write_tags(fixture, 0, 1, 1);
    read_all(fixture);
    fixture->writers[1] = made_run_add_element(
        &fixture->made, fixture->made.segments[1], 1, 7, "late", ES_CLASSES_ALL, 15);
    write_tags(fixture, 1, 5, 2);
    read_all(fixture);
    end(fixture);
    assert_int_equal(fixture->totals.elements, RANKS + 1);
    assert_tags(fixture, 1, "5 6");
}

static void the_world_is_in_the_tables(void **state)
{
    struct fixture *fixture = *state;
    struct esi_archive_reader *reader;

    write_tags(fixture, 0, 1, 1);
    begin(fixture, false);
    read_all(fixture);
    end(fixture);
    assert_int_equal(esi_archive_open(fixture->directory, NULL, &reader), 0);
    const struct esi_archive_tables *tables = esi_archive_tables(reader);
    assert_string_equal(tables->facts.run, fixture->made.name);
    assert_true(tables->facts.ended_ns >= tables->facts.begun_ns);
    assert_int_equal(tables->processes[0].communicator_count, 1);
    assert_string_equal(tables->processes[0].communicators[0].name, "MPI_COMM_WORLD");
    const struct esi_archive_group *group =
        esi_archive_tables_group(tables, &tables->processes[0].communicators[0], false);
    assert_non_null(group);
    assert_int_equal(group->size, RANKS);
    assert_int_equal(group->world[1], 1);
    esi_archive_read_close(reader);
}

/* A limit on the file size has the effect of a full disk. */
static void a_disk_that_is_full_lets_writers_go(void **state)
{
    struct fixture *fixture = *state;
    struct esi_element_layout *element = fixture->writers[0]->element;
    struct rlimit before;
    struct es_error error = {.text = ""};
    int result = 0;

    atomic_store(&element->on_full, ES_ON_FULL_BLOCK);
    begin(fixture, false);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE,
              &(struct rlimit){.rlim_cur = 8192, .rlim_max = before.rlim_max});
    for (int i = 0; i < 2000 && result >= 0; i++) {
        write_tags(fixture, 0, i * 10, 10);
        result = esi_recorder_read(fixture->recorder, true);
    }
    if (result >= 0)
        result = esi_recorder_close(fixture->recorder, NULL, &error);
    else
        assert_int_equal(esi_recorder_close(fixture->recorder, NULL, &error), result);
    fixture->recorder = NULL;
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(result, -EFBIG);
    assert_non_null(strstr(error.text, fixture->directory));
    assert_true(atomic_load(&element->reader) == 0);
}

static void a_directory_with_something_in_it_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct esi_recorder_config config = {.directory = fixture->folder};
    struct es_error error = {.text = ""};

    begin(fixture, false);
    end(fixture);
    es_scope_config_init(&config.scope);
    config.scope.lossless = true;
    atomic_store(&fixture->writers[0]->element->on_full, ES_ON_FULL_BLOCK);
    assert_int_equal(
        esi_recorder_create(fixture->run, &config, &error, &fixture->recorder),
        -EEXIST);
    assert_non_null(strstr(error.text, "not empty"));
    assert_null(fixture->recorder);
    assert_true(atomic_load(&fixture->writers[0]->element->reader) == 0);
}

SUITE(test_recorder)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_and_what_comes_is_recorded),
        cmocka_unit_test(who_is_switched_off_at_the_end_is_in_the_tables),
        cmocka_unit_test(
            nothing_of_before_is_recorded_where_only_what_is_new_is_wanted),
        cmocka_unit_test(what_was_gone_before_is_missed_and_what_goes_later_is_lost),
        cmocka_unit_test(an_element_that_blocks_has_its_reader_while_it_is_recorded),
        cmocka_unit_test(what_is_under_way_at_the_end_is_told),
        cmocka_unit_test(elements_that_appear_are_recorded_from_their_first_tuple_on),
        cmocka_unit_test(the_world_is_in_the_tables),
        cmocka_unit_test(a_disk_that_is_full_lets_writers_go),
        cmocka_unit_test(a_directory_with_something_in_it_is_refused),
    };

    alarm(120);
    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
