/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of summaries collected over pulls, against sums computed directly. */
#include "config.h"

#include "monitors/events/summaries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/suites.h"

enum { ORIGINS = 12, ROWS = 20000, BUCKETS = 5 };

/* Three hosts, two ranks on each, two threads in each rank. */
static void make_origins(struct es_origin origins[ORIGINS])
{
    static const char *const hosts[] = {"alpha", "beta", "gamma"};
    static const char *const names[] = {"zero", "one"};

    for (int i = 0; i < ORIGINS; i++)
        origins[i] = (struct es_origin){.name = names[i % 2],
                                        .host = hosts[i / 4],
                                        .pid = 100 + i / 2,
                                        .rank = i / 2,
                                        .thread = i % 2};
}

static size_t group_of(enum es_summary_group by, size_t origin, unsigned operation)
{
    switch (by) {
    case ES_SUMMARY_BY_OPERATION:
        return operation;
    case ES_SUMMARY_BY_RANK:
        return origin / 2;
    case ES_SUMMARY_BY_HOST:
        return origin / 4;
    case ES_SUMMARY_BY_SITE:
        return origin / 3;
    case ES_SUMMARY_BY_NONE:
        return 0;
    default:
        return origin;
    }
}

static void rows_of_a_group_become_one(void **state)
{
    uint64_t seed = random_seed();
    struct es_origin origins[ORIGINS];
    char sites[ORIGINS][16];

    (void)state;
    for (int i = 0; i < ORIGINS; i++)
        snprintf(sites[i], sizeof sites[i], "a.c:%d", i);
    make_origins(origins);
    for (enum es_summary_group by = 0; by < ES_SUMMARY_GROUPS; by++) {
        struct esi_summaries summaries = {.rows = NULL};
        uint64_t sums[ORIGINS][BUCKETS] = {{0}};
        size_t groups = 0;

        for (int i = 0; i < ROWS; i++) {
            size_t origin = random_below(&seed, ORIGINS);
            unsigned operation = random_below(&seed, ORIGINS);
            unsigned bucket = random_below(&seed, BUCKETS);
            uint64_t count = 1 + random_below(&seed, 10);
            const char *site = sites[origin / 3];
            struct esi_summary_row row = {.summary = {.kind = ES_SUMMARY_HISTOGRAM,
                                                      .by = by,
                                                      .bucket = bucket,
                                                      .operation = (uint16_t)operation,
                                                      .count = count,
                                                      .value = count},
                                          .origin = &origins[origin],
                                          .site = site};

            assert_int_equal(esi_summaries_add(&summaries, &row), 0);
            sums[group_of(by, origin, operation)][bucket] += count;
        }
        esi_summaries_merge(&summaries);
        for (size_t i = 0; i < summaries.count; i++) {
            const struct esi_summary_row *row = &summaries.rows[i];
            size_t group =
                group_of(by, (size_t)(row->origin - origins), row->summary.operation);

            assert_int_equal(row->summary.count, sums[group][row->summary.bucket]);
            sums[group][row->summary.bucket] = 0;
        }
        for (int i = 0; i < ORIGINS * BUCKETS; i++)
            assert_int_equal(sums[i / BUCKETS][i % BUCKETS], 0);
        groups = summaries.count;
        esi_summaries_merge(&summaries);
        assert_int_equal(summaries.count, groups);
        esi_summaries_fini(&summaries);
    }
}

SUITE(test_summaries)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_a_group_become_one)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
