/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds bytes to the decoder of replies.  What it accepts stays within its bounds, is
 * undone exactly, and is the same when it is decoded once more. */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/remote/batch_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ORIGINS = 16 };

static void check_batch(const struct es_batch *batch, const struct es_wire_moves *moves)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->marks[i].origin >= ORIGINS)
            abort();
    for (size_t i = 0; i < batch->report_count; i++)
        if (batch->reports[i].origin >= ORIGINS)
            abort();
    for (size_t i = 0; i < moves->count; i++)
        if (moves->items[i].origin >= ORIGINS)
            abort();
}

static void decode_again(struct es_wire_state *state,
                         const struct es_wire_source *source,
                         const uint8_t *data,
                         size_t size,
                         const struct es_batch *first)
{
    struct es_batch again;
    struct es_wire_moves moves = {.count = 0};
    struct es_wire_cost cost;
    uint64_t after[ORIGINS];

    memcpy(after, state->next, sizeof after);
    es_batch_init(&again);
    es_batch_undo(state, data, size);
    for (int i = 0; i < ORIGINS; i++)
        if (state->next[i] != 100)
            abort();
    if (es_batch_decode(state, source, data, size, &again, &moves, &cost, NULL) != 0 ||
        again.count != first->count || memcmp(after, state->next, sizeof after) != 0)
        abort();
    if (again.count &&
        memcmp(again.marks, first->marks, again.count * sizeof *again.marks) != 0)
        abort();
    es_batch_fini(&again);
    es_wire_moves_fini(&moves);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t next[ORIGINS];
    struct es_wire_state state = {.next = next, .count = ORIGINS};
    struct es_wire_source source = {.swapped = size % 2};
    struct es_wire_moves moves = {.count = 0};
    struct es_wire_cost cost;
    struct es_batch batch;
    uint32_t count;

    for (int i = 0; i < ORIGINS; i++)
        next[i] = 100;
    es_batch_init(&batch);
    if (es_batch_decode(&state, &source, data, size, &batch, &moves, &cost, NULL) ==
        0) {
        check_batch(&batch, &moves);
        if (es_batch_wire_count(data, size, &count) != 0 || count != batch.count)
            abort();
        decode_again(&state, &source, data, size, &batch);
    } else if (batch.count != 0 || batch.report_count != 0 || batch.notice_count != 0) {
        abort(); /* a refused reply leaves nothing behind */
    }
    es_batch_fini(&batch);
    es_wire_moves_fini(&moves);
    return 0;
}
