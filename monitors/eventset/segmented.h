/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A column of equal-sized rows that only grows, and whose rows never move.
 *
 *   esi_segmented_init(&rows, sizeof(uint32_t), 6);
 *   esi_segmented_push(&rows, &value);
 *   value = *(const uint32_t *)esi_segmented_at(&rows, 17);
 *
 * Chunks double, so that a row is found without a search and at most half is unused.
 *
 *   call                             may run together with
 *   esi_segmented_push, _extend      esi_segmented_at of rows whose number the writer
 *                                    has published (esi_segmented_count, or in a way
 *                                    of its own)
 *   esi_segmented_fini               nothing
 */
#ifndef ES_MONITORS_EVENTSET_SEGMENTED_H
#define ES_MONITORS_EVENTSET_SEGMENTED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { ES_ROWS_CHUNKS = 34 };

/* Caller's memory; its fields are private. */
struct esi_segmented {
    uint32_t row_bytes;
    uint32_t first_log2; /* rows of the first chunk */
    _Atomic uint64_t count;
    _Atomic(unsigned char *) chunks[ES_ROWS_CHUNKS];
};

void esi_segmented_init(struct esi_segmented *rows,
                        size_t row_bytes,
                        unsigned first_log2);
void esi_segmented_fini(struct esi_segmented *rows);

/* Appends a copy of a row.  0 or -ENOMEM. */
int esi_segmented_push(struct esi_segmented *rows, const void *row);
/* Appends `count` rows of zeros that lie side by side, and gives the first, to be
 * filled by the writer; rows that would have been in the way are skipped.  NULL:
 * -ENOMEM, or more than fit into a chunk. */
void *esi_segmented_extend(struct esi_segmented *rows,
                           uint64_t count,
                           uint64_t *ret_at);

/* Rows that are published (acquire; pairs with the release of the writer). */
uint64_t esi_segmented_count(const struct esi_segmented *rows);
/* Bytes that are held, used or not. */
uint64_t esi_segmented_bytes(const struct esi_segmented *rows);

/* Row `at`, which is there.  Borrowed until esi_segmented_fini(). */
static inline void *esi_segmented_at(const struct esi_segmented *rows, uint64_t at)
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
