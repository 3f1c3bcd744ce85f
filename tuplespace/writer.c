/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The slow paths of writing: waking sleeping readers and waiting for a registered
 * one. */
#include "config.h"

#include "tuplespace/writer.h"

#include <errno.h>
#include <time.h>

#include "base/now.h"
#include "base/process.h"
#include "tuplespace/futex.h"
#include "tuplespace/process_word.h"

/* Must not change the program's errno. */
void esi_writer_wake(struct esi_writer *writer)
{
    struct esi_element_layout *element = writer->element;
    int saved_errno = errno;

    /* One call wakes all, so the flag is cleared first: a reader that died asleep costs
     * one call, and one that sets the flag from now on checks the new head before it
     * sleeps. */
    atomic_exchange_explicit(&element->waiters, 0, memory_order_seq_cst);
    esi_futex_wake(esi_futex_low_half(&element->head));
    errno = saved_errno;
}

/* An awaited first reader did not come: none will, for any element. */
static _Atomic bool has_given_up;

/* The last reader that did not advance for too long, in any element; 0 if none, or if
 * it has advanced since. */
static _Atomic uint64_t still_reader;

/* Returns whether a registered reader has not read enough yet, or a first one is
 * awaited. */
static bool must_wait(const struct esi_writer *writer)
{
    struct esi_element_layout *element = writer->element;
    uint32_t limit = atomic_load_explicit(&element->limit, memory_order_relaxed);
    uint32_t on_full = atomic_load_explicit(&element->on_full, memory_order_relaxed);
    uint64_t position, unread;

    if (on_full == ES_ON_FULL_DISCARD ||
        (on_full != ES_ON_FULL_AWAIT &&
         atomic_load_explicit(&element->reader, memory_order_acquire) == 0))
        return false;
    /* Pairs with the release in es_element_acknowledge(): the reader has copied the
     * tuples that are about to be overwritten. */
    position = atomic_load_explicit(&element->reader_position, memory_order_acquire);
    if (atomic_load_explicit(&element->passed_at, memory_order_relaxed) == position + 1)
        return false;
    unread = writer->head - position;
    if (limit == 0 || limit > writer->mask)
        limit = writer->mask;
    /* A position ahead of head is invalid: not waited for. */
    return unread >= limit && unread <= writer->head;
}

/* Removes the registration of a dead reader. */
static void drop_dead_reader(struct esi_element_layout *element)
{
    uint64_t reader = atomic_load_explicit(&element->reader, memory_order_relaxed);

    if (reader != 0 && !esi_process_word_is_alive(reader))
        atomic_compare_exchange_strong_explicit(
            &element->reader, &reader, 0, memory_order_relaxed, memory_order_relaxed);
}

/* The position at which a reader was seen, and since when it is there. */
struct reader_place {
    uint64_t reader;
    uint64_t position;
    uint64_t since_ns;
};

static struct reader_place find_reader(const struct esi_element_layout *element)
{
    return (struct reader_place){
        .reader = atomic_load_explicit(&element->reader, memory_order_relaxed),
        .position =
            atomic_load_explicit(&element->reader_position, memory_order_relaxed),
        .since_ns = esi_now_ns(CLOCK_MONOTONIC),
    };
}

/* The reader's process advances: all its elements are waited for again. */
static void forget_still_reader(uint64_t reader)
{
    atomic_compare_exchange_strong_explicit(&still_reader, &reader, 0,
                                            memory_order_relaxed, memory_order_relaxed);
}

/* Stops waiting for a reader that is stopped or does not advance.  It remains
 * registered, and is waited for again as soon as it advances. */
static void pass_still_reader(struct esi_element_layout *element,
                              struct reader_place *place)
{
    struct reader_place now = find_reader(element);
    uint64_t patience_ns = ES_WRITER_PATIENCE_NS;

