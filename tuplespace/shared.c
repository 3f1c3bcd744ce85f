/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Elements with many writers.
 *
 * A robust mutex lets one writer in at a time.  A tuple counts only once head is
 * advanced, so the next writer after one that died inside simply fills the same slot
 * again.
 */
#include "config.h"

#include "tuplespace/segment.h"

#include <errno.h>
#include <string.h>

#include "tuplespace/writer.h"

static int lock_writers(struct es_element_layout *element)
{
    int rc = pthread_mutex_lock(&element->writers);

    if (rc == EOWNERDEAD)
        rc = pthread_mutex_consistent(&element->writers);
    return -rc;
}

static void store_words(_Atomic uint32_t *slot, const char *tuple, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint32_t word;

        memcpy(&word, tuple + i * sizeof word, sizeof word);
        atomic_store_explicit(&slot[i], word, memory_order_relaxed);
    }
}

int es_shared_write(struct es_element_layout *element,
                    void *segment_base,
                    const void *tuple,
                    uint32_t tuple_bytes)
{
    size_t words = tuple_bytes / sizeof(uint32_t);
    struct es_writer writer = {.element = element};
    int rc;

    if (element->kind != ES_ELEMENT_SHARED || element->tuple_bytes != tuple_bytes)
        return -EINVAL;
    writer.ring = (void *)((char *)segment_base + element->ring_offset);
    writer.mask = element->capacity - 1;
    rc = lock_writers(element);
    if (rc != 0)
        return rc;
    writer.head = atomic_load_explicit(&element->head, memory_order_relaxed);
    if (atomic_load_explicit(&element->on_full, memory_order_relaxed) !=
        ES_ON_FULL_DISCARD)
        esi_writer_wait_for_room(&writer);
    /* Whoever saw a word of this tuple sees a head by which the old one is overtaken.
     */
    atomic_thread_fence(memory_order_release);
    store_words(writer.ring + (size_t)(writer.head & writer.mask) * words, tuple,
                words);
    esi_writer_advance(&writer);
    pthread_mutex_unlock(&element->writers);
    return 0;
}
