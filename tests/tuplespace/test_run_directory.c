/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Run directories: their location, whom they trust, and their removal. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/suites.h"
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
    assert_int_equal(esi_run_directory_base(NULL, path), 0);
    assert_string_equal(path, expected);
    setenv("EVENTSPACE_DIR", "/somewhere/else", 1);
    assert_int_equal(esi_run_directory_base(NULL, path), 0);
    assert_string_equal(path, "/somewhere/else");
    setenv("EVENTSPACE_DIR", "not/absolute", 1);
    assert_int_equal(esi_run_directory_base(&error, path), -EINVAL);
    assert_string_equal(error.source, "EVENTSPACE_DIR");
    unsetenv("EVENTSPACE_DIR");
    unsetenv("XDG_RUNTIME_DIR");
    snprintf(expected, sizeof expected, "/tmp/eventspace-%u", (unsigned)geteuid());
    assert_int_equal(esi_run_directory_base(NULL, path), 0);
    assert_string_equal(path, expected);
}

static void a_run_gets_a_private_directory(void **state)
{
    char path[ES_RUN_PATH_BYTES], again[ES_RUN_PATH_BYTES];
    struct stat status;

    (void)state;
    assert_int_equal(esi_run_directory_create("r1", NULL, path), 0);
    assert_int_equal(esi_run_directory_path("r1", NULL, NULL, again), 0);
    assert_string_equal(path, again);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(esi_run_directory_create("r1", NULL, path), -EEXIST);
    assert_int_equal(esi_run_directory_path("r1", "run.json", NULL, again), 0);
    assert_memory_equal(again, path, strlen(path));
    assert_string_equal(again + strlen(path), "/run.json");
}

static void ids_that_could_leave_the_base_are_refused(void **state)
{
    static const char *const ids[] = {"",    ".",    "..", "a/b", "../x",
                                      "a b", "a..b", ".a", "a."};
    char path[ES_RUN_PATH_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_int_equal(esi_run_directory_path(ids[i], NULL, NULL, path), -EINVAL);
        assert_int_equal(esi_run_directory_create(ids[i], NULL, path), -EINVAL);
        assert_int_equal(esi_run_directory_remove(ids[i], NULL), -EINVAL);
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
    assert_int_equal(esi_run_directory_create("r1", &error, path), -EPERM);
    assert_non_null(strstr(error.text, "others may write"));
}

static void a_base_that_is_a_link_is_refused(void **state)
{
    char base[128], path[ES_RUN_PATH_BYTES];

    (void)state;
    snprintf(base, sizeof base, "%s/eventspace", top);
    assert_int_equal(symlink("/tmp", base), 0);
    assert_int_equal(esi_run_directory_create("r1", NULL, path), -ENOTDIR);
}

static void a_base_of_somebody_else_is_refused(void **state)
{
    char base[128], path[ES_RUN_PATH_BYTES];

    (void)state;
    snprintf(base, sizeof base, "%s/eventspace", top);
    assert_int_equal(mkdir(base, 0700), 0);
    if (chown(base, 12345, 12345) != 0)
        skip(); /* Only root can give a directory away. */
    assert_int_equal(esi_run_directory_create("r1", NULL, path), -EPERM);
}

static void every_use_of_a_bad_base_is_refused(void **state)
{
    char base[128], path[ES_RUN_PATH_BYTES], *text;
    char(*runs)[64];
    size_t length;

    (void)state;
    snprintf(base, sizeof base, "%s/eventspace", top);
    assert_int_equal(esi_run_directory_create("r1", NULL, path), 0);
    assert_int_equal(esi_run_file_replace("r1", "run.json", "{}", 2, NULL), 0);
    assert_int_equal(chmod(base, 0770), 0);
    assert_int_equal(esi_run_directory_check("r1", NULL), -EPERM);
    assert_int_equal(esi_run_directory_list(NULL, &runs), -EPERM);
    assert_int_equal(esi_run_directory_open("r1", NULL), -EPERM);
    assert_int_equal(esi_run_directory_remove("r1", NULL), -EPERM);
    assert_int_equal(esi_run_file_read("r1", "run.json", NULL, &text, &length), -EPERM);
    assert_int_equal(esi_run_file_open("r1", "lock", O_RDWR | O_CREAT, NULL), -EPERM);
    assert_int_equal(esi_run_file_replace("r1", "run.json", "[]", 2, NULL), -EPERM);
    assert_int_equal(esi_run_file_remove("r1", "run.json"), -EPERM);
    assert_int_equal(chmod(base, 0700), 0);
    assert_int_equal(esi_run_file_read("r1", "run.json", NULL, &text, &length), 0);
    assert_string_equal(text, "{}");
    free(text);
}

static void a_slash_behind_a_link_does_not_hide_it(void **state)
{
    char chosen[128], path[ES_RUN_PATH_BYTES];

    (void)state;
    snprintf(chosen, sizeof chosen, "%s/real", top);
    assert_int_equal(mkdir(chosen, 0700), 0);
    snprintf(chosen, sizeof chosen, "%s/link/", top);
    setenv("EVENTSPACE_DIR", chosen, 1);
    chosen[strlen(chosen) - 1] = '\0';
    assert_int_equal(symlink("real", chosen), 0);
    assert_int_equal(esi_run_directory_create("r1", NULL, path), -ENOTDIR);
}

static void the_umask_takes_and_leaves_nothing(void **state)
{
    static const mode_t umasks[] = {0, 0777};
    char path[ES_RUN_PATH_BYTES], run[8];
    struct stat status;

    (void)state;
    for (size_t i = 0; i < sizeof umasks / sizeof umasks[0]; i++) {
        mode_t before = umask(umasks[i]);

        snprintf(run, sizeof run, "r%zu", i);
        assert_int_equal(esi_run_directory_create(run, NULL, path), 0);
        assert_int_equal(esi_run_file_replace(run, "run.json", "{}", 2, NULL), 0);
        close(esi_run_file_open(run, "lock", O_RDWR | O_CREAT, NULL));
        umask(before);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0700);
        esi_run_directory_path(run, "run.json", NULL, path);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
        esi_run_directory_path(run, "lock", NULL, path);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
        assert_int_equal(esi_run_directory_remove(run, NULL), 0);
    }
}

