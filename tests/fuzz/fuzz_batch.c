/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds bytes to the decoder of replies.  What it accepts stays within its bounds
 * and is the same when it is decoded once more from the same positions. */
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
        if (batch->marks[i].origin >= ORIGINS)
            abort();
    for (size_t i = 0; i < batch->report_count; i++)
        if (batch->reports[i].origin >= ORIGINS)
            abort();
    for (size_t i = 0; i < moves->count; i++)
        if (moves->items[i].origin >= ORIGINS)
            abort();
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
    uint64_t next[ORIGINS];
    struct esi_wire_state same = {.next = next, .count = ORIGINS};

    for (int i = 0; i < ORIGINS; i++)
        next[i] = 100;
    es_batch_init(&again);
    if (esi_batch_decode(&same, source, data, size, &again, &moves, &cost, NULL) != 0 ||
        again.count != first->count || memcmp(next, state->next, sizeof next) != 0)
        abort();
    if (again.count &&
        memcmp(again.marks, first->marks, again.count * sizeof *again.marks) != 0)
        abort();
    es_batch_fini(&again);
    esi_wire_moves_fini(&moves);
}

FUZZ_TARGET(fuzz_batch, data, size)
{
    uint64_t next[ORIGINS];
    struct esi_wire_state state = {.next = next, .count = ORIGINS};
    struct esi_wire_source source = {.swapped = size % 2};
    struct esi_wire_moves moves = {.count = 0};
    struct esi_wire_cost cost;
    struct es_batch batch;
    struct esi_wire_size reply;

    for (int i = 0; i < ORIGINS; i++)
        next[i] = 100;
    es_batch_init(&batch);
    if (esi_batch_decode(&state, &source, data, size, &batch, &moves, &cost, NULL) ==
        0) {
        check_batch(&batch, &moves);
        if (esi_batch_wire_size(data, size, &reply) != 0 || reply.tuples != batch.count)
            abort();
        decode_again(&state, &source, data, size, &batch);
    } else if (batch.count != 0 || batch.report_count != 0 || batch.notice_count != 0) {
        abort(); /* a refused reply leaves nothing behind */
    }
    es_batch_fini(&batch);
    esi_wire_moves_fini(&moves);
    return 0;
}
