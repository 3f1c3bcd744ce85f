/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the cycles of a replay's graph, against all paths of small random graphs. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/latent/replay_graph.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { NODES = 12, GRAPHS = 4000, CHAIN = 300000, FAR = 1000 };

struct made_graph {
    struct esi_replay_graph graph;
    uint8_t begins[NODES];
};

/* The cycles that were reported. */
struct reports {
    const struct esi_replay_graph *graph;
    size_t count;
    size_t lengths[NODES];
    uint32_t nodes[NODES]; /* node at which the first edge of the cycle begins */
};

static void add_edge(struct esi_replay_graph *graph, uint32_t from, uint32_t to)
{
    struct esi_replay_edge edge = {.from = from, .to = to, .awaited = to};

    assert_int_equal(esi_replay_graph_add(graph, &edge), 0);
}

static void make_graph(struct made_graph *made, uint64_t *seed)
{
    int edges = random_int(seed, 2 * NODES);
    uint32_t nodes = 2 + random_below(seed, NODES - 1);

    *made = (struct made_graph){.graph = {.node_count = nodes}};
    for (uint32_t i = 0; i < nodes; i++)
        made->begins[i] = i == 0 || random_int(seed, 4) == 0;
    made->graph.begins = made->begins;
    for (int i = 0; i < edges; i++)
        add_edge(&made->graph, random_below(seed, nodes), random_below(seed, nodes));
    assert_int_equal(esi_replay_graph_sort(&made->graph), 0);
}

/* The edges form a cycle: each leads to the node at which the next one begins, or to a
 * later node of the same thread. */
static int on_cycle(void *data, const uint32_t *edges, size_t count)
{
    struct reports *reports = data;
    const struct esi_replay_graph *graph = reports->graph;

    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        uint32_t from = graph->edges[edges[(i + 1) % count]].from;

        for (uint32_t node = graph->edges[edges[i]].to; node != from; node--)
            assert_int_equal(graph->begins[node], 0);
    }
    reports->lengths[reports->count] = count;
    reports->nodes[reports->count++] = graph->edges[edges[0]].from;
    return 0;
}

/* The smallest number of edges from each node to each, at least one; by Floyd and
 * Warshall. */
static void measure_all(const struct esi_replay_graph *graph, int far[NODES][NODES])
{
    for (size_t i = 0; i < NODES; i++)
        for (size_t k = 0; k < NODES; k++)
            far[i][k] = FAR;
    for (size_t i = 0; i < graph->edge_count; i++)
        far[graph->edges[i].from][graph->edges[i].to] = 1;
    for (size_t i = 1; i < graph->node_count; i++)
        if (!graph->begins[i])
            far[i][i - 1] = 0;
    for (size_t m = 0; m < graph->node_count; m++)
        for (size_t i = 0; i < graph->node_count; i++)
            for (size_t k = 0; k < graph->node_count; k++)
                if (far[i][m] + far[m][k] < far[i][k])
                    far[i][k] = far[i][m] + far[m][k];
}

static bool are_together(int far[NODES][NODES], size_t a, size_t b)
{
    return far[a][b] < FAR && far[b][a] < FAR;
}

/* Each component that has a cycle is reported once, with its shortest cycle. */
static void check_reports(const struct esi_replay_graph *graph,
                          const struct reports *reports)
{
    int far[NODES][NODES];
    size_t components = 0;

    measure_all(graph, far);
    for (size_t i = 0; i < graph->node_count; i++) {
        bool is_first = far[i][i] < FAR;
        int least = FAR;

        for (size_t k = 0; k < i; k++)
            is_first = is_first && !are_together(far, i, k);
        if (!is_first)
            continue;
        components++;
        for (size_t k = 0; k < graph->node_count; k++)
            if (are_together(far, i, k) && far[k][k] < least)
                least = far[k][k];
        for (size_t r = 0; r < reports->count; r++)
            if (are_together(far, i, reports->nodes[r]))
                assert_int_equal(reports->lengths[r], least);
    }
    assert_int_equal(reports->count, components);
}

static void cycles_are_those_of_all_paths(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= GRAPHS; i++) {
        struct made_graph made;
        struct reports reports = {.graph = &made.graph};
        uint64_t seed = i;

        make_graph(&made, &seed);
        if (esi_replay_graph_cycles(&made.graph, on_cycle, &reports) !=
            (int64_t)reports.count)
            fail_msg("seed %u: another count than was reported", i);
        check_reports(&made.graph, &reports);
        esi_replay_graph_fini(&made.graph);
    }
}

/* A long thread needs neither deep recursion nor more than linear time. */
static void long_threads_are_no_trouble(void **state)
{
    uint8_t *begins = calloc(CHAIN, 1);
    struct esi_replay_graph graph = {.node_count = CHAIN, .begins = begins};
    struct reports reports = {.graph = &graph};

    (void)state;
    assert_non_null(begins);
    begins[0] = begins[CHAIN / 2] = 1;
    add_edge(&graph, CHAIN / 2 + 1, CHAIN / 2 - 1);
    add_edge(&graph, 1, CHAIN - 1);
    for (uint32_t i = 2; i < CHAIN / 2; i++)
        add_edge(&graph, i, CHAIN / 2);
    assert_int_equal(esi_replay_graph_sort(&graph), 0);
    assert_int_equal(esi_replay_graph_cycles(&graph, on_cycle, &reports), 1);
    assert_int_equal(reports.lengths[0], 2);
    esi_replay_graph_fini(&graph);
    free(begins);
}

static int refuse(void *data, const uint32_t *edges, size_t count)
{
    (void)data;
    (void)edges;
    (void)count;
    return -7;
}

static void a_refusal_ends_the_search(void **state)
{
    uint8_t begins[2] = {1, 1};
    struct esi_replay_graph graph = {.node_count = 2, .begins = begins};

    (void)state;
    add_edge(&graph, 0, 0);
    add_edge(&graph, 1, 1);
    assert_int_equal(esi_replay_graph_sort(&graph), 0);
    assert_int_equal(esi_replay_graph_cycles(&graph, refuse, NULL), -7);
    esi_replay_graph_fini(&graph);
}

SUITE(test_replay_graph)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_are_those_of_all_paths),
        cmocka_unit_test(long_threads_are_no_trouble),
        cmocka_unit_test(a_refusal_ends_the_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