static void put_file(const char *run, const char *file)
{
    char path[ES_RUN_PATH_BYTES];

    assert_int_equal(esi_run_directory_path(run, file, NULL, path), 0);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool has_file(const char *run, const char *file)
{
    char path[ES_RUN_PATH_BYTES];

    assert_int_equal(esi_run_directory_path(run, file, NULL, path), 0);
    return access(path, F_OK) == 0;
}

static void a_folder_without_our_mark_is_no_run(void **state)
{
    static const char *const marks[] = {NULL, "", "eventspace-run 1 other\n",
                                        "eventspace-run 1 src"};
    char path[ES_RUN_PATH_BYTES], made[ES_RUN_PATH_BYTES];
    char(*runs)[64];

    (void)state;
    assert_int_equal(esi_run_directory_create("r1", NULL, made), 0);
    esi_run_directory_path("src", NULL, NULL, path);
    assert_int_equal(mkdir(path, 0700), 0);
    put_file("src", "main.c");
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        struct es_error error = {.text = ""};

        if (marks[i]) {
            esi_run_directory_path("src", ES_RUN_MARK, NULL, path);
            FILE *mark = fopen(path, "w");
            assert_true(mark && fputs(marks[i], mark) >= 0 && fclose(mark) == 0);
        }
        assert_int_equal(esi_run_directory_remove("src", &error), -EPERM);
        assert_non_null(strstr(error.text, "is not a run directory"));
        assert_int_equal(esi_run_directory_create("src", NULL, made), -EPERM);
        assert_int_equal(esi_run_file_open("src", "lock", O_RDWR | O_CREAT, NULL),
                         -EPERM);
        assert_true(has_file("src", "main.c"));
        assert_int_equal(esi_run_directory_list(NULL, &runs), 1);
        assert_string_equal(runs[0], "r1");
        free(runs);
    }
}

