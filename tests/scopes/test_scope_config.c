/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Settings of a scope are set by name, refused with a message, and
 * shown as they were set. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/scope.h"
#include "tests/suites.h"

/* The fields that settings change, as a text that can be compared. */
static void describe(const struct es_scope_config *config, char *out, size_t size)
{
    const struct es_tree_config *tree = &config->tree;
    char nodes[32] = "";

    if (tree->nodes || tree->node_threads)
        snprintf(nodes, sizeof nodes, " nodes %d %u", tree->nodes, tree->node_threads);
    snprintf(
        out, size, "%d %u %u %d %u %u %s %s %zu %llu %llu %d%s %s%s%s %d %llu %zu %d",
        (int)tree->shape, tree->levels, tree->fan_out, (int)tree->mode, tree->threads,
        tree->ahead, tree->joints ? tree->joints : "-",
        tree->reduce ? tree->reduce : "-", tree->batch,
        (unsigned long long)tree->batch_wait_ns, (unsigned long long)tree->limit_ns,
        tree->through_server, nodes, tree->observe ? tree->observe : "-",
        tree->stages ? " " : "", tree->stages ? tree->stages : "", (int)config->sorting,
        (unsigned long long)config->window_ns, config->max, config->lossless);
}

#define DEFAULTS "0 31 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"

static const struct {
    const char *name;
    const char *value;
    const char *shown; /* value shown by es_scope_config_foreach(); NULL = the same */
    const char *expected;
} rows[] = {
    {"shape", "views", NULL, DEFAULTS},
    {"shape", "flat", NULL, "1 31 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"shape", "hosts", NULL, "2 31 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"shape", "kary", NULL, "3 31 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"shape", "levels", NULL, "4 31 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"shape", "stages", NULL, "5 31 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"stages", "{\"type\": \"gather\"}", NULL,
     "0 31 0 0 0 0 - - 0 0 5000000000 0 - {\"type\": \"gather\"} 0 10000000 65536 0"},
    {"levels", "all", NULL, DEFAULTS},
    {"levels", "thread", NULL, "0 1 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"levels", "gateway,host,thread", "thread,host,gateway",
     "0 21 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"levels", "thread,socket,host,cluster,gateway", "all", DEFAULTS},
    {"fan-out", "8", NULL, "0 31 8 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"mode", "concurrent", NULL, DEFAULTS},
    {"mode", "sequential", NULL,
     "0 31 0 1 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"threads", "3", NULL, "0 31 0 0 3 0 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"ahead", "2", NULL, "0 31 0 0 0 2 - - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"joints", "a,b", NULL, "0 31 0 0 0 0 a,b - 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"joints", "none", NULL, DEFAULTS},
    {"joints", "", "none", DEFAULTS},
    {"reduce", "histogram", NULL,
     "0 31 0 0 0 0 - histogram 0 0 5000000000 0 - 0 10000000 65536 0"},
    {"batch", "500", NULL, "0 31 0 0 0 0 - - 500 0 5000000000 0 - 0 10000000 65536 0"},
    {"batch-wait", "20ms", NULL,
     "0 31 0 0 0 0 - - 0 20000000 5000000000 0 - 0 10000000 65536 0"},
    {"batch-wait", "0", "0s", DEFAULTS},
    {"limit", "1500ms", NULL, "0 31 0 0 0 0 - - 0 0 1500000000 0 - 0 10000000 65536 0"},
    {"limit", "2s", NULL, "0 31 0 0 0 0 - - 0 0 2000000000 0 - 0 10000000 65536 0"},
    {"through-server", "yes", NULL,
     "0 31 0 0 0 0 - - 0 0 5000000000 1 - 0 10000000 65536 0"},
    {"through-server", "on", "yes",
     "0 31 0 0 0 0 - - 0 0 5000000000 1 - 0 10000000 65536 0"},
    {"nodes", "yes", NULL,
     "0 31 0 0 0 0 - - 0 0 5000000000 0 nodes 1 0 - 0 10000000 65536 0"},
    {"node-threads", "3", NULL,
     "0 31 0 0 0 0 - - 0 0 5000000000 0 nodes 0 3 - 0 10000000 65536 0"},
    {"observe", "joints mine", NULL,
     "0 31 0 0 0 0 - - 0 0 5000000000 0 joints mine 0 10000000 65536 0"},
    {"sort", "none", NULL, DEFAULTS},
    {"sort", "stop", NULL, "0 31 0 0 0 0 - - 0 0 5000000000 0 - 1 10000000 65536 0"},
    {"sort", "start", NULL, "0 31 0 0 0 0 - - 0 0 5000000000 0 - 2 10000000 65536 0"},
    {"window", "250us", NULL, "0 31 0 0 0 0 - - 0 0 5000000000 0 - 0 250000 65536 0"},
    {"window", "1001ns", NULL, "0 31 0 0 0 0 - - 0 0 5000000000 0 - 0 1001 65536 0"},
    {"max", "1", NULL, "0 31 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 1 0"},
    {"lossless", "yes", NULL, "0 31 0 0 0 0 - - 0 0 5000000000 0 - 0 10000000 65536 1"},
    {"lossless", "no", NULL, DEFAULTS},
};
enum { ROWS = sizeof rows / sizeof *rows };

struct shown {
    const char *name;
    char value[128];
    int count;
};

static void note(void *data, const char *name, const char *value, const char *help)
{
    struct shown *shown = data;

    assert_true(help && *help);
    if (strcmp(name, shown->name) != 0)
        return;
    snprintf(shown->value, sizeof shown->value, "%s", value);
    shown->count++;
}

static void every_setting_fills_its_field_and_is_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct shown shown = {.name = rows[i].name};
        struct es_scope_config config;
        struct es_error error = {.text = ""};
        char text[256];

        es_scope_config_init(&config);
        if (es_scope_config_set(&config, rows[i].name, rows[i].value, &error) != 0)
            fail_msg("%s=%s: %s", rows[i].name, rows[i].value, error.text);
        describe(&config, text, sizeof text);
        assert_string_equal(text, rows[i].expected);
        es_scope_config_foreach(&config, note, &shown);
        assert_int_equal(shown.count, 1);
        assert_string_equal(shown.value, rows[i].shown ? rows[i].shown : rows[i].value);
    }
}

static void note_tested(void *data,
                        const char *name,
                        const char *value,
                        const char *help)
{
    size_t *untested = data;
    size_t i = 0;

    (void)value;
    (void)help;
    while (i < ROWS && strcmp(rows[i].name, name) != 0)
        i++;
    *untested += i == ROWS;
}

static void no_setting_is_left_out_of_this_test(void **state)
{
    struct es_scope_config config;
    size_t untested = 0;

    (void)state;
    es_scope_config_init(&config);
    es_scope_config_foreach(&config, note_tested, &untested);
    assert_int_equal(untested, 0);
}

/* Shown values can be set again. */
static void set_shown(void *data, const char *name, const char *value, const char *help)
{
    struct es_scope_config *config = data;

    (void)help;
    assert_int_equal(es_scope_config_set(config, name, value, NULL), 0);
}

static void what_is_shown_can_be_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct es_scope_config config;
        struct es_scope_config again;

        es_scope_config_init(&config);
        assert_int_equal(
            es_scope_config_set(&config, rows[i].name, rows[i].value, NULL), 0);
        es_scope_config_init(&again);
        /* Texts are borrowed and valid only while they are shown, so only
         * numbers are compared. */
        es_scope_config_foreach(&config, set_shown, &again);
        again.tree.joints = config.tree.joints;
        again.tree.reduce = config.tree.reduce;
        again.tree.observe = config.tree.observe;
        again.tree.stages = config.tree.stages;
        char first[256];
        char second[256];

        describe(&config, first, sizeof first);
        describe(&again, second, sizeof second);
        assert_string_equal(first, second);
    }
}

