/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads elements while they are written, and changes their settings for consumers:
 * switches, the limit, the registered reader.
 *
 * Published tuples are copied first; then the head shows whether the copy is valid.
 * While the head is h, the writer may be filling slot h, which contained position h -
 * capacity.  So position p was intact if p + capacity > h still holds after the copy.
 * writer.h lists the fences that make this correct on all machines.
 */
#include "config.h"

#include "tuplespace/element_view.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "eventspace/run.h"
#include "tuplespace/futex.h"
#include "tuplespace/process_word.h"
#include "tuplespace/segment.h"
#include "tuplespace/view_private.h"
#include "tuplespace/writer.h"

/* Tuples copied between two loads of the head: few enough that a fast writer rarely
 * overtakes the copy, and enough that the cache line of the head is rarely accessed. */
#define BATCH 64
#define TRIES 100

/* --- Available positions ---------------------------------------------------------- */

static uint64_t load_head(const struct es_element_view *element)
{
    /* Pairs with the release in esi_writer_advance(): slots below are complete. */
    return atomic_load_explicit(&element->layout->head, memory_order_acquire);
}

uint64_t esi_element_view_head(const struct es_element_view *element)
{
    return load_head(element);
}

bool esi_element_view_counters(const struct es_element_view *element,
                               uint64_t *ret_head,
                               uint64_t *ret_polls)
{
    const struct esi_element_layout *layout = element->layout;

    *ret_head = load_head(element);
    *ret_polls = atomic_load_explicit(&layout->polls, memory_order_relaxed);
    return atomic_load_explicit(&layout->enabled, memory_order_relaxed) != 0;
}

/* First position that readers may request if the head is `head`. */
static uint64_t view_oldest(const struct es_element_view *element, uint64_t head)
{
    struct esi_element_layout *layout = element->layout;
    uint64_t limit = atomic_load_explicit(&layout->limit, memory_order_relaxed);
    uint64_t discarded = atomic_load_explicit(&layout->discarded, memory_order_relaxed);
    uint64_t oldest;

    if (limit == 0 || limit > element->mask)
        limit = element->mask;
    oldest = head > limit ? head - limit : 0;
    if (discarded > oldest)
        oldest = discarded < head ? discarded : head;
    return oldest;
}

/* The threshold at creation.  A corrupt segment may claim more than its ring has. */
static uint32_t highest_threshold(const struct es_element_view *element)
{
    return element->threshold < element->mask ? element->threshold : element->mask;
}

void es_element_view_info(const struct es_element_view *element,
                          struct es_element_info *ret_info)
{
    struct esi_element_layout *layout = element->layout;
    uint64_t head = load_head(element);

    *ret_info = (struct es_element_info){
        .name = element->name,
        .collector = element->collector,
        .host = element->segment->host,
        .rank = element->rank,
        .thread = element->thread,
        .classes = element->classes,
        .peer = element->peer,
        .communicator = element->communicator,
        .threshold = atomic_load_explicit(&layout->limit, memory_order_relaxed),
        .threshold_max = highest_threshold(element),
        .capacity = element->mask + 1,
        .tuple_bytes = element->words * 4,
        .shared = element->kind == ES_ELEMENT_SHARED,
        .enabled = atomic_load_explicit(&layout->enabled, memory_order_relaxed) != 0,
        .block = atomic_load_explicit(&layout->on_full, memory_order_relaxed) !=
                 ES_ON_FULL_DISCARD,
        .head = head,
        .oldest = view_oldest(element, head),
        .polls = atomic_load_explicit(&layout->polls, memory_order_relaxed),
        .held = atomic_load_explicit(&layout->held, memory_order_relaxed),
        .blocked = atomic_load_explicit(&layout->blocked, memory_order_relaxed),
        .moved = esi_location_is_elsewhere(
            atomic_load_explicit(&layout->location, memory_order_relaxed)),
        .lost_moving = atomic_load_explicit(&layout->lost_moving, memory_order_relaxed),
    };
}

struct es_segment_view *es_element_view_segment(const struct es_element_view *element)
{
    return element->segment;
}

/* --- Copying ---------------------------------------------------------------------- */

static void copy_words(const struct es_element_view *element,
                       uint64_t position,
                       char *out)
{
    size_t words = element->words;
    _Atomic uint32_t *slot = element->ring + (size_t)(position & element->mask) * words;

    for (size_t i = 0; i < words; i++) {
        uint32_t word = atomic_load_explicit(&slot[i], memory_order_relaxed);

        memcpy(out + i * sizeof word, &word, sizeof word);
    }
}

