/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Segments that are damaged, truncated or crafted.  Readers refuse them or read
 * them, but never crash. */
#include "config.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tuplespace/segment_name.h"

#define ROUNDS 3000
#define LIST_ROUNDS 17 /* prime, so that each value gets its turn */

struct scene {
    char id[64];
    char file[ES_SEGMENT_NAME_BYTES];
    struct es_segment *segment;
    struct esi_writer writers[3];
    uint8_t *kept; /* the segment's original bytes */
    size_t header_end;
    size_t bytes;
};

static int set_up(void **state)
{
    static const int32_t ranks[] = {2, 0, 1};
    static struct scene scene;
    struct esi_segment_name name = {.host = "testhost.local", .pid = getpid()};
    struct esi_communicator_config communicator = {
        .name = "x", .group = ranks, .group_size = 3, .keep_list = true};
    uint16_t index;

    fixture_run("hostile", scene.id);
    strcpy(name.run, scene.id);
    esi_segment_name_format(&name, scene.file);
    scene.segment = fixture_segment(scene.id, 0);
    for (int i = 0; i < 3; i++) {
        char text[64];

        snprintf(text, sizeof text, "0.%d/test", i);
        fixture_element(scene.segment, text, 15, &scene.writers[i]);
        for (uint64_t j = 0; j < 20; j++) {
            struct es_tuple tuple = fixture_tuple(j);

            esi_writer_write(&scene.writers[i], &tuple);
        }
    }
    esi_segment_add_communicator(scene.segment, &communicator, &index);
    scene.header_end = esi_segment_layout(scene.segment)->elements_offset;
    /* The copy ends two pages into the arena, behind everything that was written. */
    scene.bytes = esi_segment_layout(scene.segment)->arena_offset + 8192;
    scene.kept = malloc(scene.bytes);
    memcpy(scene.kept, esi_segment_layout(scene.segment), scene.bytes);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    free(scene->kept);
    esi_segment_destroy(scene->segment);
    return 0;
}

/* Calls all functions that read an element. */
static void use_element(const struct es_element_view *element)
{
    struct es_element_info info;
    struct es_cursor cursor = {0};
    struct es_tuple tuples[32];
    char *raw;
    uint64_t position;

    es_element_view_info(element, &info);
    assert_true(strlen(info.name) < 64);
    es_element_latest(element, tuples, &position);
    es_element_open(element, tuples);
    assert_in_range(es_element_read(element, &cursor, tuples, 32), 0, 32);
    raw = malloc((size_t)info.tuple_bytes * 4);
    es_cursor_init(&cursor, element, false);
    assert_in_range(es_element_read_raw(element, &cursor, raw, 4), 0, 4);
    free(raw);
    es_cursor_init(&cursor, element, true);
    es_element_set_threshold(element, 3);
    es_element_discard(element, 2);
    es_element_enable(element, true);
}

static void use_run(const struct es_run *run)
{
    struct es_communicator_info communicator;
    struct es_selection all;
    struct es_element_view **elements;
    int count;

    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        const struct es_segment_view *view = es_run_segment(run, i);
        struct es_segment_info info;
        uint64_t error_ns;

        es_segment_view_info(view, &info);
        assert_true(strlen(info.host) < 64);
        es_clock_realtime_ns(es_segment_view_clock(view), 12345, &error_ns);
        for (uint16_t c = 0; c < 300; c++) {
            es_segment_view_communicator(view, c, &communicator);
            es_run_world_rank(run, view, c, false, 1);
            es_run_world_rank(run, view, c, true, 1);
        }
    }
    es_selection_init(&all);
    count = es_run_select(run, &all, &elements);
    for (int i = 0; i < count; i++)
        use_element(elements[i]);
    free(elements);
}

/* Returns 1 if the run could be opened, else 0.  Listing reads all runs of the host,
 * those of other tests among them: it is called in one of LIST_ROUNDS rounds. */
static int open_and_use(const struct scene *scene)
{
    static int round;
    struct es_error error = {.text = ""};
    struct es_run_info *runs;
    struct es_run *run;

    if (round++ % LIST_ROUNDS == 0 && es_run_list(&runs) >= 0)
        free(runs);
    if (es_run_open(scene->id, &error, &run) != 0) {
        assert_true(error.text[0] != '\0');
        return 0;
    }
    use_run(run);
    es_run_refresh(run);
    es_run_close(run);
    return 1;
}

static void restore(const struct scene *scene)
{
    memcpy(esi_segment_layout(scene->segment), scene->kept, scene->bytes);
}

