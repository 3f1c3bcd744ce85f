/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tests of the shapes of collective trees: properties of all trees, and of each shape.
 *
 * Allocations fail and are counted by the linker's --wrap.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/suites.h"
#include "wrappers/shapes/exchange.h"
#include "wrappers/shapes/shape.h"

enum { LARGEST = 70, CLUSTERS = 3, HOSTS = 9 };

/* The allocation with this number fails, and all later ones; SIZE_MAX = none. */
static size_t countdown = SIZE_MAX;
static long alive;

void *__real_calloc(size_t count, size_t size);
void __real_free(void *block);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *block);

void *__wrap_calloc(size_t count, size_t size)
{
    if (countdown == 0)
        return NULL;
    if (countdown != SIZE_MAX)
        countdown--;
    alive++;
    return __real_calloc(count, size);
}

void __wrap_free(void *block)
{
    alive -= block != NULL;
    __real_free(block);
}

static uint64_t random_state = 1;

static struct esi_tree_edge edges[LARGEST];
static struct esi_location places[LARGEST];

static const uint32_t all_levels = ES_TREE_LEVEL_CORE | ES_TREE_LEVEL_SOCKET |
                                   ES_TREE_LEVEL_HOST | ES_TREE_LEVEL_CLUSTER |
                                   ES_TREE_LEVEL_GATEWAY;

/* Each host belongs to one cluster; some members are unknown at random. */
static void draw_places(int size, bool all_known)
{
    for (int i = 0; i < size; i++) {
        int host = random_int(&random_state, HOSTS);

        places[i] = (struct esi_location){
            .cluster = host / CLUSTERS % CLUSTERS,
            .gateway_host = host / CLUSTERS % CLUSTERS * CLUSTERS,
            .host = host,
            .socket = random_int(&random_state, 2),
            .core = random_int(&random_state, 4),
        };
        if (all_known)
            continue;
        if (host >= HOSTS - CLUSTERS)
            places[i].cluster = places[i].gateway_host = -1;
        if (random_int(&random_state, 5) == 0)
            places[i].socket = places[i].core = -1;
        if (random_int(&random_state, 10) == 0)
            places[i] = (struct esi_location){-1, -1, -1, -1, -1};
    }
}

/* A random tree: the parent of each rank is an earlier one in a random order. */
static void draw_edges(int size)
{
    int order[LARGEST];

    for (int i = 0; i < size; i++) {
        int other = random_int(&random_state, i + 1);

        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 1; i < size; i++)
        edges[i - 1] = (struct esi_tree_edge){
            .parent = order[random_int(&random_state, i)], .child = order[i]};
}

static struct esi_tree_rule draw_rule(enum esi_tree_shape shape, int size)
{
    struct esi_tree_rule rule = {.shape = shape,
                                 .fan_out = 2 + random_int(&random_state, 4)};

    if (shape == ES_TREE_LEVELS) {
        rule.levels = (uint32_t)random_int(&random_state, (int)all_levels + 1);
        rule.fan_out = random_int(&random_state, 2) * rule.fan_out;
        draw_places(size, random_int(&random_state, 2) == 0);
    }
    if (shape == ES_TREE_EXPLICIT) {
        draw_edges(size);
        rule.edges = edges;
        rule.edge_count = (size_t)size - 1;
    }
    return rule;
}

static struct esi_tree *create(const struct esi_tree_rule *rule, int size, int root)
{
    struct esi_tree *tree = NULL;
    struct es_error error = {.text = ""};

    assert_int_equal(esi_tree_create(rule, size, root, places, &error, &tree), 0);
    assert_string_equal(error.text, "");
    return tree;
}

/* --- Properties of every tree ---------------------------------------------------- */

static int depth_of(const struct esi_tree *tree, int rank)
{
    int depth = 0;

    for (; rank != tree->root; rank = tree->parents[rank], depth++) {
        assert_in_range(tree->parents[rank], 0, tree->size - 1);
        assert_true(depth < tree->size);
    }
    return depth;
}

static bool is_below(const struct esi_tree *tree, int rank, int above)
{
    while (rank >= 0 && rank != above)
        rank = tree->parents[rank];
    return rank == above;
}

static void check_subtree(const struct esi_tree *tree, int rank)
{
    const int *order = tree->order + tree->position[rank];
    int count = 0;
    int lowest = rank;

    for (int other = 0; other < tree->size; other++)
        if (is_below(tree, other, rank)) {
            count++;
            lowest = other < lowest ? other : lowest;
        }
    assert_int_equal(tree->subtree[rank], count);
    assert_int_equal(tree->lowest[rank], lowest);
    assert_int_equal(order[0], rank);
    assert_in_range(tree->position[rank] + count, 1, tree->size);
    for (int i = 0; i < count; i++)
        assert_true(is_below(tree, order[i], rank));
}