static inline uint64_t load_wide(_Atomic uint32_t *slot, size_t index)
{
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint64_t low = atomic_load_explicit(&slot[index + big], memory_order_relaxed);
    uint64_t high = atomic_load_explicit(&slot[index + !big], memory_order_relaxed);

    return high << 32 | low;
}

/* Loads a trace tuple into registers, until it is known to be valid. */
static inline struct es_tuple load_tuple(_Atomic uint32_t *slot)
{
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint32_t operation =
        atomic_load_explicit(&slot[ES_WORD_OPERATION], memory_order_relaxed);

    return (struct es_tuple){
        .stop = load_wide(slot, ES_WORD_STOP),
        .operation = (uint16_t)(operation >> (big ? 16 : 0)),
        .communicator = (uint16_t)(operation >> (big ? 0 : 16)),
        .start = load_wide(slot, ES_WORD_START),
        .sequence = atomic_load_explicit(&slot[ES_WORD_SEQUENCE], memory_order_relaxed),
        .peer =
            (int32_t)atomic_load_explicit(&slot[ES_WORD_PEER], memory_order_relaxed),
        .tag = (int32_t)atomic_load_explicit(&slot[ES_WORD_TAG], memory_order_relaxed),
        .bytes = atomic_load_explicit(&slot[ES_WORD_BYTES], memory_order_relaxed),
    };
}

static inline _Atomic uint32_t *trace_slot(const struct es_element_view *element,
                                           uint64_t position)
{
    return element->ring + (size_t)(position & element->mask) * ES_TUPLE_WORDS;
}

/* Copies `count` tuples starting at `position`.  Trace tuples are assembled in
 * registers: wide stores instead of many narrow ones are two and a half times as
 * fast. */
static void copy_tuples(const struct es_element_view *element,
                        uint64_t position,
                        char *out,
                        size_t count)
{
    size_t tuple_bytes = element->words * 4;
    struct es_tuple *tuples = (void *)out;

    if (element->words == ES_TUPLE_WORDS &&
        (uintptr_t)out % alignof(struct es_tuple) == 0)
        for (size_t i = 0; i < count; i++)
            tuples[i] = load_tuple(trace_slot(element, position + i));
    else
        for (size_t i = 0; i < count; i++)
            copy_words(element, position + i, out + i * tuple_bytes);
}

/* The call site of the tuple at `position`, valid if the tuple is. */
static inline uint64_t load_site(const struct es_element_view *element,
                                 uint64_t position)
{
    return element->sites != NULL
               ? atomic_load_explicit(&element->sites[position & element->mask],
                                      memory_order_relaxed)
               : 0;
}

static void copy_sites(const struct es_element_view *element,
                       uint64_t position,
                       uint64_t *out,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = load_site(element, position + i);
}

/* After a copy: the first position that was not overwritten meanwhile. */
static uint64_t first_trusted(const struct es_element_view *element)
{
    uint64_t head;

    /* Pairs with the writer's fence after its store of head: if the copy contains a
     * word of a newer tuple, this load returns the head stored before that word. */
    atomic_thread_fence(memory_order_acquire);
    head = atomic_load_explicit(&element->layout->head, memory_order_relaxed);
    return head > element->mask ? head - element->mask : 0;
}

/* Accesses only the cache line of the head and the tuple: a scan of thousands of
 * elements is dominated by cache misses. */
static inline int read_latest(const struct es_element_view *element,
                              struct es_tuple *ret_tuple,
                              uint64_t *ret_position,
                              uint64_t *ret_site)
{
    uint64_t site = 0;

    if (element->words != ES_TUPLE_WORDS)
        return 0;
    esi_segment_view_watch(element->segment);
    for (int i = 0; i < TRIES; i++) {
        uint64_t head = load_head(element);
        struct es_tuple tuple;

        if (head <=
            atomic_load_explicit(&element->layout->discarded, memory_order_relaxed))
            return 0;
        tuple = load_tuple(trace_slot(element, head - 1));
        if (ret_site)
            site = load_site(element, head - 1);
        if (head - 1 < first_trusted(element))
            continue;
        *ret_tuple = tuple;
        *ret_position = head - 1;
        if (ret_site)
            *ret_site = site;
        return 1;
    }
    return 0;
}

