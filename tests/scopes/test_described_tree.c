/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Trees of the shape `stages` have the stages that their description names, on the
 * hosts that it names. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "scopes/stage_tree.h"
#include "tests/scopes/node_text.h"
#include "tests/suites.h"

/* Host `front` has no elements, and `lost` has no server. */
static const struct es_host_info infos[] = {
    {.host = "a1", .cluster = "a", .has_server = true},
    {.host = "a2", .cluster = "a", .has_server = true},
    {.host = "b1", .cluster = "b", .has_server = true},
    {.host = "front", .has_server = true},
    {.host = "lost", .has_server = false},
};

static const struct es_origin origins[] = {
    {.name = "2.0/x", .host = "b1", .pid = 12, .rank = 2},
    {.name = "0.0/x", .host = "a1", .pid = 10},
    {.name = "0.1/x", .host = "a1", .pid = 10, .thread = 1},
    {.name = "0.0/y", .host = "a1", .pid = 10},
    {.name = "1.0/x", .host = "a2", .pid = 11, .rank = 1},
};

enum { ORIGINS = sizeof origins / sizeof *origins };

static struct es_scope_config config_of(const char *stages)
{
    struct es_scope_config config;

    es_scope_config_init(&config);
    config.tree.shape = ES_SHAPE_STAGES;
    config.tree.stages = stages;
    return config;
}

static int plan(const struct es_scope_config *config,
                const char *here,
                size_t count,
                bool renewed,
                struct es_error *error,
                struct esi_stage_node **ret_root)
{
    const struct esi_host_infos known = {.here = here,
                                         .items = infos,
                                         .count = sizeof infos / sizeof *infos,
                                         .renewed = renewed};

    return esi_stage_tree_plan(origins, count, config, here ? &known : NULL, NULL,
                               error, ret_root);
}

static void check_plan(const struct es_scope_config *config,
                       const char *here,
                       size_t count,
                       const char *expected)
{
    struct es_error error = {.text = ""};
    struct esi_stage_node *root;
    char *text;

    if (plan(config, here, count, false, &error, &root) != 0)
        fail_msg("%s: %s", config->tree.stages, error.text);
    text = node_text(root);
    assert_string_equal(text, expected);
    free(text);
    esi_stage_node_destroy(root);
}

