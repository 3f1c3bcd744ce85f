/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* An archive returns the tuples that were written to it, in the order of
 * publication. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/archive/ctf_layout.h"
#include "tests/archive/made_archive.h"
#include "tests/random.h"
#include "tests/suites.h"

static int set_up(void **state)
{
    struct made_archive *made = calloc(1, sizeof *made);

    assert_non_null(made);
    made_archive_begin(made, 2);
    *state = made;
    return 0;
}

static int tear_down(void **state)
{
    made_archive_remove(*state);
    free(*state);
    return 0;
}

static void assert_tags(const struct made_archive *made,
                        uint32_t element,
                        const char *expected)
{
    assert_string_equal(made_archive_tags(made, element), expected);
}

/* --- Round trips ------------------------------------------------------------- */

static void tuples_come_back_as_they_were(void **state)
{
    struct made_archive *made = *state;
    struct es_tuple tuple = {.stop = 2000,
                             .operation = es_operation_by_name("MPI_Bcast")->code,
                             .communicator = 7,
                             .start = 1990,
                             .sequence = 42,
                             .peer = -1,
                             .tag = INT32_MIN,
                             .bytes = UINT32_MAX};
    struct esi_archive_reader *reader;
    struct esi_archive_merge *merge;
    struct esi_archive_item item;

    assert_int_equal(esi_archive_append(made->archive, 1, &tuple, 0), 0);
    made_archive_close(made);
    assert_int_equal(esi_archive_open(made->directory, NULL, &reader), 0);
    assert_int_equal(esi_archive_merge_create(reader, NULL, &merge), 0);
    assert_int_equal(esi_archive_merge_next(merge, &item, NULL), 1);
    assert_int_equal(item.element, 1);
    assert_memory_equal(&item.tuple, &tuple, sizeof tuple);
    assert_true(item.ends_process);
    assert_int_equal(esi_archive_merge_next(merge, &item, NULL), 0);
    esi_archive_merge_destroy(merge);
    esi_archive_read_close(reader);
}

static void tables_come_back_as_they_were(void **state)
{
    struct made_archive *made = *state;
    struct esi_archive_tables *tables = esi_archive_writer_tables(made->archive);
    struct esi_archive_open open = {
        .element = 1, .tuple = {.operation = 3, .start = 4000, .peer = 1, .tag = 9}};
    struct esi_archive_reader *reader;
    const struct esi_archive_tables *read;
    const struct esi_archive_group *group;
    char *map;

    tables->hosts[0].clock_known = true;
    tables->hosts[0].clock_offset_ns = -5;
    tables->hosts[0].clock_drift_ppb = 1.25;
    assert_int_equal(esi_archive_tables_add_open(tables, &open), 0);
    assert_int_equal(esi_archive_write_map(made->archive, "{\"version\": 1}\n"), 0);
    made_archive_append(made, 0, 2000, 1);
    assert_int_equal(esi_archive_lose(made->archive, 0, 3), 0);
    made_archive_close(made);
    assert_int_equal(esi_archive_open(made->directory, NULL, &reader), 0);
    read = esi_archive_tables(reader);
    assert_string_equal(read->facts.run, "made");
    assert_int_equal(read->facts.begun_ns, 1000);
    assert_int_equal(read->facts.ended_ns, 5000);
    assert_int_equal(read->facts.tuples, 1);
    assert_int_equal(read->facts.lost, 3);
    assert_int_equal(read->elements[0].lost, 3);
    assert_int_equal(read->host_count, 1);
    assert_int_equal(read->hosts[0].clock_offset_ns, -5);
    assert_true(read->hosts[0].clock_drift_ppb == 1.25);
    assert_int_equal(read->process_count, 2);
    assert_string_equal(read->processes[1].program, "program");
    assert_int_equal(read->processes[1].communicator_count, 1);
    group = esi_archive_tables_group(read, &read->processes[1].communicators[0], false);
    assert_non_null(group);
    assert_int_equal(group->size, 2);
    assert_int_equal(group->world[1], 1);
    assert_int_equal(read->open_count, 1);
    assert_memory_equal(&read->open[0].tuple, &open.tuple, sizeof open.tuple);
    assert_int_equal(esi_archive_read_map(reader, &map), 0);
    assert_string_equal(map, "{\"version\": 1}\n");
    free(map);
    esi_archive_read_close(reader);
}

