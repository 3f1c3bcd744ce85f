/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the set of a run's hosts: the cost of one host must not
 * depend on the others. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "base/now.h"
#include "scopes/remote/servers.h"
#include "tests/suites.h"

enum { FEW = 200, SPAN = 100, MANY = SPAN * FEW };

static void format_host(char out[64], int index)
{
    snprintf(out, 64, "node-%05d", index);
}

static struct es_servers *make_servers(int count)
{
    struct es_servers *servers;
    char host[64];

    assert_int_equal(esi_servers_create("run", NULL, &servers), 0);
    for (int i = 0; i < count; i++) {
        format_host(host, i);
        assert_int_equal(esi_servers_add(servers, host, "tls:nowhere:1"), 0);
        assert_non_null(esi_servers_clock(servers, host));
    }
    return servers;
}

static void hosts_keep_their_order(void **state)
{
    struct es_servers *servers = make_servers(FEW);
    struct es_server_info info;
    char host[64];

    (void)state;
    assert_int_equal(esi_servers_add(servers, "node-00003", "tls:elsewhere:1"), 0);
    assert_int_equal(es_servers_count(servers), FEW);
    for (int i = 0; i < FEW; i++) {
        format_host(host, i);
        assert_int_equal(es_servers_at(servers, (size_t)i, &info), 0);
        assert_string_equal(info.host, host);
        assert_string_equal(info.address, i == 3 ? "tls:elsewhere:1" : "tls:nowhere:1");
        assert_false(info.clock_known);
    }
    assert_int_equal(es_servers_at(servers, FEW, &info), -ENOENT);
    es_servers_close(servers);
}

/* CPU time of visiting all hosts, the minimum of some rounds. */
static uint64_t visit_all(struct es_servers *servers)
{
    uint64_t least_ns = UINT64_MAX;

    for (int round = 0; round < 10; round++) {
        uint64_t begun_ns = esi_now_ns(CLOCK_THREAD_CPUTIME_ID), spent_ns;
        struct es_server_info info;

        for (size_t i = 0; es_servers_at(servers, i, &info) == 0; i++)
            assert_true(info.host[0] != '\0');
        spent_ns = esi_now_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
        least_ns = spent_ns < least_ns ? spent_ns : least_ns;
    }
    return least_ns;
}

/* With many hosts, cache misses make one host up to six times as expensive; a search
 * among all hosts made it three hundred times as expensive. */
static void a_host_costs_the_same_among_many(void **state)
{
    struct es_servers *few = make_servers(FEW), *many = make_servers(MANY);
    uint64_t few_ns = visit_all(few), many_ns = visit_all(many);

    (void)state;
    printf("# %d hosts: %llu ns each, %d hosts: %llu ns each\n", FEW,
           (unsigned long long)few_ns / FEW, MANY, (unsigned long long)many_ns / MANY);
    assert_true(many_ns / MANY < few_ns / FEW * (SPAN / 3));
    es_servers_close(few);
    es_servers_close(many);
}

SUITE(test_servers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_keep_their_order),
        cmocka_unit_test(a_host_costs_the_same_among_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