static void check_children(const struct esi_tree *tree, int rank)
{
    const int *children = esi_tree_children(tree, rank);
    int next = tree->position[rank] + 1;

    for (int i = 0; i < esi_tree_child_count(tree, rank); i++) {
        assert_int_equal(tree->parents[children[i]], rank);
        assert_int_equal(tree->position[children[i]], next);
        next += tree->subtree[children[i]];
        if (i > 0)
            assert_true(tree->lowest[children[i - 1]] < tree->lowest[children[i]]);
    }
}

static void check_tree(const struct esi_tree *tree, int size, int root)
{
    int depth = 0;

    assert_int_equal(tree->size, size);
    assert_int_equal(tree->root, root);
    assert_int_equal(tree->parents[root], -1);
    assert_int_equal(tree->first_child[0], 0);
    assert_int_equal(tree->first_child[size], size - 1);
    for (int rank = 0; rank < size; rank++) {
        int own = depth_of(tree, rank);

        depth = own > depth ? own : depth;
        check_subtree(tree, rank);
        check_children(tree, rank);
    }
    assert_int_equal(tree->depth, depth);
}

static void every_shape_makes_a_tree(void **state)
{
    (void)state;
    for (int shape = ES_TREE_LINEAR; shape <= ES_TREE_EXPLICIT; shape++)
        for (int size = 1; size <= LARGEST; size++)
            for (int root = 0; root < size;
                 root += 1 + random_int(&random_state, size < 8 ? 1 : size / 4)) {
                struct esi_tree_rule rule = draw_rule((enum esi_tree_shape)shape, size);
                struct esi_tree *tree = create(&rule, size, root);

                check_tree(tree, size, root);
                esi_tree_destroy(tree);
            }
}

/* --- Regular shapes --------------------------------------------------------------- */

static void fan_out_and_depth_are_kept(void **state)
{
    (void)state;
    for (int size = 1; size <= LARGEST; size++)
        for (int fan_out = 2; fan_out < 6; fan_out++) {
            struct esi_tree_rule rule = {.shape = ES_TREE_KARY, .fan_out = fan_out};
            struct esi_tree *tree =
                create(&rule, size, random_int(&random_state, size));
            int room = 1; /* ranks in all levels but the last */
            int row = 1;

            for (int rank = 0; rank < size; rank++)
                assert_true(esi_tree_child_count(tree, rank) <= fan_out);
            for (int depth = 1; depth < tree->depth; depth++)
                room += row *= fan_out;
            assert_true(tree->depth == 0 || room < size);
            esi_tree_destroy(tree);
        }
}

