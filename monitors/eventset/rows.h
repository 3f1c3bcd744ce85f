/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A column of equal-sized rows that only grows, and whose rows never move.
 *
 *   es_rows_init(&rows, sizeof(uint32_t), 6);
 *   es_rows_push(&rows, &value);
 *   value = *(const uint32_t *)es_rows_at(&rows, 17);
 *
 * Chunks double, so that a row is found without a search and at most half is unused.
 *
 *   call                     may run together with
 *   es_rows_push, _extend    es_rows_at of rows whose number the writer has published
 *                            (es_rows_count, or in a way of its own)
 *   es_rows_fini             nothing
 */
#ifndef ES_MONITORS_EVENTSET_ROWS_H
#define ES_MONITORS_EVENTSET_ROWS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { ES_ROWS_CHUNKS = 34 };

/* Caller's memory; its fields are private. */
struct es_rows {
    uint32_t row_bytes;
    uint32_t first_log2; /* rows of the first chunk */
    _Atomic uint64_t count;
    _Atomic(unsigned char *) chunks[ES_ROWS_CHUNKS];
};

void es_rows_init(struct es_rows *rows, size_t row_bytes, unsigned first_log2);
void es_rows_fini(struct es_rows *rows);

/* Appends a copy of a row.  0 or -ENOMEM. */
int es_rows_push(struct es_rows *rows, const void *row);
/* Appends `count` rows of zeros that lie side by side, and gives the first, to be
 * filled by the writer; rows that would have been in the way are skipped.  NULL:
 * -ENOMEM, or more than fit into a chunk. */
void *es_rows_extend(struct es_rows *rows, uint64_t count, uint64_t *ret_at);

/* Rows that are published (acquire; pairs with the release of the writer). */
uint64_t es_rows_count(const struct es_rows *rows);
/* Bytes that are held, used or not. */
uint64_t es_rows_bytes(const struct es_rows *rows);

/* Row `at`, which is there.  Borrowed until es_rows_fini(). */
static inline void *es_rows_at(const struct es_rows *rows, uint64_t at)
{
    uint64_t first = UINT64_C(1) << rows->first_log2;
    unsigned chunk = 63u - (unsigned)__builtin_clzll(at + first) - rows->first_log2;
    uint64_t base = (first << chunk) - first;
    /* Whoever told us that the row is there has made the chunk visible, too. */
    unsigned char *rows_of =
        atomic_load_explicit(&rows->chunks[chunk], memory_order_relaxed);

    return rows_of + (at - base) * rows->row_bytes;
}

#endif
