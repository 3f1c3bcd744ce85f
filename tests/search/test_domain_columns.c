/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_domain_columns.c - searches in columns by times, partners and attributes, while
 * rows are added and dropped, against a scan of all rows. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "monitors/search/domains/domain_columns.h"
#include "monitors/search/domains/precedence.h"
#include "tests/order/made_computation.h"
#include "tests/suites.h"

enum { TRACES = 3, ROWS = 300, SENDS = 20, ROUNDS = 60, ROOM = 8 };

/* "$a.tag = $b.tag": both sides use one attribute. */
static const struct esi_pattern_node equal = {
    .kind = ES_NODE_COMPARE,
    .test = ES_TEST_EQUAL,
    .operands = {{.occurrence = 0, .field = ES_FIELD_ATTRIBUTE},
                 {.occurrence = 1, .field = ES_FIELD_ATTRIBUTE}}};
static struct esi_asked asked = {.field = ES_FIELD_ATTRIBUTE};

struct world {
    uint64_t draw;
    struct esi_keeps keeps;
    struct esi_domain *domain;
    uint32_t last[TRACES];    /* last index of each trace */
    uint32_t dropped[TRACES]; /* lower indexes are dropped */
    int64_t disorder;         /* maximum disorder of the times */
};

static void set_up(struct world *world, uint64_t seed)
{
    *world = (struct world){
        .keeps = {.times = true, .partners = true, .asked_count = 1, .asked = &asked}};
    world->draw = seed;
    world->disorder = random_below(&world->draw, 2) ? 0 : 50;
    assert_int_equal(0, esi_domain_create(&world->keeps, &world->domain));
}

/* Adds a row at the end of a trace or before its last events; some have no time. */
static void add_row(struct world *world)
{
    uint64_t *draw = &world->draw;
    uint32_t trace = random_below(draw, TRACES);
    bool is_late = world->last[trace] > 4 && random_below(draw, 10) == 0;
    struct es_event_id partners[3];
    struct esi_domain_value value;
    struct esi_value value_of_tag = {.form = random_below(draw, 3),
                                     .number = random_below(draw, 12),
                                     .text = random_below(draw, 12)};
    struct esi_domain_row row = {.partners = partners, .values = &value_of_tag};

    row.index = is_late ? world->last[trace] - 1 - random_below(draw, 3)
                        : world->last[trace] + 2;
    /* An event is added only once. */
    if (row.index < world->dropped[trace] ||
        esi_domain_find(world->domain, (struct es_event_id){trace, row.index}, &value))
        return;
    row.time =
        random_below(draw, 20) == 0
            ? ESI_NO_TIME
            : 10 * (int64_t)row.index -
                  (world->disorder ? random_below(draw, (uint32_t)world->disorder) : 0);
    row.partner_count = random_below(draw, 4);
    for (uint32_t i = 0; i < row.partner_count; i++)
        partners[i] = (struct es_event_id){random_below(draw, TRACES),
                                           1 + random_below(draw, SENDS)};
    assert_int_equal(0, esi_domain_add(world->domain, trace, &row, false));
    if (!is_late)
        world->last[trace] = row.index;
}

static void drop_some(struct world *world)
{
    uint32_t trace = random_below(&world->draw, TRACES);
    uint32_t index = random_below(&world->draw, world->last[trace] + 1);

    esi_domain_drop(world->domain, trace, index);
    if (index > world->dropped[trace])
        world->dropped[trace] = index;
}

static void check_times(struct world *world)
{
    int64_t from = random_below(&world->draw, 10 * ROWS);
    int64_t to = from + random_below(&world->draw, 200);

    for (uint32_t slot = 0; slot < esi_domain_slots(world->domain); slot++) {
        uint32_t count = esi_domain_column(world->domain, slot).count;
        uint32_t most = count - random_below(&world->draw, count / 4 + 1);
        uint32_t least = random_below(&world->draw, most / 4 + 1);
        uint32_t begin = least, end = most;

        esi_domain_keep_within(world->domain, slot, from, to, &begin, &end);
        assert_true(least <= begin && begin <= end && end <= most);
        for (uint32_t row = least; row < most; row++) {
            struct esi_domain_value value = {slot, row};
            int64_t first = 0, last = 0;
            bool has_time = esi_domain_time(world->domain, value, &first, &last);

            if (has_time && first >= from && first <= to)
                assert_true(row >= begin && row < end);
        }
    }
}

