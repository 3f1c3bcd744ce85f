/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of collection plans made from maps. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/pathmap.h"
#include "tests/suites.h"

static struct esi_pathmap *parse(const char *text)
{
    struct es_error error = {.text = ""};
    struct esi_pathmap *map = NULL;

    if (esi_pathmap_parse(text, strlen(text), "text", &error, &map) < 0)
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    return map;
}

static char *plan_text(const struct esi_pathmap *map, const char *host)
{
    struct es_error error = {.text = ""};
    struct es_plan plan, again;
    char *text;

    assert_int_equal(esi_pathmap_plan(map, host, &error, &plan), 0);
    assert_int_equal(esi_plan_format(&plan, &text), 0);
    /* The observed process can parse it. */
    if (esi_plan_parse(text, "plan", &error, &again) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(again.count, plan.count);
    esi_plan_fini(&again);
    esi_plan_fini(&plan);
    return text;
}

static void the_smallest_map_has_the_default_plan(void **state)
{
    struct esi_pathmap *map =
        parse("{\"version\": 1, \"application\": {\"ranks\": 3}}");
    struct es_plan plan;
    char *expected, *text = plan_text(map, NULL);

    (void)state;
    assert_int_equal(esi_plan_default(&plan), 0);
    assert_int_equal(esi_plan_format(&plan, &expected), 0);
    assert_string_equal(text, expected);
    free(expected);
    free(text);
    esi_plan_fini(&plan);
    esi_pathmap_destroy(map);
}

static const char two_hosts[] =
    "{\"version\": 1, \"application\": {\"ranks\": 6},"
    " \"cluster\": {\"hosts\": [{\"name\": \"a\"}, {\"name\": \"b\"}]},"
    " \"mapping\": {\"ranks\": [{\"ranks\": \"0-2,5\", \"host\": \"a\"},"
    "                           {\"ranks\": \"3-4\", \"host\": \"b\"}]},"
    " \"collectors\": [{\"name\": \"low\", \"classes\": [\"send\"], \"ranks\": "
    "\"0-2\"},"
    "                  {\"name\": \"all\", \"classes\": [\"io\"], \"threshold\": 9}]}";

static void a_host_gets_what_its_ranks_need(void **state)
{
    struct esi_pathmap *map = parse(two_hosts);
    char *a = plan_text(map, "a"), *b = plan_text(map, "b");

    (void)state;
    assert_non_null(strstr(a, "collector low classes=send ranks=0-2 "));
    assert_non_null(strstr(a, "collector all classes=io ranks=0-2,5 "));
    assert_null(strstr(b, "collector low"));
    assert_non_null(strstr(b, "collector all classes=io ranks=3-4 "));
    assert_non_null(strstr(b, "threshold=9 "));
    free(b);
    free(a);
    esi_pathmap_destroy(map);
}

static void an_unknown_host_has_no_plan(void **state)
{
    struct esi_pathmap *map = parse(two_hosts);
    struct es_error error = {.text = ""};
    struct es_plan plan;

    (void)state;
    assert_int_equal(esi_pathmap_plan(map, "c", &error, &plan), -ENOENT);
    assert_string_equal(error.text, "host 'c': not in the pathmap's cluster.hosts");
    esi_pathmap_destroy(map);
}

static void no_collectors_make_an_empty_plan(void **state)
{
    struct esi_pathmap *map =
        parse("{\"version\": 1, \"application\": {\"ranks\": 3}, \"collectors\": []}");
    char *text = plan_text(map, NULL);

    (void)state;
    assert_null(strstr(text, "collector"));
    free(text);
    esi_pathmap_destroy(map);
}

static void many_ranks_that_differ_keep_the_plan_right(void **state)
{
    struct esi_pathmap_request request = {
        .ranks = 1000, .synthetic = "pu:2", .local_name = "here"};
    struct esi_pathmap_summary summary;
    struct esi_pathmap *map;
    struct es_plan plan;

    (void)state;
    assert_int_equal(esi_pathmap_generate(&request, NULL, &map), 0);
    assert_int_equal(esi_pathmap_expand(map, NULL), 0);
    esi_pathmap_summarize(map, &summary);
    assert_int_equal(summary.paths, 4000);
    assert_int_equal(esi_pathmap_plan(map, "here", NULL, &plan), 0);
    assert_int_equal(plan.count, 4);
    for (size_t i = 0; i < plan.count; i++)
        assert_int_equal(plan.collectors[i].range_count, 0);
    esi_plan_fini(&plan);
    esi_pathmap_destroy(map);
}

SUITE(test_collection)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_map_has_the_default_plan),
        cmocka_unit_test(a_host_gets_what_its_ranks_need),
        cmocka_unit_test(an_unknown_host_has_no_plan),
        cmocka_unit_test(no_collectors_make_an_empty_plan),
        cmocka_unit_test(many_ranks_that_differ_keep_the_plan_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
