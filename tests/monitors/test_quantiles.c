/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the quantile sketch and of measures, against all values sorted. */
#include "config.h"

#include "monitors/collectives/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/monitors/draw.h"
#include "tests/suites.h"

enum { VALUES = 20000 };

static const double shares[] = {0, 0.001, 0.1, 0.5, 0.9, 0.95, 0.99, 0.9999, 1};

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Draws values of very different magnitudes. */
static void draw_values(uint64_t *values, size_t count, unsigned bits)
{
    for (size_t i = 0; i < count; i++)
        values[i] = draw() >> (64 - 1 - draw() % bits);
}

static uint64_t true_quantile(const uint64_t *sorted, size_t count, double share)
{
    size_t number = (size_t)(share * (double)count);

    number += (double)number < share * (double)count;
    return sorted[number ? number - 1 : 0];
}

static void check_against(const struct esi_quantiles *quantiles,
                          uint64_t *values,
                          size_t count,
                          bool exact)
{
    assert_int_equal(quantiles->count, count);
    qsort(values, count, sizeof *values, compare);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        uint64_t wanted = true_quantile(values, count, shares[i]);
        uint64_t found = esi_quantiles_at(quantiles, shares[i]);
        uint64_t off = found > wanted ? found - wanted : wanted - found;

        if (off > (exact ? 0 : wanted / ES_QUANTILES_ACCURACY))
            fail_msg("quantile %g of %zu values: %llu, not %llu", shares[i], count,
                     (unsigned long long)found, (unsigned long long)wanted);
    }
}

static void few_values_are_exact(void **state)
{
    struct esi_quantiles quantiles = {.count = 0};
    uint64_t values[ES_QUANTILES_EXACT];

    (void)state;
    assert_int_equal(esi_quantiles_at(&quantiles, 0.5), 0);
    for (size_t count = 1; count <= ES_QUANTILES_EXACT; count++) {
        uint64_t sorted[ES_QUANTILES_EXACT];

        draw_values(values + count - 1, 1, 64);
        assert_int_equal(esi_quantiles_add(&quantiles, values[count - 1]), 0);
        for (size_t i = 0; i < count; i++)
            sorted[i] = values[i];
        check_against(&quantiles, sorted, count, true);
    }
    assert_null(quantiles.buckets);
    esi_quantiles_fini(&quantiles);
}

static void many_values_are_near(void **state)
{
    uint64_t *values = malloc(VALUES * sizeof *values);

    (void)state;
    assert_non_null(values);
    for (unsigned bits = 1; bits <= 64; bits += 7) {
        struct esi_quantiles quantiles = {.count = 0};

        draw_values(values, VALUES, bits);
        values[0] = 0;
        values[1] = bits == 64 ? UINT64_MAX : 1;
        for (size_t i = 0; i < VALUES; i++)
            assert_int_equal(esi_quantiles_add(&quantiles, values[i]), 0);
        check_against(&quantiles, values, VALUES, false);
        assert_true(quantiles.bucket_count <= 3776 + 32);
        esi_quantiles_fini(&quantiles);
    }
    free(values);
}

/* Small values have a bucket each. */
static void small_values_stay_exact(void **state)
{
    struct esi_quantiles quantiles = {.count = 0};
    uint64_t values[1000];

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        values[i] = draw() % 128;
        assert_int_equal(esi_quantiles_add(&quantiles, values[i]), 0);
    }
    check_against(&quantiles, values, 1000, true);
    esi_quantiles_fini(&quantiles);
}

/* Merged sketches of any sizes, also empty ones, equal one sketch of all values. */
static void merged_sketches_are_as_one(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct esi_quantiles whole = {.count = 0};
        struct esi_quantiles sum = {.count = 0};
        uint64_t values[400];
        size_t count = 0;

        for (int part = 0; part < 4; part++) {
            struct esi_quantiles one = {.count = 0};
            size_t more = draw() % (round % 2 ? 12 : 100);

            draw_values(values + count, more, 40);
            for (size_t i = 0; i < more; i++) {
                assert_int_equal(esi_quantiles_add(&one, values[count + i]), 0);
                assert_int_equal(esi_quantiles_add(&whole, values[count + i]), 0);
            }
            count += more;
            assert_int_equal(esi_quantiles_merge(&sum, &one), 0);
            esi_quantiles_fini(&one);
        }
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
            assert_int_equal(esi_quantiles_at(&sum, shares[i]),
                             esi_quantiles_at(&whole, shares[i]));
        if (count)
            check_against(&sum, values, count, count <= ES_QUANTILES_EXACT);
        esi_quantiles_fini(&sum);
        esi_quantiles_fini(&whole);
    }
}

static void is_near(double found, double wanted)
{
    double off = found > wanted ? found - wanted : wanted - found;
    double size = wanted > 0 ? wanted : -wanted;

    if (off > 1e-9 * size + 1e-9)
        fail_msg("%.17g is not near %.17g", found, wanted);
}

static void measures_add_and_merge(void **state)
{
    struct esi_measure parts[3] = {{.count = 0}};
    struct esi_measure sum = {.count = 0};
    uint64_t values[900];
    double mean = 0;
    double squares = 0;
    uint64_t total = 0;

    (void)state;
    for (size_t i = 0; i < 900; i++) {
        values[i] = draw() % 1000000 + 1000000000;
        total += values[i];
        mean += (double)values[i] / 900;
        assert_int_equal(esi_measure_add(&parts[i % 7 % 3], values[i]), 0);
    }
    for (size_t i = 0; i < 900; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(esi_measure_merge(&sum, &parts[i]), 0);
        esi_measure_fini(&parts[i]);
    }
    qsort(values, 900, sizeof *values, compare);
    assert_int_equal(sum.count, 900);
    assert_int_equal(sum.sum, total);
    assert_int_equal(sum.least, values[0]);
    assert_int_equal(sum.greatest, values[899]);
    is_near(sum.mean, mean);
    is_near(esi_measure_deviation(&sum) * esi_measure_deviation(&sum), squares / 900);
    esi_measure_fini(&sum);
    assert_int_equal(esi_measure_merge(&sum, &parts[0]), 0);
    is_near(esi_measure_deviation(&sum), 0);
}

SUITE(test_quantiles)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values_are_exact),
        cmocka_unit_test(many_values_are_near),
        cmocka_unit_test(small_values_stay_exact),
        cmocka_unit_test(merged_sketches_are_as_one),
        cmocka_unit_test(measures_add_and_merge),
    };

    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
