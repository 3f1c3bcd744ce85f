/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The wait-for graph names what is stuck, the cycles, and who holds others up. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/heartbeat/wait_graph.h"
#include "tests/suites.h"

enum { MOST = 6, TARGETS = 4 };

/* One thread of a case; -1 ends the targets. */
struct row {
    int rank;
    enum esi_wait_state state;
    int targets[TARGETS];
    bool stuck;
};

struct graph_case {
    const char *what;
    struct row rows[MOST];
    size_t count;
    const char *cycles;   /* "0 1;2 3" */
    const char *culprits; /* "2*1 gone" */
};

static const struct graph_case cases[] = {
    {"nobody waits",
     {{0, ES_WAIT_NOT, {-1}, false}, {1, ES_WAIT_NOT, {-1}, false}},
     2,
     "",
     ""},
    {"two receive from each other",
     {{0, ES_WAIT_ALL, {1, -1}, true}, {1, ES_WAIT_ALL, {0, -1}, true}},
     2,
     "0 1",
     ""},
    {"a ring of three, told from its least rank",
     {{2, ES_WAIT_ALL, {1, -1}, true},
      {1, ES_WAIT_ALL, {0, -1}, true},
      {0, ES_WAIT_ALL, {2, -1}, true}},
     3,
     "0 2 1",
     ""},
    {"a chain that ends at one who computes",
     {{0, ES_WAIT_ALL, {1, -1}, false},
      {1, ES_WAIT_ALL, {2, -1}, false},
      {2, ES_WAIT_NOT, {-1}, false}},
     3,
     "",
     "2*1"},
    {"a barrier that one is missing from",
     {{0, ES_WAIT_ALL, {2, -1}, false},
      {1, ES_WAIT_ALL, {2, -1}, false},
      {2, ES_WAIT_NOT, {-1}, false}},
     3,
     "",
     "2*2"},
    {"waiting for one who is gone is for ever",
     {{0, ES_WAIT_ALL, {1, -1}, true}, {1, ES_WAIT_GONE, {-1}, false}},
     2,
     "",
     "1*1 gone"},
    {"a chain into a cycle: only the cycle is named",
     {{0, ES_WAIT_ALL, {1, -1}, true},
      {1, ES_WAIT_ALL, {2, -1}, true},
      {2, ES_WAIT_ALL, {1, -1}, true}},
     3,
     "1 2",
     ""},
    {"from any source: one who may act is enough",
     {{0, ES_WAIT_ANY, {1, 2, -1}, false},
      {1, ES_WAIT_ALL, {0, -1}, false},
      {2, ES_WAIT_NOT, {-1}, false}},
     3,
     "",
     ""},
    {"from any source: all of them wait for the receiver",
     {{0, ES_WAIT_ANY, {1, 2, -1}, true},
      {1, ES_WAIT_ALL, {0, -1}, true},
      {2, ES_WAIT_ALL, {0, -1}, true}},
     3,
     "0 1",
     ""},
    {"from any source: all others are gone",
     {{0, ES_WAIT_ANY, {1, 2, -1}, true},
      {1, ES_WAIT_GONE, {-1}, false},
      {2, ES_WAIT_GONE, {-1}, false}},
     3,
     "",
     "1*1 gone,2*1 gone"},
    {"another thread of the rank may act",
     {{0, ES_WAIT_ALL, {1, -1}, false},
      {1, ES_WAIT_ALL, {0, -1}, false},
      {1, ES_WAIT_NOT, {-1}, false}},
     3,
     "",
     "1*1"},
    {"what is not known may act",
     {{0, ES_WAIT_ALL, {1, -1}, false}, {1, ES_WAIT_UNKNOWN, {-1}, false}},
     2,
     "",
     "1*1"},
    {"a rank that is not here may act", {{0, ES_WAIT_ALL, {7, -1}, false}}, 1, "", ""},
    {"waiting for oneself", {{3, ES_WAIT_ALL, {3, -1}, true}}, 1, "3", ""},
    {"a rank that is not known waits", {{-1, ES_WAIT_ALL, {0, -1}, false}}, 1, "", ""},
    {"two cycles",
     {{0, ES_WAIT_ALL, {1, -1}, true},
      {1, ES_WAIT_ALL, {0, -1}, true},
      {2, ES_WAIT_ALL, {3, -1}, true},
      {3, ES_WAIT_ALL, {2, -1}, true}},
     4,
     "0 1;2 3",
     ""},
};

static void print_cycles(const struct esi_wait_result *result, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < result->cycle_count; i++)
        for (size_t j = 0; j < result->cycles[i].count; j++)
            snprintf(out + strlen(out), size - strlen(out), "%s%d",
                     j   ? " "
                     : i ? ";"
                         : "",
                     result->cycles[i].ranks[j]);
}

