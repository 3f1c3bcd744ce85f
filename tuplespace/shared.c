/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Elements with several writers.
 *
 * A lock admits one writer at a time.  A tuple becomes valid only when head is
 * advanced, so if a writer dies inside, the next one simply fills the same slot again.
 *
 * The lock is in shared memory, where anybody may corrupt it.  It is one word that
 * identifies the holder; a word that does not identify a living thread is taken over,
 * and every wait for it is bounded.  Nobody waits for a reader while holding it.
 */
#include "config.h"

#include "tuplespace/segment.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "tuplespace/futex.h"
#include "tuplespace/process_word.h"
#include "tuplespace/writer.h"

/* A holder is inside for far less than a microsecond. */
enum { SPINS = 200 };

/* How long to sleep before checking the holder again. */
#define LOOK_NS UINT64_C(10000000)

/* --- The lock --------------------------------------------------------------------- */

/* Number of forks of this process and its ancestors. */
static _Atomic uint32_t forks = 1;

static void count_fork(void)
{
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

/* The word of this thread; that of a forked child differs from its parent's. */
static uint64_t own_word(void)
{
    static pthread_once_t is_watched = PTHREAD_ONCE_INIT;
    static _Thread_local uint64_t word;
    static _Thread_local uint32_t made_after; /* number of forks then; 0 if none */

    if (made_after == atomic_load_explicit(&forks, memory_order_relaxed))
        return word;
    pthread_once(&is_watched, watch_forks);
    word = esi_process_word(gettid());
    made_after = atomic_load_explicit(&forks, memory_order_relaxed);
    return word;
}

/* Returns whether the word may identify a living thread other than the caller.  Threads
 * have start times wherever the caller has one. */
static bool is_held(uint64_t holder, uint64_t own)
{
    uint64_t start = holder >> ES_READER_PID_BITS;

    if (holder == own || (start == 0 && own >> ES_READER_PID_BITS != 0))
        return false;
    return esi_process_word_is_alive(holder);
}

static bool enter_free(struct esi_writers_lock *lock, uint64_t own)
{
    uint64_t nobody = 0;

    /* Pairs with the release in shared_leave(): we see the stores of the last
     * writer. */
    return atomic_load_explicit(&lock->holder, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(
               &lock->holder, &nobody, own, memory_order_acquire, memory_order_relaxed);
}

/* Takes over from a holder that is gone. */
static bool enter_left(struct esi_writers_lock *lock, uint64_t own)
{
    uint64_t holder = atomic_load_explicit(&lock->holder, memory_order_relaxed);

    return !is_held(holder, own) &&
           atomic_compare_exchange_strong_explicit(
               &lock->holder, &holder, own, memory_order_acquire, memory_order_relaxed);
}

static void sleep_until_holder_leaves(struct esi_writers_lock *lock)
{
    uint32_t seen = atomic_load_explicit(&lock->wake, memory_order_relaxed);

    /* Store, fence, check again: the holder leaves, fences, checks the flag. */
    atomic_store_explicit(&lock->waits, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&lock->holder, memory_order_relaxed) != 0)
        esi_futex_wait(&lock->wake, seen, LOOK_NS);
}

static int shared_enter(struct esi_writers_lock *lock)
{
    const uint64_t own = own_word();
    uint64_t begin;

    for (int i = 0; i < SPINS; i++)
        if (enter_free(lock, own))
            return 0;
    begin = esi_now_ns(CLOCK_MONOTONIC);
    while (!enter_left(lock, own)) {
        if (esi_now_ns(CLOCK_MONOTONIC) - begin >= ES_SHARED_LOCK_NS)
            return -EBUSY;
        sleep_until_holder_leaves(lock);
    }
    return 0;
}

static void shared_leave(struct esi_writers_lock *lock)
{
    atomic_store_explicit(&lock->holder, 0, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&lock->waits, memory_order_relaxed) == 0)
        return;
    atomic_store_explicit(&lock->waits, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&lock->wake, 1, memory_order_relaxed);
    esi_futex_wake(&lock->wake);
}

/* --- Writing ---------------------------------------------------------------------- */

static void store_words(_Atomic uint32_t *slot, const char *tuple, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint32_t word;

        memcpy(&word, tuple + i * sizeof word, sizeof word);
        atomic_store_explicit(&slot[i], word, memory_order_relaxed);
    }
}

/* Enters when there is room for a tuple. */
static int enter_with_room(struct esi_writer *writer, uint64_t timeout_ns)
{
    struct esi_element_layout *element = writer->element;
    uint64_t begin = 0;
    int rc;

    for (;;) {
        rc = shared_enter(&element->writers);
        if (rc != 0)
            return rc;
        writer->head = atomic_load_explicit(&element->head, memory_order_relaxed);
        if (esi_writer_has_room(writer))
            return 0;
        shared_leave(&element->writers);
        if (begin == 0) {
            begin = esi_now_ns(CLOCK_MONOTONIC);
            atomic_fetch_add_explicit(&element->blocked, 1, memory_order_relaxed);
        }
        if (esi_now_ns(CLOCK_MONOTONIC) - begin >= timeout_ns)
            return -EAGAIN;
        esi_writer_sleep_for_room(writer, begin);
    }
}

int esi_shared_write(struct esi_writer *writer,
                     const void *tuple,
                     uint32_t tuple_bytes,
                     uint64_t timeout_ns)
{
    size_t words = tuple_bytes / sizeof(uint32_t);
    int rc = enter_with_room(writer, timeout_ns);

    if (rc != 0)
        return rc;
    /* A reader that sees a word of this tuple sees a head that invalidates the old
     * one. */
    atomic_thread_fence(memory_order_release);
    store_words(writer->ring + (size_t)(writer->head & writer->mask) * words, tuple,
                words);
    esi_writer_advance(writer);
    shared_leave(&writer->element->writers);
    return 0;
}