/* A directory or a link with the name of one of our files counts as foreign, too. */
static void a_foreign_file_keeps_all_the_others(void **state)
{
    static const char *const foreign[] = {"main.c", "key.bak", "run.json.x.new"};
    char path[ES_RUN_PATH_BYTES];
    struct es_error error = {.text = ""};

    (void)state;
    assert_int_equal(esi_run_directory_create("r1", NULL, path), 0);
    put_file("r1", "run.json");
    put_file("r1", "key.123.new");
    put_file("r1", "server.node-7.json");
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        put_file("r1", foreign[i]);
        es_error_clear(&error);
        assert_int_equal(esi_run_directory_check("r1", &error), -ENOTEMPTY);
        assert_int_equal(esi_run_directory_remove("r1", NULL), -ENOTEMPTY);
        assert_non_null(strstr(error.text, foreign[i]));
        assert_true(has_file("r1", "run.json") && has_file("r1", "key.123.new"));
        esi_run_directory_path("r1", foreign[i], NULL, path);
        assert_int_equal(unlink(path), 0);
    }
    esi_run_directory_path("r1", "key", NULL, path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(esi_run_directory_remove("r1", NULL), -ENOTEMPTY);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("run.json", path), 0);
    assert_int_equal(esi_run_directory_remove("r1", NULL), -ENOTEMPTY);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(esi_run_directory_check("r1", NULL), 0);
    assert_true(has_file("r1", "run.json"));
    assert_int_equal(esi_run_directory_remove("r1", NULL), 0);
}

static void only_regular_files_of_ours_are_opened(void **state)
{
    char path[ES_RUN_PATH_BYTES], *text;
    size_t length;

    (void)state;
    assert_int_equal(esi_run_directory_create("r1", NULL, path), 0);
    put_file("r1", "run.json");
    esi_run_directory_path("r1", "server.json", NULL, path);
    for (int i = 0; i < 4; i++) {
        struct es_error error = {.text = ""};
        const char *const words[] = {"is a pipe", "is a link", "is a directory",
                                     "belongs to user 12345"};

        if (i == 0)
            assert_int_equal(mkfifo(path, 0600), 0);
        else if (i == 1)
            assert_int_equal(symlink("run.json", path), 0);
        else if (i == 2)
            assert_int_equal(mkdir(path, 0700), 0);
        else
            put_file("r1", "server.json");
        if (i == 3 && chown(path, 12345, 12345) != 0)
            break; /* Only root can give a file away. */
        assert_int_equal(esi_run_file_read("r1", "server.json", &error, &text, &length),
                         -EPERM);
        assert_non_null(strstr(error.text, words[i]));
        assert_string_equal(error.source, path);
        assert_int_equal(esi_run_file_open("r1", "server.json", O_RDWR | O_CREAT, NULL),
                         -EPERM);
        assert_int_equal(i == 2 ? rmdir(path) : unlink(path), 0);
    }
}

static void a_folder_has_one_number_before_and_after_it_is_made(void **state)
{
    char chosen[128], path[ES_RUN_PATH_BYTES];
    uint64_t before = esi_run_directory_folder();

    (void)state;
    assert_true(before != 0);
    assert_int_equal(esi_run_directory_create("r1", NULL, path), 0);
    assert_true(esi_run_directory_folder() == before);
    snprintf(chosen, sizeof chosen, "%s/way", top);
    assert_int_equal(symlink(top, chosen), 0);
    snprintf(chosen, sizeof chosen, "%s/way/eventspace//", top);
    setenv("EVENTSPACE_DIR", chosen, 1);
    assert_true(esi_run_directory_folder() == before);
    snprintf(chosen, sizeof chosen, "%s/other", top);
    setenv("EVENTSPACE_DIR", chosen, 1);
    assert_true(esi_run_directory_folder() != before);
    setenv("EVENTSPACE_DIR", "not/absolute", 1);
    assert_true(esi_run_directory_folder() == 0);
}

static void runs_are_listed_and_removed_with_their_files(void **state)
{
    char path[ES_RUN_PATH_BYTES];
    char(*runs)[64];
    int fd;

    (void)state;
    assert_int_equal(esi_run_directory_list(NULL, &runs), 0);
    free(runs);
    assert_int_equal(esi_run_directory_create("b", NULL, path), 0);
    assert_int_equal(esi_run_directory_create("a", NULL, path), 0);
    assert_int_equal(esi_run_directory_path("a", "map.json", NULL, path), 0);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(esi_run_directory_list(NULL, &runs), 2);
    assert_string_equal(runs[0], "a");
    assert_string_equal(runs[1], "b");
    free(runs);
    assert_int_equal(esi_run_directory_remove("a", NULL), 0);
    assert_int_equal(esi_run_directory_remove("a", NULL), -ENOENT);
    assert_int_equal(esi_run_directory_list(NULL, &runs), 1);
    free(runs);
}