    if (now.reader != place->reader || now.position != place->position) {
        forget_still_reader(now.reader);
        *place = now;
        return;
    }
    if (now.reader == 0)
        return;
    if (now.reader == atomic_load_explicit(&still_reader, memory_order_relaxed))
        patience_ns = ESI_FUTEX_SLICE_NS;
    if (now.since_ns - place->since_ns < patience_ns &&
        !esi_process_is_stopped(esi_process_word_pid(now.reader),
                                now.reader >> ES_READER_PID_BITS))
        return;
    atomic_store_explicit(&still_reader, now.reader, memory_order_relaxed);
    atomic_store_explicit(&element->passed_at, now.position + 1, memory_order_relaxed);
}

/* The writer waits for its reader: if that was passed, it has advanced since. */
static void wait_for_passed_reader(struct esi_element_layout *element)
{
    if (atomic_load_explicit(&element->passed_at, memory_order_relaxed) == 0)
        return;
    atomic_store_explicit(&element->passed_at, 0, memory_order_relaxed);
    forget_still_reader(atomic_load_explicit(&element->reader, memory_order_relaxed));
}

/* Stops waiting for a first reader after the time limit.  A reader that registers
 * meanwhile finds the element unchanged. */
static void give_up_late(struct esi_element_layout *element, uint64_t begun_ns)
{
    uint32_t awaits = ES_ON_FULL_AWAIT;

    if (atomic_load_explicit(&element->on_full, memory_order_relaxed) != awaits)
        return;
    if (esi_now_ns(CLOCK_MONOTONIC) - begun_ns >= ES_WRITER_AWAIT_NS)
        atomic_store_explicit(&has_given_up, true, memory_order_relaxed);
    if (atomic_load_explicit(&has_given_up, memory_order_relaxed))
        atomic_compare_exchange_strong_explicit(&element->on_full, &awaits,
                                                ES_ON_FULL_BLOCK, memory_order_relaxed,
                                                memory_order_relaxed);
}

static void sleep_until_reader_moves(struct esi_writer *writer)
{
    struct esi_element_layout *element = writer->element;
    uint32_t seen = atomic_load_explicit(&element->reader_wake, memory_order_relaxed);

    /* Store, fence, check again: the reader advances, fences, checks the flag. */
    atomic_store_explicit(&element->writer_waits, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (must_wait(writer))
        esi_futex_wait(&element->reader_wake, seen, ESI_FUTEX_SLICE_NS);
    atomic_store_explicit(&element->writer_waits, 0, memory_order_relaxed);
}

/* Sleeps once, for at most a slice, and handles a reader that still does not advance.
 * If `place` is NULL, such a reader is waited for. */
static void sleep_one_slice(struct esi_writer *writer,
                            struct reader_place *place,
                            uint64_t begun_ns)
{
    sleep_until_reader_moves(writer);
    if (!must_wait(writer))
        return;
    drop_dead_reader(writer->element);
    if (place != NULL)
        pass_still_reader(writer->element, place);
    give_up_late(writer->element, begun_ns);
}

/* The reader may be asleep, waiting for tuples that were published without a fence. */
static void wake_sleeping_reader(struct esi_writer *writer)
{
    if (atomic_load_explicit(&writer->element->waiters, memory_order_relaxed) != 0)
        esi_writer_wake(writer);
}

void esi_writer_wait_for_room(struct esi_writer *writer)
{
    struct esi_element_layout *element = writer->element;
    int saved_errno = errno;
    struct reader_place place;
    uint64_t begun_ns;

    if (!must_wait(writer))
        return;
    place = find_reader(element);
    begun_ns = place.since_ns;
    wait_for_passed_reader(element);
    atomic_store_explicit(
        &element->blocked,
        atomic_load_explicit(&element->blocked, memory_order_relaxed) + 1,
        memory_order_relaxed);
    wake_sleeping_reader(writer);
    give_up_late(element, begun_ns);
    while (must_wait(writer))
        sleep_one_slice(writer, &place, begun_ns);
    errno = saved_errno;
}

bool esi_writer_has_room(const struct esi_writer *writer)
{
    return !must_wait(writer);
}

void esi_writer_sleep_for_room(struct esi_writer *writer, uint64_t begun_ns)
{
    wake_sleeping_reader(writer);
    sleep_one_slice(writer, NULL, begun_ns);
}
