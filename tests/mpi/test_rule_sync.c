/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of when the ranks of a communicator synchronise rules, and when not. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/suites.h"
#include "wrappers/mpi/tree_ops.h"
#include "wrappers/trees/rules.h"

enum { MS = 1000000 };

static void a_gap_is_as_long_as_half_a_second(void **state)
{
    static const struct {
        uint32_t operations; /* since the last synchronisation */
        uint64_t elapsed_ns;
        uint32_t gap;
    } cases[] = {
        {100, UINT64_C(1000) * MS, 50},
        {10, 50 * MS, 100},
        {8, 80 * MS, 50},
        /* Slow programs synchronise at each operation. */
        {1, UINT64_C(3600000) * MS, 1},
        {0, MS, 1},
        /* Fast programs stay within reach. */
        {1024, MS, ESI_RULE_SYNC_MAX_GAP},
        {UINT32_MAX, 1, ESI_RULE_SYNC_MAX_GAP},
        {5, 0, ESI_RULE_SYNC_MAX_GAP},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esi_rule_sync_pace pace = {.began = false};

        assert_int_equal(esi_rule_sync_next(&pace, 0, 7), ESI_RULE_SYNC_FIRST_GAP);
        assert_int_equal(
            esi_rule_sync_next(&pace, cases[i].operations, 7 + cases[i].elapsed_ns),
            cases[i].operations + cases[i].gap);
    }
}

static bool is_due(uint32_t count)
{
    struct esi_tree_gate gate = {.count = count, .next = 3};

    return esi_tree_sync_is_due(&gate);
}

static void numbers_wrap_around(void **state)
{
    (void)state;
    assert_false(is_due(UINT32_MAX));
    assert_false(is_due(2));
    assert_true(is_due(3));
    assert_true(is_due(4));
}

static void the_library_does_what_no_rule_names(void **state)
{
    struct esi_comm comm = {
        .gate = {.native = 1u << ES_TREE_BCAST | ES_TREE_NONBLOCKING(ES_TREE_BCAST),
                 .count = 7,
                 .next = 8}};

    (void)state;
    assert_false(esi_tree_is_native(NULL, 1u << ES_TREE_BCAST));
    assert_false(esi_tree_is_native(&comm, 1u << ES_TREE_BARRIER));
    assert_int_equal(comm.gate.count, 7);
    assert_true(esi_tree_is_native(&comm, 1u << ES_TREE_BCAST));
    assert_int_equal(comm.gate.count, 8);
    /* The next blocking operation synchronises rules; a nonblocking one does not. */
    assert_false(esi_tree_is_native(&comm, 1u << ES_TREE_BCAST));
    assert_true(esi_tree_is_native(&comm, ES_TREE_NONBLOCKING(ES_TREE_BCAST)));
    assert_int_equal(comm.gate.count, 9);
}

SUITE(test_rule_sync)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_is_as_long_as_half_a_second),
        cmocka_unit_test(numbers_wrap_around),
        cmocka_unit_test(the_library_does_what_no_rule_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
