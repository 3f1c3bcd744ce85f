/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Marks of summaries are transferred correctly between marks of tuples. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scopes/remote/batch_wire.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { ORIGINS = 5, MOST = 60, ROUNDS = 2000 };

static uint64_t seed = 20261120;

/* Consecutive tuples, with summaries of random positions in between. */
static void fill(struct es_batch *batch, uint64_t *positions)
{
    size_t count = random_next(&seed) % MOST;

    es_batch_clear(batch);
    assert_int_equal(es_batch_reserve(batch, count), 0);
    memset(batch->tuples, 7, count * sizeof *batch->tuples);
    for (size_t i = 0; i < count; i++) {
        struct es_mark mark = {.origin = (uint32_t)(random_next(&seed) % ORIGINS)};

        if (i && random_next(&seed) % 3)
            mark.origin = batch->marks[i - 1].origin;
        mark.position = positions[mark.origin];
        if (random_next(&seed) % 4 == 0) {
            mark.position = random_number(&seed);
            mark.flags = ES_MARK_SUMMARY;
        } else {
            positions[mark.origin]++;
        }
        batch->marks[batch->count++] = mark;
    }
}

/* The reply as in the frame.  Caller frees. */
static unsigned char *join(const struct esi_wire_buffer *buffer, size_t *ret_length)
{
    size_t word_bytes = buffer->word_count * sizeof *buffer->words;
    unsigned char *payload =
        malloc(sizeof buffer->head + word_bytes + buffer->tail_bytes);

    assert_non_null(payload);
    memcpy(payload, buffer->head, sizeof buffer->head);
    memcpy(payload + sizeof buffer->head, buffer->words, word_bytes);
    if (buffer->tail_bytes)
        memcpy(payload + sizeof buffer->head + word_bytes, buffer->tail,
               buffer->tail_bytes);
    *ret_length = sizeof buffer->head + word_bytes + buffer->tail_bytes;
    return payload;
}

static void summaries_arrive_as_summaries(void **state)
{
    uint64_t positions[ORIGINS] = {0};
    struct esi_wire_state sender;
    struct esi_wire_state receiver;
    struct esi_wire_source source = {.swapped = false};
    struct esi_wire_moves moves = {.items = NULL};
    struct esi_wire_buffer buffer = {.tail = NULL};
    struct esi_wire_cost cost = {.cpu_ns = 0};
    struct es_batch sent;
    struct es_batch got;

    (void)state;
    printf("# seed %llu\n", (unsigned long long)seed);
    es_batch_init(&sent);
    es_batch_init(&got);
    assert_int_equal(esi_wire_state_init(&sender, ORIGINS), 0);
    assert_int_equal(esi_wire_state_init(&receiver, ORIGINS), 0);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *payload;
        size_t length;

        fill(&sent, positions);
        assert_int_equal(esi_batch_encode(&sender, &sent, positions, &cost, &buffer),
                         0);
        payload = join(&buffer, &length);
        es_batch_clear(&got);
        assert_int_equal(esi_batch_decode(&receiver, &source, payload, length, &got,
                                          &moves, &cost, NULL),
                         0);
        free(payload);
        assert_int_equal(got.count, sent.count);
        if (sent.count)
            assert_memory_equal(got.tuples, sent.tuples,
                                sent.count * sizeof *sent.tuples);
        if (sent.count)
            assert_memory_equal(got.marks, sent.marks, sent.count * sizeof *sent.marks);
        assert_memory_equal(receiver.next, positions, sizeof positions);
    }
    es_batch_fini(&sent);
    es_batch_fini(&got);
    esi_wire_moves_fini(&moves);
    esi_wire_buffer_fini(&buffer);
    esi_wire_state_fini(&sender);
    esi_wire_state_fini(&receiver);
}

SUITE(test_summary_wire)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_arrive_as_summaries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
