/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* For any hosts, elements and settings: a gather tree contains every element once,
 * below a stage of its host, and no aggregator has more children than allowed. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scopes/stage_tree.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { HOSTS_MAX = 60, ORIGINS_MAX = 300, ROUNDS = 4000 };

static uint64_t seed;

/* A random case; its texts are stored in it. */
struct made {
    char names[HOSTS_MAX][24];
    char clusters[HOSTS_MAX][16];
    struct es_host_info items[HOSTS_MAX];
    struct esi_host_infos sites;
    struct es_origin origins[ORIGINS_MAX];
    size_t origin_count;
    char joints[64];
    struct es_scope_config config;
};

static int socket_of(void *data, int rank)
{
    (void)data;
    return rank % 4 - 1;
}

static void make_sites(struct made *made)
{
    size_t count = 1 + random_below(&seed, random_below(&seed, 4) ? 12 : HOSTS_MAX);
    unsigned clusters = 1 + random_below(&seed, 5);

    for (size_t i = 0; i < count; i++) {
        unsigned cluster = random_below(&seed, clusters + 1);

        /* The order of names differs from that of clusters. */
        snprintf(made->names[i], sizeof made->names[i], "h%zu", i);
        snprintf(made->clusters[i], sizeof made->clusters[i], "c%u", cluster);
        made->items[i] =
            (struct es_host_info){.host = made->names[i],
                                  .cluster = cluster ? made->clusters[i] : NULL,
                                  .has_server = random_below(&seed, 6) > 0};
        /* Some clusters share a gateway, which may run no ranks or not exist. */
        if (cluster && cluster % 2)
            made->items[i].gateway = cluster == 5 ? "nowhere" : made->names[0];
    }
    made->sites = (struct esi_host_infos){
        .items = made->items, .count = count, .socket_of = socket_of};
    made->sites.here = random_below(&seed, 3)
                           ? made->names[random_below(&seed, (unsigned)count)]
                           : "outside";
}

static void make_origins(struct made *made)
{
    made->origin_count = random_below(&seed, ORIGINS_MAX + 1);
    for (size_t i = 0; i < made->origin_count; i++)
        made->origins[i] = (struct es_origin){
            .name = "x",
            .host = made->names[random_below(&seed, (unsigned)made->sites.count)],
            .rank = random_int(&seed, 40),
            .thread = random_int(&seed, 3)};
}

static void make_config(struct made *made)
{
    static const char *const reductions[] = {NULL, NULL, "latest", "sum of=bytes"};
    static const char *const observations[] = {NULL, NULL, "hosts", "joints", "all w"};
    struct es_tree_config *tree = &made->config.tree;
    size_t joint = random_below(&seed, (unsigned)made->sites.count);

    tree->shape = (enum es_shape)random_below(&seed, 5);
    tree->fan_out = random_below(&seed, 2) ? 2 + random_below(&seed, 8) : 0;
    tree->levels = random_below(&seed, ES_LEVELS_ALL + 1);
    tree->mode = (enum es_mode)random_below(&seed, 2);
    tree->threads = random_below(&seed, 3) ? 0 : 1 + random_below(&seed, 4);
    tree->reduce = reductions[random_below(&seed, 4)];
    tree->observe = observations[random_below(&seed, 5)];
    tree->batch = random_below(&seed, 2) ? 0 : 10;
    tree->batch_wait_ns = random_below(&seed, 1000);
    tree->through_server = random_below(&seed, 4) == 0;
    if (random_below(&seed, 3) == 0 && made->items[joint].has_server) {
        snprintf(made->joints, sizeof made->joints, "%s", made->names[joint]);
        tree->joints = made->joints;
    }
    made->config.take = (enum es_take)random_below(&seed, 4);
    made->config.sorting = (enum es_sorting)random_below(&seed, 3);
    made->config.view.filter = random_below(&seed, 3) ? NULL : "tag == 1";
}

/* --- Properties ---------------------------------------------------------------- */

struct walk {
    const struct made *made;
    unsigned *seen; /* per origin */
};

/* Whether a stage aggregates hosts. */
static bool stands_for_hosts(const struct esi_stage_node *node)
{
    return strncmp(node->label, "hosts ", 6) == 0 ||
           strncmp(node->label, "cluster ", 8) == 0 ||
           strncmp(node->label, "gateway ", 8) == 0 ||
           strncmp(node->label, "scope", 5) == 0;
}

/* Number of children that are aggregators or hosts; other children come from a host
 * that was merged into this stage. */
static size_t host_children(const struct esi_stage_node *node)
{
    size_t count = 0;

    for (size_t i = 0; i < node->child_count; i++) {
        const char *label = node->children[i]->label;

        count += stands_for_hosts(node->children[i]) || strncmp(label, "host ", 5) == 0;
    }
    return count;
}

static void check_fan_out(const struct walk *walk, const struct esi_stage_node *node)
{
    const struct es_tree_config *tree = &walk->made->config.tree;
    size_t most = SIZE_MAX;

    if (tree->shape == ES_SHAPE_KARY)
        most = tree->fan_out ? tree->fan_out : 8;
    else if (tree->shape == ES_SHAPE_LEVELS && tree->fan_out)
        most = tree->fan_out;
    if (stands_for_hosts(node))
        assert_true(host_children(node) <= most);
}

static bool is_known(const struct made *made, const char *host)
{
    for (size_t i = 0; i < made->sites.count; i++)
        if (strcmp(made->names[i], host) == 0)
            return true;
    return false;
}

