/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Run directories: where they lie, whom they trust, how they go. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tuplespace/run_directory.h"

static char top[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(top, "/tmp/eventspace-test-XXXXXX");
    if (!mkdtemp(top))
        return -1;
    unsetenv("EVENTSPACE_DIR");
    setenv("XDG_RUNTIME_DIR", top, 1);
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

static void the_base_follows_the_environment(void **state)
{
    char path[ES_RUN_PATH_BYTES], expected[128];
    struct es_error error = {.text = ""};

    (void)state;
    snprintf(expected, sizeof expected, "%s/eventspace", top);
    assert_int_equal(es_run_directory_base(NULL, path), 0);
    assert_string_equal(path, expected);
    setenv("EVENTSPACE_DIR", "/somewhere/else", 1);
    assert_int_equal(es_run_directory_base(NULL, path), 0);
    assert_string_equal(path, "/somewhere/else");
    setenv("EVENTSPACE_DIR", "not/absolute", 1);
    assert_int_equal(es_run_directory_base(&error, path), -EINVAL);
    assert_string_equal(error.source, "EVENTSPACE_DIR");
    unsetenv("EVENTSPACE_DIR");
    unsetenv("XDG_RUNTIME_DIR");
    snprintf(expected, sizeof expected, "/tmp/eventspace-%u", (unsigned)geteuid());
    assert_int_equal(es_run_directory_base(NULL, path), 0);
    assert_string_equal(path, expected);
}

static void a_run_gets_a_private_directory(void **state)
{
    char path[ES_RUN_PATH_BYTES], again[ES_RUN_PATH_BYTES];
    struct stat status;

    (void)state;
    assert_int_equal(es_run_directory_create("r1", NULL, path), 0);
    assert_int_equal(es_run_directory_path("r1", NULL, NULL, again), 0);
    assert_string_equal(path, again);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(es_run_directory_create("r1", NULL, path), -EEXIST);
    assert_int_equal(es_run_directory_path("r1", "run.json", NULL, again), 0);
    assert_memory_equal(again, path, strlen(path));
    assert_string_equal(again + strlen(path), "/run.json");
}

static void ids_that_could_leave_the_base_are_refused(void **state)
{
    static const char *const ids[] = {"", ".", "..", "a/b", "../x", "a b", "a.b"};
    char path[ES_RUN_PATH_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_int_equal(es_run_directory_path(ids[i], NULL, NULL, path), -EINVAL);
        assert_int_equal(es_run_directory_create(ids[i], NULL, path), -EINVAL);
        assert_int_equal(es_run_directory_remove(ids[i], NULL), -EINVAL);
    }
}

static void a_base_that_others_may_write_to_is_refused(void **state)
{
    char base[128], path[ES_RUN_PATH_BYTES];
    struct es_error error = {.text = ""};

    (void)state;
    snprintf(base, sizeof base, "%s/eventspace", top);
    assert_int_equal(mkdir(base, 0700), 0);
    assert_int_equal(chmod(base, 0777), 0);
    assert_int_equal(es_run_directory_create("r1", &error, path), -EPERM);
    assert_non_null(strstr(error.text, "others may write"));
}

static void a_base_that_is_a_link_is_refused(void **state)
{
    char base[128], path[ES_RUN_PATH_BYTES];

    (void)state;
    snprintf(base, sizeof base, "%s/eventspace", top);
    assert_int_equal(symlink("/tmp", base), 0);
    assert_int_equal(es_run_directory_create("r1", NULL, path), -ENOTDIR);
}

static void a_base_of_somebody_else_is_refused(void **state)
{
    char base[128], path[ES_RUN_PATH_BYTES];

    (void)state;
    snprintf(base, sizeof base, "%s/eventspace", top);
    assert_int_equal(mkdir(base, 0700), 0);
    if (chown(base, 12345, 12345) != 0)
        skip(); /* Only root can give a directory away. */
    assert_int_equal(es_run_directory_create("r1", NULL, path), -EPERM);
}

static void runs_are_listed_and_removed_with_their_files(void **state)
{
    char path[ES_RUN_PATH_BYTES];
    char(*runs)[64];
    int fd;

    (void)state;
    assert_int_equal(es_run_directory_list(NULL, &runs), 0);
    free(runs);
    assert_int_equal(es_run_directory_create("b", NULL, path), 0);
    assert_int_equal(es_run_directory_create("a", NULL, path), 0);
    assert_int_equal(es_run_directory_path("a", "map.json", NULL, path), 0);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(es_run_directory_list(NULL, &runs), 2);
    assert_string_equal(runs[0], "a");
    assert_string_equal(runs[1], "b");
    free(runs);
    assert_int_equal(es_run_directory_remove("a", NULL), 0);
    assert_int_equal(es_run_directory_remove("a", NULL), -ENOENT);
    assert_int_equal(es_run_directory_list(NULL, &runs), 1);
    free(runs);
}

static void a_removal_follows_no_link(void **state)
{
    char path[ES_RUN_PATH_BYTES], victim[128], file[160];
    int fd;

    (void)state;
    snprintf(victim, sizeof victim, "%s/victim", top);
    snprintf(file, sizeof file, "%s/precious", victim);
    assert_int_equal(mkdir(victim, 0700), 0);
    fd = open(file, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(es_run_directory_create("r0", NULL, path), 0);
    assert_int_equal(es_run_directory_path("r1", NULL, NULL, path), 0);
    assert_int_equal(symlink(victim, path), 0);
    assert_true(es_run_directory_remove("r1", NULL) < 0);
    assert_int_equal(access(file, F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_base_follows_the_environment),
        TEST(a_run_gets_a_private_directory),
        TEST(ids_that_could_leave_the_base_are_refused),
        TEST(a_base_that_others_may_write_to_is_refused),
        TEST(a_base_that_is_a_link_is_refused),
        TEST(a_base_of_somebody_else_is_refused),
        TEST(runs_are_listed_and_removed_with_their_files),
        TEST(a_removal_follows_no_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
