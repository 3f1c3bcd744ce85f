/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the table of ends, against a linear search in an array. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/follow/ends.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { KEYS = 1000, MAX = 40 };

struct record {
    struct esi_end end;
    unsigned number;
};

/* Keys that differ in a single field. */
static struct esi_ends_key key_of(unsigned number)
{
    struct esi_ends_key key = {.kind = 1};
    uint32_t value = number / 7;

    switch (number % 7) {
    case 0:
        key.communicator[0] = value;
        break;
    case 1:
        key.communicator[1] = value + 1;
        break;
    case 2:
        key.source = (int32_t)value + 1;
        break;
    case 3:
        key.destination = (int32_t)value + 1;
        break;
    case 4:
        key.tag = -1 - (int32_t)value;
        break;
    case 5:
        key.sequence = value + 1;
        break;
    default:
        key.kind = value + 2;
        break;
    }
    return key;
}

static void add_record(struct esi_ends *ends, unsigned number)
{
    struct esi_ends_key key = key_of(number);
    struct record *record = esi_ends_add(ends, &key);

    assert_non_null(record);
    assert_int_equal(record->number, 0);
    record->number = number;
}

static struct record *find_record(const struct esi_ends *ends, unsigned number)
{
    struct esi_ends_key key = key_of(number);

    return esi_ends_find(ends, &key);
}

static void what_was_added_is_found_until_it_is_forgotten(void **state)
{
    struct esi_ends ends;
    struct record *records[KEYS] = {NULL};
    uint64_t random = 1;

    (void)state;
    esi_ends_init(&ends, sizeof(struct record), MAX);
    for (unsigned step = 0; step < 20 * KEYS; step++) {
        unsigned number = random_below(&random, KEYS);

        assert_ptr_equal(find_record(&ends, number), records[number]);
        if (records[number]) {
            assert_int_equal(records[number]->number, number);
            esi_ends_forget(&ends, &records[number]->end);
            records[number] = NULL;
        } else {
            add_record(&ends, number);
            records[number] = find_record(&ends, number);
            assert_non_null(records[number]);
        }
    }
    esi_ends_fini(&ends);
}

static void the_oldest_is_given_up_when_too_many_wait(void **state)
{
    struct esi_ends ends;
    struct record *oldest;

    (void)state;
    esi_ends_init(&ends, sizeof(struct record), MAX);
    assert_null(esi_ends_oldest(&ends));
    for (unsigned i = 0; i < MAX; i++) {
        add_record(&ends, i);
        esi_ends_wait(&ends, &find_record(&ends, i)->end, 1);
        assert_null(esi_ends_excess(&ends));
    }
    esi_ends_wait(&ends, &find_record(&ends, 0)->end, 1);
    add_record(&ends, MAX);
    assert_null(esi_ends_excess(&ends));
    esi_ends_wait(&ends, &find_record(&ends, MAX)->end, 2);
    for (unsigned i = 1; i <= 2; i++) {
        oldest = esi_ends_excess(&ends);
        assert_non_null(oldest);
        assert_int_equal(oldest->number, i);
        esi_ends_forget(&ends, &oldest->end);
    }
    assert_null(esi_ends_excess(&ends));
    esi_ends_fini(&ends);
}

static void the_newest_is_never_given_up(void **state)
{
    struct esi_ends ends;

    (void)state;
    esi_ends_init(&ends, sizeof(struct record), MAX);
    add_record(&ends, 1);
    esi_ends_wait(&ends, &find_record(&ends, 1)->end, 2 * MAX);
    assert_null(esi_ends_excess(&ends));
    assert_non_null(esi_ends_oldest(&ends));
    esi_ends_fini(&ends);
}

SUITE(test_ends)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_found_until_it_is_forgotten),
        cmocka_unit_test(the_oldest_is_given_up_when_too_many_wait),
        cmocka_unit_test(the_newest_is_never_given_up),
    };

    return cmocka_run_group_tests_name("ends", tests, NULL, NULL);
}
