/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Each allocation fails in turn: the call returns -ENOMEM, nothing leaks and nothing is
 * changed.
 *
 * Allocations of jansson fail by its own hook.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/file.h"
#include "pathmap/layout.h"
#include "pathmap/pathmap.h"
#include "tests/failing.h"
#include "tests/suites.h"

/* jansson 2.14 drops a byte of a token when its buffer cannot grow, and continues. The
 * result is then not checked. */
static bool json_is_spared;

static void *json_malloc(size_t size)
{
    void *block;

    if (json_is_spared)
        failing_pause();
    block = malloc(size);
    if (json_is_spared)
        failing_resume();
    return block;
}

/* --- Calls under test ------------------------------------------------------------- */

static char *document; /* the map with all members */
static size_t document_length;

static int parse(void)
{
    struct es_error error = {.text = ""};
    struct esi_pathmap *map = NULL;
    int code = esi_pathmap_parse(document, document_length, "input", &error, &map);

    if (code < 0) {
        assert_null(map);
        assert_string_not_equal(error.text, "");
    }
    esi_pathmap_destroy(map);
    return code;
}

static int try_parse(void)
{
    json_is_spared = true;
    int code = parse();
    json_is_spared = false;
    return code;
}

/* Allocations of jansson fail, too, and any result is accepted then. */
static int try_parse_json(void)
{
    int code = parse();

    return failing_has_failed() ? -ENOMEM : code;
}

static int try_generate(void)
{
    const struct esi_pathmap_request request = {
        .ranks = 5, .synthetic = "package:2 core:2 pu:2", .local_name = "here"};
    struct esi_pathmap *map = NULL;
    int code = esi_pathmap_generate(&request, NULL, &map);

    if (code < 0)
        assert_null(map);
    esi_pathmap_destroy(map);
    return code;
}

/* Creates a map while no allocation fails. */
static struct esi_pathmap *calm_map(void)
{
    struct esi_pathmap *map = NULL;

    failing_pause();
    assert_int_equal(esi_pathmap_parse(document, document_length, "", NULL, &map), 0);
    failing_resume();
    return map;
}

static char *calm_text(const struct esi_pathmap *map)
{
    char *text;

    failing_pause();
    assert_int_equal(esi_pathmap_format(map, &text), 0);
    failing_resume();
    return text;
}

static int try_format(void)
{
    struct esi_pathmap *map = calm_map();
    char *text = NULL;
    int code = esi_pathmap_format(map, &text);

    if (code < 0)
        assert_null(text);
    free(text);
    esi_pathmap_destroy(map);
    return code;
}

static int try_expand(void)
{
    struct esi_pathmap *map = calm_map();
    char *before = calm_text(map);
    int code = esi_pathmap_expand(map, NULL);
    char *after = calm_text(map);

    assert_true((strcmp(before, after) == 0) == (code < 0));
    free(after);
    free(before);
    esi_pathmap_destroy(map);
    return code;
}

static int try_plan(void)
{
    struct esi_pathmap *map = calm_map();
    struct es_plan plan = {0};
    int code = esi_pathmap_plan(map, NULL, NULL, &plan);

    if (code < 0)
        assert_null(plan.collectors);
    esi_plan_fini(&plan);
    esi_pathmap_destroy(map);
    return code;
}

static void parsing_survives_each(void **state)
{
    (void)state;
    failing_each(try_parse, 100);
}

static void parsing_json_survives_each(void **state)
{
    (void)state;
    failing_each(try_parse_json, 400);
}

static void generating_survives_each(void **state)
{
    (void)state;
    failing_each(try_generate, 50);
}

static void formatting_survives_each(void **state)
{
    (void)state;
    failing_each(try_format, 100);
}

static void expanding_survives_each(void **state)
{
    (void)state;
    failing_each(try_expand, 100);
}

static void planning_survives_each(void **state)
{
    (void)state;
    failing_each(try_plan, 3);
}

SUITE(test_allocation)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parsing_survives_each),
        cmocka_unit_test(parsing_json_survives_each),
        cmocka_unit_test(generating_survives_each),
        cmocka_unit_test(formatting_survives_each),
        cmocka_unit_test(expanding_survives_each),
        cmocka_unit_test(planning_survives_each),
    };
    const char *top = getenv("top_srcdir");
    char path[1024];

    snprintf(path, sizeof(path), "%s/tests/data/pathmap/everything/input",
             top ? top : ".");
    if (esi_file_read(path, NULL, &document, &document_length) < 0) {
        printf("Bail out! %s cannot be read\n", path);
        return 1;
    }
    json_set_alloc_funcs(json_malloc, free);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    free(document);
    return failures;
}
