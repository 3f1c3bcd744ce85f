/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The writing side of a trace element: the path of every recorded operation.
 *
 *   may run at the same time      es_writer_* of      es_writer_* of     any reader
 *                                 one element         other elements
 *   es_writer_*                   no (one thread)     yes                yes
 *
 * The slot at `head` belongs to the writer until head is advanced.  It contains the
 * operation under way as the *open tuple* (stop = 0), which is published in place when
 * it completes.  If the writer dies, readers see its open tuple, or refuse a
 * half-written one (operation = 0).
 *
 * Order of stores, and how readers rely on it (element_view.c):
 *
 * - head (release): pairs with the reader's acquire; slots below head are complete.
 * - fence, then slot words: pairs with the reader's fence after its copy; a reader that
 *   saw a word of the new tuple sees the head by which the old one is overwritten.
 * - operation word last (release): pairs with the reader's acquire of that word; an
 *   open tuple whose operation is not 0 is complete.
 *
 * An open tuple may be followed by esi_writer_close(), by esi_writer_write() (which
 * replaces it) or by esi_writer_withdraw(), but not by another esi_writer_open(),
 * because readers could mix the two.
 *
 * After fork() the child must not use its copy of a writer: it would write into the
 * parent's element.
 */
#ifndef ES_TUPLESPACE_WRITER_H
#define ES_TUPLESPACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tuplespace/layout.h"

/* For the path of every recorded operation.  Without inlining, a tuple would pass
 * through memory several times on its way to the slot. */
#define ES_HOT static inline __attribute__((always_inline))

/* Local to the process, in caller's memory; filled by esi_segment_add_element(). */
struct esi_writer {
    struct esi_element_layout *element; /* borrowed from the segment */
    _Atomic uint32_t *ring;             /* borrowed */
    _Atomic uint64_t *sites;            /* borrowed; NULL if there is no such column */
    uint64_t head;                      /* the value of element->head */
    uint32_t mask;                      /* capacity - 1 */
    uint32_t reserved;
};

/* Offsets in a slot, in words. */
enum {
    ES_WORD_STOP = 0,
    ES_WORD_OPERATION = 2, /* shared with the communicator */
    ES_WORD_START = 3,
    ES_WORD_SEQUENCE = 5,
    ES_WORD_PEER = 6,
    ES_WORD_TAG = 7,
    ES_WORD_BYTES = 8,
};

/* How long a writer waits for the first reader of an element that awaits one.  After
 * one timeout, no writer of the process waits for a first reader again. */
#define ES_WRITER_AWAIT_NS UINT64_C(5000000000)

/* How long a writer waits for a registered reader that is alive but does not advance.
 * Then it continues, and the reader loses tuples, until the reader advances again; its
 * other elements are not waited for as long again.  A stopped reader (Ctrl-Z, SIGSTOP)
 * is not waited for. */
#define ES_WRITER_PATIENCE_NS UINT64_C(10000000000)

/* Waits until the registered reader has made room, is dead or does not advance, or
 * until a first reader is no longer awaited (writer.c).  For elements set to block; the
 * only place where a writer may sleep. */
void esi_writer_wait_for_room(struct esi_writer *writer);

/* The same in steps, for writers that wait for a limited time (writer.c): whether there
 * is room, and one sleep of at most a slice, which removes a dead reader.  `begun_ns`
 * is when the wait began (CLOCK_MONOTONIC). */
bool esi_writer_has_room(const struct esi_writer *writer);
void esi_writer_sleep_for_room(struct esi_writer *writer, uint64_t begun_ns);

/* Wakes sleeping readers (writer.c). */
void esi_writer_wake(struct esi_writer *writer);

/* Returns whether consumers want this element recorded.  One relaxed load. */
ES_HOT bool esi_writer_is_enabled(const struct esi_writer *writer)
{
    return atomic_load_explicit(&writer->element->enabled, memory_order_relaxed) != 0;
}

/* Returns whether this element is recorded and its writer never waits.  One relaxed
 * load. */
ES_HOT bool esi_writer_is_plain(const struct esi_writer *writer)
{
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

    /* Enabled, and ES_ON_FULL_DISCARD. */
    return atomic_load_explicit(&writer->element->switches, memory_order_relaxed) ==
           UINT64_C(1) << (big ? 32 : 0);
}

/* Number of the slot at head. */
ES_HOT size_t esi_writer_position(const struct esi_writer *writer)
{
    return writer->head & writer->mask;
}

/* The slot at head. */
ES_HOT _Atomic uint32_t *esi_writer_slot(const struct esi_writer *writer)
{
    return writer->ring + esi_writer_position(writer) * ES_TUPLE_WORDS;
}

ES_HOT void esi_writer_store_word(_Atomic uint32_t *slot, size_t index, uint32_t word)
{
    atomic_store_explicit(&slot[index], word, memory_order_relaxed);
}

/* A 64-bit field takes two words in native order, because slots are only aligned to 4
 * bytes. */
ES_HOT void esi_writer_store_wide(_Atomic uint32_t *slot, size_t index, uint64_t field)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    struct unaligned {
        uint64_t field;
    } __attribute__((packed, may_alias));

    ((struct unaligned *)&slot[index])->field = field; /* one store */
#else
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

    esi_writer_store_word(slot, index + big, (uint32_t)field);
    esi_writer_store_word(slot, index + !big, (uint32_t)(field >> 32));
#endif
}

/* Stores field by field, so that a new tuple stays in registers.  If it were copied as
 * memory, the load of word 2 would wait for the stores of its two halves. */
