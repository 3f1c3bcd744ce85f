/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the external sorting of operations, against sorting in memory. */
#include "config.h"

#include "monitors/otf2/otf2_sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/monitors/draw.h"
#include "tests/suites.h"

enum { RECORDS = 5000, LOCATIONS = 5 };

/* Times come from a small range, so that many records begin at the same time. */
static struct esi_otf2_record draw_record(void)
{
    return (struct esi_otf2_record){
        .location = (uint32_t)(draw() % LOCATIONS),
        .start = 1000 + draw() % 700,
        .part = draw() % 3 == 0 ? ESI_OTF2_REQUEST : ESI_OTF2_CALL,
        .tag = (int32_t)(draw() % 100000),
    };
}

static int compare_places(const void *left, const void *right)
{
    const struct esi_otf2_record *a = left;
    const struct esi_otf2_record *b = right;

    if (a->location != b->location)
        return a->location < b->location ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->part == ESI_OTF2_REQUEST) - (b->part == ESI_OTF2_REQUEST);
}

/* Sorts with at most this many records in memory. */
static void sort_with(size_t buffer)
{
    struct esi_otf2_record *records = calloc(RECORDS, sizeof *records);
    struct esi_otf2_record record;
    struct esi_otf2_sort *sort;
    int64_t tags = 0;

    assert_non_null(records);
    assert_int_equal(esi_otf2_sort_create(buffer, &sort), 0);
    for (size_t i = 0; i < RECORDS; i++) {
        records[i] = draw_record();
        tags += records[i].tag;
        assert_int_equal(esi_otf2_sort_add(sort, &records[i]), 0);
    }
    qsort(records, RECORDS, sizeof *records, compare_places);
    assert_int_equal(esi_otf2_sort_finish(sort), 0);
    for (size_t i = 0; i < RECORDS; i++) {
        assert_int_equal(esi_otf2_sort_next(sort, &record), 1);
        assert_int_equal(compare_places(&record, &records[i]), 0);
        tags -= record.tag;
    }
    assert_int_equal(esi_otf2_sort_next(sort, &record), 0);
    assert_int_equal(tags, 0);
    esi_otf2_sort_destroy(sort);
    free(records);
}

static void what_fits_is_sorted_in_memory(void **state)
{
    (void)state;
    sort_with(RECORDS);
    sort_with(0);
}

static void runs_in_a_file_are_merged(void **state)
{
    (void)state;
    sort_with(1);
    sort_with(7);
    sort_with(RECORDS / 2);
    sort_with(RECORDS - 1);
}

static void nothing_is_sorted(void **state)
{
    struct esi_otf2_record record;
    struct esi_otf2_sort *sort;

    (void)state;
    assert_int_equal(esi_otf2_sort_create(0, &sort), 0);
    assert_int_equal(esi_otf2_sort_finish(sort), 0);
    assert_int_equal(esi_otf2_sort_next(sort, &record), 0);
    esi_otf2_sort_destroy(sort);
}

SUITE(test_otf2_sort)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_sorted_in_memory),
        cmocka_unit_test(runs_in_a_file_are_merged),
        cmocka_unit_test(nothing_is_sorted),
    };

    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
