/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Too little shared memory leads to smaller thresholds and error codes, never to
 * SIGBUS.
 *
 * Each test is a process in its own mount namespace with a tiny /dev/shm, of which a
 * segment leaves 1 MiB free.
 */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/suites.h"

/* Used in the child, where cmocka's checks do not work.  Returns the line
 * number of a failed check. */
#define CHECK(condition)                                                               \
    do                                                                                 \
        if (!(condition))                                                              \
            return __LINE__;                                                           \
    while (0)

static bool enter_name_space(const char *size)
{
    char options[64];

    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return false;
    snprintf(options, sizeof options, "size=%s", size);
    return mount("tmpfs", "/dev/shm", "tmpfs", 0, options) == 0;
}

static void with_space(const char *size, int (*test)(void))
{
    int ends[2];
    int line = 0;
    int status;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        line = enter_name_space(size) ? test() : -1;
        _exit(write(ends[1], &line, sizeof line) == (ssize_t)sizeof line ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &line, sizeof line) != (ssize_t)sizeof line)
        line = 0;
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (line == -1) {
        printf("# no mount name space with a tmpfs of its own can be made here\n");
        skip();
    }
    if (status != 0 || line != 0)
        fail_msg("failed in line %d, wait status %#x", line, (unsigned)status);
}

static int fill_until_refused(void)
{
    struct es_segment *segment = fixture_segment("space", 0);
    struct esi_segment_layout *layout = esi_segment_layout(segment);
    struct esi_writer writers[64];
    int count = 0;
    int rc = 0;

    while (count < 64) {
        struct esi_element_config config = fixture_config("", 4095);
        char name[64];

        snprintf(name, sizeof name, "0.%d/test", count);
        config.name = name;
        rc = esi_segment_add_element(segment, &config, &writers[count]);
        if (rc != 0)
            break;
        /* All memory of the element is backed. */
        for (uint64_t i = 0; i < 10000; i++) {
            struct es_tuple tuple = fixture_tuple(i);

            esi_writer_write(&writers[count], &tuple);
        }
        count++;
    }
    CHECK(rc == -ENOSPC);
    CHECK(count > 4);
    CHECK(layout->element_count == (uint32_t)count);
    CHECK(layout->elements_refused == 1);
    CHECK(layout->elements_shrunk > 0);
    CHECK(writers[0].element->threshold == 4095);
    CHECK(writers[count - 1].element->threshold >= 15);
    CHECK(writers[count - 1].element->threshold < 4095);
    esi_segment_destroy(segment);
    return 0;
}

static void a_full_memory_shrinks_thresholds_then_refuses(void **state)
{
    (void)state;
    with_space("2m", fill_until_refused);
}

static int create_in_nothing(void)
{
    struct esi_segment_config config;
    struct es_segment *segment;
    struct es_error error = {.text = ""};

    esi_segment_config_init(&config);
    config.run = "space";
    config.host = "testhost";
    config.calibrate_ns = 0;
    CHECK(esi_segment_create(&config, &error, &segment) == -ENOSPC);
    CHECK(error.text[0] != '\0');
    /* Nothing is left behind. */
    CHECK(es_run_remove(NULL, true) == 0);
    return 0;
}

/* The tmpfs has one page, and a file occupies it. */
static int create_in_full_memory(void)
{
    FILE *file = fopen("/dev/shm/full", "w");

    CHECK(file);
    for (int i = 0; i < 4096; i++)
        fputc('x', file);
    CHECK(fclose(file) == 0);
    return create_in_nothing();
}

static void without_space_for_a_header_nothing_is_made(void **state)
{
    (void)state;
    with_space("4k", create_in_full_memory);
}

static int fill_communicators(void)
{
    static const int32_t ranks[] = {3, 1, 2};
    struct es_segment *segment = fixture_segment("space", 0);
    struct esi_communicator_config config = {.name = "x",
                                             .parent = ES_COMMUNICATOR_NONE,
                                             .group = ranks,
                                             .group_size = 3,
                                             .keep_list = true};
    uint16_t index;
    int rc = 0;
    int count = 0;

    while (count < 256 && rc == 0) {
        rc = esi_segment_add_communicator(segment, &config, &index);
        count += rc == 0;
    }
    CHECK(rc == -ENOSPC);
    CHECK(esi_segment_layout(segment)->communicators_refused == 1);
    CHECK(esi_segment_layout(segment)->communicator_count == (uint32_t)count);
    CHECK(count > 10);
    esi_segment_destroy(segment);
    return 0;
}

static void communicators_are_refused_when_memory_is_full(void **state)
{
    (void)state;
    /* Beside what stays free: the header, and two pages for the table or for lists. */
    with_space("1040k", fill_communicators);
}

/* Readers touch only existing pages, so they need no memory either. */
static int read_in_full_memory(void)
{
    struct es_segment *segment = fixture_segment("space", 0);
    struct es_communicator_info info;
    struct es_cursor cursor = {0};
    struct esi_writer writer;
    struct es_tuple tuple = fixture_tuple(0);
    struct es_run *run;
    FILE *file;

    fixture_element(segment, "0.0/test", 15, &writer);
    esi_writer_write(&writer, &tuple);
    file = fopen("/dev/shm/full", "w");
    CHECK(file);
    while (fputc('x', file) != EOF)
        ;
    fclose(file);
    run = fixture_open("space");
    CHECK(es_element_read(fixture_find(run, "0.0/test"), &cursor, &tuple, 1) == 1);
    CHECK(es_element_open(fixture_find(run, "0.0/test"), &tuple) == 0);
    CHECK(es_segment_view_communicator(es_run_segment(run, 0), 0, &info) == -ENOENT);
    es_run_close(run);
    esi_segment_destroy(segment);
    return 0;
}

static void readers_need_no_memory(void **state)
{
    (void)state;
    with_space("2m", read_in_full_memory);
}

SUITE(test_space)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_memory_shrinks_thresholds_then_refuses),
        cmocka_unit_test(without_space_for_a_header_nothing_is_made),
        cmocka_unit_test(communicators_are_refused_when_memory_is_full),
        cmocka_unit_test(readers_need_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
