/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Work of several threads whose results come in one order: the values of a variable are
 * split into pieces that are numbered in their order.  What is found in the piece whose
 * turn it is is given on at once, else it is kept until the pieces before are through.
 * Nobody runs further ahead than a few pieces, or keeps more than a number of
 * assignments.
 *
 *   esi_pieces_init(&pieces, &work);
 *   of each thread: while (esi_pieces_take(&pieces, &piece))
 *                       ... esi_pieces_give(&pieces, &piece, values) ...
 *                       esi_pieces_finish(&pieces, &piece, result);
 *   esi_pieces_fini(&pieces);
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_PIECES_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_PIECES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_searcher.h"

/* What is to be done, and where it goes. */
struct esi_pieces_work {
    const struct esi_domain *domain;
    const struct esi_candidates *source; /* its values that are left; NULL: all */
    unsigned threads;
    unsigned variables; /* of an assignment */
    int (*give)(void *data, const struct esi_domain_value *values);
    void *data; /* one thread at a time */
};

/* Assignments that wait for their turn. */
struct esi_pieces_buffer {
    struct esi_domain_value *values; /* owned: of all variables of each */
    size_t count;
    size_t capacity;
};

/* `count` values from `position` in a range on. */
struct esi_piece {
    uint64_t number;
    uint64_t ordinal; /* of the first value, from 0 */
    size_t range;
    uint32_t position;
    uint32_t count;
    struct esi_pieces_buffer buffer; /* owned until it is finished */
};

struct esi_pieces {
    struct esi_pieces_work work;
    struct esi_range *ranges; /* owned */
    size_t range_count;

    pthread_mutex_t lock; /* of all below; `turn` and `is_over` are read without */
    pthread_cond_t changed;
    atomic_bool is_over;
    int result;
    struct esi_piece next; /* where the next one begins */
    _Atomic uint64_t turn;
    struct esi_pieces_done *done; /* owned: [number % ahead] */
    uint64_t ahead;
};

/* 0 or a negative errno. */
int esi_pieces_init(struct esi_pieces *pieces, const struct esi_pieces_work *work);
void esi_pieces_fini(struct esi_pieces *pieces);

/* False: nothing is left to be taken. */
bool esi_pieces_take(struct esi_pieces *pieces, struct esi_piece *ret_piece);
/* Calls `each` with the values of a piece and their ordinals until it does not give
 * 0. */
int esi_pieces_walk(const struct esi_pieces *pieces,
                    const struct esi_piece *piece,
                    int (*each)(void *data,
                                struct esi_domain_value value,
                                uint64_t ordinal),
                    void *data);
/* An assignment that was found in a piece.  0; 1: enough; -errno. */
int esi_pieces_give(struct esi_pieces *pieces,
                    struct esi_piece *piece,
                    const struct esi_domain_value *values);
/* `result` 0: it was searched to its end; else nothing more is taken by anybody. */
void esi_pieces_finish(struct esi_pieces *pieces, struct esi_piece *piece, int result);

/* Ends all. */
void esi_pieces_cancel(struct esi_pieces *pieces, int result);
bool esi_pieces_are_over(const struct esi_pieces *pieces);
/* Whether nothing is left to be taken; of one thread alone. */
bool esi_pieces_are_taken(const struct esi_pieces *pieces);

#endif
