/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Gather trees have the shape that was asked for. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scopes/stage_tree.h"

/* Two hosts; the elements stand in no order, as after a refresh. */
static const struct es_origin origins[] = {
    {.name = "0.0/p2p", .host = "a", .pid = 10, .rank = 0, .thread = 0},
    {.name = "1.0/p2p", .host = "b", .pid = 11, .rank = 1, .thread = 0},
    {.name = "0.1/p2p", .host = "a", .pid = 10, .rank = 0, .thread = 1},
    {.name = "0.0/coll", .host = "a", .pid = 10, .rank = 0, .thread = 0},
};

struct tree_case {
    const char *what;
    size_t origins;
    enum es_take take;
    enum es_shape shape;
    enum es_sorting sorting;
    bool open;
    const char *view_filter;
    const char *filter;
    const char *text;
};

static const struct tree_case cases[] = {
    {"nothing to gather", 0, ES_TAKE_EVERY, ES_SHAPE_VIEWS, ES_SORTING_NONE, false,
     NULL, NULL, "gather \"scope\"\n"},
    {"one host needs no root above it", 1, ES_TAKE_EVERY, ES_SHAPE_VIEWS,
     ES_SORTING_NONE, false, NULL, NULL,
     "gather \"host a\"\n"
     "  gather \"thread 0.0\"\n"
     "    element read=every \"0.0/p2p\"\n"},
    {"the tree of the paper's heartbeat", 4, ES_TAKE_LATEST_OF_THREAD, ES_SHAPE_VIEWS,
     ES_SORTING_NONE, true, NULL, NULL,
     "gather \"scope\"\n"
     "  gather \"host a\"\n"
     "    reduce to=latest \"thread 0.0\"\n"
     "      element read=latest open=yes \"0.0/p2p\"\n"
     "      element read=latest open=yes \"0.0/coll\"\n"
     "    reduce to=latest \"thread 0.1\"\n"
     "      element read=latest open=yes \"0.1/p2p\"\n"
     "  gather \"host b\"\n"
     "    reduce to=latest \"thread 1.0\"\n"
     "      element read=latest open=yes \"1.0/p2p\"\n"},
    {"flat", 4, ES_TAKE_LATEST, ES_SHAPE_FLAT, ES_SORTING_NONE, false, NULL, NULL,
     "gather \"scope\"\n"
     "  element read=latest \"0.0/p2p\"\n"
     "  element read=latest \"0.0/coll\"\n"
     "  element read=latest \"0.1/p2p\"\n"
     "  element read=latest \"1.0/p2p\"\n"},
    {"filters stand on their host, the view's below the person's", 2, ES_TAKE_EVERY,
     ES_SHAPE_VIEWS, ES_SORTING_NONE, false, "class == send", "tag == 1",
     "gather \"scope\"\n"
     "  filter where=tag == 1 \"filter\"\n"
     "    filter where=class == send \"filter\"\n"
     "      gather \"host a\"\n"
     "        gather \"thread 0.0\"\n"
     "          element read=every \"0.0/p2p\"\n"
     "  filter where=tag == 1 \"filter\"\n"
     "    filter where=class == send \"filter\"\n"
     "      gather \"host b\"\n"
     "        gather \"thread 1.0\"\n"
     "          element read=every \"1.0/p2p\"\n"},
    {"sorted: each host merges its elements, the root the hosts", 3, ES_TAKE_NEW,
     ES_SHAPE_VIEWS, ES_SORTING_START, false, NULL, NULL,
     "sort by=start window=5ns \"scope\"\n"
     "  sort by=start window=5ns \"host a\"\n"
     "    element read=every \"0.0/p2p\"\n"
     "    element read=every \"0.1/p2p\"\n"
     "  sort by=start window=5ns \"host b\"\n"
     "    element read=every \"1.0/p2p\"\n"},
};

static void each_shape_is_as_drawn(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_scope_config config;
        struct es_stage_node *root;
        char *text;

        es_scope_config_init(&config);
        config.take = cases[i].take;
        config.tree.shape = cases[i].shape;
        config.sorting = cases[i].sorting;
        config.open = cases[i].open;
        config.window_ns = 5;
        config.view.filter = cases[i].filter;
        print_message("# %s\n", cases[i].what);
        assert_int_equal(es_stage_tree_plan(origins, cases[i].origins, &config, NULL,
                                            cases[i].view_filter, NULL, &root),
                         0);
        assert_int_equal(es_stage_node_format(root, &text), 0);
        assert_string_equal(text, cases[i].text);
        free(text);
        es_stage_node_destroy(root);
    }
}

static void every_origin_has_one_leaf(void **state)
{
    enum { COUNT = 5000 };
    struct es_origin *many = calloc(COUNT, sizeof *many);
    struct es_scope_config config;
    struct es_stage_node *root;

    (void)state;
    assert_non_null(many);
    for (int i = 0; i < COUNT; i++)
        many[i] = (struct es_origin){
            .name = "x", .host = i % 3 ? "a" : "b", .rank = i % 40, .thread = i % 7};
    es_scope_config_init(&config);
    assert_int_equal(es_stage_tree_plan(many, COUNT, &config, NULL, NULL, NULL, &root),
                     0);
    /* Root, hosts, threads by host: 40 * 7 of each, but that i % 3, i % 40, i % 7 meet
     * all. */
    assert_int_equal(es_stage_node_count(root), 1 + 2 + 2 * 280 + COUNT);
    es_stage_node_destroy(root);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_is_as_drawn),
        cmocka_unit_test(every_origin_has_one_leaf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
