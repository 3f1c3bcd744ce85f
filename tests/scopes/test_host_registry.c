/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the registry of hosts: callers do not wait for a slow operation. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "scopes/remote/run_files.h"
#include "scopes/server/host_registry.h"
#include "tests/suites.h"

enum { WAIT_MS = 3000 };

static atomic_bool is_reading, may_go, has_waited_in_vain;

static bool await_flag(atomic_bool *flag)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int i = 0; i < WAIT_MS && !atomic_load(flag); i++)
        nanosleep(&pause, NULL);
    return atomic_load(flag);
}

int __wrap_esi_run_map_load(const char *run,
                            struct es_servers *servers,
                            struct es_error *error,
                            struct esi_pathmap **ret_map);

/* Simulates a map that takes as long to load as the test wants. */
int __wrap_esi_run_map_load(const char *run,
                            struct es_servers *servers,
                            struct es_error *error,
                            struct esi_pathmap **ret_map)
{
    (void)run;
    (void)servers;
    (void)error;
    (void)ret_map;
    atomic_store(&is_reading, true);
    if (!await_flag(&may_go))
        atomic_store(&has_waited_in_vain, true);
    return -ENOENT;
}

struct visit {
    struct esi_host_registry *registry;
    int ranks;
};

static int count_ranks(void *data, const struct esi_host_entry *entry)
{
    struct visit *visit = data;

    visit->ranks += entry->ranks;
    return 0;
}

static void *visit_hosts(void *data)
{
    struct visit *visit = data;

    esi_host_registry_foreach(visit->registry, count_ranks, visit);
    return NULL;
}

static void nobody_waits_while_the_map_is_read(void **state)
{
    struct visit visit = {.ranks = 0};
    pthread_t thread;

    (void)state;
    assert_int_equal(esi_host_registry_create("run", "alpha", true, &visit.registry),
                     0);
    assert_int_equal(pthread_create(&thread, NULL, visit_hosts, &visit), 0);
    assert_true(await_flag(&is_reading));
    esi_host_registry_set_ranks(visit.registry, 3);
    atomic_store(&may_go, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(atomic_load(&has_waited_in_vain));
    /* A rank added meanwhile is seen. */
    assert_int_equal(visit.ranks, 3);
    esi_host_registry_destroy(visit.registry);
}

SUITE(test_host_registry)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waits_while_the_map_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
