/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Graphs of all and any: release and knots match the definitions. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/verdict/and_or.h"
#include "tests/monitors/draw.h"
#include "tests/suites.h"

enum { MOST = 9, CASES = 4000 };

static uint32_t add_node(struct esi_and_or *graph,
                         enum esi_and_or_mode surely,
                         enum esi_and_or_mode maybe)
{
    struct esi_and_or_node node = {
        .surely = (uint8_t)surely, .maybe = (uint8_t)maybe, .owner = (int)graph->count};
    uint32_t number;

    assert_int_equal(esi_and_or_add(graph, &node, &number), 0);
    return number;
}

static void link_nodes(struct esi_and_or *graph, uint32_t from, uint32_t to)
{
    assert_int_equal(esi_and_or_link(graph, from, to), 0);
}

/* --- The definitions -------------------------------------------------------------- */

struct plain_graph {
    size_t count;
    enum esi_and_or_mode modes[MOST];
    bool links[MOST][MOST];
};

/* Releases nodes until no more can be released. */
static void release_plainly(const struct plain_graph *graph, bool *stuck)
{
    bool changed = true;

    for (size_t i = 0; i < graph->count; i++)
        stuck[i] = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < graph->count; i++) {
            bool all = true, any = false, free_now;

            for (size_t j = 0; j < graph->count; j++) {
                if (!graph->links[i][j])
                    continue;
                all &= !stuck[j];
                any |= !stuck[j];
            }
            free_now = graph->modes[i] == ESI_NODE_ACTS ||
                       (graph->modes[i] == ESI_NODE_ALL && all) ||
                       (graph->modes[i] == ESI_NODE_ANY && any);
            changed |= stuck[i] && free_now;
            stuck[i] &= !free_now;
        }
    }
}

/* Computes which stuck nodes reach each other over stuck nodes. */
static void reach_plainly(const struct plain_graph *graph,
                          const bool *stuck,
                          bool reaches[MOST][MOST])
{
    for (size_t i = 0; i < graph->count; i++)
        for (size_t j = 0; j < graph->count; j++)
            reaches[i][j] = stuck[i] && stuck[j] && (i == j || graph->links[i][j]);
    for (size_t k = 0; k < graph->count; k++)
        for (size_t i = 0; i < graph->count; i++)
            for (size_t j = 0; j < graph->count; j++)
                reaches[i][j] |= reaches[i][k] && reaches[k][j];
}

/* A node belongs to a knot if all nodes that it reaches also reach it. */
static bool is_in_knot(const struct plain_graph *graph,
                       bool reaches[MOST][MOST],
                       size_t node)
{
    for (size_t j = 0; j < graph->count; j++)
        if (reaches[node][j] && !reaches[j][node])
            return false;
    return true;
}

/* Returns the length of the shortest cycle through a node, or 0 if there is none. */
static size_t shortest_cycle(const struct plain_graph *graph,
                             const bool *stuck,
                             size_t start)
{
    size_t steps[MOST] = {0};
    bool changed = true;

    for (size_t length = 1; length <= graph->count && changed; length++) {
        changed = false;
        for (size_t i = 0; i < graph->count; i++) {
            bool is_there = length == 1 ? i == start : steps[i] == length - 1;

            for (size_t j = 0; is_there && stuck[i] && j < graph->count; j++) {
                if (!graph->links[i][j] || !stuck[j] || steps[j])
                    continue;
                if (j == start)
                    return length;
                steps[j] = length;
                changed = true;
            }
        }
    }
    return 0;
}

static void draw_graph(struct plain_graph *plain, struct esi_and_or *graph)
{
    *plain = (struct plain_graph){.count = 1 + draw_below(MOST)};
    for (size_t i = 0; i < plain->count; i++) {
        plain->modes[i] = draw_below(8) == 0   ? ESI_NODE_ACTS
                          : draw_below(8) == 0 ? ESI_NODE_NEVER
                          : draw_below(2)      ? ESI_NODE_ALL
                                               : ESI_NODE_ANY;
        add_node(graph, plain->modes[i], plain->modes[i]);
    }
    for (size_t i = 0; i < plain->count; i++)
        for (size_t j = 0; j < plain->count; j++) {
            plain->links[i][j] =
                plain->modes[i] != ESI_NODE_NEVER && draw_below(4) == 0;
            if (plain->links[i][j])
                link_nodes(graph, (uint32_t)i, (uint32_t)j);
        }
    assert_int_equal(esi_and_or_close(graph), 0);
}

