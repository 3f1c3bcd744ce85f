/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Pattern files: every case folder of tests/data/patterns.
 *
 *   input      a file
 *   error      the error as commands print it; or instead
 *   expected   the printed form, which must be parsed to the same trees
 *
 * UPDATE_GOLDEN=1 writes the last two; review the changes.
 */
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

#include "monitors/search/language/pattern.h"
#include "tests/search/pattern_compare.h"
#include "tests/suites.h"
#include "tests/text_file.h"

static const char *top(void)
{
    return getenv("top_srcdir") ? getenv("top_srcdir") : ".";
}

/* --- Cases ------------------------------------------------------------------------ */

static void check_printed(const struct es_pattern_file *file,
                          const char *text,
                          const char *path)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *again;
    char *printed;

    if (es_pattern_file_parse(text, strlen(text), path, &again, &error) < 0)
        fail_msg("%s: what was printed is not understood: %s in\n%s", path, error.text,
                 text);
    if (!pattern_files_are_alike(file, again))
        fail_msg("%s: what was printed means something else:\n%s", path, text);
    printed = pattern_file_text(again);
    assert_string_equal(printed, text);
    free(printed);
    es_pattern_file_destroy(again);
}

/* Errors name files without the folder. */
static void check_error(struct es_error *error, const char *path)
{
    char out[1024];
    const char *slash = strrchr(error->source, '/');

    assert_non_null(slash);
    assert_true((error->line > 0) == (error->column > 0)); /* or no position */
    memmove(error->source, slash + 1, strlen(slash));
    es_error_format(error, out, sizeof out - 1);
    strcat(out, "\n");
    text_file_compare(path, out);
}

static void check_case(const char *folder)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file;
    char path[1024];
    char *text;
    int code;

    snprintf(path, sizeof path, "%s/input", folder);
    code = es_pattern_file_read(path, &file, &error);
    if (code == 0) {
        text = pattern_file_text(file);
        snprintf(path, sizeof path, "%s/expected", folder);
        text_file_compare(path, text);
        check_printed(file, text, path);
        free(text);
        es_pattern_file_destroy(file);
        return;
    }
    assert_int_equal(code, -EINVAL);
    snprintf(path, sizeof path, "%s/error", folder);
    check_error(&error, path);
}

static void every_file_is_read_or_refused_as_expected(void **state)
{
    char path[512];
    struct dirent **entries;
    int count;
    int cases = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/tests/data/patterns", top());
    count = scandir(path, &entries, NULL, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char folder[800];

        if (entries[i]->d_name[0] != '.') {
            snprintf(folder, sizeof folder, "%s/%s", path, entries[i]->d_name);
            check_case(folder);
            cases++;
        }
        free(entries[i]);
    }
    free(entries);
    assert_true(cases > 100);
}

SUITE(test_pattern_golden)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_is_read_or_refused_as_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
