/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Event sets are written completely or not at all, with all traces in their header. */
#include "config.h"

#include "monitors/eventset/set_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/suites.h"

#define HEADER "{\"format\":\"eventspace-events\",\"version\":1,\"traces\":"
#define A1 "{\"trace\":0,\"index\":1,\"kind\":\"send\",\"type\":\"t\"}\n"
#define B1                                                                             \
    "{\"trace\":1,\"index\":1,\"kind\":\"receive\",\"partners\":[[0,1]],"              \
    "\"attributes\":{\"n\":\"-7\",\"t\":\"x\\\"\"}}\n"

static char folder[64];

static const char *own_path(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void expect_text(const char *path, const char *expected)
{
    char text[4096];
    FILE *stream = fopen(path, "re");
    size_t got;

    assert_non_null(stream);
    got = fread(text, 1, sizeof text - 1, stream);
    text[got] = '\0';
    fclose(stream);
    assert_string_equal(text, expected);
}

static int count_files(void)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, NULL);

    assert_true(count >= 2);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return count - 2;
}

static struct esi_set_write *open_path(const char *path)
{
    struct es_error error = {.text = ""};
    struct esi_set_write *write;

    if (esi_set_write_open(path, &error, &write) < 0)
        fail_msg("%s", error.text);
    return write;
}

static int give_trace(struct esi_set_write *write, uint32_t trace)
{
    struct es_set_sink sink = esi_set_write_sink(write);
    char name[] = {(char)('A' + (int)trace), '\0'};

    return sink.trace(sink.data, trace, name);
}

static int give_event(struct esi_set_write *write, uint32_t trace, uint32_t index)
{
    static const struct es_event_id partner = {0, 1};
    static const struct es_event_attribute attributes[] = {
        {.name = "n", .number = -7}, {.name = "t", .text = "x\""}};
    struct es_set_sink sink = esi_set_write_sink(write);
    struct es_set_event event = {
        .id = {trace, index},
        .kind = trace ? ES_EVENT_RECEIVE : ES_EVENT_SEND,
        .partners = &partner,
        .partner_count = 1,
        .type = trace ? "" : "t",
        .text = "",
        .attributes = attributes,
        .attribute_count = trace ? 2 : 0,
    };

    return sink.event(sink.data, &event);
}

static void traces_may_be_told_late(void **state)
{
    struct esi_set_write *write = open_path(own_path("set"));

    (void)state;
    assert_int_equal(give_trace(write, 0), 0);
    assert_int_equal(give_event(write, 0, 1), 0);
    assert_int_equal(give_trace(write, 1), 0);
    assert_int_equal(give_event(write, 1, 1), 0);
    assert_int_equal(give_trace(write, 2), 0);
    assert_int_equal(esi_set_write_close(write, NULL), 0);
    expect_text(own_path("set"), HEADER "[\"A\",\"B\",\"C\"]}\n" A1 B1);
    assert_int_equal(count_files(), 1);
    unlink(own_path("set"));
}

static void a_file_keeps_its_place_until_the_new_one_is_whole(void **state)
{
    struct esi_set_write *write;
    int file = open(own_path("set"), O_CREAT | O_WRONLY, 0644);

    (void)state;
    assert_int_equal(dprintf(file, "before"), 6);
    close(file);
    write = open_path(own_path("set"));
    assert_int_equal(give_trace(write, 0), 0);
    assert_int_equal(give_event(write, 0, 1), 0);
    expect_text(own_path("set"), "before");
    esi_set_write_destroy(write);
    expect_text(own_path("set"), "before");
    assert_int_equal(count_files(), 1);
    write = open_path(own_path("set"));
    assert_int_equal(esi_set_write_close(write, NULL), 0);
    expect_text(own_path("set"), HEADER "[]}\n");
    unlink(own_path("set"));
}