static void check_knots(const struct plain_graph *plain,
                        const struct esi_and_or *graph,
                        const bool *stuck)
{
    struct esi_and_or_knots knots;
    bool reaches[MOST][MOST];

    reach_plainly(plain, stuck, reaches);
    assert_int_equal(esi_and_or_find_knots(graph, stuck, &knots), 0);
    for (size_t i = 0; i < plain->count; i++) {
        size_t shortest;
        int *owners;

        if (!stuck[i]) {
            assert_int_equal(knots.component[i], ESI_NODE_NONE);
            continue;
        }
        for (size_t j = 0; j < plain->count; j++)
            if (stuck[j])
                assert_int_equal(knots.component[i] == knots.component[j],
                                 reaches[i][j] && reaches[j][i]);
        assert_int_equal(knots.sink[knots.component[i]], is_in_knot(plain, reaches, i));
        shortest = shortest_cycle(plain, stuck, i);
        int count = esi_and_or_find_cycle(graph, &knots, (uint32_t)i, &owners);
        assert_int_equal(count, shortest ? shortest : 1);
        assert_int_equal(owners[0], i);
        for (int j = 0; shortest && j < count; j++)
            assert_true(plain->links[owners[j]][owners[(j + 1) % count]]);
        free(owners);
    }
    esi_and_or_knots_fini(&knots);
}

static void release_and_knots_are_those_of_the_definitions(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct plain_graph plain;
        struct esi_and_or graph = {0};
        bool expected[MOST], stuck[MOST];

        draw_graph(&plain, &graph);
        release_plainly(&plain, expected);
        assert_int_equal(esi_and_or_release(&graph, true, stuck), 0);
        assert_memory_equal(stuck, expected, plain.count * sizeof *stuck);
        assert_int_equal(esi_and_or_release(&graph, false, stuck), 0);
        assert_memory_equal(stuck, expected, plain.count * sizeof *stuck);
        check_knots(&plain, &graph, stuck);
        esi_and_or_fini(&graph);
    }
}

/* --- Cases ------------------------------------------------------------------------ */

static void the_two_modes_are_kept_apart(void **state)
{
    struct esi_and_or graph = {0};
    bool stuck[2];

    (void)state;
    add_node(&graph, ESI_NODE_ACTS, ESI_NODE_ALL);
    add_node(&graph, ESI_NODE_ALL, ESI_NODE_ALL);
    link_nodes(&graph, 0, 1);
    link_nodes(&graph, 1, 0);
    assert_int_equal(esi_and_or_close(&graph), 0);
    assert_int_equal(esi_and_or_release(&graph, true, stuck), 0);
    assert_false(stuck[0] || stuck[1]);
    assert_int_equal(esi_and_or_release(&graph, false, stuck), 0);
    assert_true(stuck[0] && stuck[1]);
    esi_and_or_fini(&graph);
}

/* Two nodes wait for any node of a set that contains both.  The cycle leads
 * over the other node. */
static void a_set_that_contains_who_waits_makes_no_cycle_of_one(void **state)
{
    struct esi_and_or graph = {0};
    struct esi_and_or_node set = {
        .surely = ESI_NODE_ANY, .maybe = ESI_NODE_ANY, .shared = true, .owner = -1};
    struct esi_and_or_knots knots;
    bool stuck[3];
    uint32_t number;
    int *owners;

    (void)state;
    add_node(&graph, ESI_NODE_ALL, ESI_NODE_ALL);
    add_node(&graph, ESI_NODE_ALL, ESI_NODE_ALL);
    assert_int_equal(esi_and_or_add(&graph, &set, &number), 0);
    for (uint32_t i = 0; i < 2; i++) {
        link_nodes(&graph, i, number);
        link_nodes(&graph, number, i);
    }
    assert_int_equal(esi_and_or_close(&graph), 0);
    assert_int_equal(esi_and_or_release(&graph, true, stuck), 0);
    assert_int_equal(esi_and_or_find_knots(&graph, stuck, &knots), 0);
    assert_int_equal(knots.count, 1);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(esi_and_or_find_cycle(&graph, &knots, 0, &owners), 2);
        assert_int_equal(owners[0], 0);
        assert_int_equal(owners[1], 1);
        free(owners);
    }
    esi_and_or_knots_fini(&knots);
    esi_and_or_fini(&graph);
}

SUITE(test_and_or)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(release_and_knots_are_those_of_the_definitions,
                               draw_seed),
        cmocka_unit_test(the_two_modes_are_kept_apart),
        cmocka_unit_test(a_set_that_contains_who_waits_makes_no_cycle_of_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
