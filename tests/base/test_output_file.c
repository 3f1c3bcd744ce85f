/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What is replaced by a file that is written, and what is not. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/output_file.h"
#include "tests/suites.h"

#define OTHER_USER 54321

static char folder[] = "/tmp/eventspace-output.XXXXXX";
static char target[64]; /* what is written */
static char other[64];  /* what a link leads to */

typedef int open_fn(const char *path,
                    struct es_error *error,
                    struct esi_output_file **ret_file);

static void create(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void assert_holds(const char *path, const char *text)
{
    char found[64] = "";
    int fd = open(path, O_RDONLY | O_NONBLOCK);

    assert_true(fd >= 0);
    assert_true(read(fd, found, sizeof found - 1) >= 0);
    close(fd);
    assert_string_equal(found, text);
}

static int write_new(open_fn *open_file, struct es_error *error)
{
    struct esi_output_file *file;
    int code = open_file(target, error, &file);

    if (code < 0)
        return code;
    fputs("new", esi_output_file_stream(file));
    return esi_output_file_close(file, error);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(target, sizeof target, "%s/target", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    return 0;
}

/* Fails if more than these two files are left. */
static int remove_folder(void **state)
{
    (void)state;
    unlink(target);
    unlink(other);
    return rmdir(folder);
}

static void a_link_named_by_the_user_is_followed(void **state)
{
    (void)state;
    create(other, "old");
    assert_int_equal(symlink(other, target), 0);
    assert_int_equal(write_new(esi_output_file_open, NULL), 0);
    assert_holds(other, "new");
}

static void an_own_file_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(write_new(esi_output_file_open_own, NULL), 0);
    assert_holds(target, "new");
    create(target, "old");
    assert_int_equal(link(target, other), 0);
    assert_int_equal(write_new(esi_output_file_open_own, NULL), 0);
    assert_holds(target, "new");
    assert_holds(other, "old");
}

static void a_link_is_not_followed(void **state)
{
    struct es_error error = {.text = ""};

    (void)state;
    create(other, "old");
    assert_int_equal(symlink(other, target), 0);
    assert_int_equal(write_new(esi_output_file_open_own, &error), -EPERM);
    assert_string_equal(error.source, target);
    assert_non_null(strstr(error.text, "is a link"));
    assert_holds(other, "old");
    esi_file_remove_own(target);
    assert_int_equal(unlink(target), 0);
    assert_int_equal(symlink("nowhere", target), 0);
    assert_int_equal(write_new(esi_output_file_open_own, NULL), -EPERM);
}

static void a_link_that_comes_later_is_not_replaced(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_output_file *file;

    (void)state;
    create(other, "old");
    assert_int_equal(esi_output_file_open_own(target, NULL, &file), 0);
    assert_int_equal(symlink(other, target), 0);
    assert_int_equal(esi_output_file_close(file, &error), -EPERM);
    assert_non_null(strstr(error.text, "is a link"));
    assert_holds(other, "old");
}

static void a_pipe_is_not_waited_for(void **state)
{
    struct es_error error = {.text = ""};

    (void)state;
    assert_int_equal(mkfifo(target, 0600), 0);
    assert_int_equal(write_new(esi_output_file_open_own, &error), -EPERM);
    assert_non_null(strstr(error.text, "is a pipe"));
}

static void a_file_of_another_user_stays(void **state)
{
    (void)state;
    create(target, "old");
    if (chown(target, OTHER_USER, (gid_t)-1) != 0)
        skip(); /* not root */
    assert_int_equal(write_new(esi_output_file_open_own, NULL), -EPERM);
    esi_file_remove_own(target);
    assert_holds(target, "old");
}

SUITE(test_output_file)
{
#define IN_FOLDER(test)                                                                \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_link_named_by_the_user_is_followed),
        IN_FOLDER(an_own_file_is_replaced),
        IN_FOLDER(a_link_is_not_followed),
        IN_FOLDER(a_link_that_comes_later_is_not_replaced),
        IN_FOLDER(a_pipe_is_not_waited_for),
        IN_FOLDER(a_file_of_another_user_stays),
    };

    return cmocka_run_group_tests_name("output_file", tests, NULL, NULL);
}
