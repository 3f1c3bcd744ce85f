/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_pieces.c - pieces of work, and what is found in them, in their order.
 *
 * Whoever finishes the piece whose turn it is gives on what was kept of the pieces
 * behind it, as far as these are finished.  Only he gives anything meanwhile: the turn
 * goes on when that is done.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    AHEAD = 8,             /* pieces for each thread */
    MOST_VALUES = 256,     /* of a piece */
    KEPT_VALUES = 1 << 18, /* in a buffer, before its owner waits for its turn */
};

/* A piece that was searched before its turn. */
struct esi_pieces_done {
    bool is_there;
    struct esi_pieces_buffer buffer;
};

/* --- Beginning and end ------------------------------------------------------------ */

static int list_ranges(struct esi_pieces *pieces)
{
    const struct esi_candidates *source = pieces->work.source;
    const struct esi_domain *domain = pieces->work.domain;
    size_t count = source ? source->count : esi_domain_slots(domain);

    pieces->ranges = calloc(count + 1, sizeof *pieces->ranges);
    if (!pieces->ranges)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = (uint32_t)i;
        struct esi_range range =
            source ? source->ranges[i]
                   : (struct esi_range){slot, 0, esi_domain_column(domain, slot).count};

        if (range.begin < range.end)
            pieces->ranges[pieces->range_count++] = range;
    }
    if (pieces->range_count > 0)
        pieces->next.position = pieces->ranges[0].begin;
    return 0;
}

static int prepare_pieces(struct esi_pieces *pieces)
{
    int result = list_ranges(pieces);

    pieces->ahead = AHEAD * (uint64_t)pieces->work.threads;
    pieces->done = calloc(pieces->ahead, sizeof *pieces->done);
    if (!pieces->done)
        result = -ENOMEM;
    if (result == 0)
        result = -pthread_mutex_init(&pieces->lock, NULL);
    if (result < 0)
        return result;
    result = -pthread_cond_init(&pieces->changed, NULL);
    if (result < 0)
        pthread_mutex_destroy(&pieces->lock);
    return result;
}

int esi_pieces_init(struct esi_pieces *pieces, const struct esi_pieces_work *work)
{
    int result;

    *pieces = (struct esi_pieces){.work = *work};
    result = prepare_pieces(pieces);
    if (result < 0) {
        free(pieces->ranges);
        free(pieces->done);
    }
    return result;
}

void esi_pieces_fini(struct esi_pieces *pieces)
{
    for (uint64_t i = 0; i < pieces->ahead; i++)
        free(pieces->done[i].buffer.values);
    pthread_cond_destroy(&pieces->changed);
    pthread_mutex_destroy(&pieces->lock);
    free(pieces->ranges);
    free(pieces->done);
}

/* --- Taking ----------------------------------------------------------------------- */

bool esi_pieces_are_taken(const struct esi_pieces *pieces)
{
    return pieces->next.range >= pieces->range_count;
}

bool esi_pieces_are_over(const struct esi_pieces *pieces)
{
    return atomic_load_explicit(&pieces->is_over, memory_order_relaxed);
}

/* Small at first, so that a first match is found soon. */
static uint32_t size_of_next(const struct esi_pieces *pieces)
{
    uint64_t size = 1 + pieces->next.number / pieces->work.threads;

    return size < MOST_VALUES ? (uint32_t)size : MOST_VALUES;
}

static void advance_pieces(struct esi_pieces *pieces, uint32_t count)
{
    struct esi_piece *next = &pieces->next;

    next->number++;
    next->ordinal += count;
    while (count > 0 && !esi_pieces_are_taken(pieces)) {
        const struct esi_range *range = &pieces->ranges[next->range];
        uint32_t left = range->end - next->position;

        if (count < left) {
            next->position += count;
            return;
        }
        count -= left;
        if (++next->range < pieces->range_count)
            next->position = pieces->ranges[next->range].begin;
    }
}

bool esi_pieces_take(struct esi_pieces *pieces, struct esi_piece *ret_piece)
{
    bool is_taken;

    pthread_mutex_lock(&pieces->lock);
    while (!esi_pieces_are_taken(pieces) && !atomic_load(&pieces->is_over) &&
           pieces->next.number >= atomic_load(&pieces->turn) + pieces->ahead)
        pthread_cond_wait(&pieces->changed, &pieces->lock);
    is_taken = !esi_pieces_are_taken(pieces) && !atomic_load(&pieces->is_over);
    if (is_taken) {
        *ret_piece = pieces->next;
        ret_piece->count = size_of_next(pieces);
        advance_pieces(pieces, ret_piece->count);
    }
    pthread_mutex_unlock(&pieces->lock);
    return is_taken;
}

