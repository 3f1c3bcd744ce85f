/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* text_file.c - reads, writes and compares whole text files, for tests with golden
 * data. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/text_file.h"

char *text_file_read(const char *path)
{
    FILE *stream = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;

    if (!stream)
        return NULL;
    if (getdelim(&text, &size, '\0', stream) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(stream);
    return text;
}

void text_file_write(const char *path, const char *text)
{
    FILE *stream = fopen(path, "we");

    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

void text_file_compare(const char *path, const char *text)
{
    char *expected;

    if (getenv("UPDATE_GOLDEN")) {
        text_file_write(path, text);
        return;
    }
    expected = text_file_read(path);
    if (!expected)
        fail_msg("no file %s, but got:\n%s", path, text);
    if (strcmp(expected, text) != 0)
        fail_msg("%s: expected\n%sfound\n%s", path, expected, text);
    free(expected);
}
