/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of counters of channels: one for each (peer, tag), also in a growing table. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/suites.h"
#include "wrappers/mpi/match.h"

enum { PEERS = 50, TAGS = 40, THREADS = 4, ROUNDS = 20 };

static void each_channel_counts_for_itself(void **state)
{
    struct esi_channels channels = {NULL};

    (void)state;
    for (uint32_t round = 0; round < 5; round++)
        for (int peer = 0; peer < PEERS; peer++)
            for (int tag = 0; tag < TAGS; tag++)
                assert_int_equal(esi_channel_next(&channels, peer, tag), round);
    esi_channels_fini(&channels);
}

static void extreme_peers_and_tags_are_channels_of_their_own(void **state)
{
    static const int extremes[] = {0, 1, 1 << 16, INT32_MAX - 1, INT32_MAX};
    enum { COUNT = sizeof extremes / sizeof extremes[0] };
    struct esi_channels channels = {NULL};

    (void)state;
    for (uint32_t round = 0; round < 3; round++)
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < COUNT; j++)
                assert_int_equal(esi_channel_next(&channels, extremes[i], extremes[j]),
                                 round);
    esi_channels_fini(&channels);
}

static void a_number_given_back_is_given_out_again(void **state)
{
    struct esi_channels channels = {NULL};

    (void)state;
    assert_int_equal(esi_channel_next(&channels, 3, 4), 0);
    assert_int_equal(esi_channel_next(&channels, 3, 4), 1);
    esi_channel_back(&channels, 3, 4);
    assert_int_equal(esi_channel_next(&channels, 3, 4), 1);
    esi_channels_fini(&channels);
}

/* --- Sends that are cancelled ---------------------------------------------------- */

static uint32_t next_sent(struct esi_channels *channels)
{
    return esi_channel_next_sent(channels, 3, 4);
}

static void a_cancelled_send_leaves_the_count_when_that_is_known(void **state)
{
    struct esi_channels channels = {NULL};
    uint32_t count;

    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(next_sent(&channels), i);
    assert_int_equal(esi_channel_doubt(&channels, 3, 4, 2, &count), 2);
    assert_int_equal(count, 3);
    assert_int_equal(next_sent(&channels), ES_SEQUENCE_UNKNOWN);
    assert_int_equal(next_sent(&channels), ES_SEQUENCE_UNKNOWN);
    esi_channel_back(&channels, 3, 4); /* this send failed */
    assert_int_equal(esi_channel_next_sent(&channels, 3, 5), 0);
    esi_channel_decide(&channels, 3, 4, true);
    assert_int_equal(next_sent(&channels), 5);
    esi_channels_fini(&channels);
}

static void a_send_that_was_not_cancelled_stays_in_the_count(void **state)
{
    struct esi_channels channels = {NULL};
    uint32_t count;

    (void)state;
    assert_int_equal(next_sent(&channels), 0);
    assert_int_equal(esi_channel_doubt(&channels, 3, 4, 0, &count), 0);
    assert_int_equal(next_sent(&channels), ES_SEQUENCE_UNKNOWN);
    esi_channel_decide(&channels, 3, 4, false);
    assert_int_equal(next_sent(&channels), 2);
    esi_channels_fini(&channels);
}

static void several_cancellations_are_decided_together(void **state)
{
    struct esi_channels channels = {NULL};
    uint32_t count;

    (void)state;
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(next_sent(&channels), i);
    assert_int_equal(esi_channel_doubt(&channels, 3, 4, 7, &count), 7);
    assert_int_equal(esi_channel_doubt(&channels, 3, 4, 5, &count), 5);
    assert_int_equal(count, 5);
    /* This send was started while others were in doubt: it may be any of them all. */
    assert_int_equal(next_sent(&channels), ES_SEQUENCE_UNKNOWN);
    assert_int_equal(esi_channel_doubt(&channels, 3, 4, ES_SEQUENCE_UNKNOWN, &count),
                     5);
    esi_channel_decide(&channels, 3, 4, true);
    esi_channel_decide(&channels, 3, 4, false);
    assert_int_equal(next_sent(&channels), ES_SEQUENCE_UNKNOWN);
    esi_channel_decide(&channels, 3, 4, true);
    assert_int_equal(next_sent(&channels), 10);
    esi_channels_fini(&channels);
}