int esi_pieces_walk(const struct esi_pieces *pieces,
                    const struct esi_piece *piece,
                    int (*each)(void *data,
                                struct esi_domain_value value,
                                uint64_t ordinal),
                    void *data)
{
    size_t range = piece->range;
    uint32_t position = piece->position;
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < piece->count && range < pieces->range_count;
         i++) {
        struct esi_domain_value value = {pieces->ranges[range].slot, position};

        result = each(data, value, piece->ordinal + i);
        if (++position == pieces->ranges[range].end && ++range < pieces->range_count)
            position = pieces->ranges[range].begin;
    }
    return result;
}

/* --- Giving ----------------------------------------------------------------------- */

static int flush_buffer(const struct esi_pieces *pieces,
                        struct esi_pieces_buffer *buffer)
{
    const struct esi_pieces_work *work = &pieces->work;
    int result = 0;

    for (size_t i = 0; result == 0 && i < buffer->count; i += work->variables)
        result = work->give(work->data, buffer->values + i);
    buffer->count = 0;
    return result;
}

static int keep_result(struct esi_pieces_buffer *buffer,
                       const struct esi_domain_value *values,
                       unsigned count)
{
    if (buffer->count + count > buffer->capacity) {
        size_t capacity = 2 * (buffer->count + count);
        struct esi_domain_value *larger =
            realloc(buffer->values, capacity * sizeof *larger);

        if (!larger)
            return -ENOMEM;
        buffer->values = larger;
        buffer->capacity = capacity;
    }
    memcpy(buffer->values + buffer->count, values, count * sizeof *values);
    buffer->count += count;
    return 0;
}

static bool is_turn(const struct esi_pieces *pieces, const struct esi_piece *piece)
{
    /* Pairs with the release in end_turns(): what was given before is seen. */
    return atomic_load_explicit(&pieces->turn, memory_order_acquire) == piece->number;
}

static bool wait_for_turn(struct esi_pieces *pieces, const struct esi_piece *piece)
{
    pthread_mutex_lock(&pieces->lock);
    while (!is_turn(pieces, piece) && !atomic_load(&pieces->is_over))
        pthread_cond_wait(&pieces->changed, &pieces->lock);
    pthread_mutex_unlock(&pieces->lock);
    return is_turn(pieces, piece);
}

int esi_pieces_give(struct esi_pieces *pieces,
                    struct esi_piece *piece,
                    const struct esi_domain_value *values)
{
    int result;

    if (!is_turn(pieces, piece)) {
        if (piece->buffer.count < KEPT_VALUES)
            return keep_result(&piece->buffer, values, pieces->work.variables);
        if (!wait_for_turn(pieces, piece))
            return 1;
    }
    result = flush_buffer(pieces, &piece->buffer);
    return result != 0 ? result : pieces->work.give(pieces->work.data, values);
}

/* --- Finishing -------------------------------------------------------------------- */

/* The lock is held. */
static void end_all(struct esi_pieces *pieces, int result)
{
    if (!atomic_load(&pieces->is_over))
        pieces->result = result;
    atomic_store(&pieces->is_over, true);
    pthread_cond_broadcast(&pieces->changed);
}

/* Gives on all that is done and whose turn has come.  The lock is held, but while that
 * is given. */
static void end_turns(struct esi_pieces *pieces)
{
    struct esi_pieces_done *done =
        &pieces->done[atomic_load(&pieces->turn) % pieces->ahead];

    while (done->is_there && !atomic_load(&pieces->is_over)) {
        struct esi_pieces_buffer buffer = done->buffer;
        int result;

        pthread_mutex_unlock(&pieces->lock);
        result = flush_buffer(pieces, &buffer);
        free(buffer.values);
        pthread_mutex_lock(&pieces->lock);
        *done = (struct esi_pieces_done){.is_there = false};
        if (result != 0)
            end_all(pieces, result);
        /* Whoever sees its turn sees what was given. */
        atomic_fetch_add_explicit(&pieces->turn, 1, memory_order_release);
        pthread_cond_broadcast(&pieces->changed);
        done = &pieces->done[atomic_load(&pieces->turn) % pieces->ahead];
    }
}

void esi_pieces_finish(struct esi_pieces *pieces, struct esi_piece *piece, int result)
{
    pthread_mutex_lock(&pieces->lock);
    if (result != 0) {
        end_all(pieces, result);
        free(piece->buffer.values);
    } else {
        pieces->done[piece->number % pieces->ahead] =
            (struct esi_pieces_done){.is_there = true, .buffer = piece->buffer};
        if (is_turn(pieces, piece))
            end_turns(pieces);
    }
    pthread_mutex_unlock(&pieces->lock);
}

void esi_pieces_cancel(struct esi_pieces *pieces, int result)
{
    pthread_mutex_lock(&pieces->lock);
    end_all(pieces, result);
    pthread_mutex_unlock(&pieces->lock);
}
