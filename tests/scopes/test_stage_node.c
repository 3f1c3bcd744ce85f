/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the nodes of plans: as text, and as JSON that is sent to
 * another host and back. */
#include "config.h"

#include "scopes/stage_node.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/scopes/node_text.h"
#include "tests/suites.h"

static struct esi_stage_node *add(struct esi_stage_node *parent,
                                  const char *type,
                                  const char *host,
                                  const char *label)
{
    struct esi_stage_node *node = esi_stage_node_create(type, host);

    assert_non_null(node);
    snprintf(node->label, sizeof node->label, "%s", label);
    if (parent)
        assert_int_equal(esi_stage_node_add(parent, node), 0);
    return node;
}

/* A tree with every kind of member. */
static struct esi_stage_node *make_tree(void)
{
    struct esi_stage_node *root = add(NULL, "gather", "alpha", "scope");
    struct esi_stage_node *sort = add(root, "sort", "beta", "host \"b\"");

    assert_int_equal(esi_stage_node_set(sort, "by", "stop"), 0);
    assert_int_equal(esi_stage_node_set(sort, "window", "5ms"), 0);
    sort->ahead = 3;
    sort->limit_ns = UINT64_C(7000000000);
    add(sort, "element", NULL, "0.0/p2p")->origin = 40;
    add(root, "element", NULL, "1.0/p2p")->origin = 41;
    return root;
}

static void hosts_are_shown_where_they_change(void **state)
{
    struct esi_stage_node *root = make_tree();
    char *text;

    (void)state;
    text = node_text(root);
    assert_string_equal(text, "gather \"scope\" @alpha\n"
                              "  sort by=stop window=5ms \"host \"b\"\" @beta\n"
                              "    element \"0.0/p2p\"\n"
                              "  element \"1.0/p2p\"\n");
    free(text);
    esi_stage_node_destroy(root);
}

static uint32_t from_forty(void *data, uint32_t origin)
{
    (void)data;
    return origin - 40;
}

static int write_text(const struct esi_stage_node *node, char **ret_text)
{
    struct esi_json_out out;
    size_t length;
    FILE *stream = open_memstream(ret_text, &length);
    int result;

    assert_non_null(stream);
    esi_json_out_init(&out, stream);
    result = esi_stage_node_write(node, from_forty, NULL, &out, NULL);
    assert_int_equal(fclose(stream), 0);
    return result;
}

static void expect_alike(const struct esi_stage_node *a, const struct esi_stage_node *b)
{
    assert_string_equal(a->type, b->type);
    assert_string_equal(a->label, b->label);
    assert_int_equal(a->ahead, b->ahead);
    assert_true(a->limit_ns == b->limit_ns);
    assert_int_equal(a->host == NULL, b->host == NULL);
    if (a->host)
        assert_string_equal(a->host, b->host);
    assert_int_equal(a->origin == ES_STAGE_NO_ORIGIN, b->origin == ES_STAGE_NO_ORIGIN);
    if (a->origin != ES_STAGE_NO_ORIGIN)
        assert_int_equal(a->origin - 40, b->origin);
    assert_int_equal(a->property_count, b->property_count);
    for (size_t i = 0; i < a->property_count; i++) {
        assert_string_equal(a->properties[i].name, b->properties[i].name);
        assert_string_equal(a->properties[i].value, b->properties[i].value);
    }
    assert_int_equal(a->child_count, b->child_count);
    for (size_t i = 0; i < a->child_count; i++)
        expect_alike(a->children[i], b->children[i]);
}

static void a_tree_is_read_as_it_was_written(void **state)
{
    struct esi_stage_node *root = make_tree(), *read;
    struct es_message *message;
    char *text;

    (void)state;
    assert_int_equal(write_text(root, &text), 0);
    assert_int_equal(esi_message_parse(text, strlen(text), "test", NULL, &message), 0);
    assert_int_equal(esi_stage_node_read(esi_message_root(message), 2, NULL, &read), 0);
    expect_alike(root, read);
    esi_stage_node_destroy(read);
    esi_stage_node_destroy(root);
    esi_message_destroy(message);
    free(text);
}

static struct esi_stage_node *make_chain(int depth)
{
    struct esi_stage_node *root = add(NULL, "gather", NULL, "0"), *node = root;

    for (int i = 1; i < depth; i++)
        node = add(node, "gather", NULL, "below");
    return root;
}

static void a_tree_that_is_too_deep_does_not_travel(void **state)
{
    struct esi_stage_node *root = make_chain(ES_NODE_DEPTH);
    char *text;

    (void)state;
    assert_int_equal(write_text(root, &text), 0);
    free(text);
    esi_stage_node_destroy(root);
    root = make_chain(ES_NODE_DEPTH + 1);
    assert_int_equal(write_text(root, &text), -E2BIG);
    free(text);
    esi_stage_node_destroy(root);
}