static void print_culprits(const struct esi_wait_result *result, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < result->culprit_count; i++)
        snprintf(out + strlen(out), size - strlen(out), "%s%d*%zu%s", i ? "," : "",
                 result->culprits[i].rank, result->culprits[i].waiting,
                 result->culprits[i].gone ? " gone" : "");
}

static size_t fill_nodes(const struct graph_case *one, struct esi_wait_node nodes[MOST])
{
    for (size_t i = 0; i < one->count; i++) {
        nodes[i] = (struct esi_wait_node){.rank = one->rows[i].rank,
                                          .state = one->rows[i].state,
                                          .certain = true,
                                          .targets = one->rows[i].targets};
        while (one->rows[i].targets[nodes[i].target_count] >= 0)
            nodes[i].target_count++;
    }
    return one->count;
}

static void each_case_has_its_cycles_and_culprits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esi_wait_node nodes[MOST];
        struct esi_wait_result result;
        char text[128];

        fill_nodes(&cases[i], nodes);
        assert_int_equal(esi_wait_analyse(nodes, cases[i].count, &result), 0);
        print_message("# %s\n", cases[i].what);
        print_cycles(&result, text, sizeof text);
        assert_string_equal(text, cases[i].cycles);
        print_culprits(&result, text, sizeof text);
        assert_string_equal(text, cases[i].culprits);
        for (size_t j = 0; j < cases[i].count; j++)
            assert_int_equal(nodes[j].stuck, cases[i].rows[j].stuck);
        esi_wait_result_fini(&result);
    }
}

static void a_cycle_is_as_certain_as_its_least_certain_wait(void **state)
{
    int to_one[] = {1};
    int to_zero[] = {0};
    struct esi_wait_node nodes[] = {
        {.rank = 0,
         .state = ES_WAIT_ALL,
         .certain = true,
         .targets = to_one,
         .target_count = 1},
        {.rank = 1,
         .state = ES_WAIT_ALL,
         .certain = false,
         .targets = to_zero,
         .target_count = 1},
    };
    struct esi_wait_result result;

    (void)state;
    assert_int_equal(esi_wait_analyse(nodes, 2, &result), 0);
    assert_int_equal(result.cycle_count, 1);
    assert_false(result.cycles[0].certain);
    esi_wait_result_fini(&result);
}

/* A reference: releases one thread after the other in a random order, many times. */
static bool is_stuck_by_trying(const struct esi_wait_node *nodes,
                               size_t count,
                               size_t which)
{
    bool acts[MOST] = {false};
    bool released[MOST] = {false};

    for (size_t round = 0; round <= count; round++) {
        for (size_t i = 0; i < count; i++) {
            size_t acting = 0;
            bool free_now =
                nodes[i].state == ES_WAIT_NOT || nodes[i].state == ES_WAIT_UNKNOWN;

            for (size_t j = 0; j < nodes[i].target_count; j++)
                acting += acts[nodes[i].targets[j]];
            if (nodes[i].state == ES_WAIT_ALL)
                free_now = acting == nodes[i].target_count;
            if (nodes[i].state == ES_WAIT_ANY)
                free_now = acting > 0;
            released[i] |= free_now;
            acts[nodes[i].rank] |= released[i];
        }
    }
    return !released[which];
}

static void random_graphs_agree_with_the_reference(void **state)
{
    unsigned random = 99;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct esi_wait_node nodes[MOST];
        int targets[MOST][TARGETS];
        struct esi_wait_result result;

        for (size_t i = 0; i < MOST; i++) {
            random = random * 1103515245u + 12345u;
            nodes[i] = (struct esi_wait_node){
                .rank = (int)i,
                .state = (enum esi_wait_state)((random >> 16) % 5),
                .certain = true,
                .targets = targets[i]};
            nodes[i].target_count = 1 + (random >> 20) % 3;
            for (size_t j = 0; j < nodes[i].target_count; j++) {
                random = random * 1103515245u + 12345u;
                targets[i][j] = (int)((random >> 16) % MOST);
            }
        }
        assert_int_equal(esi_wait_analyse(nodes, MOST, &result), 0);
        for (size_t i = 0; i < MOST; i++) {
            bool waits = nodes[i].state == ES_WAIT_ALL || nodes[i].state == ES_WAIT_ANY;

            assert_int_equal(nodes[i].stuck,
                             waits && is_stuck_by_trying(nodes, MOST, i));
        }
        /* Whoever is on a cycle is stuck. */
        for (size_t i = 0; i < result.cycle_count; i++)
            for (size_t j = 0; j < result.cycles[i].count; j++)
                assert_true(nodes[result.cycles[i].ranks[j]].stuck);
        esi_wait_result_fini(&result);
    }
}

SUITE(test_wait_graph)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_has_its_cycles_and_culprits),
        cmocka_unit_test(a_cycle_is_as_certain_as_its_least_certain_wait),
        cmocka_unit_test(random_graphs_agree_with_the_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
