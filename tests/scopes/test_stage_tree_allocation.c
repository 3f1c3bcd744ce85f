/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Each allocation of a plan fails in turn: it returns -ENOMEM, and nothing leaks.
 *
 * Allocations fail and are counted by the linker's --wrap.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "scopes/stage_tree.h"
#include "tests/suites.h"

/* The allocation with this number fails, and all later ones; SIZE_MAX = none. */
static size_t countdown = SIZE_MAX;
static long alive;

static bool fails_now(void)
{
    if (countdown == SIZE_MAX || countdown-- > 0)
        return false;
    countdown = 0;
    return true;
}

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void __real_free(void *block);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);
void __wrap_free(void *block);

void *__wrap_calloc(size_t count, size_t size)
{
    if (fails_now())
        return NULL;
    alive++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails_now())
        return NULL;
    alive += old == NULL;
    return __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    if (fails_now())
        return NULL;
    alive++;
    return __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t length)
{
    if (fails_now())
        return NULL;
    alive++;
    return __real_strndup(text, length);
}

void __wrap_free(void *block)
{
    alive -= block != NULL;
    __real_free(block);
}

enum { HOSTS = 12, ORIGINS = 40 };

static char names[HOSTS][8];
static struct es_host_info items[HOSTS];
static struct es_origin origins[ORIGINS];

static int socket_of(void *data, int rank)
{
    (void)data;
    return rank % 2;
}

static void make_run(void)
{
    for (int i = 0; i < HOSTS; i++) {
        snprintf(names[i], sizeof names[i], "h%02d", i);
        items[i] = (struct es_host_info){.host = names[i],
                                         .cluster = i < 5   ? "a"
                                                    : i < 9 ? "b"
                                                            : NULL,
                                         .gateway = i < 5 || i >= 9 ? NULL : "h10",
                                         .has_server = i != 3};
    }
    for (int i = 0; i < ORIGINS; i++)
        origins[i] = (struct es_origin){
            .name = "x", .host = names[i % HOSTS], .rank = i, .thread = i % 3};
}

/* Plans with one more allocation each time until that is enough. */
static void fail_in_turn(const struct es_scope_config *config)
{
    struct esi_host_infos sites = {
        .here = "h02", .items = items, .count = HOSTS, .socket_of = socket_of};
    int result = -ENOMEM;

    for (size_t allocations = 0; result < 0; allocations++) {
        struct esi_stage_node *root = NULL;
        long before = alive;

        countdown = allocations;
        result = esi_stage_tree_plan(origins, ORIGINS, config, &sites, "class == send",
                                     NULL, &root);
        countdown = SIZE_MAX;
        if (result < 0) {
            assert_int_equal(result, -ENOMEM);
            assert_null(root);
        }
        esi_stage_node_destroy(root);
        assert_int_equal(alive, before);
    }
}

static void each_allocation_may_fail(void **state)
{
    static const struct es_tree_config trees[] = {
        {.levels = ES_LEVEL_THREAD},
        {.levels = ES_LEVELS_ALL, .fan_out = 3, .mode = ES_MODE_SEQUENTIAL},
        {.levels = ES_LEVEL_CLUSTER, .threads = 2, .reduce = "sum of=bytes"},
        {.levels = ES_LEVELS_ALL,
         .fan_out = 2,
         .joints = "h04, h05",
         .observe = "all",
         .batch = 5,
         .batch_wait_ns = 7},
    };

    (void)state;
    make_run();
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        for (int shape = ES_SHAPE_VIEWS; shape <= ES_SHAPE_LEVELS; shape++) {
            struct es_scope_config config = {.tree = trees[i],
                                             .view.filter = "tag == 1"};

            config.tree.shape = (enum es_shape)shape;
            config.sorting = i == 0 ? ES_SORTING_STOP : ES_SORTING_NONE;
            fail_in_turn(&config);
        }
}

static void each_allocation_of_a_description_may_fail(void **state)
{
    const struct es_scope_config config = {
        .tree = {.shape = ES_SHAPE_STAGES,
                 .stages =
                     "{\"type\": \"filter\", \"host\": \"h04\", \"properties\":"
                     " {\"where\": \"tag == 2\"}, \"collector\": \"c\","
                     " \"children\": [{\"type\": \"reduce\", \"per\": \"rank\"}]}"},
        .view.filter = "tag == 1"};

    (void)state;
    make_run();
    fail_in_turn(&config);
}

SUITE(test_stage_tree_allocation)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(each_allocation_of_a_description_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
