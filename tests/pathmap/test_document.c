/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The examples of docs/pathmap.md are valid maps with the meaning that the page
 * describes. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/file.h"
#include "pathmap/pathmap.h"
#include "tests/suites.h"

static char *page;

static int read_page(void **state)
{
    const char *top = getenv("top_srcdir");
    char path[1024];
    size_t length;

    (void)state;
    snprintf(path, sizeof(path), "%s/docs/pathmap.md", top ? top : ".");
    return esi_file_read(path, NULL, &page, &length);
}

static int free_page(void **state)
{
    (void)state;
    free(page);
    return 0;
}

/* The next ```json block from *at on; moves *at after it.  NULL if there is none. */
static const char *next_example(const char **at, size_t *ret_length)
{
    static const char fence[] = "\n```json\n";
    const char *start = strstr(*at, fence);

    if (start == NULL)
        return NULL;
    start += strlen(fence);
    const char *end = strstr(start, "\n```\n");
    assert_non_null(end);
    *ret_length = (size_t)(end - start);
    *at = end;
    return start;
}

static int line_of(const char *place)
{
    int line = 1;

    for (const char *c = page; c < place; c++)
        line += *c == '\n';
    return line;
}

static void every_example_is_a_map(void **state)
{
    const char *at = page, *example;
    size_t length;
    int count = 0;

    (void)state;
    while ((example = next_example(&at, &length)) != NULL) {
        struct es_error error = {.text = ""};
        struct esi_pathmap *map;
        if (esi_pathmap_parse(example, length, "", &error, &map) < 0)
            fail_msg("docs/pathmap.md:%d: %s", line_of(example) + error.line - 1,
                     error.text);
        esi_pathmap_destroy(map);
        count++;
    }
    assert_true(count >= 8);
}

static char *plan_of(const char *text, size_t length)
{
    struct esi_pathmap *map;
    struct es_plan plan;
    char *formatted;

    assert_int_equal(esi_pathmap_parse(text, length, "", NULL, &map), 0);
    assert_int_equal(esi_pathmap_plan(map, NULL, NULL, &plan), 0);
    assert_int_equal(esi_plan_format(&plan, &formatted), 0);
    esi_plan_fini(&plan);
    esi_pathmap_destroy(map);
    return formatted;
}

/* The page contains the default collectors as an example. */
static void the_default_collectors_are_those_of_the_page(void **state)
{
    static const char smallest[] = "{\"version\": 1, \"application\": {\"ranks\": 4}}";
    const char *at = strstr(page, "## Collectors"), *example;
    size_t length = 0;

    (void)state;
    assert_non_null(at);
    example = next_example(&at, &length);
    assert_non_null(example);
    char *shown = plan_of(example, length), *real = plan_of(smallest, strlen(smallest));
    assert_string_equal(shown, real);
    free(real);
    free(shown);
}

SUITE(test_document)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_is_a_map),
        cmocka_unit_test(the_default_collectors_are_those_of_the_page),
    };

    return cmocka_run_group_tests(tests, read_page, free_page);
}
