/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* segmented.c - arrays that grow by chunks of doubling size: see segmented.h. */
#include "config.h"

#include "monitors/eventset/segmented.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void esi_segmented_init(struct esi_segmented *rows,
                        size_t row_bytes,
                        unsigned first_log2)
{
    memset(rows, 0, sizeof *rows);
    rows->row_bytes = (uint32_t)row_bytes;
    rows->first_log2 = first_log2;
}

void esi_segmented_fini(struct esi_segmented *rows)
{
    for (unsigned chunk = 0; chunk < ES_ROWS_CHUNKS; chunk++)
        free(atomic_load_explicit(&rows->chunks[chunk], memory_order_relaxed));
    memset(rows, 0, sizeof *rows);
}

static uint64_t chunk_rows(const struct esi_segmented *rows, unsigned chunk)
{
    return UINT64_C(1) << (rows->first_log2 + chunk);
}

static unsigned chunk_of(const struct esi_segmented *rows, uint64_t at)
{
    return 63u - (unsigned)__builtin_clzll(at + chunk_rows(rows, 0)) - rows->first_log2;
}

/* Number of rows before a chunk. */
static uint64_t chunk_base(const struct esi_segmented *rows, unsigned chunk)
{
    return chunk_rows(rows, chunk) - chunk_rows(rows, 0);
}

/* Uses large pages for large chunks: the first touch of each small page costs a
 * microsecond. */
static void prefer_large_pages(unsigned char *chunk, size_t bytes)
{
    enum { LARGE_PAGE = 2 << 20 };
    uintptr_t begin = ((uintptr_t)chunk + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    uintptr_t end = ((uintptr_t)chunk + bytes) / LARGE_PAGE * LARGE_PAGE;

    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

static int make_chunk(struct esi_segmented *rows, unsigned chunk)
{
    size_t bytes = chunk_rows(rows, chunk) * rows->row_bytes;
    unsigned char *made;

    if (atomic_load_explicit(&rows->chunks[chunk], memory_order_relaxed))
        return 0;
    made = calloc(chunk_rows(rows, chunk), rows->row_bytes);
    if (!made)
        return -ENOMEM;
    prefer_large_pages(made, bytes);
    /* Readers learn of its rows by a count that is published later. */
    atomic_store_explicit(&rows->chunks[chunk], made, memory_order_release);
    atomic_store_explicit(
        &rows->bytes, atomic_load_explicit(&rows->bytes, memory_order_relaxed) + bytes,
        memory_order_relaxed);
    return 0;
}

void *esi_segmented_extend(struct esi_segmented *rows, uint64_t count, uint64_t *ret_at)
{
    uint64_t at = atomic_load_explicit(&rows->count, memory_order_relaxed);
    unsigned chunk = chunk_of(rows, at);

    while (chunk < ES_ROWS_CHUNKS &&
           at + count > chunk_base(rows, chunk) + chunk_rows(rows, chunk)) {
        chunk++;
        at = chunk_base(rows, chunk);
    }
    if (chunk >= ES_ROWS_CHUNKS || make_chunk(rows, chunk) < 0)
        return NULL;
    atomic_store_explicit(&rows->count, at + count, memory_order_release);
    if (ret_at)
        *ret_at = at;
    return esi_segmented_at(rows, at);
}

int esi_segmented_push(struct esi_segmented *rows, const void *row)
{
    uint64_t at = atomic_load_explicit(&rows->count, memory_order_relaxed);
    unsigned chunk = chunk_of(rows, at);

    if (chunk >= ES_ROWS_CHUNKS || make_chunk(rows, chunk) < 0)
        return -ENOMEM;
    memcpy(esi_segmented_at(rows, at), row, rows->row_bytes);
    atomic_store_explicit(&rows->count, at + 1, memory_order_release);
    return 0;
}

uint64_t esi_segmented_count(const struct esi_segmented *rows)
{
    return atomic_load_explicit(&rows->count, memory_order_acquire);
}

uint64_t esi_segmented_bytes(const struct esi_segmented *rows)
{
    return atomic_load_explicit(&rows->bytes, memory_order_relaxed);
}
