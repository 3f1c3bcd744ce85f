/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The first bytes of an input tell its kind. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/input.h"
#include "tests/suites.h"

#define BYTES(bytes) bytes, sizeof(bytes) - 1

static void formats_are_named(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *words;
    } cases[] = {
        {BYTES("\x1f\x8b\x08\0\0\0\0\0"), "compressed with gzip; unpack it first"},
        {BYTES("\x1f\x8b"), "gzip"},
        {BYTES("\x28\xb5\x2f\xfd$"), "compressed with zstd; unpack it first"},
        {BYTES("\xfd"
               "7zXZ\0\0"),
         "compressed with xz; unpack it first"},
        {BYTES("BZh91AY&SY\x0c"), "compressed with bzip2; unpack it first"},
        {BYTES("\x04\x22\x4d\x18"), "lz4"},
        {BYTES("PK\x03\x04\x14\0"), "zip archive; unpack it first"},
        {BYTES("7z\xbc\xaf\x27\x1c"), "7z"},
        {BYTES("\xef\xbb\xbf{}"), "byte order mark (BOM) of UTF-8"},
        {BYTES("\xff\xfe{\0}\0"), "byte order mark (BOM) of UTF-16"},
        {BYTES("\xfe\xff\0{\0}"), "byte order mark (BOM) of UTF-16"},
        {BYTES("\xff\xfe\0\0{\0\0\0"), "UTF-32"},
        {BYTES("{\0}\0"), "text in UTF-16; save it in UTF-8"},
        {BYTES("\0{\0}"), "text in UTF-16; save it in UTF-8"},
        {BYTES("\x7f"
               "ELF\x02"),
         "program or a library"},
        {BYTES("%PDF-1.7\n"), "PDF"},
        {BYTES("\xc1\x1f\xfc\xc1"), "stream of an archive"},
        {BYTES("\x02\0\x01\0\0\x07"), "binary, not text"},
        {BYTES("\x01\x02 some bytes"), "binary, not text"},
        {BYTES("\0\0"), "binary, not text"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct es_error error = {.text = ""};

        assert_int_equal(esi_input_check(cases[i].bytes, cases[i].length, NULL, &error),
                         -EINVAL);
        assert_non_null(strstr(error.text, cases[i].words));
    }
}

static void a_tar_archive_is_known_by_its_first_header(void **state)
{
    char header[512] = "set.jsonl";
    struct es_error error = {.text = ""};

    (void)state;
    memcpy(header + 257, "ustar", 5);
    assert_int_equal(esi_input_check(header, sizeof header, NULL, &error), -EINVAL);
    assert_non_null(strstr(error.text, "tar archive"));
}

static void text_is_text(void **state)
{
    static const char *const texts[] = {
        "",
        "a",
        "{\"version\": 1}\n",
        "BZh is the name of a host\n",
        "PK\n",
        "t\xc3\xa4g, tab\tand feed\f\r\n",
        "\x1b[1mbold\x1b[0m\n",
        "\x01",
        "a text that holds one \x01 control character",
    };
    char *exact; /* so that sanitizers find reads beyond the end */

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t length = strlen(texts[i]);

        exact = malloc(length + 1);
        assert_non_null(exact);
        memcpy(exact, texts[i], length);
        assert_int_equal(esi_input_check(exact, length, "x", NULL), 0);
        free(exact);
    }
}

static void marks_are_counted(void **state)
{
    (void)state;
    assert_int_equal(esi_input_mark(BYTES("\xef\xbb\xbfx")), 3);
    assert_int_equal(esi_input_mark(BYTES("\xef\xbb")), 0);
    assert_int_equal(esi_input_mark(BYTES("x")), 0);
}

static void a_check_names_the_source(void **state)
{
    struct es_error error = {.text = ""};

    (void)state;
    assert_int_equal(esi_input_check(BYTES("\x1f\x8b"), "a.gz", &error), -EINVAL);
    assert_string_equal(error.source, "a.gz");
    assert_string_equal(error.text,
                        "is compressed with gzip; unpack it first (gunzip)");
}

SUITE(test_input)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_named),
        cmocka_unit_test(a_tar_archive_is_known_by_its_first_header),
        cmocka_unit_test(text_is_text),
        cmocka_unit_test(marks_are_counted),
        cmocka_unit_test(a_check_names_the_source),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