static const struct {
    const char *stages;
    const char *here; /* NULL: everything is on one host */
    const char *text;
} cases[] = {
    {"{\"type\": \"gather\"}", NULL,
     "gather \"scope\"\n"
     "  element read=every \"0.0/x\"\n"
     "  element read=every \"0.0/y\"\n"
     "  element read=every \"0.1/x\"\n"
     "  element read=every \"1.0/x\"\n"
     "  element read=every \"2.0/x\"\n"},
    /* Elements of other hosts are gathered there; the consumer is on a2. */
    {"{\"type\": \"gather\", \"name\": \"top\"}", "a2",
     "gather \"top\"\n"
     "  gather \"host a1\" @a1\n"
     "    element read=every \"0.0/x\"\n"
     "    element read=every \"0.0/y\"\n"
     "    element read=every \"0.1/x\"\n"
     "  element read=every \"1.0/x\" @a2\n"
     "  gather \"host b1\" @b1\n"
     "    element read=every \"2.0/x\"\n"},
    /* A stage on a host of its own, one for each cluster, one for each rank. */
    {"{\"type\": \"gather\", \"host\": \"front\", \"children\": ["
     " {\"type\": \"sort\", \"per\": \"cluster\","
     "  \"properties\": {\"window\": \"1ms\"},"
     "  \"children\": [{\"type\": \"batch\", \"per\": \"rank\","
     "   \"properties\": {\"tuples\": 64}, \"children\": ["
     "   {\"type\": \"element\", \"per\": \"element\"}]}]}]}",
     "a2",
     "gather \"scope\" @front\n"
     "  sort window=1ms \"cluster a\"\n"
     "    batch tuples=64 \"rank 0\" @a1\n"
     "      gather \"rank 0\"\n"
     "        element read=every \"0.0/x\"\n"
     "        element read=every \"0.0/y\"\n"
     "        element read=every \"0.1/x\"\n"
     "    batch tuples=64 \"rank 1\" @a2\n"
     "      gather \"rank 1\"\n"
     "        element read=every \"1.0/x\"\n"
     "  sort window=1ms \"cluster b\"\n"
     "    batch tuples=64 \"rank 2\" @b1\n"
     "      gather \"rank 2\"\n"
     "        element read=every \"2.0/x\"\n"},
    /* A stage that takes one child gathers; a reduction by site reads the sites. */
    {"{\"type\": \"filter\", \"properties\": {\"where\": \"tag == 1\"}, \"collector\":"
     " \"mine\", \"children\": [{\"type\": \"reduce\", \"per\": \"thread\","
     "  \"properties\": {\"to\": \"count\", \"by\": \"site\"}}]}",
     NULL,
     "observe name=mine \"scope\"\n"
     "  filter where=tag == 1 \"scope\"\n"
     "    gather \"scope\"\n"
     "      reduce to=count by=site \"thread 0.0\"\n"
     "        element read=every sites=yes \"0.0/x\"\n"
     "        element read=every sites=yes \"0.0/y\"\n"
     "      reduce to=count by=site \"thread 0.1\"\n"
     "        element read=every sites=yes \"0.1/x\"\n"
     "      reduce to=count by=site \"thread 1.0\"\n"
     "        element read=every sites=yes \"1.0/x\"\n"
     "      reduce to=count by=site \"thread 2.0\"\n"
     "        element read=every sites=yes \"2.0/x\"\n"},
};

static void stages_are_as_described(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct es_scope_config config = config_of(cases[i].stages);

        check_plan(&config, cases[i].here, ORIGINS, cases[i].text);
    }
}

static void the_views_filter_stands_below_the_stages(void **state)
{
    struct es_scope_config config =
        config_of("{\"type\": \"reduce\", \"per\": \"host\"}");

    (void)state;
    config.view.filter = "tag == 1";
    check_plan(&config, NULL, 1,
               "reduce \"host b1\"\n"
               "  filter where=tag == 1 \"2.0/x\"\n"
               "    element read=every \"2.0/x\"\n");
}

static void a_view_without_elements_has_a_tree(void **state)
{
    const struct es_scope_config wide =
        config_of("{\"type\": \"sample\", \"children\": [{\"type\": \"gather\"}]}");
    const struct es_scope_config narrow =
        config_of("{\"type\": \"gather\", \"per\": \"thread\"}");

    (void)state;
    check_plan(&wide, "a1", 0, "sample \"scope\"\n  gather \"scope\"\n");
    check_plan(&narrow, "a1", 0, "gather \"scope\"\n");
}

static void a_renewed_tree_does_without_servers_that_are_away(void **state)
{
    const struct es_scope_config config =
        config_of("{\"type\": \"gather\", \"host\": \"lost\"}");
    struct esi_stage_node *root;

    (void)state;
    assert_int_equal(plan(&config, "a1", ORIGINS, true, NULL, &root), 0);
    assert_null(root->host);
    esi_stage_node_destroy(root);
}