/* A tuple server that ends and `clean` may remove the same
 * directory at the same time. */
static void two_may_remove_a_run_at_a_time(void **state)
{
    enum { ROUNDS = 200 };

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        char path[ES_RUN_PATH_BYTES];
        int status, result;
        pid_t other;

        assert_int_equal(esi_run_directory_create("r0", NULL, path), 0);
        other = fork();
        assert_true(other >= 0);
        if (other == 0)
            _exit(-esi_run_directory_remove("r0", NULL));
        result = esi_run_directory_remove("r0", NULL);
        assert_true(result == 0 || result == -ENOENT);
        assert_int_equal(waitpid(other, &status, 0), other);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == ENOENT);
        assert_true(access(path, F_OK) != 0);
    }
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
    assert_int_equal(esi_run_directory_create("r0", NULL, path), 0);
    assert_int_equal(esi_run_directory_path("r1", NULL, NULL, path), 0);
    assert_int_equal(symlink(victim, path), 0);
    assert_true(esi_run_directory_remove("r1", NULL) < 0);
    assert_int_equal(access(file, F_OK), 0);
}

static void files_elsewhere_go_with_the_directory(void **state)
{
    char path[ES_RUN_PATH_BYTES], noted[2][160], other[160];
    size_t length;
    char *text;

    (void)state;
    snprintf(other, sizeof other, "%s/other", top);
    assert_int_equal(close(open(other, O_WRONLY | O_CREAT, 0600)), 0);
    assert_int_equal(esi_run_directory_note_outside("r0", other, NULL), -ENOENT);
    assert_int_equal(esi_run_directory_create("r0", NULL, path), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(noted[i], sizeof noted[i], "%s/other%d", top, i);
        assert_int_equal(close(open(noted[i], O_WRONLY | O_CREAT, 0600)), 0);
        for (int times = 0; times < 2; times++)
            assert_int_equal(esi_run_directory_note_outside("r0", noted[i], NULL), 0);
    }
    /* Each file is noted once. */
    assert_int_equal(esi_run_file_read("r0", "outside", NULL, &text, &length), 0);
    assert_int_equal(length, strlen(noted[0]) + strlen(noted[1]) + 2);
    free(text);
    assert_int_equal(esi_run_directory_note_outside("r0", "/a\nb", NULL), -EINVAL);
    assert_int_equal(esi_run_directory_check("r0", NULL), 0);
    assert_int_equal(access(noted[0], F_OK), 0);
    /* A noted file that is already gone is no error. */
    assert_int_equal(unlink(noted[0]), 0);
    assert_int_equal(esi_run_directory_remove("r0", NULL), 0);
    assert_true(access(noted[1], F_OK) < 0);
    assert_int_equal(access(other, F_OK), 0);
}

SUITE(test_run_directory)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(the_base_follows_the_environment),
        cmocka_unit_test(a_run_gets_a_private_directory),
        cmocka_unit_test(ids_that_could_leave_the_base_are_refused),
        cmocka_unit_test(a_base_that_others_may_write_to_is_refused),
        cmocka_unit_test(a_base_that_is_a_link_is_refused),
        cmocka_unit_test(a_base_of_somebody_else_is_refused),
        cmocka_unit_test(every_use_of_a_bad_base_is_refused),
        cmocka_unit_test(a_slash_behind_a_link_does_not_hide_it),
        cmocka_unit_test(the_umask_takes_and_leaves_nothing),
        cmocka_unit_test(a_folder_without_our_mark_is_no_run),
        cmocka_unit_test(a_foreign_file_keeps_all_the_others),
        cmocka_unit_test(only_regular_files_of_ours_are_opened),
        cmocka_unit_test(a_folder_has_one_number_before_and_after_it_is_made),
        cmocka_unit_test(runs_are_listed_and_removed_with_their_files),
        cmocka_unit_test(two_may_remove_a_run_at_a_time),
        cmocka_unit_test(a_removal_follows_no_link),
        cmocka_unit_test(files_elsewhere_go_with_the_directory),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