static void wrong_trees_are_refused(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "'type' is missing"},
        {"{\"type\": 5}", "'type' is an integer"},
        {"{\"type\": \"element\", \"origin\": 2}", "'origin' is 2, expected 0 to 1"},
        {"{\"type\": \"element\", \"origin\": -1}", "'origin' is -1"},
        {"{\"type\": \"gather\", \"ahead\": -1}", "'ahead'"},
        {"{\"type\": \"gather\", \"limit\": \"5s\"}", "'limit'"},
        {"{\"type\": \"gather\", \"properties\": {\"a\": []}}", "'a' is not a text"},
        {"{\"type\": \"gather\", \"properties\": {\"a\": \"\", \"b\": \"\", \"c\": "
         "\"\", \"d\": \"\", \"e\": \"\", \"f\": \"\", \"g\": \"\", \"h\": \"\", "
         "\"i\": \"\", \"j\": \"\", \"k\": \"\", \"l\": \"\", \"m\": \"\"}}",
         "properties"},
        {"{\"type\": \"gather\", \"children\": [{\"type\": \"gather\"}, 7]}",
         "'type' is missing"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_error error = {.text = ""};
        struct es_message *message;
        struct esi_stage_node *node;

        assert_int_equal(
            esi_message_parse(cases[i][0], strlen(cases[i][0]), "test", NULL, &message),
            0);
        assert_int_equal(
            esi_stage_node_read(esi_message_root(message), 2, &error, &node), -EINVAL);
        assert_non_null(strstr(error.text, cases[i][1]));
        esi_message_destroy(message);
    }
}

static void numbers_stay_numbers(void **state)
{
    struct esi_stage_node *node = add(NULL, "sort", NULL, "x"), *read;
    struct es_message *message;
    char *text, *shown;

    (void)state;
    esi_stage_node_set_number(node, "window", ES_PROPERTY_DURATION, 5000000);
    assert_int_equal(write_text(node, &text), 0);
    assert_non_null(strstr(text, "{\"window\":5000000}"));
    assert_int_equal(esi_message_parse(text, strlen(text), "test", NULL, &message), 0);
    assert_int_equal(esi_stage_node_read(esi_message_root(message), 0, NULL, &read), 0);
    assert_null(read->properties[0].value);
    assert_int_equal(read->properties[0].typed.type, ES_PROPERTY_DURATION);
    assert_int_equal(read->properties[0].typed.integer, 5000000);
    shown = node_text(read);
    assert_string_equal(shown, "sort window=5000000ns \"x\"\n");
    free(shown);
    free(text);
    esi_stage_node_destroy(read);
    esi_stage_node_destroy(node);
    esi_message_destroy(message);
}

static void numbers_are_held_to_the_schema(void **state)
{
    static const struct {
        const char *stage, *name;
        struct es_property_value value;
        int result;
    } cases[] = {
        {"sort", "window", {.type = ES_PROPERTY_DURATION, .integer = 1000}, 0},
        {"sort", "window", {.type = ES_PROPERTY_INTEGER, .integer = 1000}, -EINVAL},
        {"sort", "window", {.type = ES_PROPERTY_DURATION, .integer = -1}, -EINVAL},
        {"sort", "by", {.type = ES_PROPERTY_CHOICE, .integer = 1}, 0},
        {"sort", "by", {.type = ES_PROPERTY_CHOICE, .integer = 2}, -EINVAL},
        {"element", "open", {.type = ES_PROPERTY_BOOLEAN, .integer = 1}, 0},
        {"element", "open", {.type = ES_PROPERTY_BOOLEAN, .integer = 2}, -EINVAL},
        {"filter", "where", {.type = ES_PROPERTY_TEXT, .integer = 1}, -EINVAL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_property property = {.name = cases[i].name, .typed = &cases[i].value};
        struct es_error error = {.text = ""};

        assert_int_equal(es_stage_check(cases[i].stage, &property, 1, &error),
                         cases[i].result);
        assert_int_equal(error.text[0] != '\0', cases[i].result != 0);
    }
}

static void a_node_takes_no_more_properties_than_it_has_room_for(void **state)
{
    struct esi_stage_node *node = esi_stage_node_create("gather", NULL);

    (void)state;
    assert_non_null(node);
    for (int i = 0; i < ES_NODE_PROPERTIES; i++)
        assert_int_equal(esi_stage_node_set(node, "name", "value"), 0);
    assert_int_equal(esi_stage_node_set(node, "name", "value"), -ENOSPC);
    assert_int_equal(node->property_count, ES_NODE_PROPERTIES);
    assert_null(node->host);
    esi_stage_node_destroy(node);
}

SUITE(test_stage_node)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_shown_where_they_change),
        cmocka_unit_test(a_tree_is_read_as_it_was_written),
        cmocka_unit_test(a_tree_that_is_too_deep_does_not_travel),
        cmocka_unit_test(wrong_trees_are_refused),
        cmocka_unit_test(numbers_stay_numbers),
        cmocka_unit_test(numbers_are_held_to_the_schema),
        cmocka_unit_test(a_node_takes_no_more_properties_than_it_has_room_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