static const struct {
    const char *stages;
    const char *here;
    int code;
    const char *text;
} faults[] = {
    {NULL, NULL, -EINVAL, "the shape 'stages' needs the setting 'stages'"},
    {"{\"type\": \"gather\", \"host\": \"frnot\"}", "a1", -EINVAL,
     "stages: the run has no host 'frnot'; did you mean 'front'?"},
    {"{\"type\": \"gather\", \"host\": \"lost\"}", "a1", -EINVAL,
     "stages: no stage can run on host 'lost': it has no tuple server"},
    {"{\"type\": \"gather\", \"host\": \"a1\"}", NULL, -EINVAL,
     "stages: no stage can run on host 'a1': the run has no tuple servers"},
    {"{\"type\": \"gather\", \"children\": [{\"type\": \"gather\"}, {\"type\": "
     "\"sort\"}]}",
     NULL, -EINVAL,
     "stages: stage 'gather' has several children, which would read the same elements"},
    {"{\"type\": \"gathre\"}", NULL, -ENOENT,
     "there is no stage type 'gathre': did you mean 'gather'?"},
    {"{\"type\": \"element\", \"host\": \"a1\"}", "a1", -EINVAL,
     "stages: an element is read on its own host, without a collector: give 'host' to "
     "the stage above"},
    {"{\"type\": \"element\", \"properties\": {\"open\": true}}", NULL, -EINVAL,
     "stages: 'open' of an element is determined by the scope"},
    {"{\"type\": \"element\", \"properties\": {\"read\": \"latest\"}}", NULL, -EINVAL,
     "stages: an element reads the latest tuple, but the scope takes every tuple, and "
     "no stage reduces them"},
    {"{\"type\": \"gather\", \"per\": \"host\","
     " \"children\": [{\"type\": \"gather\"}]}",
     NULL, -EINVAL,
     "children[0].per: found 'scope' below a stage per host, expected 'host' or "
     "narrower"},
    {"[]", NULL, -EINVAL, "document: found an empty list, expected an object"},
};

static void what_makes_no_tree_is_refused_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct es_scope_config config = config_of(faults[i].stages);
        struct es_error error = {.text = ""};
        struct esi_stage_node *root;

        assert_int_equal(plan(&config, faults[i].here, ORIGINS, false, &error, &root),
                         faults[i].code);
        assert_string_equal(error.text, faults[i].text);
    }
}

static void the_latest_of_each_thread_needs_its_reduction(void **state)
{
    struct es_scope_config config =
        config_of("{\"type\": \"reduce\", \"per\": \"thread\"}");
    struct es_error error = {.text = ""};
    struct esi_stage_node *root;

    (void)state;
    config.take = ES_TAKE_LATEST_OF_THREAD;
    check_plan(&config, NULL, 1,
               "reduce \"thread 2.0\"\n"
               "  element read=latest \"2.0/x\"\n");
    config.tree.stages = "{\"type\": \"gather\"}";
    assert_int_equal(plan(&config, NULL, ORIGINS, false, &error, &root), -EINVAL);
    assert_string_equal(error.text,
                        "stages: the scope takes the latest tuple of each thread: "
                        "expected a stage 'reduce' to the latest, per thread");
}

static void other_settings_of_trees_are_refused(void **state)
{
    static const char *const settings[][3] = {
        {"reduce", "latest", "reduce"}, {"threads", "2", "threads"},
        {"batch", "10", "batch"},       {"nodes", "yes", "nodes"},
        {"observe", "all", "observe"},  {"sort", "stop", "sort"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct es_scope_config config = config_of("{\"type\": \"gather\"}");
        struct es_error error = {.text = ""};
        struct esi_stage_node *root;
        char expected[80];

        assert_int_equal(
            es_scope_config_set(&config, settings[i][0], settings[i][1], NULL), 0);
        assert_int_equal(plan(&config, NULL, ORIGINS, false, &error, &root), -EINVAL);
        snprintf(expected, sizeof expected,
                 "'%s' is not for the shape 'stages': describe a stage",
                 settings[i][2]);
        assert_string_equal(error.text, expected);
    }
}

SUITE(test_described_tree)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_are_as_described),
        cmocka_unit_test(the_views_filter_stands_below_the_stages),
        cmocka_unit_test(a_view_without_elements_has_a_tree),
        cmocka_unit_test(a_renewed_tree_does_without_servers_that_are_away),
        cmocka_unit_test(what_makes_no_tree_is_refused_in_words),
        cmocka_unit_test(the_latest_of_each_thread_needs_its_reduction),
        cmocka_unit_test(other_settings_of_trees_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