static void what_cannot_be_is_refused_with_words(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        const char *words; /* must be in the error */
    } cases[] = {
        {"shap", "flat", "'shape'"},
        {"fanout", "3", "'fan-out'"},
        {"", "", "no property"},
        {"something", "1", "no property"},
        {"shape", "flatt", "flat"},
        {"shape", "", "views"},
        {"levels", "hosts", "'host'"},
        {"levels", "thread,,host", "no level"},
        {"levels", "thread,", "no level"},
        {"levels", "", "levels"},
        {"levels", "rack", "expected some of thread"},
        {"fan-out", "-1", "whole number"},
        {"fan-out", "3x", "whole number"},
        {"mode", "parallel", "concurrent"},
        {"threads", "1000", "64"},
        {"ahead", "two", "whole number"},
        {"batch", "99999999999999999999", "whole number"},
        {"batch-wait", "20", "ms"},
        {"limit", "0", "limit"},
        {"through-server", "maybe", "yes or no"},
        {"sort", "time", "stop"},
        {"window", "-3ms", "window"},
        {"max", "0", "whole number"},
        {"lossless", "", "yes or no"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_scope_config config;
        struct es_error error = {.text = ""};
        char text[256];

        es_scope_config_init(&config);
        assert_int_equal(
            es_scope_config_set(&config, cases[i].name, cases[i].value, &error),
            -EINVAL);
        if (!strstr(error.text, cases[i].words))
            fail_msg("%s=%s: %s", cases[i].name, cases[i].value, error.text);
        describe(&config, text, sizeof text);
        assert_string_equal(text, DEFAULTS);
        assert_int_equal(
            es_scope_config_set(&config, cases[i].name, cases[i].value, NULL), -EINVAL);
    }
}

SUITE(test_scope_config)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_fills_its_field_and_is_shown),
        cmocka_unit_test(no_setting_is_left_out_of_this_test),
        cmocka_unit_test(what_is_shown_can_be_set),
        cmocka_unit_test(what_cannot_be_is_refused_with_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
