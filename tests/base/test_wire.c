/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Encoded numbers are decoded to the same values, and nothing beyond the buffer is read
 * or written. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/wire.h"
#include "tests/random.h"
#include "tests/suites.h"

static const struct {
    uint64_t value;
    size_t length;
    unsigned char bytes[ESI_WIRE_VARINT_BYTES];
} varints[] = {
    {0, 1, {0}},
    {1, 1, {1}},
    {127, 1, {0x7f}},
    {128, 2, {0x80, 1}},
    {300, 2, {0xac, 2}},
    {16383, 2, {0xff, 0x7f}},
    {16384, 3, {0x80, 0x80, 1}},
    {UINT32_MAX, 5, {0xff, 0xff, 0xff, 0xff, 0x0f}},
    {UINT64_MAX, 10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
};

static void varints_have_the_bytes_of_leb128(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof varints / sizeof *varints; i++) {
        unsigned char bytes[ESI_WIRE_VARINT_BYTES] = {0};
        struct esi_wire_writer out = esi_wire_writer(bytes, sizeof bytes);
        struct esi_wire_reader in =
            esi_wire_reader(varints[i].bytes, varints[i].length);

        esi_wire_put_varint(&out, varints[i].value);
        assert_false(out.failed);
        assert_int_equal(out.at - bytes, varints[i].length);
        assert_memory_equal(bytes, varints[i].bytes, varints[i].length);
        assert_int_equal(esi_wire_get_varint(&in), varints[i].value);
        assert_false(in.failed);
        assert_int_equal(esi_wire_left(&in), 0);
    }
}

static void numbers_are_little_endian(void **state)
{
    static const unsigned char bytes[] = {1, 2, 3,  4,  5,  6,  7,
                                          8, 9, 10, 11, 12, 13, 14};
    unsigned char copy[sizeof bytes];
    struct esi_wire_reader in = esi_wire_reader(bytes, sizeof bytes);
    struct esi_wire_writer out = esi_wire_writer(copy, sizeof copy);

    (void)state;
    esi_wire_put_u16(&out, 0x0201);
    esi_wire_put_u32(&out, 0x06050403);
    esi_wire_put_u64(&out, UINT64_C(0x0e0d0c0b0a090807));
    assert_false(out.failed);
    assert_memory_equal(copy, bytes, sizeof bytes);
    assert_int_equal(esi_wire_get_u16(&in), 0x0201);
    assert_int_equal(esi_wire_get_u32(&in), 0x06050403);
    assert_int_equal(esi_wire_get_u64(&in), UINT64_C(0x0e0d0c0b0a090807));
    assert_false(in.failed);
}

static void what_is_no_varint_is_refused(void **state)
{
    static const struct {
        size_t length;
        unsigned char bytes[11];
    } wrong[] = {
        {0, {0}},
        {1, {0x80}},
        {3, {0xff, 0xff, 0xff}},
        {9, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
        {10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}},
        {11, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct esi_wire_reader in = esi_wire_reader(wrong[i].bytes, wrong[i].length);

        assert_int_equal(esi_wire_get_varint(&in), 0);
        assert_true(in.failed);
        assert_int_equal(esi_wire_left(&in), 0);
    }
}

static void a_reader_that_failed_reads_nothing_more(void **state)
{
    static const unsigned char bytes[] = {1, 2, 3, 4, 5};
    struct esi_wire_reader in = esi_wire_reader(bytes, sizeof bytes);

    (void)state;
    assert_int_equal(esi_wire_get_u32(&in), 0x04030201);
    assert_int_equal(esi_wire_get_u16(&in), 0);
    assert_true(in.failed);
    assert_int_equal(esi_wire_get_varint(&in), 0);
    assert_null(esi_wire_get_bytes(&in, 1));
    in = esi_wire_reader(NULL, 0);
    assert_int_equal(esi_wire_get_u64(&in), 0);
    assert_true(in.failed);
}

static void a_writer_stays_in_its_room(void **state)
{
    (void)state;
    for (size_t room = 0; room < 16; room++) {
        unsigned char bytes[16];
        struct esi_wire_writer out = esi_wire_writer(bytes, room);

        memset(bytes, 0xee, sizeof bytes);
        esi_wire_put_u32(&out, 0);
        esi_wire_put_varint(&out, 300);
        esi_wire_put_bytes(&out, "abc", 3);
        assert_true(out.failed == (room < 9));
        for (size_t i = room; i < sizeof bytes; i++)
            assert_int_equal(bytes[i], 0xee);
        assert_true(out.at <= bytes + room);
    }
}

static void small_differences_become_small_numbers(void **state)
{
    uint64_t random = 0;

    (void)state;
    for (int64_t i = -64; i < 64; i++) {
        assert_true(esi_wire_fold((uint64_t)i) < 128);
        assert_int_equal((int64_t)esi_wire_unfold(esi_wire_fold((uint64_t)i)), i);
    }
    for (int i = 0; i < 1000; i++) {
        uint64_t value = random_next(&random);

        assert_int_equal(esi_wire_unfold(esi_wire_fold(value)), value);
    }
}

enum { FIELDS = 40 };

static void put_field(struct esi_wire_writer *out, unsigned kind, uint64_t value)
{
    switch (kind) {
    case 0:
        esi_wire_put_u16(out, (uint16_t)value);
        break;
    case 1:
        esi_wire_put_u32(out, (uint32_t)value);
        break;
    case 2:
        esi_wire_put_u64(out, value);
        break;
    default:
        esi_wire_put_varint(out, value);
        break;
    }
}

static void check_field(struct esi_wire_reader *in, unsigned kind, uint64_t value)
{
    switch (kind) {
    case 0:
        assert_int_equal(esi_wire_get_u16(in), (uint16_t)value);
        break;
    case 1:
        assert_int_equal(esi_wire_get_u32(in), (uint32_t)value);
        break;
    case 2:
        assert_int_equal(esi_wire_get_u64(in), value);
        break;
    default:
        assert_int_equal(esi_wire_get_varint(in), value);
        break;
    }
}

static void fields_come_out_as_they_went_in(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int round = 0; round < 500; round++) {
        unsigned char bytes[FIELDS * ESI_WIRE_VARINT_BYTES];
        struct esi_wire_writer out = esi_wire_writer(bytes, sizeof bytes);
        struct esi_wire_reader in;
        unsigned kinds[FIELDS];
        uint64_t values[FIELDS];

        for (int i = 0; i < FIELDS; i++) {
            kinds[i] = random_below(&random, 4);
            values[i] = random_number(&random);
            put_field(&out, kinds[i], values[i]);
        }
        assert_false(out.failed);
        in = esi_wire_reader(bytes, (size_t)(out.at - bytes));
        for (int i = 0; i < FIELDS; i++)
            check_field(&in, kinds[i], values[i]);
        assert_false(in.failed);
        assert_int_equal(esi_wire_left(&in), 0);
    }
}

SUITE(test_wire)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varints_have_the_bytes_of_leb128),
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(what_is_no_varint_is_refused),
        cmocka_unit_test(a_reader_that_failed_reads_nothing_more),
        cmocka_unit_test(a_writer_stays_in_its_room),
        cmocka_unit_test(small_differences_become_small_numbers),
        cmocka_unit_test(fields_come_out_as_they_went_in),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
