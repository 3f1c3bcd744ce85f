/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Each allocation fails in turn while patterns are parsed and read. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitors/search/language/pattern.h"
#include "tests/failing.h"
#include "tests/suites.h"

static char path[] = "/tmp/eventspace-patterns-XXXXXX";
static char *text; /* all constructs, many times */

static int write_text(void **state)
{
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    int file = mkstemp(path);

    (void)state;
    for (int i = 0; i < 20; i++)
        fprintf(stream,
                "A%d := [\"P*\", \"a\\*\", \"\"];\n"
                "B%d := [type =~ \"x|y\", a%d > 5ms, b = \"*z\", c != 3, d%d = \"\"];\n"
                "A%d $a, *a; B%d ~b;\n"
                "P%d := A%d.[\"\", \"\", \"\"] --> ($a || ~b) within 2s;\n"
                "Q%d := P%d -(*a)-> $a -(A%d)-> P%d & $a.t = ~b.\"t u\"\n"
                "  | $a.t = \"x*\" & at least 3 of A%d.B%d => $a;\n",
                i, i, i, i, i, i, i, i, i, i, i, i, i, i);
    fclose(stream);
    if (file < 0 || write(file, text, size) != (ssize_t)size)
        return -1;
    return close(file);
}

static int remove_text(void **state)
{
    (void)state;
    free(text);
    return unlink(path);
}

static int parse(void)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file = NULL;
    int code = es_pattern_file_parse(text, strlen(text), "text", &file, &error);

    if (code < 0) {
        assert_int_equal(code, -ENOMEM);
        assert_null(file);
        assert_int_not_equal(error.text[0], '\0');
    } else {
        assert_int_equal(es_pattern_predicates(file), 80);
    }
    es_pattern_file_destroy(file);
    return code;
}

static int read_file(void)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file = NULL;
    int code = es_pattern_file_read(path, &file, &error);

    es_pattern_file_destroy(file);
    return code;
}

static void parsing_without_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    failing_each(parse, 30);
}

static void reading_without_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    failing_each(read_file, 31);
}

SUITE(test_pattern_allocation)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parsing_without_memory_says_so_and_leaks_nothing),
        cmocka_unit_test(reading_without_memory_says_so_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, write_text, remove_text);
}
