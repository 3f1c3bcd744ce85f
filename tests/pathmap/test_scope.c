/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the scopes of a map: trees, properties in order, and positions. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "pathmap/pathmap.h"
#include "tests/suites.h"

static const char text[] =
    "{\"version\": 1, \"application\": {\"ranks\": 2},\n"
    " \"cluster\": {\"hosts\": [{\"name\": \"h0\"}, {\"name\": \"h1\"}]},\n"
    " \"mapping\": {\"stages\": [{\"scope\": \"s\", \"stage\": \"leaf\", \"host\": "
    "\"h1\"}]},\n"
    " \"scopes\": [{\"name\": \"s\", \"properties\": {\"late\": \"2s\"},\n"
    "  \"tree\": {\"type\": \"gather\", \"name\": \"root\", \"host\": \"h0\",\n"
    "   \"properties\": {\"zulu\": 1, \"alpha\": [true,\n"
    "     {\"x\": 2.5}], \"mike\": null},\n"
    "   \"children\": [\n"
    "    {\"per\": \"thread\", \"type\": \"reduce\", \"name\": \"leaf\", \"host\": "
    "\"h0\",\n"
    "     \"properties\": {\"to\": \"latest\"}}\n"
    "   ]}}]}\n";

static int parse_text(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_pathmap *map = NULL;

    if (esi_pathmap_parse(text, strlen(text), "text", &error, &map) < 0)
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    *state = map;
    return 0;
}

static int destroy(void **state)
{
    esi_pathmap_destroy(*state);
    return 0;
}

static void properties_keep_their_order_and_values(void **state)
{
    const struct esi_pathmap_scope *scope = esi_pathmap_find_scope(*state, "s");
    const struct esi_pathmap_property *properties = scope->tree.properties;

    assert_int_equal(scope->tree.property_count, 3);
    assert_string_equal(properties[0].name, "zulu");
    assert_int_equal(properties[0].kind, ES_PATHMAP_VALUE_INTEGER);
    assert_int_equal(properties[0].integer, 1);
    assert_string_equal(properties[0].text, "1");
    assert_string_equal(properties[1].name, "alpha");
    assert_int_equal(properties[1].kind, ES_PATHMAP_VALUE_LIST);
    assert_int_equal(properties[1].item_count, 2);
    assert_true(properties[1].items[0].boolean);
    assert_string_equal(properties[1].items[0].text, "true");
    assert_string_equal(properties[1].items[1].text, "{\"x\":2.5}");
    assert_true(properties[1].items[1].items[0].real == 2.5);
    assert_int_equal(properties[2].kind, ES_PATHMAP_VALUE_NULL);
    assert_ptr_equal(esi_pathmap_stage_property(&scope->tree, "mike"), &properties[2]);
    assert_null(esi_pathmap_stage_property(&scope->tree, "nobody"));
}

static void assert_place(const struct esi_pathmap_property *property,
                         int name_line,
                         int name_column,
                         int line,
                         int column)
{
    assert_int_equal(property->name_line, name_line);
    assert_int_equal(property->name_column, name_column);
    assert_int_equal(property->line, line);
    assert_int_equal(property->column, column);
}

static void stages_and_properties_know_their_places(void **state)
{
    const struct esi_pathmap_scope *scope = esi_pathmap_find_scope(*state, "s");
    const struct esi_pathmap_stage *leaf = &scope->tree.children[0];

    assert_place(&scope->properties[0], 4, 42, 4, 50);
    assert_place(&scope->tree.properties[0], 6, 19, 6, 27);
    assert_place(&scope->tree.properties[1], 6, 30, 6, 39);
    assert_place(&scope->tree.properties[1].items[0], 0, 0, 6, 40);
    assert_place(&scope->tree.properties[1].items[1], 0, 0, 7, 6);
    assert_place(&scope->tree.properties[1].items[1].items[0], 7, 7, 7, 12);
    assert_place(&scope->tree.properties[2], 7, 19, 7, 27);
    assert_place(&leaf->properties[0], 10, 21, 10, 27);
    assert_int_equal(scope->tree.line, 5);
    assert_int_equal(scope->tree.column, 11);
    assert_int_equal(leaf->line, 9);
    assert_int_equal(leaf->column, 5);
    assert_string_equal(esi_pathmap_source(*state), "text");
}

static void placement_comes_from_the_mapping_first(void **state)
{
    const struct esi_pathmap_scope *scope = esi_pathmap_find_scope(*state, "s");
    const struct esi_pathmap_stage *root = &scope->tree;

    assert_string_equal(esi_pathmap_stage_host(*state, scope, root), "h0");
    assert_string_equal(esi_pathmap_stage_host(*state, scope, root->children), "h1");
    assert_null(esi_pathmap_find_scope(*state, "nobody"));
}

static void a_tree_alone_has_the_hosts_of_the_mapping(void **state)
{
    const struct esi_pathmap_scope *scope = esi_pathmap_find_scope(*state, "s");
    struct esi_pathmap_stage *stages;
    char *written;

    assert_int_equal(esi_pathmap_stages_format(*state, scope, &written), 0);
    assert_int_equal(
        esi_pathmap_stages_parse(written, strlen(written), NULL, NULL, &stages), 0);
    free(written);
    assert_string_equal(stages->host, "h0");
    assert_string_equal(stages->children[0].host, "h1");
    assert_int_equal(stages->property_count, scope->tree.property_count);
    for (size_t i = 0; i < stages->property_count; i++)
        assert_string_equal(stages->properties[i].name, scope->tree.properties[i].name);
    esi_pathmap_stages_destroy(stages);
}

static void faults_of_a_tree_alone_have_a_place(void **state)
{
    static const char wrong[] = "{\"type\": \"gather\",\n \"per\": \"galaxy\"}";
    struct esi_pathmap_stage *stages;
    struct es_error error = {.text = ""};

    (void)state;
    assert_int_equal(
        esi_pathmap_stages_parse(wrong, sizeof wrong - 1, "stages", &error, &stages),
        -EINVAL);
    assert_string_equal(error.source, "stages");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 9);
}

SUITE(test_scope)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_keep_their_order_and_values),
        cmocka_unit_test(stages_and_properties_know_their_places),
        cmocka_unit_test(placement_comes_from_the_mapping_first),
        cmocka_unit_test(a_tree_alone_has_the_hosts_of_the_mapping),
        cmocka_unit_test(faults_of_a_tree_alone_have_a_place),
    };

    return cmocka_run_group_tests(tests, parse_text, destroy);
}
