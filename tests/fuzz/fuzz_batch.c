/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds bytes to the decoder of replies.  An accepted reply stays within its bounds. It
 * is the same when it is decoded again from the same positions, and when it is encoded
 * and decoded again. */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/remote/batch_wire.h"
#include "tests/fuzz/fuzz_target.h"

enum { ORIGINS = 16 };

static void check_batch(const struct es_batch *batch,
                        const struct esi_wire_moves *moves)
{
    for (size_t i = 0; i < batch->count; i++)
        require(batch->marks[i].origin < ORIGINS);
    for (size_t i = 0; i < batch->report_count; i++)
        require(batch->reports[i].origin < ORIGINS);
    for (size_t i = 0; i < moves->count; i++)
        require(moves->items[i].origin < ORIGINS);
}

static void begin(struct esi_wire_state *state)
{
    require(esi_wire_state_init(state, ORIGINS) == 0);
    for (int i = 0; i < ORIGINS; i++)
        state->next[i] = 100;
}

static void expect_same(const struct es_batch *a, const struct es_batch *b)
{
    require(a->count == b->count);
    if (a->count == 0)
        return;
    require(memcmp(a->tuples, b->tuples, a->count * sizeof *a->tuples) == 0);
    require(memcmp(a->marks, b->marks, a->count * sizeof *a->marks) == 0);
}

static void decode_again(const struct esi_wire_state *state,
                         const struct esi_wire_source *source,
                         const uint8_t *data,
                         size_t size,
                         const struct es_batch *first)
{
    struct es_batch again;
    struct esi_wire_moves moves = {.count = 0};
    struct esi_wire_cost cost;
    struct esi_wire_state same;

    begin(&same);
    es_batch_init(&again);
    require(esi_batch_decode(&same, source, data, size, &again, &moves, &cost, NULL) ==
            0);
    require(memcmp(same.next, state->next, ORIGINS * sizeof *same.next) == 0);
    require(memcmp(same.last, state->last, ORIGINS * sizeof *same.last) == 0);
    expect_same(&again, first);
    es_batch_fini(&again);
    esi_wire_moves_fini(&moves);
    esi_wire_state_fini(&same);
}

/* The encoder ignores the flags of open operations, because they have none. */
static bool has_flags_where_open(const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (es_batch_is_open(batch, i) && batch->marks[i].flags != 0)
            return true;
    return false;
}

static void encode_again(const struct es_batch *first)
{
    const struct esi_wire_source source = {.swapped = false};
    struct esi_wire_cost cost = {.cpu_ns = 0};
    struct esi_wire_state sender, receiver;
    struct esi_wire_moves moves = {.count = 0};
    struct esi_wire_buffer buffer = {.tail = NULL};
    struct es_batch again;
    size_t words;
    unsigned char *payload;

    begin(&sender);
    begin(&receiver);
    es_batch_init(&again);
    require(esi_batch_encode(&sender, first, NULL, &cost, &buffer) == 0);
    words = buffer.word_count * sizeof *buffer.words;
    payload = malloc(ES_WIRE_HEAD_BYTES + words + buffer.tail_bytes);
    require(payload != NULL);
    memcpy(payload, buffer.head, ES_WIRE_HEAD_BYTES);
    memcpy(payload + ES_WIRE_HEAD_BYTES, buffer.words, words);
    memcpy(payload + ES_WIRE_HEAD_BYTES + words, buffer.tail, buffer.tail_bytes);
    require(esi_batch_decode(&receiver, &source, payload,
                             ES_WIRE_HEAD_BYTES + words + buffer.tail_bytes, &again,
                             &moves, &cost, NULL) == 0);
    expect_same(&again, first);
    free(payload);
    es_batch_fini(&again);
    esi_wire_moves_fini(&moves);
    esi_wire_buffer_fini(&buffer);
    esi_wire_state_fini(&sender);
    esi_wire_state_fini(&receiver);
}

FUZZ_TARGET(fuzz_batch, data, size)
{
    struct esi_wire_state state;
    struct esi_wire_source source = {.swapped = size % 2};
    struct esi_wire_moves moves = {.count = 0};
    struct esi_wire_cost cost;
    struct es_batch batch;
    struct esi_wire_size reply;

    begin(&state);
    es_batch_init(&batch);
    if (esi_batch_decode(&state, &source, data, size, &batch, &moves, &cost, NULL) ==
        0) {
        check_batch(&batch, &moves);
        require(esi_batch_wire_size(data, size, &reply) == 0);
        require(reply.tuples == batch.count);
        decode_again(&state, &source, data, size, &batch);
        if (!has_flags_where_open(&batch))
            encode_again(&batch);
    } else { /* a refused reply leaves an empty batch */
        require(batch.count == 0 && batch.report_count == 0 && batch.notice_count == 0);
    }
    es_batch_fini(&batch);
    esi_wire_moves_fini(&moves);
    esi_wire_state_fini(&state);
    return 0;
}