/* Returns an offset in the header, the directory or the table of communicators, where
 * damage has the most effect. */
static size_t choose_place(const struct scene *scene, uint64_t *random)
{
    const struct esi_segment_layout *layout = (const void *)scene->kept;
    uint64_t r = random_next(random);
    size_t within = (size_t)(random_next(random) % 65536);

    switch (r % 4) {
    case 0:
        return within % sizeof *layout;
    case 1:
        return within % 128; /* sizes and offsets */
    case 2:
        return layout->elements_offset +
               within % (3 * sizeof(struct esi_element_layout));
    default:
        return layout->communicators_offset +
               within % sizeof(struct esi_communicator_layout);
    }
}

static void changed_bytes_never_crash_a_reader(void **state)
{
    struct scene *scene = *state;
    uint64_t random = random_seed();
    int opened = 0;

    assert_int_equal(open_and_use(scene), 1);
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t *base = (uint8_t *)esi_segment_layout(scene->segment);
        uint64_t changes = 1 + random_next(&random) % 3;

        restore(scene);
        for (uint64_t j = 0; j < changes; j++)
            base[choose_place(scene, &random)] =
                (uint8_t)(random_next(&random) % 3 == 0 ? 0xff : random_next(&random));
        opened += open_and_use(scene);
    }
    restore(scene);
    printf("# %d of %d could be opened all the same\n", opened, ROUNDS);
    assert_in_range(opened, 1, ROUNDS - 1);
}

/* Sets each 64-bit word of the header and of the first directory entry to
 * extreme values in turn. */
static void extreme_numbers_never_crash_a_reader(void **state)
{
    static const uint64_t values[] = {
        0,
        1,
        UINT64_MAX,
        UINT64_MAX - 7,
        UINT64_C(1) << 63,
        UINT64_C(0xffffffff00000000),
        UINT64_C(0x00000000ffffffff),
        UINT64_C(0x7fffffff7fffffff),
        4096,
    };
    struct scene *scene = *state;
    const struct esi_segment_layout *layout = (const void *)scene->kept;
    size_t ends[] = {sizeof *layout,
                     layout->elements_offset + sizeof(struct esi_element_layout)};
    size_t begins[] = {0, layout->elements_offset};

    for (int part = 0; part < 2; part++)
        for (size_t at = begins[part]; at + 8 <= ends[part]; at += 8)
            for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
                restore(scene);
                memcpy((char *)esi_segment_layout(scene->segment) + at, &values[i], 8);
                open_and_use(scene);
            }
    restore(scene);
}

static void cut_files_never_crash_a_reader(void **state)
{
    struct scene *scene = *state;
    uint64_t random = random_seed();
    int fd = shm_open(scene->file, O_RDWR, 0);
    int opened = 0;

    assert_true(fd >= 0);
    for (int i = 0; i < 300; i++) {
        /* Truncating loses the rest of the file, so it is written again each time. */
        size_t length = (size_t)(random_next(&random) % scene->bytes);

        if (i < 5)
            length = (size_t)i * 100;
        assert_int_equal(ftruncate(fd, (off_t)length), 0);
        opened += open_and_use(scene);
        assert_int_equal(ftruncate(fd, (off_t)scene->bytes), 0);
        assert_int_equal(pwrite(fd, scene->kept, scene->bytes, 0),
                         (ssize_t)scene->bytes);
    }
    close(fd);
    printf("# %d of 300 could be opened all the same\n", opened);
    assert_in_range(opened, 1, 299);
}

static void a_file_cut_while_attached_reads_as_zeros_after_refresh(void **state)
{
    struct scene *scene = *state;
    struct es_element_view *element;
    struct es_tuple tuple;
    uint64_t position;
    struct es_run *run = fixture_open(scene->id);
    int fd = shm_open(scene->file, O_RDWR, 0);

    element = fixture_find(run, "0.2/test");
    assert_int_equal(es_element_latest(element, &tuple, &position), 1);
    assert_int_equal(ftruncate(fd, 4096), 0);
    assert_int_equal(es_run_refresh(run), 0);
    assert_int_equal(es_element_latest(element, &tuple, &position), 0);
    use_run(run);
    es_run_close(run);
    assert_int_equal(ftruncate(fd, (off_t)scene->bytes), 0);
    close(fd);
}

SUITE(test_hostile)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_bytes_never_crash_a_reader),
        cmocka_unit_test(extreme_numbers_never_crash_a_reader),
        cmocka_unit_test(cut_files_never_crash_a_reader),
        cmocka_unit_test(a_file_cut_while_attached_reads_as_zeros_after_refresh),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