int es_element_latest(const struct es_element_view *element,
                      struct es_tuple *ret_tuple,
                      uint64_t *ret_position)
{
    return read_latest(element, ret_tuple, ret_position, NULL);
}

int esi_element_view_latest_site(const struct es_element_view *element,
                                 struct es_tuple *ret_tuple,
                                 uint64_t *ret_position,
                                 uint64_t *ret_site)
{
    return read_latest(element, ret_tuple, ret_position, ret_site);
}

enum { AHEAD = 32 }; /* elements whose memory is prefetched together */

/* Prefetches the cache lines of `count` elements in the order of use: first the views,
 * then the heads, then the newest tuples, whose addresses depend on the heads. */
static void fetch_ahead(const struct es_element_view *const *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(elements[i]);
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&elements[i]->layout->head);
    for (size_t i = 0; i < count; i++) {
        uint64_t head =
            atomic_load_explicit(&elements[i]->layout->head, memory_order_relaxed);
        const char *slot = (const char *)trace_slot(elements[i], head - 1);

        __builtin_prefetch(slot);
        __builtin_prefetch(slot + sizeof(struct es_tuple) - 1);
    }
}

size_t es_element_latest_of_each(const struct es_element_view *const *elements,
                                 size_t count,
                                 struct es_tuple *ret_tuples,
                                 uint64_t *ret_positions,
                                 uint32_t *ret_indices)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        if (i % AHEAD == 0)
            fetch_ahead(elements + i, count - i < AHEAD ? count - i : AHEAD);
        if (read_latest(elements[i], &ret_tuples[found], &ret_positions[found], NULL) >
            0)
            ret_indices[found++] = (uint32_t)i;
    }
    return found;
}

/* The same as read_latest() for one field of the tuple. */
static inline uint64_t read_latest_stop(const struct es_element_view *element)
{
    if (element->words != ES_TUPLE_WORDS)
        return 0;
    esi_segment_view_watch(element->segment);
    for (int i = 0; i < TRIES; i++) {
        uint64_t head = load_head(element);
        uint64_t stop;

        if (head <=
            atomic_load_explicit(&element->layout->discarded, memory_order_relaxed))
            return 0;
        stop = load_wide(trace_slot(element, head - 1), ES_WORD_STOP);
        if (head - 1 >= first_trusted(element))
            return stop;
    }
    return 0;
}

void esi_element_view_latest_stops(const struct es_element_view *const *elements,
                                   size_t count,
                                   uint64_t *ret_stops)
{
    for (size_t i = 0; i < count; i++) {
        if (i % AHEAD == 0)
            fetch_ahead(elements + i, count - i < AHEAD ? count - i : AHEAD);
        ret_stops[i] = read_latest_stop(elements[i]);
    }
}

void es_cursor_init(struct es_cursor *cursor,
                    const struct es_element_view *element,
                    bool at_end)
{
    uint64_t head = load_head(element);

    *cursor =
        (struct es_cursor){.position = at_end ? head : view_oldest(element, head)};
}

/* Advances the cursor past lost tuples.  Returns how many tuples can be copied next. */
static size_t catch_up(const struct es_element_view *element,
                       struct es_cursor *cursor,
                       size_t max)
{
    uint64_t head = load_head(element);
    uint64_t oldest = view_oldest(element, head);
    uint64_t count;

    if (cursor->position >= head)
        return 0;
    if (cursor->position < oldest) {
        cursor->lost += oldest - cursor->position;
        cursor->position = oldest;
    }
    count = head - cursor->position;
    if (count > max)
        count = max;
    return count < BATCH ? (size_t)count : BATCH;
}

/* Copies one batch to `out`, and the call sites to `sites` unless that is NULL.
 * Overwritten tuples are counted and omitted. */
static size_t read_batch(const struct es_element_view *element,
                         struct es_cursor *cursor,
                         char *out,
                         uint64_t *sites,
                         size_t count)
{
    size_t tuple_bytes = element->words * 4;
    uint64_t trusted;
    size_t gone = 0;

    copy_tuples(element, cursor->position, out, count);
    if (sites)
        copy_sites(element, cursor->position, sites, count);
    trusted = first_trusted(element);
    if (trusted > cursor->position) {
        gone = trusted - cursor->position < count ? (size_t)(trusted - cursor->position)
                                                  : count;
        memmove(out, out + gone * tuple_bytes, (count - gone) * tuple_bytes);
        if (sites)
            memmove(sites, sites + gone, (count - gone) * sizeof *sites);
    }
    cursor->lost += gone;
    cursor->position += count;
    return count - gone;
}