static void known_trees_look_as_expected(void **state)
{
    static const struct {
        struct esi_tree_rule rule;
        int root;
        int parents[8];
    } known[] = {
        {{.shape = ES_TREE_LINEAR}, 2, {2, 2, -1, 2, 2, 2, 2, 2}},
        {{.shape = ES_TREE_KARY, .fan_out = 2}, 0, {-1, 0, 0, 1, 1, 2, 2, 3}},
        {{.shape = ES_TREE_KARY, .fan_out = 3}, 7, {7, 7, 7, 0, 0, 0, 1, -1}},
        {{.shape = ES_TREE_BINOMIAL}, 0, {-1, 0, 0, 2, 0, 4, 4, 6}},
        {{.shape = ES_TREE_BINOMIAL}, 1, {7, -1, 1, 1, 3, 1, 5, 5}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct esi_tree *tree = create(&known[i].rule, 8, known[i].root);

        assert_memory_equal(tree->parents, known[i].parents, sizeof known[i].parents);
        esi_tree_destroy(tree);
    }
}

/* --- Exchange --------------------------------------------------------------------- */

/* The ranks whose values a rank has. */
typedef bool rank_set[LARGEST];

static void check_range(const struct esi_exchange *exchange,
                        int number,
                        int round,
                        const rank_set has,
                        int size)
{
    struct esi_exchange_ranks range = esi_exchange_range(exchange, number, round);

    for (int rank = 0; rank < size; rank++)
        assert_int_equal(has[rank],
                         rank >= range.first && rank < range.first + range.count);
}

/* Performs one round of all ranks. */
static void do_round(int size, int round, rank_set *sets)
{
    rank_set before[LARGEST];

    memcpy(before, sets, sizeof before);
    for (int rank = 0; rank < size; rank++) {
        struct esi_exchange own = esi_exchange_of(size, rank);
        int number = own.number ^ 1 << round;
        int partner = esi_exchange_rank(&own, number);

        if (own.is_leaf)
            continue;
        assert_in_range(partner, 0, size - 1);
        assert_int_equal(esi_exchange_of(size, partner).number, number);
        assert_false(esi_exchange_of(size, partner).is_leaf);
        check_range(&own, own.number, round, before[rank], size);
        check_range(&own, number, round, before[partner], size);
        for (int i = 0; i < size; i++) {
            assert_false(before[rank][i] && before[partner][i]);
            sets[rank][i] = before[rank][i] || before[partner][i];
        }
    }
}

static void all_ranks_have_everything_after_the_rounds(void **state)
{
    (void)state;
    for (int size = 1; size <= LARGEST; size++) {
        static rank_set sets[LARGEST];
        int rounds = esi_exchange_of(size, 0).rounds;

        memset(sets, 0, sizeof sets);
        assert_true(1 << rounds <= size && size < 2 << rounds);
        for (int rank = 0; rank < size; rank++) {
            struct esi_exchange own = esi_exchange_of(size, rank);

            assert_int_equal(own.rounds, own.is_leaf ? 0 : rounds);
            sets[own.is_leaf ? own.neighbour : rank][rank] = true;
            if (own.neighbour >= 0)
                assert_int_equal(esi_exchange_of(size, own.neighbour).neighbour, rank);
        }
        for (int round = 0; round < rounds; round++)
            do_round(size, round, sets);
        for (int rank = 0; rank < size; rank++)
            for (int i = 0; i < size && !esi_exchange_of(size, rank).is_leaf; i++)
                assert_true(sets[rank][i]);
    }
}

/* --- Levels ----------------------------------------------------------------------- */

/* Number of edges that leave the group of ranks with this value. */
static int leaving(const struct esi_tree *tree, const int *values, int value)
{
    int count = 0;

    for (int rank = 0; rank < tree->size; rank++)
        if (values[rank] == value && tree->parents[rank] >= 0)
            count += values[tree->parents[rank]] != value;
    return count;
}

static void each_group_is_left_by_one_edge(void **state)
{
    struct esi_tree_rule rule = {.shape = ES_TREE_LEVELS};

    (void)state;
    for (int i = 0; i < 400; i++) {
        int size = 1 + random_int(&random_state, LARGEST);
        int values[4][LARGEST];
        struct esi_tree *tree;

        draw_places(size, true);
        rule.levels = (uint32_t)random_int(&random_state, (int)all_levels + 1);
        rule.fan_out =
            random_int(&random_state, 2) * (2 + random_int(&random_state, 3));
        tree = create(&rule, size, random_int(&random_state, size));
        for (int rank = 0; rank < size; rank++) {
            const struct esi_location *place = &places[rank];

            values[0][rank] = (place->host * 2 + place->socket) * 4 + place->core;
            values[1][rank] = place->host * 2 + place->socket;
            values[2][rank] = place->host;
            values[3][rank] = place->cluster;
        }
        for (int level = 0; level < 4; level++) {
            const int *value = values[level];

            for (int rank = 0; rank < size && (rule.levels & (1u << level)); rank++)
                assert_int_equal(leaving(tree, value, value[rank]),
                                 value[rank] != value[tree->root]);
        }
        esi_tree_destroy(tree);
    }
}

/* Two ranks on each host. Hosts 0 and 1 are cluster 0; 2 and 3 are cluster 1, whose
 * gateway is host 3. */
static void leaders_stand_where_they_should(void **state)
{
    static const int by_gateway[] = {-1, 0, 0, 2, 6, 4, 0, 6};
    static const int by_rank[] = {-1, 0, 0, 2, 0, 4, 4, 6};
    static const int other_root[] = {5, 0, 0, 2, 5, -1, 5, 6};
    struct esi_tree_rule rule = {.shape = ES_TREE_LEVELS,
                                 .levels = ES_TREE_LEVEL_HOST | ES_TREE_LEVEL_CLUSTER |
                                           ES_TREE_LEVEL_GATEWAY};
    struct esi_tree *tree;

    (void)state;
    for (int i = 0; i < 8; i++)
        places[i] = (struct esi_location){i / 4, i / 4 == 1 ? 3 : -1, i / 2, 0, 0};
    tree = create(&rule, 8, 0);
    assert_memory_equal(tree->parents, by_gateway, sizeof by_gateway);
    esi_tree_destroy(tree);
    tree = create(&rule, 8, 5);
    assert_memory_equal(tree->parents, other_root, sizeof other_root);
    esi_tree_destroy(tree);
    rule.levels &= ~(uint32_t)ES_TREE_LEVEL_GATEWAY;
    tree = create(&rule, 8, 0);
    assert_memory_equal(tree->parents, by_rank, sizeof by_rank);
    esi_tree_destroy(tree);
}

static void levels_without_places_are_linear(void **state)
{
    static const int expected[] = {3, 3, 3, -1, 3};
    struct esi_tree_rule rule = {.shape = ES_TREE_LEVELS, .levels = all_levels};
    struct esi_tree *tree = NULL;

    (void)state;
    assert_int_equal(esi_tree_create(&rule, 5, 3, NULL, NULL, &tree), 0);
    assert_memory_equal(tree->parents, expected, sizeof expected);
    esi_tree_destroy(tree);
}

/* --- Explicit trees --------------------------------------------------------------- */

static bool is_joined(const struct esi_tree *tree, int a, int b)
{
    return tree->parents[a] == b || tree->parents[b] == a;
}

static void explicit_trees_keep_their_edges_under_any_root(void **state)
{
    (void)state;
    for (int size = 1; size < 20; size++)
        for (int root = 0; root < size; root++) {
            struct esi_tree_rule rule = draw_rule(ES_TREE_EXPLICIT, size);
            struct esi_tree *tree = create(&rule, size, root);

            for (int i = 0; i < size - 1; i++)
                assert_true(is_joined(tree, edges[i].parent, edges[i].child));
            esi_tree_destroy(tree);
        }
}

static void faults_of_explicit_trees_are_named(void **state)
{
    static const struct {
        struct esi_tree_edge edges[4];
        size_t count;
        const char *text;
    } faults[] = {
        {{{0, 1}, {0, 4}}, 2, "edge 0-4: there is no rank 4 among 4 ranks"},
        {{{-1, 1}}, 1, "edge -1-1: there is no rank -1 among 4 ranks"},
        {{{2, 2}}, 1, "edge 2-2: a rank cannot be its own parent"},
        {{{0, 1}, {2, 1}}, 2, "edge 2-1: rank 1 already has the parent 0"},
        {{{0, 1}, {0, 2}},
         2,
         "ranks 0 and 3 both have no parent, but a tree has one root; 4 ranks need 3 "
         "edges"},
        {{{0, 1}, {1, 2}, {2, 3}, {3, 0}},
         4,
         "every rank has a parent: there is no root"},
        {{{1, 2}, {2, 3}, {3, 1}},
         3,
         "following the parents of rank 2 leads back to it: edges form a cycle"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct esi_tree_rule rule = {.shape = ES_TREE_EXPLICIT,
                                     .edges = (struct esi_tree_edge *)faults[i].edges,
                                     .edge_count = faults[i].count};
        struct es_error error = {.text = ""};
        struct esi_tree *tree = NULL;

        assert_int_equal(esi_tree_create(&rule, 4, 0, NULL, &error, &tree), -EINVAL);
        assert_string_equal(error.text, faults[i].text);
        assert_null(tree);
    }
}

/* --- Invalid trees ---------------------------------------------------------------- */

static void what_is_no_tree_is_refused(void **state)
{
    struct esi_tree_rule rule = {.shape = ES_TREE_LIBRARY};
    struct esi_tree *tree = NULL;

    (void)state;
    assert_int_equal(esi_tree_create(&rule, 4, 0, NULL, NULL, &tree), -EINVAL);
    rule.shape = ES_TREE_LINEAR;
    assert_int_equal(esi_tree_create(&rule, 4, 4, NULL, NULL, &tree), -EINVAL);
    assert_int_equal(esi_tree_create(&rule, 4, -1, NULL, NULL, &tree), -EINVAL);
    assert_int_equal(esi_tree_create(&rule, 0, 0, NULL, NULL, &tree), -EINVAL);
    assert_null(tree);
    esi_tree_destroy(NULL);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (int shape = ES_TREE_LINEAR; shape <= ES_TREE_EXPLICIT; shape++) {
        struct esi_tree_rule rule = draw_rule((enum esi_tree_shape)shape, 30);
        int result = -ENOMEM;

        for (size_t allowed = 0; result < 0; allowed++) {
            struct esi_tree *tree = NULL;
            long before = alive;

            countdown = allowed;
            result = esi_tree_create(&rule, 30, 11, places, NULL, &tree);
            countdown = SIZE_MAX;
            assert_true(result == 0 || result == -ENOMEM);
            assert_true((tree != NULL) == (result == 0));
            esi_tree_destroy(tree);
            assert_int_equal(alive, before);
        }
    }
}

SUITE(test_tree_shape)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_makes_a_tree),
        cmocka_unit_test(fan_out_and_depth_are_kept),
        cmocka_unit_test(known_trees_look_as_expected),
        cmocka_unit_test(all_ranks_have_everything_after_the_rounds),
        cmocka_unit_test(each_group_is_left_by_one_edge),
        cmocka_unit_test(leaders_stand_where_they_should),
        cmocka_unit_test(levels_without_places_are_linear),
        cmocka_unit_test(explicit_trees_keep_their_edges_under_any_root),
        cmocka_unit_test(faults_of_explicit_trees_are_named),
        cmocka_unit_test(what_is_no_tree_is_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
