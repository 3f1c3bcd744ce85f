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

enum { MOST = 6, TARGETS = 4, NO_WAY = 1000 };

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
    {"a cycle that waits for another: the knot comes first",
     {{0, ES_WAIT_ALL, {1, 2, -1}, true},
      {1, ES_WAIT_ALL, {0, -1}, true},
      {2, ES_WAIT_ALL, {3, -1}, true},
      {3, ES_WAIT_ALL, {4, -1}, true},
      {4, ES_WAIT_ALL, {2, -1}, true}},
     5,
     "2 3 4;0 1",
     ""},
    {"a shortest cycle stands for its group",
     {{0, ES_WAIT_ALL, {1, -1}, true},
      {1, ES_WAIT_ALL, {2, -1}, true},
      {2, ES_WAIT_ALL, {3, 0, -1}, true},
      {3, ES_WAIT_ALL, {0, -1}, true}},
     4,
     "0 1 2",
     ""},
    {"two threads of a rank wait, in a cycle each",
     {{0, ES_WAIT_ALL, {1, -1}, true},
      {0, ES_WAIT_ALL, {2, -1}, true},
      {1, ES_WAIT_ALL, {0, -1}, true},
      {2, ES_WAIT_ALL, {0, -1}, true}},
     4,
     "0 1",
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

/* How many steps lead from one stuck rank to another, by trying all. */
static void measure_ways(const struct esi_wait_node *nodes, int ways[MOST][MOST])
{
    for (size_t i = 0; i < MOST; i++)
        for (size_t j = 0; j < MOST; j++)
            ways[i][j] = NO_WAY;
    for (size_t i = 0; i < MOST; i++)
        for (size_t j = 0; nodes[i].stuck && j < nodes[i].target_count; j++)
            if (nodes[nodes[i].targets[j]].stuck)
                ways[i][nodes[i].targets[j]] = 1;
    for (size_t k = 0; k < MOST; k++)
        for (size_t i = 0; i < MOST; i++)
            for (size_t j = 0; j < MOST; j++)
                if (ways[i][k] + ways[k][j] < ways[i][j])
                    ways[i][j] = ways[i][k] + ways[k][j];
}

static bool waits_for(const struct esi_wait_node *node, int rank)
{
    for (size_t i = 0; i < node->target_count; i++)
        if (node->targets[i] == rank)
            return true;
    return false;
}

/* Each group of ranks that reach each other has a cycle, and is a knot or not. */
static void check_cycles(const struct esi_wait_node *nodes,
                         const struct esi_wait_result *result)
{
    int ways[MOST][MOST];
    size_t groups = 0;

    measure_ways(nodes, ways);
    for (size_t i = 0; i < MOST; i++) {
        bool is_least = ways[i][i] < NO_WAY;

        for (size_t j = 0; j < i; j++)
            is_least &= ways[i][j] == NO_WAY || ways[j][i] == NO_WAY;
        groups += is_least;
    }
    assert_int_equal(result->cycle_count, groups);
    for (size_t i = 0; i < result->cycle_count; i++) {
        const struct esi_wait_cycle *cycle = &result->cycles[i];
        int first = cycle->ranks[0];
        size_t members = 0;
        bool knot = true;

        for (int j = 0; j < MOST; j++) {
            bool is_member = ways[first][j] < NO_WAY && ways[j][first] < NO_WAY;

            members += is_member;
            knot &= is_member || ways[first][j] == NO_WAY;
            assert_true(!is_member || j >= first);
        }
        assert_int_equal(cycle->members, members);
        assert_int_equal(cycle->knot, knot);
        assert_int_equal(cycle->count, ways[first][first]);
        for (size_t j = 0; j < cycle->count; j++)
            assert_true(waits_for(&nodes[cycle->ranks[j]],
                                  cycle->ranks[(j + 1) % cycle->count]));
        assert_true(i == 0 || result->cycles[i - 1].knot >= cycle->knot);
    }
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
                .state = (random >> 24) % 4 ? ES_WAIT_ALL
                                            : (enum esi_wait_state)((random >> 16) % 5),
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
        check_cycles(nodes, &result);
        esi_wait_result_fini(&result);
    }
}

/* A chain of a hundred thousand, into a pair or to one who may act: no recursion, no
 * square. */
static void long_chains_take_linear_time(void **state)
{
    enum { LENGTH = 100000 };
    struct esi_wait_node *nodes = calloc(LENGTH, sizeof *nodes);
    int *targets = calloc(LENGTH, sizeof *targets);
    struct esi_wait_result result;

    (void)state;
    assert_non_null(nodes);
    assert_non_null(targets);
    for (int i = 0; i < LENGTH; i++) {
        targets[i] = i + 1 < LENGTH ? i + 1 : i - 1;
        nodes[i] = (struct esi_wait_node){.rank = i,
                                          .state = ES_WAIT_ALL,
                                          .certain = true,
                                          .targets = &targets[i],
                                          .target_count = 1};
    }
    assert_int_equal(esi_wait_analyse(nodes, LENGTH, &result), 0);
    assert_int_equal(result.cycle_count, 1);
    assert_int_equal(result.cycles[0].ranks[0], LENGTH - 2);
    assert_int_equal(result.cycles[0].count, 2);
    esi_wait_result_fini(&result);
    nodes[LENGTH - 1].state = ES_WAIT_NOT;
    assert_int_equal(esi_wait_analyse(nodes, LENGTH, &result), 0);
    assert_false(nodes[0].stuck);
    assert_int_equal(result.cycle_count, 0);
    assert_int_equal(result.culprit_count, 1);
    assert_int_equal(result.culprits[0].rank, LENGTH - 1);
    esi_wait_result_fini(&result);
    free(targets);
    free(nodes);
}

SUITE(test_wait_graph)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_has_its_cycles_and_culprits),
        cmocka_unit_test(a_cycle_is_as_certain_as_its_least_certain_wait),
        cmocka_unit_test(random_graphs_agree_with_the_reference),
        cmocka_unit_test(long_chains_take_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
