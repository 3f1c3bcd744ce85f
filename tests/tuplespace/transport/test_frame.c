/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Frame headers: the bytes match the document, and any others are refused. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/suites.h"
#include "tuplespace/transport/frame.h"

static void headers_are_little_endian(void **state)
{
    static const unsigned char expected[] = {0x04, 0x03, 0x02, 0x01, 0x07, 0x00,
                                             0x22, 0x11, 0x88, 0x77, 0x66, 0x55,
                                             0x44, 0x33, 0x22, 0x11};
    struct esi_frame frame = {.type = ES_FRAME_PULL,
                              .flags = 0x1122,
                              .length = 0x01020304,
                              .id = UINT64_C(0x1122334455667788)};
    unsigned char bytes[ES_FRAME_HEADER_BYTES];
    struct esi_frame read = {.payload = bytes};

    (void)state;
    esi_frame_encode_header(&frame, bytes);
    assert_memory_equal(bytes, expected, sizeof expected);
    assert_int_equal(esi_frame_decode_header(bytes, NULL, &read), 0);
    assert_int_equal(read.type, frame.type);
    assert_int_equal(read.flags, frame.flags);
    assert_int_equal(read.length, frame.length);
    assert_int_equal(read.id, frame.id);
    assert_null(read.payload);
}

static void lengths_have_a_limit(void **state)
{
    struct esi_frame frame = {.type = ES_FRAME_BATCH, .length = ES_FRAME_MAX_BYTES};
    struct es_error error = {.text = ""};
    unsigned char bytes[ES_FRAME_HEADER_BYTES];

    (void)state;
    esi_frame_encode_header(&frame, bytes);
    assert_int_equal(esi_frame_decode_header(bytes, &error, &frame), 0);
    frame.length = ES_FRAME_MAX_BYTES + 1;
    esi_frame_encode_header(&frame, bytes);
    assert_int_equal(esi_frame_decode_header(bytes, &error, &frame), -EPROTO);
    assert_string_equal(error.text, "a frame of 67108865 bytes: at most 67108864");
}

static void types_that_are_not_known_are_refused(void **state)
{
    (void)state;
    for (unsigned type = 0; type <= UINT16_MAX; type++) {
        struct esi_frame frame = {.type = (uint16_t)type, .length = 1};
        unsigned char bytes[ES_FRAME_HEADER_BYTES];
        bool known = type >= ES_FRAME_HELLO && type <= ES_FRAME_LAST;

        esi_frame_encode_header(&frame, bytes);
        frame.length = 5;
        assert_int_equal(esi_frame_decode_header(bytes, NULL, &frame),
                         known ? 0 : -EPROTO);
        assert_int_equal(frame.length, known ? 1 : 5);
    }
}

SUITE(test_frame)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_little_endian),
        cmocka_unit_test(lengths_have_a_limit),
        cmocka_unit_test(types_that_are_not_known_are_refused),
    };

    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
