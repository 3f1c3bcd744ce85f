/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heap.c - a binary heap (Knuth, The Art of Computer Programming 3, 5.2.3). */
#include "config.h"

#include "base/heap.h"

#include <stdlib.h>

#include "base/array.h"

void esi_heap_fini(struct esi_heap *heap)
{
    free(heap->entries);
    *heap = (struct esi_heap){.entries = NULL};
}

int esi_heap_reserve(struct esi_heap *heap, size_t needed)
{
    return ESI_ARRAY_RESERVE(heap->entries, heap->capacity, needed);
}

void esi_heap_push(struct esi_heap *heap, uint64_t key, uint64_t item)
{
    const struct esi_heap_entry moving = {.key = key, .item = item};
    size_t at = heap->count++;

    while (at > 0 && esi_heap_is_less(&moving, &heap->entries[(at - 1) / 2])) {
        heap->entries[at] = heap->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->entries[at] = moving;
}

void esi_heap_pop(struct esi_heap *heap)
{
    struct esi_heap_entry last = heap->entries[--heap->count];

    if (heap->count > 0)
        esi_heap_replace_top(heap, last.key, last.item);
}
