/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The slow sides of writing: waking sleeping readers and waiting for a registered one.
 */
#include "config.h"

#include "tuplespace/writer.h"

#include <errno.h>

#include "base/process.h"
#include "tuplespace/futex.h"

/* The program's errno is none of our business. */
void esi_writer_wake(struct es_writer *writer)
{
    struct es_element_layout *element = writer->element;
    int saved_errno = errno;

    /* One call wakes all, so the flag goes first: a reader that died asleep costs one
     * call, and one that raises the flag from here on looks at the new head before it
     * sleeps. */
    atomic_exchange_explicit(&element->waiters, 0, memory_order_seq_cst);
    esi_futex_wake(esi_futex_low_half(&element->head));
    errno = saved_errno;
}

/* Whether there is a registered reader that has not taken enough yet. */
static bool must_wait(const struct es_writer *writer)
{
    struct es_element_layout *element = writer->element;
    uint32_t limit = atomic_load_explicit(&element->limit, memory_order_relaxed);
    uint64_t unread;

    if (atomic_load_explicit(&element->on_full, memory_order_relaxed) !=
            ES_ON_FULL_BLOCK ||
        atomic_load_explicit(&element->reader, memory_order_acquire) == 0)
        return false;
    /* Pairs with the release in es_element_acknowledge(): the reader's copies of what
     * we are about to overwrite are finished. */
    unread = writer->head -
             atomic_load_explicit(&element->reader_position, memory_order_acquire);
    if (limit == 0 || limit > writer->mask)
        limit = writer->mask;
    /* A position ahead of head is nonsense: nobody waits for that. */
    return unread >= limit && unread <= writer->head;
}

/* Takes a dead reader's registration away. */
static void drop_dead_reader(struct es_element_layout *element)
{
    uint64_t reader = atomic_load_explicit(&element->reader, memory_order_relaxed);
    int pid = (int)(reader & ((UINT64_C(1) << ES_READER_PID_BITS) - 1));

    if (reader != 0 && !es_process_is_alive(pid, reader >> ES_READER_PID_BITS))
        atomic_compare_exchange_strong_explicit(
            &element->reader, &reader, 0, memory_order_relaxed, memory_order_relaxed);
}

static void sleep_until_reader_moves(struct es_writer *writer)
{
    struct es_element_layout *element = writer->element;
    uint32_t seen = atomic_load_explicit(&element->reader_wake, memory_order_relaxed);

    /* Store, fence, look again: the reader moves, fences, looks at the flag. */
    atomic_store_explicit(&element->writer_waits, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (must_wait(writer))
        esi_futex_wait(&element->reader_wake, seen, ESI_FUTEX_SLICE_NS);
    atomic_store_explicit(&element->writer_waits, 0, memory_order_relaxed);
}

void esi_writer_wait_for_room(struct es_writer *writer)
{
    struct es_element_layout *element = writer->element;
    int saved_errno = errno;

    if (!must_wait(writer))
        return;
    atomic_store_explicit(
        &element->blocked,
        atomic_load_explicit(&element->blocked, memory_order_relaxed) + 1,
        memory_order_relaxed);
    /* The reader may be asleep waiting for what the fence-free path has published. */
    if (atomic_load_explicit(&element->waiters, memory_order_relaxed) != 0)
        esi_writer_wake(writer);
    do {
        sleep_until_reader_moves(writer);
        if (!must_wait(writer))
            break;
        drop_dead_reader(element);
    } while (must_wait(writer));
    errno = saved_errno;
}