ES_HOT void esi_writer_store(const struct esi_writer *writer,
                             const struct es_tuple *tuple,
                             uint64_t site)
{
    size_t position = esi_writer_position(writer);
    _Atomic uint32_t *slot = writer->ring + position * ES_TUPLE_WORDS;
    _Atomic uint64_t *sites = writer->sites;
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint32_t operation = (uint32_t)tuple->operation << (big ? 16 : 0) |
                         (uint32_t)tuple->communicator << (big ? 0 : 16);

    /* Invalid while it changes: see the top of this file. */
    esi_writer_store_word(slot, ES_WORD_OPERATION, 0);
    atomic_thread_fence(memory_order_release);
    if (sites != NULL)
        atomic_store_explicit(&sites[position], site, memory_order_relaxed);
    esi_writer_store_wide(slot, ES_WORD_STOP, tuple->stop);
    esi_writer_store_wide(slot, ES_WORD_START, tuple->start);
    esi_writer_store_word(slot, ES_WORD_SEQUENCE, tuple->sequence);
    esi_writer_store_word(slot, ES_WORD_PEER, (uint32_t)tuple->peer);
    esi_writer_store_word(slot, ES_WORD_TAG, (uint32_t)tuple->tag);
    esi_writer_store_word(slot, ES_WORD_BYTES, tuple->bytes);
    atomic_store_explicit(&slot[ES_WORD_OPERATION], operation, memory_order_release);
}

ES_HOT void esi_writer_put(struct esi_writer *writer,
                           const struct es_tuple *tuple,
                           uint64_t site)
{
    struct esi_element_layout *element = writer->element;

    if (__builtin_expect(
            atomic_load_explicit(&element->on_full, memory_order_relaxed) !=
                ES_ON_FULL_DISCARD,
            0))
        esi_writer_wait_for_room(writer);
    esi_writer_store(writer, tuple, site);
}

/* Publishes the tuple in the slot. */
ES_HOT void esi_writer_advance(struct esi_writer *writer)
{
    struct esi_element_layout *element = writer->element;

    atomic_store_explicit(&element->head, ++writer->head, memory_order_release);
    /* Words of the next slot must not become visible before this head. */
    atomic_thread_fence(memory_order_release);
    if (__builtin_expect(
            atomic_load_explicit(&element->waiters, memory_order_relaxed) != 0, 0))
        esi_writer_wake(writer);
}

/* Shows an operation that has begun, called from `site` (0 if not known).
 * `tuple->stop` must be 0. */
ES_HOT void esi_writer_open_at(struct esi_writer *writer,
                               const struct es_tuple *tuple,
                               uint64_t site)
{
    esi_writer_put(writer, tuple, site);
}

ES_HOT void esi_writer_open(struct esi_writer *writer, const struct es_tuple *tuple)
{
    esi_writer_open_at(writer, tuple, 0);
}

/* Publishes the open tuple in `slot`, that at head, completed at `stop`. */
ES_HOT void esi_writer_close_slot(struct esi_writer *writer,
                                  _Atomic uint32_t *slot,
                                  uint64_t stop)
{
    esi_writer_store_wide(slot, ES_WORD_STOP, stop);
    esi_writer_advance(writer);
}

/* Publishes the open tuple, completed at `stop`. */
ES_HOT void esi_writer_close(struct esi_writer *writer, uint64_t stop)
{
    esi_writer_close_slot(writer, esi_writer_slot(writer), stop);
}

/* Like esi_writer_close(), with the payload size, known only now.  It is one word, so a
 * reader of the open tuple sees the old or the new value. */
ES_HOT void esi_writer_close_with(struct esi_writer *writer,
                                  uint64_t stop,
                                  uint32_t bytes)
{
    esi_writer_store_word(esi_writer_slot(writer), ES_WORD_BYTES, bytes);
    esi_writer_close(writer, stop);
}

/* Publishes a complete tuple, in place of the open one if there is one. */
ES_HOT void esi_writer_write_at(struct esi_writer *writer,
                                const struct es_tuple *tuple,
                                uint64_t site)
{
    esi_writer_put(writer, tuple, site);
    esi_writer_advance(writer);
}

ES_HOT void esi_writer_write(struct esi_writer *writer, const struct es_tuple *tuple)
{
    esi_writer_write_at(writer, tuple, 0);
}

/* Copies the open tuple; returns false if there is none. */
static inline bool esi_writer_read_open(const struct esi_writer *writer,
                                        struct es_tuple *ret_tuple)
{
    _Atomic uint32_t *slot = esi_writer_slot(writer);
    uint32_t words[ES_TUPLE_WORDS];

    for (size_t i = 0; i < ES_TUPLE_WORDS; i++)
        words[i] = atomic_load_explicit(&slot[i], memory_order_relaxed);
    if (words[ES_WORD_OPERATION] == 0 ||
        (words[ES_WORD_STOP] | words[ES_WORD_STOP + 1]) != 0)
        return false;
    memcpy(ret_tuple, words, sizeof words);
    return true;
}

/* Withdraws the open tuple: the operation is not to be recorded here and now. */
static inline void esi_writer_withdraw(struct esi_writer *writer)
{
    struct esi_element_layout *element = writer->element;
    uint64_t withdrawn =
        atomic_load_explicit(&element->withdrawn, memory_order_relaxed);

    atomic_store_explicit(&esi_writer_slot(writer)[ES_WORD_OPERATION], 0,
                          memory_order_relaxed);
    /* Pairs with the reader's acquire: distinguishes a slot that is reused after this
     * from the old one. */
    atomic_store_explicit(&element->withdrawn, withdrawn + 1, memory_order_release);
    atomic_thread_fence(memory_order_release);
}

/* Counts a poll that found nothing. */
static inline void esi_writer_count_poll(struct esi_writer *writer)
{
    _Atomic uint64_t *polls = &writer->element->polls;

    atomic_store_explicit(polls, atomic_load_explicit(polls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

#endif