static unsigned namings_of(const struct world *world, struct es_event_id send)
{
    const struct es_event_id *partners;
    unsigned namings = 0;

    for (uint32_t slot = 0; slot < esi_domain_slots(world->domain); slot++)
        for (uint32_t row = 0; row < esi_domain_column(world->domain, slot).count;
             row++) {
            size_t count = esi_domain_partners(
                world->domain, (struct esi_domain_value){slot, row}, &partners);
            for (size_t i = 0; i < count; i++)
                namings += esi_event_is(partners[i], send);
        }
    return namings;
}

static void check_receives(struct world *world)
{
    struct es_event_id send = {random_below(&world->draw, TRACES),
                               1 + random_below(&world->draw, SENDS)};
    struct esi_domain_value value;
    unsigned found = 0;
    uint32_t at = 0;

    while (esi_domain_next_receive(world->domain, send, &at, &value) > 0) {
        const struct es_event_id *partners;
        size_t count = esi_domain_partners(world->domain, value, &partners);
        bool names = false;

        for (size_t i = 0; i < count; i++)
            names |= esi_event_is(partners[i], send);
        assert_true(names);
        found++;
    }
    assert_int_equal(namings_of(world, send), found);
}

static bool is_listed(const struct esi_domain_value *values,
                      unsigned count,
                      struct esi_domain_value value)
{
    for (unsigned i = 0; i < count; i++)
        if (values[i].slot == value.slot && values[i].position == value.position)
            return true;
    return false;
}

/* Lists all rows that have a tag, or none if there are too many; sometimes none
 * even if there are few. */
static unsigned check_equal(struct world *world)
{
    struct esi_domain_key wanted = {random_below(&world->draw, 12),
                                    random_below(&world->draw, 2)};
    struct esi_domain_value values[ROOM];
    unsigned count, found = 0;
    int result =
        esi_domain_list_equal(world->domain, &equal, 0, wanted, values, ROOM, &count);

    assert_true(result >= 0);
    for (uint32_t slot = 0; slot < esi_domain_slots(world->domain); slot++)
        for (uint32_t row = 0; row < esi_domain_column(world->domain, slot).count;
             row++) {
            struct esi_domain_value value = {slot, row};
            struct esi_domain_key key;

            if (!esi_domain_key(&equal, 0, world->domain, value, &key) ||
                key.number != wanted.number || key.is_text != wanted.is_text)
                continue;
            found++;
            assert_true(result == 0 || is_listed(values, count, value));
        }
    if (result > 0)
        assert_int_equal(found, count);
    return result > 0 && count > 0;
}

static void rows_are_found_by_time_by_send_and_by_attribute(void **state)
{
    uint64_t seed = random_seed();
    unsigned listed = 0;

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct world world;
        unsigned asked_from = round % 3 * 100;

        set_up(&world, seed + round);
        for (unsigned i = 0; i < ROWS; i++) {
            add_row(&world);
            if (random_below(&world.draw, 40) == 0)
                drop_some(&world);
            check_times(&world);
            if (i < asked_from)
                continue;
            check_receives(&world);
            listed += check_equal(&world);
        }
        esi_domain_destroy(world.domain);
    }
    assert_true(listed > ROUNDS);
}

/* Ascending times are searched exactly. */
static void times_in_order_are_found_exactly(void **state)
{
    struct esi_keeps keeps = {.times = true};
    struct esi_domain *domain;
    uint32_t begin = 0, end = 90;

    (void)state;
    assert_int_equal(0, esi_domain_create(&keeps, &domain));
    for (uint32_t i = 1; i <= 100; i++) {
        struct esi_domain_row row = {.index = i, .time = 10 * i};
        assert_int_equal(0, esi_domain_add(domain, 0, &row, false));
    }
    esi_domain_drop(domain, 0, 11);
    esi_domain_keep_within(domain, 0, INT64_MIN, INT64_MAX, &begin, &end);
    assert_int_equal(0, begin);
    assert_int_equal(90, end);
    esi_domain_keep_within(domain, 0, 195, 300, &begin, &end);
    assert_int_equal(9, begin);
    assert_int_equal(20, end);
    esi_domain_keep_within(domain, 0, 205, 1000, &begin, &end);
    assert_int_equal(10, begin);
    assert_int_equal(20, end);
    esi_domain_keep_within(domain, 0, 2000, 3000, &begin, &end);
    assert_int_equal(begin, end);
    esi_domain_destroy(domain);
}

SUITE(test_domain_columns)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_found_by_time_by_send_and_by_attribute),
        cmocka_unit_test(times_in_order_are_found_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
