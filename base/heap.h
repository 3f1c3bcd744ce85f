/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * heap.h - a priority queue of (key, item): smallest key first, and for equal keys the
 * smallest item.
 *
 * An item is a number chosen by the owner, usually an index.  Zero is an empty heap.  A
 * binary heap in an array: push and pop take O(log count).  Not thread safe.
 */
#ifndef ES_BASE_HEAP_H
#define ES_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct esi_heap_entry {
    uint64_t key;
    uint64_t item;
};

struct esi_heap {
    struct esi_heap_entry *entries; /* owned; the first is the smallest */
    size_t count;
    size_t capacity;
};

void esi_heap_fini(struct esi_heap *heap);

/* Makes room for `needed` entries in total.  Returns 0 or -ENOMEM. */
int esi_heap_reserve(struct esi_heap *heap, size_t needed);

/* Adds an entry.  Requires room (esi_heap_reserve()). */
void esi_heap_push(struct esi_heap *heap, uint64_t key, uint64_t item);

/* Without a branch, which a processor could not predict. */
static inline bool esi_heap_is_less(const struct esi_heap_entry *a,
                                    const struct esi_heap_entry *b)
{
    return ((unsigned __int128)a->key << 64 | a->item) <
           ((unsigned __int128)b->key << 64 | b->item);
}

/* The smallest entry.  Here and below, the heap must not be empty. */
static inline struct esi_heap_entry esi_heap_top(const struct esi_heap *heap)
{
    return heap->entries[0];
}

/* The second smallest entry, of two or more. */
static inline struct esi_heap_entry esi_heap_second(const struct esi_heap *heap)
{
    const struct esi_heap_entry *entries = heap->entries;

    return entries[heap->count > 2 && esi_heap_is_less(&entries[2], &entries[1]) ? 2
                                                                                 : 1];
}

/* Removes the smallest entry. */
void esi_heap_pop(struct esi_heap *heap);

/* Replaces the smallest entry.  Inline, because a merge does this for each item. */
static inline void esi_heap_replace_top(struct esi_heap *heap,
                                        uint64_t key,
                                        uint64_t item)
{
    const struct esi_heap_entry moving = {.key = key, .item = item};
    struct esi_heap_entry *entries = heap->entries;
    size_t last = heap->count - 1;
    size_t at = 0;

    for (size_t child = 1; child <= last; child = 2 * at + 1) {
        child += child < last && esi_heap_is_less(&entries[child + 1], &entries[child]);
        if (!esi_heap_is_less(&entries[child], &moving))
            break;
        entries[at] = entries[child];
        at = child;
    }
    entries[at] = moving;
}

#endif
