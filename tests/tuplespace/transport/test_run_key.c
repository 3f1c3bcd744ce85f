/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The run's key is read only from a file that is closed to other users. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/suites.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/transport/run_key.h"

static char top[64];
static char path[ES_RUN_PATH_BYTES];

static int set_up(void **state)
{
    (void)state;
    strcpy(top, "/tmp/eventspace-test-XXXXXX");
    if (!mkdtemp(top) || setenv("EVENTSPACE_DIR", top, 1) != 0 ||
        esi_run_directory_create("r", NULL, path) != 0)
        return -1;
    return esi_run_directory_path("r", "key", NULL, path);
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

static void write_file(const char *text)
{
    FILE *stream = fopen(path, "w");

    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void keys_differ(void **state)
{
    struct esi_run_key a, b;

    (void)state;
    assert_int_equal(esi_run_key_make(&a), 0);
    assert_int_equal(esi_run_key_make(&b), 0);
    assert_memory_not_equal(a.bytes, b.bytes, ES_RUN_KEY_BYTES);
}

static void text_and_key_are_the_same(void **state)
{
    static const char text[] =
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    char again[ES_RUN_KEY_TEXT_BYTES], upper[sizeof text];
    struct esi_run_key key, untouched;

    (void)state;
    assert_int_equal(esi_run_key_parse(text, &key), 0);
    assert_int_equal(key.bytes[1], 0x11);
    assert_int_equal(key.bytes[31], 0xff);
    esi_run_key_format(&key, again);
    assert_string_equal(again, text);
    untouched = key;
    assert_int_equal(esi_run_key_parse("", &key), -EINVAL);
    assert_int_equal(esi_run_key_parse(text + 1, &key), -EINVAL);
    strcpy(upper, text);
    upper[5] = 'g';
    assert_int_equal(esi_run_key_parse(upper, &key), -EINVAL);
    assert_memory_equal(&key, &untouched, sizeof key);
    upper[5] = 'A';
    assert_int_equal(esi_run_key_parse(upper, &key), 0);
    assert_int_equal(key.bytes[2], 0x2a);
}

static void a_saved_key_is_loaded(void **state)
{
    struct esi_run_key first, second, loaded;
    struct stat status;
    mode_t mask = umask(0);

    (void)state;
    assert_int_equal(esi_run_key_load("r", NULL, &loaded), -ENOENT);
    esi_run_key_make(&first);
    esi_run_key_make(&second);
    assert_int_equal(esi_run_key_save("r", &first, NULL), 0);
    assert_int_equal(esi_run_key_load("r", NULL, &loaded), 0);
    assert_memory_equal(&loaded, &first, sizeof loaded);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    /* The file is replaced, not overwritten. */
    assert_int_equal(esi_run_key_save("r", &second, NULL), 0);
    assert_int_equal(esi_run_key_load("r", NULL, &loaded), 0);
    assert_memory_equal(&loaded, &second, sizeof loaded);
    assert_int_equal(esi_run_directory_remove("r", NULL), 0);
    umask(mask);
}

static void saving_needs_the_directory(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_run_key key;

    (void)state;
    esi_run_key_make(&key);
    assert_int_equal(esi_run_key_save("none", &key, &error), -ENOENT);
    assert_non_null(strstr(error.source, "/none"));
    assert_int_equal(esi_run_key_save("../r", &key, NULL), -EINVAL);
}

static void what_others_may_read_is_no_key(void **state)
{
    static const mode_t modes[] = {0640, 0604, 0620, 0602, 0610, 0601};
    struct esi_run_key key;

    (void)state;
    esi_run_key_make(&key);
    assert_int_equal(esi_run_key_save("r", &key, NULL), 0);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct es_error error = {.text = ""};

        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(esi_run_key_load("r", &error, &key), -EPERM);
        assert_non_null(strstr(error.text, "others may use it"));
    }
    assert_int_equal(chmod(path, 0400), 0);
    assert_int_equal(esi_run_key_load("r", NULL, &key), 0);
}

static void what_belongs_to_somebody_else_is_no_key(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_run_key key;

    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can give files away\n");
        skip();
    }
    esi_run_key_make(&key);
    assert_int_equal(esi_run_key_save("r", &key, NULL), 0);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(esi_run_key_load("r", &error, &key), -EPERM);
    assert_non_null(strstr(error.text, "65534"));
}

static void links_and_folders_are_no_keys(void **state)
{
    struct esi_run_key key;
    char other[80];

    (void)state;
    esi_run_key_make(&key);
    assert_int_equal(esi_run_key_save("r", &key, NULL), 0);
    snprintf(other, sizeof other, "%s/other", top);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(esi_run_key_load("r", NULL, &key), -EPERM);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(esi_run_key_load("r", NULL, &key), -EPERM);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(esi_run_key_load("r", NULL, &key), -EPERM);
}

static void other_texts_are_no_keys(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "0011",
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff0\n",
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeex\n",
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n\n",
    };
    struct esi_run_key key;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct es_error error = {.text = ""};

        write_file(texts[i]);
        assert_int_equal(esi_run_key_load("r", &error, &key), -EINVAL);
        assert_non_null(strstr(error.text, "64 hexadecimal digits"));
    }
}

SUITE(test_run_key)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_differ),
        cmocka_unit_test(text_and_key_are_the_same),
        cmocka_unit_test(a_saved_key_is_loaded),
        cmocka_unit_test(saving_needs_the_directory),
        cmocka_unit_test(what_others_may_read_is_no_key),
        cmocka_unit_test(what_belongs_to_somebody_else_is_no_key),
        cmocka_unit_test(links_and_folders_are_no_keys),
        cmocka_unit_test(other_texts_are_no_keys),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests_name("run_key", tests, NULL, NULL);
}
