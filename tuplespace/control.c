/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What consumers may change in an element: its switches, its limit, the registered
 * reader. */
#include "config.h"

#include "eventspace/run.h"

#include <errno.h>
#include <unistd.h>

#include "base/process.h"
#include "tuplespace/futex.h"
#include "tuplespace/element_control.h"
#include "tuplespace/segment.h"
#include "tuplespace/view_private.h"

/* Lets a writer that waits for its reader look again. */
static void wake_writer(struct esi_element_layout *layout)
{
    /* What was stored before, then the look at the flag; the writer does it the other
     * way round (sleep_until_reader_moves()). */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&layout->writer_waits, memory_order_relaxed) == 0)
        return;
    atomic_fetch_add_explicit(&layout->reader_wake, 1, memory_order_relaxed);
    esi_futex_wake(&layout->reader_wake);
}

/* Moves a position forward, never back.  Release: what was read before is read. */
static void control_advance(_Atomic uint64_t *place, uint64_t position)
{
    uint64_t old = atomic_load_explicit(place, memory_order_relaxed);

    while (old < position &&
           !atomic_compare_exchange_weak_explicit(
               place, &old, position, memory_order_release, memory_order_relaxed))
        ;
}

void es_element_enable(const struct es_element_view *element, bool enabled)
{
    atomic_store_explicit(&element->layout->enabled, enabled ? 1u : 0u,
                          memory_order_relaxed);
}

enum es_element_location esi_element_location(const struct es_element_view *element)
{
    return (enum es_element_location)atomic_load_explicit(&element->layout->location,
                                                          memory_order_relaxed);
}

bool esi_element_relocate(const struct es_element_view *element,
                          enum es_element_location before,
                          enum es_element_location now)
{
    uint16_t expected = (uint16_t)before;

    return atomic_compare_exchange_strong_explicit(
        &element->layout->location, &expected, (uint16_t)now, memory_order_relaxed,
        memory_order_relaxed);
}

uint64_t esi_element_next_placed(const struct es_element_view *element)
{
    const struct esi_element_layout *layout = element->layout;

    return layout->moved_before +
           atomic_load_explicit(&layout->lost_moving, memory_order_relaxed) +
           atomic_load_explicit(&layout->head, memory_order_acquire);
}

int es_element_set_threshold(const struct es_element_view *element, uint32_t threshold)
{
    if (threshold < 1 || threshold > element->threshold || threshold > element->mask)
        return -ERANGE;
    atomic_store_explicit(&element->layout->limit, threshold, memory_order_relaxed);
    wake_writer(element->layout);
    return 0;
}

void es_element_set_block(const struct es_element_view *element, bool block)
{
    uint32_t on_full = block ? ES_ON_FULL_BLOCK : ES_ON_FULL_DISCARD;

    atomic_store_explicit(&element->layout->on_full, on_full, memory_order_relaxed);
    wake_writer(element->layout);
}

void es_element_discard(const struct es_element_view *element, uint64_t position)
{
    uint64_t head = atomic_load_explicit(&element->layout->head, memory_order_acquire);

    control_advance(&element->layout->discarded, position < head ? position : head);
}

int esi_element_append_within(const struct es_element_view *element,
                              const void *tuple,
                              uint32_t tuple_bytes,
                              uint64_t timeout_ns)
{
    struct esi_writer writer = {
        .element = element->layout, .ring = element->ring, .mask = element->mask};

    if (element->kind != ES_ELEMENT_SHARED || tuple_bytes != element->words * 4)
        return -EINVAL;
    return esi_shared_write(&writer, tuple, tuple_bytes, timeout_ns);
}

int es_element_append(const struct es_element_view *element,
                      const void *tuple,
                      uint32_t tuple_bytes)
{
    int result;

    do
        result = esi_element_append_within(element, tuple, tuple_bytes, UINT64_MAX / 2);
    while (result == -EAGAIN);
    return result;
}

/* --- The registered reader -------------------------------------------------------- */

static int reader_pid(uint64_t reader)
{
    return (int)(reader & ((UINT64_C(1) << ES_READER_PID_BITS) - 1));
}

static uint64_t own_reader_word(void)
{
    int pid = getpid();
    uint64_t start;

    if (esi_process_start_time(pid, &start) != 0)
        start = 0;
    return (uint64_t)pid | start << ES_READER_PID_BITS;
}

int es_element_register_reader(const struct es_element_view *element, uint64_t position)
{
    struct esi_element_layout *layout = element->layout;
    uint64_t reader = atomic_load_explicit(&layout->reader, memory_order_relaxed);
    uint32_t awaits = ES_ON_FULL_AWAIT;
    uint64_t oldest;

    do {
        if (reader != 0 &&
            esi_process_is_alive(reader_pid(reader), reader >> ES_READER_PID_BITS))
            return -EBUSY;
    } while (!atomic_compare_exchange_weak_explicit(
        &layout->reader, &reader, own_reader_word(), memory_order_acq_rel,
        memory_order_relaxed));
    oldest = esi_element_view_oldest(
        element, atomic_load_explicit(&layout->head, memory_order_acquire));
    atomic_store_explicit(&layout->passed_at, 0, memory_order_relaxed);
    /* Not control_advance(): the last reader's position may have been further on. */
    atomic_store_explicit(&layout->reader_position,
                          position > oldest ? position : oldest, memory_order_release);
    atomic_compare_exchange_strong_explicit(&layout->on_full, &awaits, ES_ON_FULL_BLOCK,
                                            memory_order_relaxed, memory_order_relaxed);
    wake_writer(layout);
    return 0;
}

void es_element_acknowledge(const struct es_element_view *element, uint64_t position)
{
    control_advance(&element->layout->reader_position, position);
    wake_writer(element->layout);
}

void es_element_unregister_reader(const struct es_element_view *element)
{
    uint64_t reader =
        atomic_load_explicit(&element->layout->reader, memory_order_relaxed);

    /* Only one's own: the word may be another's by now. */
    if (reader_pid(reader) == getpid())
        atomic_compare_exchange_strong_explicit(&element->layout->reader, &reader, 0,
                                                memory_order_release,
                                                memory_order_relaxed);
    wake_writer(element->layout);
}