static void elements_come_in_order_of_completion(void **state)
{
    struct made_archive *made = *state;
    struct esi_archive_reader *reader;
    struct esi_archive_merge *merge;
    struct esi_archive_item item;
    uint64_t last = 0;
    int count = 0;
    int ends = 0;

    for (int i = 0; i < 50; i++) {
        made_archive_append(made, 0, 2000 + 7 * (uint64_t)i, i);
        made_archive_append(made, 1, 2000 + 5 * (uint64_t)i, i);
    }
    made_archive_close(made);
    assert_int_equal(esi_archive_open(made->directory, NULL, &reader), 0);
    assert_int_equal(esi_archive_merge_create(reader, NULL, &merge), 0);
    while (esi_archive_merge_next(merge, &item, NULL) > 0) {
        assert_true(item.tuple.stop >= last);
        last = item.tuple.stop;
        ends += item.ends_process;
        count++;
    }
    assert_int_equal(count, 100);
    assert_int_equal(ends, 2);
    esi_archive_merge_destroy(merge);
    esi_archive_read_close(reader);
}

static void what_is_flushed_can_be_read_while_recording_goes_on(void **state)
{
    struct made_archive *made = *state;

    made_archive_append(made, 0, 2000, 1);
    assert_tags(made, 0, "");
    assert_int_equal(esi_archive_flush(made->archive, UINT64_C(3600000000000)), 0);
    assert_tags(made, 0, "");
    assert_int_equal(esi_archive_flush(made->archive, 0), 0);
    assert_tags(made, 0, "1");
    made_archive_append(made, 0, 2001, 2);
    assert_tags(made, 0, "1");
}

/* --- Late tuples ------------------------------------------------------------- */

static void late_tuples_keep_their_places(void **state)
{
    struct made_archive *made = *state;
    char path[256];

    made_archive_append(made, 0, 2000, 1);
    made_archive_append(made, 0, 2100, 2);
    made_archive_append(made, 0, 2050, 3); /* late */
    made_archive_append(made, 0, 2040, 4); /* later than the late one */
    made_archive_append(made, 0, 2060, 5);
    made_archive_append(made, 0, 2200, 6);
    made_archive_append(made, 0, 2199, 7);
    made_archive_close(made);
    assert_tags(made, 0, "1 2 3 4 5 6 7");
    snprintf(path, sizeof path, "%s", made_archive_path(made, "made/0.0-all.0.late-2"));
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(made_archive_path(made, "made/0.0-all.0.late-3"), F_OK),
                     -1);
}

static void any_order_of_publication_comes_back(void **state)
{
    struct made_archive *made = *state;
    uint64_t seed = random_seed();
    char expected[4096] = "";
    size_t used = 0;

    for (int i = 0; i < 600; i++) {
        uint64_t stop = 10000 + 10 * (uint64_t)i - random_below(&seed, 100);

        if (random_int(&seed, 50) == 0) {
            assert_int_equal(esi_archive_lose(made->archive, 0, 2), 0);
            /* A loss is stored with the next ordered tuple. */
            made_archive_append(made, 0, 20000 + 10 * (uint64_t)i, i);
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%sL2",
                                     used ? " " : "");
        } else {
            made_archive_append(made, 0, stop, i);
        }
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%d",
                                 used ? " " : "", i);
        if (random_int(&seed, 20) == 0)
            assert_int_equal(esi_archive_flush(made->archive, 0), 0);
    }
    made_archive_close(made);
    assert_tags(made, 0, expected);
}

/* --- Losses ------------------------------------------------------------------ */

static void losses_stand_where_they_were(void **state)
{
    struct made_archive *made = *state;

    assert_int_equal(esi_archive_lose(made->archive, 0, 5), 0);
    made_archive_append(made, 0, 2000, 1);
    assert_int_equal(esi_archive_lose(made->archive, 0, 2), 0);
    assert_int_equal(esi_archive_lose(made->archive, 0, 1), 0);
    made_archive_append(made, 0, 2001, 2);
    assert_int_equal(esi_archive_lose(made->archive, 0, 9), 0);
    assert_int_equal(esi_archive_lose(made->archive, 1, 4), 0);
    made_archive_close(made);
    assert_tags(made, 0, "L5 1 L3 2 L9");
    assert_tags(made, 1, "L4");
}