/* `ret_sites` may be NULL. */
static size_t read_all(const struct es_element_view *element,
                       struct es_cursor *cursor,
                       void *ret_tuples,
                       uint64_t *ret_sites,
                       size_t max)
{
    size_t tuple_bytes = element->words * 4;
    size_t done = 0;
    /* A writer that overtakes every copy must not cause an endless loop. */
    int fruitless = 0;

    esi_segment_view_watch(element->segment);
    while (done < max && fruitless < TRIES) {
        size_t count = catch_up(element, cursor, max - done);
        size_t got;

        if (count == 0)
            break;
        got = read_batch(element, cursor, (char *)ret_tuples + done * tuple_bytes,
                         ret_sites ? ret_sites + done : NULL, count);
        done += got;
        fruitless += got == 0;
    }
    return done;
}

size_t es_element_read_raw(const struct es_element_view *element,
                           struct es_cursor *cursor,
                           void *ret_tuples,
                           size_t max)
{
    return read_all(element, cursor, ret_tuples, NULL, max);
}

size_t es_element_read(const struct es_element_view *element,
                       struct es_cursor *cursor,
                       struct es_tuple *ret_tuples,
                       size_t max)
{
    if (element->words != ES_TUPLE_WORDS)
        return 0;
    return es_element_read_raw(element, cursor, ret_tuples, max);
}

size_t esi_element_view_read_sites(const struct es_element_view *element,
                                   struct es_cursor *cursor,
                                   struct es_tuple *ret_tuples,
                                   uint64_t *ret_sites,
                                   size_t max)
{
    if (element->words != ES_TUPLE_WORDS)
        return 0;
    return read_all(element, cursor, ret_tuples, ret_sites, max);
}

/* --- The open tuple --------------------------------------------------------------- */

/* The operation in a slot that contains an open tuple, otherwise 0. */
static inline uint32_t open_operation(_Atomic uint32_t *slot)
{
    if ((atomic_load_explicit(&slot[ES_WORD_STOP], memory_order_acquire) |
         atomic_load_explicit(&slot[ES_WORD_STOP + 1], memory_order_acquire)) != 0)
        return 0;
    return atomic_load_explicit(&slot[ES_WORD_OPERATION], memory_order_acquire);
}

/* Samples the slot after the newest tuple.  Returns 1 if it contains a complete open
 * tuple, 0 if not, -EAGAIN if it changed meanwhile.
 *
 * The slot first contains an old tuple, whose stop is not 0.  Therefore stop is read
 * before the operation: a reader that sees 0 there sees (acquire, with the writer's
 * fence) that the old operation is gone, and a nonzero operation then implies (acquire)
 * all words of the open tuple.  After that, only a completion or a withdrawal can
 * change words, and each is visible in operation, stop, `withdrawn` or head, which are
 * read again after the copy. */
static int look_at_open(const struct es_element_view *element,
                        struct es_tuple *ret_tuple,
                        uint64_t *ret_position,
                        uint64_t *ret_site)
{
    struct esi_element_layout *layout = element->layout;
    uint64_t head = load_head(element);
    uint64_t withdrawn = atomic_load_explicit(&layout->withdrawn, memory_order_acquire);
    _Atomic uint32_t *slot = trace_slot(element, head);
    uint32_t operation = open_operation(slot);
    struct es_tuple tuple;
    uint64_t site;

    if (operation == 0)
        return load_head(element) == head ? 0 : -EAGAIN;
    tuple = load_tuple(slot);
    site = load_site(element, head);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot[ES_WORD_OPERATION], memory_order_acquire) !=
            operation ||
        atomic_load_explicit(&slot[ES_WORD_STOP], memory_order_relaxed) != 0 ||
        atomic_load_explicit(&slot[ES_WORD_STOP + 1], memory_order_relaxed) != 0 ||
        atomic_load_explicit(&layout->withdrawn, memory_order_relaxed) != withdrawn ||
        atomic_load_explicit(&layout->head, memory_order_relaxed) != head)
        return -EAGAIN;
    *ret_tuple = tuple;
    *ret_position = head;
    *ret_site = site;
    return 1;
}

/* Not inlined, so that a scan saves no registers for the elements that have none. */
__attribute__((noinline)) static int read_open(const struct es_element_view *element,
                                               struct es_tuple *ret_tuple,
                                               uint64_t *ret_position,
                                               uint64_t *ret_site)
{
    int rc = -EAGAIN;

    for (int i = 0; i < TRIES && rc == -EAGAIN; i++)
        rc = look_at_open(element, ret_tuple, ret_position, ret_site);
    return rc == 1 ? 1 : 0;
}

