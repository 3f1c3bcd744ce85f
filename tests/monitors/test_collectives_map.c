/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the monitor's own pathmap: a generated map can be read, changed and used. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/collectives/collectives_map.h"
#include "pathmap/pathmap.h"
#include "scopes/run_map.h"
#include "tests/suites.h"

static const struct esi_collectives_host hosts[] = {{"a", 3}, {"b", 0}, {"c", 40}};

static struct esi_collectives_map *generate(void)
{
    struct es_error error = {.text = ""};
    struct esi_collectives_map *map;

    if (esi_collectives_map_generate(hosts, 3, "front", &error, &map) != 0)
        fail_msg("%s", error.text);
    return map;
}

static void there_is_a_thread_for_each_node_up_to_a_limit(void **state)
{
    struct esi_collectives_map *map = generate();

    (void)state;
    assert_int_equal(esi_collectives_map_threads(map, "a"), 3);
    assert_int_equal(esi_collectives_map_threads(map, "b"), 0);
    assert_int_equal(esi_collectives_map_threads(map, "c"),
                     ES_COLLECTIVES_NODE_THREADS);
    assert_int_equal(esi_collectives_map_threads(map, "front"), 0);
    assert_int_equal(esi_collectives_map_threads(map, "nowhere"), 0);
    esi_collectives_map_destroy(map);
}

static void what_is_printed_can_be_read_and_is_a_good_pathmap(void **state)
{
    struct esi_collectives_map *map = generate(), *again;
    struct es_error error = {.text = ""};
    struct esi_pathmap *pathmap;
    char *text, *second;

    (void)state;
    assert_int_equal(esi_collectives_map_format(map, &text), 0);
    if (esi_collectives_map_parse(text, strlen(text), "x", &error, &again) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(esi_collectives_map_format(again, &second), 0);
    assert_string_equal(text, second);
    assert_int_equal(esi_pathmap_parse(text, strlen(text), "x", &error, &pathmap), 0);
    if (esi_run_map_check_stages(pathmap, &error) != 0)
        fail_msg("%s", error.text);
    esi_pathmap_destroy(pathmap);
    free(text);
    free(second);
    esi_collectives_map_destroy(map);
    esi_collectives_map_destroy(again);
}

static void scopes_are_opened_as_the_map_says(void **state)
{
    struct esi_collectives_map *map = generate();
    struct es_scope_config config;

    (void)state;
    es_scope_config_init(&config);
    assert_true(esi_collectives_map_nodes(map, &config));
    assert_true(config.tree.nodes && config.tree.through_server);
    assert_int_equal(config.tree.node_threads, ES_COLLECTIVES_NODE_THREADS);
    assert_int_equal(config.view.selection.classes,
                     ES_CLASSES_TREE | 1u << ES_CLASS_COLLECTIVE);
    es_scope_config_init(&config);
    assert_true(esi_collectives_map_contributions(map, &config));
    assert_false(config.tree.nodes);
    assert_int_equal(config.view.selection.classes, 1u << ES_CLASS_COLLECTIVE);
    esi_collectives_map_destroy(map);
}

static const char mine[] =
    "{\"version\": 1, \"application\": {\"ranks\": 3},\n"
    " \"cluster\": {\"hosts\": [{\"name\": \"a\"}]},\n"
    " \"scopes\": [{\"name\": \"nodes\", \"view\": {\"hosts\": \"a\", "
    "\"ranks\": \"0,40-63\"},\n"
    "   \"properties\": {\"max\": 500},\n"
    "   \"tree\": {\"type\": \"gather\", \"children\": [{\"type\": \"threads\", "
    "\"per\":\n"
    "     \"host\", \"properties\": {\"count\": 2}, \"children\": [{\"type\": "
    "\"tree-node\",\n"
    "     \"per\": \"rank\", \"properties\": {\"batch\": 64, \"wait\": "
    "\"50ms\"}}]}]}}]}\n";

static void people_reconfigure_the_monitor_by_it(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_collectives_map *map;
    struct es_scope_config config;

    (void)state;
    if (esi_collectives_map_parse(mine, strlen(mine), "mine", &error, &map) != 0)
        fail_msg("%s", error.text);
    es_scope_config_init(&config);
    assert_false(esi_collectives_map_contributions(map, &config));
    assert_true(esi_collectives_map_nodes(map, &config));
    assert_int_equal(config.tree.node_threads, 2);
    assert_int_equal(config.tree.batch, 64);
    assert_int_equal(config.tree.batch_wait_ns, 50000000);
    assert_int_equal(config.max, 500);
    assert_string_equal(config.view.selection.host, "a");
    /* The observed application has more ranks than the monitor has threads. */
    assert_string_equal(config.view.selection.ranks, "0,40-63");
    esi_collectives_map_destroy(map);
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *text;
        const char *told;
    } rows[] = {
        {"{\"version\": 1, \"application\": {\"ranks\": 1}}", "two threads"},
        {"{\"version\": 1, \"application\": {\"ranks\": 2}, \"scopes\": [{\"name\": "
         "\"other\", \"tree\": {\"type\": \"gather\"}}]}",
         "expected contributions or nodes"},
        {"{\"version\": 1, \"application\": {\"ranks\": 2}, \"scopes\": [{\"name\": "
         "\"nodes\", \"properties\": {\"bach\": 3}, \"tree\": {\"type\": "
         "\"gather\"}}]}",
         "batch"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct es_error error = {.text = ""};
        struct esi_collectives_map *map;

        assert_int_equal(esi_collectives_map_parse(rows[i].text, strlen(rows[i].text),
                                                   "x", &error, &map),
                         -EINVAL);
        if (!strstr(error.text, rows[i].told))
            fail_msg("\"%s\" does not tell \"%s\"", error.text, rows[i].told);
    }
}

SUITE(test_collectives_map)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_a_thread_for_each_node_up_to_a_limit),
        cmocka_unit_test(what_is_printed_can_be_read_and_is_a_good_pathmap),
        cmocka_unit_test(scopes_are_opened_as_the_map_says),
        cmocka_unit_test(people_reconfigure_the_monitor_by_it),
        cmocka_unit_test(what_is_wrong_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
