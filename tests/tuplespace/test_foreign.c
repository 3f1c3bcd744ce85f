/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A segment that a machine of the other byte order made: see record_foreign.c. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "foreign.h"
#include "tuplespace/byte_order.h"
#include "tuplespace/segment_name.h"

struct scene {
    char id[64];
    char file[ES_SEGMENT_NAME_BYTES];
    char *bytes; /* of the recording */
    size_t length;
};

static void data_path(const char *name, char out[4096])
{
    const char *top = getenv("top_srcdir");

    snprintf(out, 4096, "%s/tests/data/%s", top ? top : ".", name);
}

static void read_recording(struct scene *scene)
{
    char path[4096];
    FILE *file;

    data_path("foreign-s390x.segment", path);
    file = fopen(path, "rb");
    assert_non_null(file);
    scene->bytes = malloc(1 << 16);
    scene->length = fread(scene->bytes, 1, 1 << 16, file);
    assert_in_range(scene->length, 4096, (1 << 16) - 1);
    fclose(file);
}

/* Puts the bytes into shared memory, as a new file: to cut one short would hurt whoever
 * has it mapped, such as a test beside this one that lists all runs. */
static void place(const struct scene *scene, const char *bytes, size_t length)
{
    int fd;

    shm_unlink(scene->file);
    fd = shm_open(scene->file, O_RDWR | O_CREAT | O_EXCL, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

static int set_up(void **state)
{
    static struct scene scene;
    struct es_segment_name name = {
        .host = FOREIGN_HOST, .rank = FOREIGN_RANK, .pid = getpid()};

    fixture_run("foreign", scene.id);
    strcpy(name.run, scene.id);
    assert_int_equal(es_segment_name_format(&name, scene.file), 0);
    read_recording(&scene);
    place(&scene, scene.bytes, scene.length);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    shm_unlink(scene->file);
    free(scene->bytes);
    return 0;
}

/* A number of the recording's own facts. */
static uint64_t fact(const char *wanted)
{
    char path[4096];
    char name[64];
    uint64_t value, found = 0;
    FILE *file;

    data_path("foreign-s390x.facts", path);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fscanf(file, "%63s %" SCNu64, name, &value) == 2)
        if (strcmp(name, wanted) == 0)
            found = value;
    fclose(file);
    assert_true(found != 0);
    return found;
}

/* --- What it says ---------------------------------------------------------------- */

static void header_and_clock_are_read(void **state)
{
    struct scene *scene = *state;
    struct es_run *run = fixture_open(scene->id);
    struct es_segment_view *segment = es_run_segment(run, 0);
    const struct es_clock *clock = es_segment_view_clock(segment);
    struct es_segment_info info;
    uint64_t base = fact("base_ticks");

    assert_int_equal(es_run_unreadable_count(run), 0);
    es_segment_view_info(segment, &info);
    assert_true(info.foreign);
    assert_string_equal(info.host, FOREIGN_HOST);
    assert_string_equal(info.program, FOREIGN_PROGRAM);
    assert_int_equal(info.rank, FOREIGN_RANK);
    assert_int_equal(info.size, FOREIGN_SIZE);
    assert_int_equal(info.pid, fact("pid"));
    assert_int_equal(info.state, ES_PROCESS_FINALIZED);
    assert_int_equal(clock->kind, fact("clock_kind"));
    assert_int_equal(clock->frequency_hz, fact("frequency_hz"));
    assert_int_equal(es_clock_realtime_ns(clock, base + 1000, NULL),
                     fact("base_realtime_ns") + 1000);
    es_run_close(run);
}

static void its_process_is_never_alive_here(void **state)
{
    struct scene *scene = *state;
    struct es_segment_layout header;
    struct es_segment_info info;
    struct es_run *run;

    /* A process that does live here has its pid. */
    memcpy(&header, scene->bytes, sizeof header);
    header.pid = (int32_t)__builtin_bswap32((uint32_t)getpid());
    header.pid_start = 0;
    memcpy(scene->bytes, &header, sizeof header);
    place(scene, scene->bytes, scene->length);
    run = fixture_open(scene->id);
    es_segment_view_info(es_run_segment(run, 0), &info);
    assert_int_equal(info.pid, getpid());
    assert_false(info.alive);
    /* What is waited for will never come. */
    assert_int_equal(es_element_wait(fixture_find(run, FOREIGN_EMPTY), 0, UINT64_MAX),
                     -EPIPE);
    assert_int_equal(es_element_wait(fixture_find(run, FOREIGN_SHARED), 1, UINT64_MAX),
                     -EPIPE);
    es_run_close(run);
    assert_int_equal(es_run_note_exit(scene->id, getpid(), 0), 0);
    assert_int_equal(es_run_remove(scene->id, false), 1);
}

static void tuples_are_read(void **state)
{
    struct scene *scene = *state;
    struct es_run *run = fixture_open(scene->id);
    const struct es_element_view *element = fixture_find(run, FOREIGN_WRAPPED);
    struct es_element_info info;
    struct es_tuple tuples[FOREIGN_THRESHOLD + 1];
    struct es_cursor cursor = {0};
    uint64_t position;

    es_element_view_info(element, &info);
    assert_int_equal(info.rank, FOREIGN_RANK);
    assert_int_equal(info.peer, FOREIGN_PEER);
    assert_int_equal(info.threshold, FOREIGN_THRESHOLD);
    assert_int_equal(info.head, 100);
    assert_true(info.enabled);
    assert_int_equal(es_element_read(element, &cursor, tuples, FOREIGN_THRESHOLD + 1),
                     FOREIGN_THRESHOLD);
    assert_int_equal(cursor.lost, 100 - FOREIGN_THRESHOLD);
    for (uint64_t i = 0; i < FOREIGN_THRESHOLD; i++) {
        assert_true(fixture_is_whole(&tuples[i], false));
        assert_int_equal(fixture_position(&tuples[i]), 100 - FOREIGN_THRESHOLD + i);
    }
    assert_int_equal(es_element_latest(element, tuples, &position), 1);
    assert_int_equal(position, 99);
    assert_true(fixture_is_whole(&tuples[0], false));
    es_run_close(run);
}

static void an_operation_under_way_is_read(void **state)
{
    struct scene *scene = *state;
    struct es_run *run = fixture_open(scene->id);
    struct es_tuple tuple;

    assert_int_equal(es_element_open(fixture_find(run, FOREIGN_OPEN), &tuple), 1);
    assert_true(fixture_is_whole(&tuple, true));
    assert_int_equal(fixture_position(&tuple), 5);
    assert_int_equal(es_element_open(fixture_find(run, FOREIGN_EMPTY), &tuple), 0);
    es_run_close(run);
}

static void other_tuples_come_as_they_lie(void **state)
{
    struct scene *scene = *state;
    struct es_run *run = fixture_open(scene->id);
    const struct es_element_view *element = fixture_find(run, FOREIGN_SHARED);
    struct es_cursor cursor = {0};
    char data[16];

    assert_int_equal(es_element_read_raw(element, &cursor, data, 2), 1);
    assert_memory_equal(data, FOREIGN_DATA, 8);
    es_run_close(run);
}

static void communicators_are_read(void **state)
{
    static const int odd[] = {1, 3, 5, 7};
    static const int listed[] = {6, 0, 4};
    struct scene *scene = *state;
    struct es_run *run = fixture_open(scene->id);
    struct es_segment_view *segment = es_run_segment(run, 0);
    struct es_communicator_info info;

    assert_int_equal(es_segment_view_communicator_count(segment), 2);
    assert_int_equal(es_segment_view_communicator(segment, 0, &info), 0);
    assert_string_equal(info.name, "odd ranks");
    assert_int_equal(info.key[0], FOREIGN_KEY);
    assert_int_equal(info.key[1], 1);
    assert_int_equal(info.rank, 2);
    assert_int_equal(info.size, 4);
    assert_int_equal(info.parent, ES_COMMUNICATOR_NONE);
    assert_false(info.freed);
    assert_int_equal(es_segment_view_communicator(segment, 1, &info), 0);
    assert_string_equal(info.name, "between");
    assert_int_equal(info.remote_size, 3);
    assert_int_equal(info.parent, 0);
    assert_true(info.freed);
    for (int i = 0; i < 4; i++)
        assert_int_equal(es_run_world_rank(run, segment, 1, false, i), odd[i]);
    for (int i = 0; i < 3; i++)
        assert_int_equal(es_run_world_rank(run, segment, 1, true, i), listed[i]);
    es_run_close(run);
}

/* --- What may not be done to it -------------------------------------------------- */

static void nothing_is_written_to_it(void **state)
{
    struct scene *scene = *state;
    struct es_run *run = fixture_open(scene->id);
    const struct es_element_view *element = fixture_find(run, FOREIGN_SHARED);
    char *now = malloc(scene->length);
    int fd;

    assert_int_equal(es_element_append(element, FOREIGN_DATA, 8), -EROFS);
    assert_int_equal(es_element_register_reader(element, 0), -EROFS);
    es_element_discard(element, 1);
    es_element_enable(element, false);
    es_run_refresh(run);
    es_run_close(run);
    fd = shm_open(scene->file, O_RDONLY, 0);
    assert_int_equal(read(fd, now, scene->length), scene->length);
    assert_memory_equal(now, scene->bytes, scene->length);
    close(fd);
    free(now);
}

static void a_file_cut_while_attached_changes_nothing(void **state)
{
    struct scene *scene = *state;
    struct es_run *run = fixture_open(scene->id);
    struct es_tuple tuple;
    uint64_t position;

    place(scene, scene->bytes, 100);
    assert_int_equal(es_run_refresh(run), 0);
    assert_int_equal(
        es_element_latest(fixture_find(run, FOREIGN_WRAPPED), &tuple, &position), 1);
    assert_true(fixture_is_whole(&tuple, false));
    es_run_close(run);
}

/* --- Broken ones ----------------------------------------------------------------- */

static void use_element(const struct es_element_view *element)
{
    struct es_element_info info;
    struct es_cursor cursor = {0};
    struct es_tuple tuples[64];
    uint64_t position;

    es_element_view_info(element, &info);
    assert_true(strlen(info.name) < 64);
    es_element_latest(element, tuples, &position);
    es_element_open(element, tuples);
    assert_in_range(es_element_read(element, &cursor, tuples, 64), 0, 64);
}

/* Returns whether it could be opened. */
static bool open_and_use(const struct scene *scene)
{
    struct es_error error = {.text = ""};
    struct es_communicator_info communicator;
    struct es_run *run;

    if (es_run_open(scene->id, &error, &run) != 0) {
        assert_true(error.text[0] != '\0');
        return false;
    }
    for (size_t i = 0; i < es_segment_view_element_count(es_run_segment(run, 0)); i++)
        use_element(es_segment_view_element(es_run_segment(run, 0), i));
    for (uint16_t i = 0; i < 8; i++) {
        es_segment_view_communicator(es_run_segment(run, 0), i, &communicator);
        es_run_world_rank(run, es_run_segment(run, 0), i, true, 2);
    }
    es_run_close(run);
    return true;
}

/* Header, directory and table of the recording, each in its own page. */
static bool matters(size_t at)
{
    size_t within = at % 4096;
    static const size_t parts[] = {sizeof(struct es_segment_layout),
                                   4 * sizeof(struct es_element_layout),
                                   2 * sizeof(struct es_communicator_layout)};

    return at / 4096 < 3 && within < parts[at / 4096];
}

static void a_broken_byte_never_crashes_a_reader(void **state)
{
    static const unsigned char breaks[] = {0x01, 0x80, 0xff};
    struct scene *scene = *state;
    int opened = 0, tried = 0;

    for (size_t at = 0; at < scene->length; at++) {
        char kept = scene->bytes[at];

        for (size_t i = 0; matters(at) && i < sizeof breaks; i++) {
            scene->bytes[at] = (char)(kept ^ breaks[i]);
            place(scene, scene->bytes, scene->length);
            opened += open_and_use(scene);
            tried++;
        }
        scene->bytes[at] = kept;
    }
    printf("# %d of %d could be opened all the same\n", opened, tried);
    assert_in_range(opened, 1, tried - 1);
}

static void a_cut_file_never_crashes_a_reader(void **state)
{
    struct scene *scene = *state;
    int opened = 0;

    for (size_t length = 1; length < scene->length; length += 37) {
        place(scene, scene->bytes, length);
        opened += open_and_use(scene);
    }
    assert_true(opened > 0);
}

/* --- Turning --------------------------------------------------------------------- */

static void turning_twice_gives_what_it_was(void **state)
{
    uint64_t random = fixture_seed();
    unsigned char kept[sizeof(struct es_segment_layout)];
    struct es_segment_layout header;
    struct es_element_layout element;
    struct es_communicator_layout communicator;

    (void)state;
    for (size_t i = 0; i < sizeof kept; i++)
        kept[i] = (unsigned char)fixture_random(&random);
    memcpy(&header, kept, sizeof header);
    es_byte_order_turn_header(&header);
    assert_memory_not_equal(&header, kept, sizeof header);
    es_byte_order_turn_header(&header);
    assert_memory_equal(&header, kept, sizeof header);
    memcpy(&element, kept, sizeof element);
    es_byte_order_turn_element(&element);
    assert_memory_not_equal(&element, kept, sizeof element);
    es_byte_order_turn_element(&element);
    assert_memory_equal(&element, kept, sizeof element);
    memcpy(&communicator, kept, sizeof communicator);
    es_byte_order_turn_communicator(&communicator);
    assert_memory_not_equal(&communicator, kept, sizeof communicator);
    es_byte_order_turn_communicator(&communicator);
    assert_memory_equal(&communicator, kept, sizeof communicator);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(header_and_clock_are_read),
        TEST(its_process_is_never_alive_here),
        TEST(tuples_are_read),
        TEST(an_operation_under_way_is_read),
        TEST(other_tuples_come_as_they_lie),
        TEST(communicators_are_read),
        TEST(nothing_is_written_to_it),
        TEST(a_file_cut_while_attached_changes_nothing),
        TEST(a_broken_byte_never_crashes_a_reader),
        TEST(a_cut_file_never_crashes_a_reader),
        cmocka_unit_test(turning_twice_gives_what_it_was),
    };

    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
        printf("1..0 # SKIP the recording is of this machine's byte order\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