static void where_threads_send_no_number_is_given_twice(void **state)
{
    struct esi_channels channels = {NULL};
    uint32_t count;

    (void)state;
    esi_multiple = true;
    assert_int_equal(next_sent(&channels), 0);
    esi_channel_doubt(&channels, 3, 4, 0, &count);
    esi_channel_decide(&channels, 3, 4, false);
    assert_int_equal(next_sent(&channels), 1);
    esi_channel_doubt(&channels, 3, 4, 1, &count);
    esi_channel_decide(&channels, 3, 4, true);
    assert_int_equal(next_sent(&channels), ES_SEQUENCE_UNKNOWN);
    esi_channel_doubt(&channels, 3, 4, ES_SEQUENCE_UNKNOWN, &count);
    esi_channel_decide(&channels, 3, 4, false);
    assert_int_equal(next_sent(&channels), ES_SEQUENCE_UNKNOWN);
    esi_channels_fini(&channels);
    esi_multiple = false;
}

static void beyond_the_bound_numbers_are_unknown_and_old_channels_go_on(void **state)
{
    enum { TOO_MANY = (1 << 20) + 100 };
    struct esi_channels channels = {NULL};
    int refused = 0;

    (void)state;
    for (int tag = 0; tag < TOO_MANY; tag++)
        refused += esi_channel_next(&channels, 1, tag) == ES_SEQUENCE_UNKNOWN;
    assert_true(refused > 0 && refused < TOO_MANY / 2);
    assert_int_equal(esi_channel_next(&channels, 1, 0), 1);
    assert_int_equal(esi_channel_next(&channels, 1, TOO_MANY), ES_SEQUENCE_UNKNOWN);
    esi_channels_fini(&channels);
}

/* --- Threads --------------------------------------------------------------------- */

struct counter {
    pthread_t thread;
    struct esi_channels *channels;
    uint64_t sum;
};

static void *count(void *argument)
{
    struct counter *counter = argument;

    for (int round = 0; round < ROUNDS; round++)
        for (int peer = 0; peer < PEERS; peer++)
            for (int tag = 0; tag < TAGS; tag++)
                counter->sum += esi_channel_next(counter->channels, peer, tag);
    return NULL;
}

static void threads_share_counters_while_the_table_grows(void **state)
{
    struct esi_channels channels = {NULL};
    struct counter counters[THREADS];
    uint64_t sum = 0;
    uint64_t each = (uint64_t)THREADS * ROUNDS;

    (void)state;
    esi_multiple = true;
    for (int i = 0; i < THREADS; i++) {
        counters[i] = (struct counter){.channels = &channels};
        assert_int_equal(pthread_create(&counters[i].thread, NULL, count, &counters[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(counters[i].thread, NULL);
        sum += counters[i].sum;
    }
    /* Every number from 0 to each - 1 was returned once on every channel. */
    assert_int_equal(sum, each * (each - 1) / 2 * PEERS * TAGS);
    assert_int_equal(esi_channel_next(&channels, 0, 0), each);
    esi_channels_fini(&channels);
    esi_multiple = false;
}

SUITE(test_channels)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_channel_counts_for_itself),
        cmocka_unit_test(extreme_peers_and_tags_are_channels_of_their_own),
        cmocka_unit_test(a_number_given_back_is_given_out_again),
        cmocka_unit_test(a_cancelled_send_leaves_the_count_when_that_is_known),
        cmocka_unit_test(a_send_that_was_not_cancelled_stays_in_the_count),
        cmocka_unit_test(several_cancellations_are_decided_together),
        cmocka_unit_test(where_threads_send_no_number_is_given_twice),
        cmocka_unit_test(beyond_the_bound_numbers_are_unknown_and_old_channels_go_on),
        cmocka_unit_test(threads_share_counters_while_the_table_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