static void a_link_stays_a_link(void **state)
{
    char target[128];
    struct esi_set_write *write;
    struct stat status;

    (void)state;
    snprintf(target, sizeof target, "%s", own_path("target"));
    close(open(target, O_CREAT | O_WRONLY, 0644));
    assert_int_equal(symlink(target, own_path("link")), 0);
    write = open_path(own_path("link"));
    assert_int_equal(esi_set_write_close(write, NULL), 0);
    assert_int_equal(lstat(own_path("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    expect_text(target, HEADER "[]}\n");
    unlink(own_path("link"));
    unlink(target);
}

static void read_pipe(int pipe, char *out, size_t size)
{
    ssize_t got = read(pipe, out, size - 1);

    assert_true(got >= 0 || errno == EAGAIN);
    out[got > 0 ? got : 0] = '\0';
}

static void a_pipe_gets_all_in_the_end(void **state)
{
    struct esi_set_write *write;
    char text[1024];
    int pipe;

    (void)state;
    assert_int_equal(mkfifo(own_path("pipe"), 0600), 0);
    pipe = open(own_path("pipe"), O_RDONLY | O_NONBLOCK);
    write = open_path(own_path("pipe"));
    assert_int_equal(give_trace(write, 0), 0);
    assert_int_equal(give_event(write, 0, 1), 0);
    assert_int_equal(give_trace(write, 1), 0);
    assert_int_equal(give_event(write, 1, 1), 0);
    read_pipe(pipe, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(esi_set_write_close(write, NULL), 0);
    read_pipe(pipe, text, sizeof text);
    assert_string_equal(text, HEADER "[\"A\",\"B\"]}\n" A1 B1);
    close(pipe);
    unlink(own_path("pipe"));
}

static void a_pipe_gets_events_at_once_when_all_traces_are_told(void **state)
{
    struct esi_set_write *write;
    char text[1024];
    int pipe;

    (void)state;
    assert_int_equal(mkfifo(own_path("pipe"), 0600), 0);
    pipe = open(own_path("pipe"), O_RDONLY | O_NONBLOCK);
    write = open_path(own_path("pipe"));
    assert_int_equal(give_trace(write, 0), 0);
    assert_int_equal(give_trace(write, 1), 0);
    esi_set_write_traces_told(write);
    assert_int_equal(give_trace(write, 2), -EINVAL);
    assert_int_equal(give_event(write, 0, 1), 0);
    for (uint32_t index = 1; index < 200; index++)
        assert_int_equal(give_event(write, 1, index), 0);
    read_pipe(pipe, text, sizeof HEADER + sizeof "[\"A\",\"B\"]}\n" - 1);
    assert_string_equal(text, HEADER "[\"A\",\"B\"]}\n");
    assert_int_equal(esi_set_write_close(write, NULL), 0);
    close(pipe);
    unlink(own_path("pipe"));
}

static void a_full_disk_is_an_error(void **state)
{
    struct esi_set_write *write;
    struct es_error error = {.text = ""};

    (void)state;
    if (access("/dev/full", W_OK) < 0)
        skip();
    write = open_path("/dev/full");
    assert_int_equal(esi_set_write_close(write, &error), -ENOSPC);
    assert_string_equal(error.source, "/dev/full");
    assert_string_equal(error.text, "cannot be written: No space left on device");
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    struct esi_set_write *write;
    struct es_error error = {.text = ""};

    (void)state;
    assert_int_equal(esi_set_write_open(own_path("no/set"), &error, &write), -ENOENT);
    assert_string_equal(error.text, "cannot be written: No such file or directory");
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/eventspace-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if it is not empty */
}

SUITE(test_set_write)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_may_be_told_late),
        cmocka_unit_test(a_file_keeps_its_place_until_the_new_one_is_whole),
        cmocka_unit_test(a_link_stays_a_link),
        cmocka_unit_test(a_pipe_gets_all_in_the_end),
        cmocka_unit_test(a_pipe_gets_events_at_once_when_all_traces_are_told),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