/* The type of the stage accepts the properties set by the plan. */
static void check_properties(const struct esi_stage_node *node)
{
    const struct es_stage_ops *ops = es_stage_find(node->type);
    struct es_property properties[ES_NODE_PROPERTIES];
    struct es_property_value *values;
    struct es_error error = {.text = ""};

    assert_non_null(ops);
    for (size_t i = 0; i < node->property_count; i++)
        properties[i] = (struct es_property){
            .name = node->properties[i].name,
            .value = node->properties[i].value,
            .typed = node->properties[i].value ? NULL : &node->properties[i].typed};
    if (es_property_values_parse(ops->name, ops->properties, ops->property_count,
                                 properties, node->property_count, &error, &values) < 0)
        fail_msg("%s", error.text);
    es_property_values_free(values, ops->property_count);
    assert_true(node->child_count >= ops->min_children);
    assert_true(node->child_count <= ops->max_children);
}

/* Conditions may contain names of communicators, which only the
 * element's host knows. */
static void check_filtered(const struct made *made,
                           const struct esi_stage_node *node,
                           const char *host)
{
    assert_true(!node->host || strcmp(node->host, host) == 0);
    if (node->origin != ES_STAGE_NO_ORIGIN)
        assert_string_equal(made->origins[node->origin].host, host);
    for (size_t i = 0; i < node->child_count; i++)
        check_filtered(made, node->children[i], host);
}

static void walk_node(struct walk *walk,
                      const struct esi_stage_node *node,
                      const char *host)
{
    const char *own = node->host ? node->host : host;

    assert_true(!node->host || is_known(walk->made, node->host));
    check_fan_out(walk, node);
    check_properties(node);
    if (strcmp(node->type, "filter") == 0)
        check_filtered(walk->made, node, own);
    if (node->origin != ES_STAGE_NO_ORIGIN) {
        assert_string_equal(node->type, "element");
        assert_int_equal(node->child_count, 0);
        assert_true(node->origin < walk->made->origin_count);
        walk->seen[node->origin]++;
        assert_string_equal(walk->made->origins[node->origin].host, own);
        /* The parent is on the same host: an element is never a subtree by itself,
         * except on the consumer's host. */
        assert_true(strcmp(host, own) == 0);
    } else if (node->child_count == 0) {
        assert_int_equal(walk->made->origin_count, 0);
    }
    for (size_t i = 0; i < node->child_count; i++)
        walk_node(walk, node->children[i], own);
}

/* Elements of the consumer's host do not pass through another host. */
static void assert_no_detour(const struct esi_stage_node *node,
                             const char *here,
                             bool is_far)
{
    if (node->host) {
        assert_false(is_far && strcmp(node->host, here) == 0);
        is_far = strcmp(node->host, here) != 0;
    }
    for (size_t i = 0; i < node->child_count; i++)
        assert_no_detour(node->children[i], here, is_far);
}

static void check_case(struct made *made)
{
    unsigned seen[ORIGINS_MAX] = {0};
    struct walk walk = {.made = made, .seen = seen};
    struct esi_stage_node *root;

    assert_int_equal(esi_stage_tree_plan(
                         made->origins, made->origin_count, &made->config, &made->sites,
                         random_below(&seed, 3) ? NULL : "class == send", NULL, &root),
                     0);
    walk_node(&walk, root, made->sites.here);
    assert_no_detour(root, made->sites.here, false);
    for (size_t i = 0; i < made->origin_count; i++)
        assert_int_equal(seen[i], 1);
    esi_stage_node_destroy(root);
}

static void random_trees_hold_every_element_once(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct made *made = calloc(1, sizeof *made);

        assert_non_null(made);
        seed = round;
        make_sites(made);
        make_origins(made);
        make_config(made);
        if (round % 1000 == 0)
            print_message("# seed %llu\n", (unsigned long long)round);
        check_case(made);
        free(made);
    }
}

/* --- Large --------------------------------------------------------------------- */

static size_t count_elements(const struct esi_stage_node *node)
{
    size_t count = node->origin != ES_STAGE_NO_ORIGIN;

    for (size_t i = 0; i < node->child_count; i++)
        count += count_elements(node->children[i]);
    return count;
}

static void a_hundred_thousand_elements_are_planned(void **state)
{
    enum { COUNT = 100000, HOSTS = 20000 };
    struct es_host_info *items = calloc(HOSTS, sizeof *items);
    struct es_origin *origins = calloc(COUNT, sizeof *origins);
    char(*names)[16] = calloc(HOSTS, sizeof *names);
    struct esi_host_infos sites = {.here = "outside", .items = items, .count = HOSTS};

    (void)state;
    assert_true(items && origins && names);
    for (int i = 0; i < HOSTS; i++) {
        snprintf(names[i], sizeof names[i], "n%05d", i);
        items[i] = (struct es_host_info){
            .host = names[i], .cluster = i % 2 ? "odd" : "even", .has_server = true};
    }
    for (int i = 0; i < COUNT; i++)
        origins[i] = (struct es_origin){
            .name = "x", .host = names[i * 7919LL % HOSTS], .rank = i};
    for (int shape = ES_SHAPE_VIEWS; shape <= ES_SHAPE_LEVELS; shape++) {
        struct es_scope_config config = {.tree = {.shape = (enum es_shape)shape,
                                                  .levels = ES_LEVELS_ALL,
                                                  .fan_out = 16}};
        struct esi_stage_node *root;

        assert_int_equal(
            esi_stage_tree_plan(origins, COUNT, &config, &sites, NULL, NULL, &root), 0);
        assert_int_equal(count_elements(root), COUNT);
        esi_stage_node_destroy(root);
    }
    free(names);
    free(origins);
    free(items);
}

SUITE(test_stage_tree_random)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_hold_every_element_once),
        cmocka_unit_test(a_hundred_thousand_elements_are_planned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
