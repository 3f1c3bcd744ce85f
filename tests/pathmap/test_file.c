/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of maps in files, which are written completely or not at all. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/file.h"
#include "pathmap/pathmap.h"
#include "tests/suites.h"
#include "tests/text_file.h"

static char folder[] = "/tmp/eventspace-test-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int is_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Number of files in the folder. */
static int count_files(void)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_entry, alphasort);

    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return count;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("map.json"));
    unlink(in_folder("big"));
    return rmdir(folder);
}

static struct esi_pathmap *make_map(void)
{
    struct esi_pathmap_request request = {
        .ranks = 2, .synthetic = "pu:2", .local_name = "here"};
    struct esi_pathmap *map;

    assert_int_equal(esi_pathmap_generate(&request, NULL, &map), 0);
    return map;
}

/* Saves a map there. */
static int save(const char *path, struct es_error *error)
{
    struct esi_pathmap *map = make_map();
    int code = esi_pathmap_save(map, path, error);

    esi_pathmap_destroy(map);
    return code;
}

static void a_saved_map_is_loaded_again(void **state)
{
    struct esi_pathmap *map = make_map(), *again;
    char *text, *text_again;

    (void)state;
    assert_int_equal(esi_pathmap_save(map, in_folder("map.json"), NULL), 0);
    assert_int_equal(esi_pathmap_save(map, in_folder("map.json"), NULL), 0);
    assert_int_equal(count_files(), 1);
    assert_int_equal(esi_pathmap_load(in_folder("map.json"), NULL, &again), 0);
    assert_int_equal(esi_pathmap_format(map, &text), 0);
    assert_int_equal(esi_pathmap_format(again, &text_again), 0);
    assert_string_equal(text_again, text);
    free(text_again);
    free(text);
    esi_pathmap_destroy(again);
    esi_pathmap_destroy(map);
}

static void a_file_that_cannot_be_written_is_named(void **state)
{
    struct es_error error = {.text = ""};
    const char *path = in_folder("none/map.json");

    (void)state;
    assert_int_equal(save(path, &error), -ENOENT);
    assert_string_equal(error.source, path);
    assert_string_equal(error.text, "cannot be written: No such file or directory");
}

static void a_device_stays_a_device(void **state)
{
    struct stat found;

    (void)state;
    assert_int_equal(save("/dev/null", NULL), 0);
    assert_int_equal(stat("/dev/null", &found), 0);
    assert_true(S_ISCHR(found.st_mode));
}

static void a_full_device_is_told_and_leaves_nothing(void **state)
{
    struct es_error error = {.text = ""};

    (void)state;
    assert_int_equal(save("/dev/full", &error), -ENOSPC);
    assert_string_equal(error.text, "cannot be written: No space left on device");
}

static void a_folder_is_no_file(void **state)
{
    struct es_error error = {.text = ""};
    char *text;
    size_t length;

    (void)state;
    assert_int_equal(esi_file_read(folder, &error, &text, &length), -EISDIR);
    assert_string_equal(error.text, "cannot be read: Is a directory");
}

static void large_files_are_read_whole(void **state)
{
    const size_t size = 300001;
    char *text = calloc(1, size + 1), *read;
    size_t length;

    (void)state;
    memset(text, 'x', size);
    text_file_write(in_folder("big"), text);
    assert_int_equal(esi_file_read(in_folder("big"), NULL, &read, &length), 0);
    assert_int_equal(length, size);
    assert_memory_equal(read, text, size);
    assert_int_equal(read[size], 0);
    free(read);
    free(text);
}

SUITE(test_file)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_map_is_loaded_again),
        cmocka_unit_test(a_file_that_cannot_be_written_is_named),
        cmocka_unit_test(a_device_stays_a_device),
        cmocka_unit_test(a_full_device_is_told_and_leaves_nothing),
        cmocka_unit_test(a_folder_is_no_file),
        cmocka_unit_test(large_files_are_read_whole),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
