/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A growing array of equal-sized rows that never move.
 *
 *   esi_segmented_init(&rows, sizeof(uint32_t), 6);
 *   esi_segmented_push(&rows, &value);
 *   value = *(const uint32_t *)esi_segmented_at(&rows, 17);
 *
 * Chunks double in size, so that a row is found without a search and at most half of
 * the memory is unused.
 *
 *   call                             may run together with
 *   esi_segmented_push, _extend      esi_segmented_at of rows whose number the writer
 *                                    has published (by esi_segmented_count, or in
 *                                    another way)
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
    uint32_t first_log2; /* log2 of the number of rows in the first chunk */
    _Atomic uint64_t count;
    _Atomic uint64_t bytes; /* of all chunks */
    _Atomic(unsigned char *) chunks[ES_ROWS_CHUNKS];
};

void esi_segmented_init(struct esi_segmented *rows,
                        size_t row_bytes,
                        unsigned first_log2);
void esi_segmented_fini(struct esi_segmented *rows);

/* Appends a copy of a row.  0 or -ENOMEM. */
int esi_segmented_push(struct esi_segmented *rows, const void *row);
/* Appends `count` adjacent rows of zeros and returns the first, for the writer to fill.
 * Skips the rest of a chunk that is too small.  NULL: out of memory, or more rows than
 * fit into a chunk. */
void *esi_segmented_extend(struct esi_segmented *rows,
                           uint64_t count,
                           uint64_t *ret_at);

/* Number of published rows (acquire; pairs with the release of the writer). */
uint64_t esi_segmented_count(const struct esi_segmented *rows);
/* Bytes allocated, used or not. */
uint64_t esi_segmented_bytes(const struct esi_segmented *rows);

/* Row `at`, which must exist.  Borrowed until esi_segmented_fini(). */
static inline void *esi_segmented_at(const struct esi_segmented *rows, uint64_t at)
{
    uint64_t first = UINT64_C(1) << rows->first_log2;
    unsigned chunk = 63u - (unsigned)__builtin_clzll(at + first) - rows->first_log2;
    uint64_t base = (first << chunk) - first;
    /* The publication of the row has made the chunk visible, too. */
    unsigned char *rows_of =
        atomic_load_explicit(&rows->chunks[chunk], memory_order_relaxed);

    return rows_of + (at - base) * rows->row_bytes;
}

#endif