int esi_element_view_open_site(const struct es_element_view *element,
                               struct es_tuple *ret_tuple,
                               uint64_t *ret_position,
                               uint64_t *ret_site)
{
    uint64_t head;

    if (element->kind != ES_ELEMENT_TRACE)
        return 0;
    esi_segment_view_watch(element->segment);
    head = load_head(element);
    if (open_operation(trace_slot(element, head)) == 0 && load_head(element) == head)
        return 0;
    return read_open(element, ret_tuple, ret_position, ret_site);
}

int es_element_open(const struct es_element_view *element, struct es_tuple *ret_tuple)
{
    uint64_t position, site;

    return esi_element_view_open_site(element, ret_tuple, &position, &site);
}

/* --- Waiting ---------------------------------------------------------------------- */

/* Sleeps until the head is no longer `head`, for at most a slice. */
static void sleep_on_head(const struct es_element_view *element,
                          uint64_t head,
                          uint64_t timeout_ns)
{
    struct esi_element_layout *layout = element->layout;

    atomic_store_explicit(&layout->waiters, 1, memory_order_seq_cst);
    /* The writer has no full barrier between its store of head and its load of
     * `waiters`; this call executes one for it.  So either the writer sees the flag or
     * we see its head. */
    esi_barrier_everywhere();
    if (load_head(element) == head)
        esi_futex_wait(esi_futex_low_half(&layout->head), (uint32_t)head, timeout_ns);
}

/* Any process may write into a shared element, so the death of one is not its end. */
static bool is_over(const struct es_element_view *element)
{
    return element->kind != ES_ELEMENT_SHARED &&
           !esi_segment_view_is_alive(element->segment);
}

int es_element_wait(const struct es_element_view *element,
                    uint64_t position,
                    uint64_t timeout_ns)
{
    uint64_t begin = esi_now_ns(CLOCK_MONOTONIC);

    for (;;) {
        uint64_t head = load_head(element);
        uint64_t gone_by = esi_now_ns(CLOCK_MONOTONIC) - begin;

        if (head > position)
            return 0;
        if (gone_by < timeout_ns)
            sleep_on_head(element, head, timeout_ns - gone_by);
        if (load_head(element) != head)
            continue;
        /* The last tuple may have arrived between the load of the head and the end. */
        if (is_over(element))
            return load_head(element) > position ? 0 : -EPIPE;
        if (gone_by >= timeout_ns)
            return -ETIMEDOUT;
    }
}

/* --- Switches and the limit ------------------------------------------------------- */

/* Makes a writer that waits for its reader check again. */
static void wake_writer(struct esi_element_layout *layout)
{
    /* Stores before, then the load of the flag; the writer does it in the opposite
     * order (sleep_until_reader_moves()). */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&layout->writer_waits, memory_order_relaxed) == 0)
        return;
    atomic_fetch_add_explicit(&layout->reader_wake, 1, memory_order_relaxed);
    esi_futex_wake(&layout->reader_wake);
}

/* Moves a position forward, never back.  Release: tuples before it have been read. */
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
    if (threshold < 1 || threshold > highest_threshold(element))
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

int es_element_register_reader(const struct es_element_view *element, uint64_t position)
{
    struct esi_element_layout *layout = element->layout;
    uint64_t reader = atomic_load_explicit(&layout->reader, memory_order_relaxed);
    uint32_t awaits = ES_ON_FULL_AWAIT;
    uint64_t oldest;

    do {
        if (esi_process_word_is_alive(reader))
            return -EBUSY;
    } while (!atomic_compare_exchange_weak_explicit(
        &layout->reader, &reader, esi_process_word(getpid()), memory_order_acq_rel,
        memory_order_relaxed));
    oldest =
        view_oldest(element, atomic_load_explicit(&layout->head, memory_order_acquire));
    atomic_store_explicit(&layout->passed_at, 0, memory_order_relaxed);
    /* Not control_advance(): the position of the previous reader may have been
     * higher. */
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

    /* Only our own: the word may belong to another process by now. */
    if (esi_process_word_pid(reader) == getpid())
        atomic_compare_exchange_strong_explicit(&element->layout->reader, &reader, 0,
                                                memory_order_release,
                                                memory_order_relaxed);
    wake_writer(element->layout);
}