static void what_is_no_operation_is_counted_as_lost(void **state)
{
    struct made_archive *made = *state;
    uint16_t code = es_operation_by_name("MPI_Send")->code;
    const struct es_tuple tuples[] = {
        {.stop = 3000, .operation = UINT16_MAX, .start = 1},
        {.stop = 3000, .operation = code, .start = 3001},
        {.stop = UINT64_MAX, .operation = code, .start = 1},
    };

    made_archive_append(made, 0, 2000, 1);
    for (size_t i = 0; i < sizeof tuples / sizeof tuples[0]; i++)
        assert_int_equal(esi_archive_append(made->archive, 0, &tuples[i], 1), -EINVAL);
    made_archive_append(made, 0, 3001, 2);
    made_archive_close(made);
    assert_tags(made, 0, "1 L3 2");
}

static void an_archive_is_private_until_its_owner_shares_it(void **state)
{
    static const char *const files[] = {".eventspace/archive.jsonl", "made/0.0-all.0",
                                        "made/metadata"};
    struct made_archive *made = *state;
    struct stat status;

    made_archive_append(made, 0, 2000, 1);
    assert_int_equal(esi_archive_write_tables(made->archive), 0);
    assert_int_equal(esi_archive_flush(made->archive, 0), 0);
    assert_int_equal(stat(made->directory, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_int_equal(stat(made_archive_path(made, files[i]), &status), 0);
        assert_int_equal(status.st_mode & 0777, 0600);
        assert_int_equal(chmod(made_archive_path(made, files[i]), 0640), 0);
    }
    /* The tables are replaced. */
    made_archive_close(made);
    assert_int_equal(stat(made_archive_path(made, files[0]), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

/* --- Truncated streams ------------------------------------------------------- */

/* Writes the tags that can be read from the first `length` bytes of a stream: those of
 * whole packets. Each packet has four tuples, the last one possibly fewer. */
static void expect_packets(char *out, size_t length, int tuples)
{
    size_t used = 0;
    int whole = (int)(length / MADE_PACKET_BYTES) * 4;
    size_t rest = length % MADE_PACKET_BYTES;
    int behind = tuples - whole;

    if (behind < 4 && rest == sizeof(struct esi_ctf_head) + (size_t)behind * 36)
        whole += behind;
    out[0] = '\0';
    for (int i = 0; i < whole; i++)
        used += (size_t)snprintf(out + used, 16, "%s%d", i ? " " : "", i);
}

static void a_stream_cut_at_any_byte_is_read_to_its_last_packet(void **state)
{
    struct made_archive *made = *state;
    char expected[256];
    size_t length;
    char *bytes;

    for (int i = 0; i < 14; i++)
        made_archive_append(made, 0, 2000 + (uint64_t)i, i);
    made_archive_append(made, 1, 2000, 77);
    made_archive_close(made);
    bytes = made_archive_load(made, "made/0.0-all.0", &length);
    for (size_t cut = 0; cut <= length; cut++) {
        made_archive_store(made, "made/0.0-all.0", bytes, cut);
        expect_packets(expected, cut, 14);
        assert_tags(made, 0, expected);
    }
    assert_tags(made, 1, "77");
    free(bytes);
}

static void a_repair_cuts_at_packets(void **state)
{
    struct made_archive *made = *state;
    uint64_t bytes_cut;
    struct stat status;
    size_t length;
    char *bytes;

    for (int i = 0; i < 8; i++)
        made_archive_append(made, 0, 2000 + (uint64_t)i, i);
    made_archive_close(made);
    bytes = made_archive_load(made, "made/0.0-all.0", &length);
    made_archive_store(made, "made/0.0-all.0", bytes, length - 1);
    assert_int_equal(esi_archive_repair(made->directory, &bytes_cut, NULL), 1);
    assert_int_equal(bytes_cut, MADE_PACKET_BYTES - 1);
    assert_int_equal(stat(made_archive_path(made, "made/0.0-all.0"), &status), 0);
    assert_int_equal(status.st_size, MADE_PACKET_BYTES);
    assert_int_equal(esi_archive_repair(made->directory, &bytes_cut, NULL), 0);
    made_archive_store(made, "made/0.0-all.0", bytes, 50);
    assert_int_equal(esi_archive_repair(made->directory, &bytes_cut, NULL), 1);
    assert_int_equal(access(made_archive_path(made, "made/0.0-all.0"), F_OK), -1);
    assert_tags(made, 0, "");
    free(bytes);
}

static void a_lost_late_packet_leaves_a_counted_gap(void **state)
{
    struct made_archive *made = *state;

    made_archive_append(made, 0, 2000, 0);
    made_archive_append(made, 0, 2100, 1);
    made_archive_append(made, 0, 2050, 2); /* late */
    assert_int_equal(esi_archive_flush(made->archive, 0), 0);
    made_archive_append(made, 0, 2200, 3);
    made_archive_close(made);
    assert_int_equal(unlink(made_archive_path(made, "made/0.0-all.0.late-1")), 0);
    assert_tags(made, 0, "0 1 L1 3");
}

/* Inverts each byte in turn: reading has to end, whatever it returns. Then it damages
 * the head of the second packet: reading stops there. */
static void damage_is_found_or_changes_nothing_but_values(void **state)
{
    struct made_archive *made = *state;
    size_t length;
    char *bytes;

    for (int i = 0; i < 6; i++)
        made_archive_append(made, 0, 2000 + (uint64_t)i, i);
    made_archive_append(made, 0, 1500, 6);
    made_archive_close(made);
    bytes = made_archive_load(made, "made/0.0-all.0", &length);
    for (size_t at = 0; at < length; at++) {
        bytes[at] = (char)~bytes[at];
        made_archive_store(made, "made/0.0-all.0", bytes, length);
        made_archive_tags(made, 0);
        bytes[at] = (char)~bytes[at];
    }
    bytes[MADE_PACKET_BYTES] ^= 1;
    made_archive_store(made, "made/0.0-all.0", bytes, length);
    assert_tags(made, 0, "0 1 2 3 !");
    free(bytes);
}

/* --- Failures ---------------------------------------------------------------- */

static void a_directory_with_something_in_it_is_refused(void **state)
{
    struct made_archive *made = *state;
    struct esi_archive_config config = {.directory = made->directory, .run = "again"};
    struct es_error error = {.text = ""};
    struct esi_archive *archive;

    assert_int_equal(esi_archive_create(&config, &error, &archive), -EEXIST);
    assert_non_null(strstr(error.text, made->directory));
}

static void a_full_disk_leaves_whole_packets(void **state)
{
    struct made_archive *made = *state;
    struct es_tuple tuple = {.operation = es_operation_by_name("MPI_Send")->code};
    struct es_error error = {.text = ""};
    struct rlimit before;
    int result = 0;
    int written = 0;

    /* Write the tables before the limit is set. It allows four packets and part of a
     * fifth in each file. */
    assert_int_equal(esi_archive_write_tables(made->archive), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(
        setrlimit(RLIMIT_FSIZE,
                  &(struct rlimit){4 * MADE_PACKET_BYTES + 100, before.rlim_max}),
        0);
    for (int i = 0; i < 1000 && result == 0; i++) {
        tuple.stop = 2000 + (uint64_t)i;
        tuple.tag = i;
        result = esi_archive_append(made->archive, 0, &tuple, (uint64_t)i);
        written += result == 0;
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(result, -EFBIG);
    assert_int_equal(written, 20);
    assert_non_null(esi_archive_failure(made->archive));
    assert_int_equal(esi_archive_append(made->archive, 1, &tuple, 0), -EFBIG);
    assert_int_equal(esi_archive_flush(made->archive, 0), -EFBIG);
    assert_int_equal(esi_archive_close(made->archive, 5000, &error), -EFBIG);
    made->archive = NULL;
    assert_non_null(strstr(error.text, "0.0-all.0"));
    assert_tags(made, 0, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
}

SUITE(test_archive)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(tuples_come_back_as_they_were),
        cmocka_unit_test(tables_come_back_as_they_were),
        cmocka_unit_test(elements_come_in_order_of_completion),
        cmocka_unit_test(what_is_flushed_can_be_read_while_recording_goes_on),
        cmocka_unit_test(late_tuples_keep_their_places),
        cmocka_unit_test(any_order_of_publication_comes_back),
        cmocka_unit_test(losses_stand_where_they_were),
        cmocka_unit_test(what_is_no_operation_is_counted_as_lost),
        cmocka_unit_test(an_archive_is_private_until_its_owner_shares_it),
        cmocka_unit_test(a_stream_cut_at_any_byte_is_read_to_its_last_packet),
        cmocka_unit_test(a_repair_cuts_at_packets),
        cmocka_unit_test(a_lost_late_packet_leaves_a_counted_gap),
        cmocka_unit_test(damage_is_found_or_changes_nothing_but_values),
        cmocka_unit_test(a_directory_with_something_in_it_is_refused),
        cmocka_unit_test(a_full_disk_leaves_whole_packets),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
