/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Numbers messages on their channels, so that a send and its receive can be matched
 * without history (design section 7).
 *
 * A channel is (communicator, source, destination, tag).  One of source and destination
 * is this process, so within a communicator a channel is identified by (peer, tag).  A
 * send takes the next number of its channel when it is called; numbers of cancelled
 * sends are taken back (esi_channel_doubt()).  A receive takes the next number of the
 * channel *in posting order*, because that is how MPI matches.  While the channel of a
 * receive is not known (an incomplete wildcard, or a receive being cancelled), later
 * receives whose messages it could take are undecided, too.  They wait in the queue; if
 * they complete before they are decided, their tuples are held back.
 *
 * No MPI here.  A receive with source and tag takes a lock-free fast path while the
 * queue is empty.  The queue is protected by a spin lock, taken only by receives that
 * meet a wildcard or a cancellation.
 *
 *   may run at the same time, on one match: everything but init and fini.
 *
 * Cost: O(1) on the fast path; a decision scans the queue, O(queued * undecided).
 */
#ifndef ES_WRAPPERS_MPI_MATCH_H
#define ES_WRAPPERS_MPI_MATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/shared_map.h"
#include "eventspace/tuple.h"

/* Set once if several threads may call MPI concurrently; counters are then atomic. */
extern bool esi_multiple __attribute__((visibility("hidden")));

/* Whether calls may take the fast path (fast.h): one thread at a time calls MPI, the
 * clock is the processor's counter, and there are no trees. */
extern bool esi_fast_is_open __attribute__((visibility("hidden")));

/* From now on, several threads may call MPI concurrently. */
void esi_become_multiple(void);

/* Incremented when cached data of threads (handles, counters) may have become
 * invalid. */
extern _Atomic uint32_t esi_handle_epoch __attribute__((visibility("hidden")));

/* Increments a counter that one thread at a time uses, and returns the old value. */
static inline uint32_t esi_count_up_alone(_Atomic uint32_t *counter)
{
    uint32_t old = atomic_load_explicit(counter, memory_order_relaxed);

    atomic_store_explicit(counter, old + 1, memory_order_relaxed);
    return old;
}

/* Increments a counter and returns the old value. */
static inline uint32_t esi_count_up(_Atomic uint32_t *counter)
{
    if (__builtin_expect(esi_multiple, 0))
        return atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    return esi_count_up_alone(counter);
}

/* Takes back the increment that returned `old`, unless others followed. */
static inline void esi_count_back(_Atomic uint32_t *counter, uint32_t old)
{
    uint32_t next = old + 1;

    atomic_compare_exchange_strong_explicit(counter, &next, old, memory_order_relaxed,
                                            memory_order_relaxed);
}

/* --- Channels: (peer, tag) -> counter ------------------------------------------- */

struct esi_doubt; /* a channel with a cancelled send */

struct esi_channels {
    _Atomic(struct esi_shared_map *) map; /* from esi_channel_key() to counts;
                                             NULL until the first message; older
                                             maps contain what overflowed */
    struct esi_doubt *doubts;             /* protected by the lock of channels.c */
    _Atomic uint64_t *place;              /* borrowed: where readers of the ledger
                                             find the map; NULL if nowhere */
};

/* From this value on, a counter counts sends of unknown number, because another send of
 * their channel is being cancelled. */
#define ESI_COUNT_DOUBTFUL UINT32_C(0xC0000000)

static inline uint64_t esi_channel_key(int peer, int tag)
{
    return ((uint64_t)(uint32_t)peer << 32 | (uint32_t)tag) + 1;
}

/* The counter of a channel, created if necessary.  NULL if out of memory, or beyond the
 * limit of 2^20 channels per communicator.  Slow path in channels.c. */
_Atomic uint32_t *esi_channel_make(struct esi_channels *channels, uint64_t key);

static inline _Atomic uint32_t *esi_channel(struct esi_channels *channels,
                                            int peer,
                                            int tag)
{
    uint64_t key = esi_channel_key(peer, tag);
    struct esi_shared_map *map =
        atomic_load_explicit(&channels->map, memory_order_acquire);

    if (__builtin_expect(map != NULL, 1)) {
        struct esi_shared_slot *slot = esi_shared_map_home(map, key);

        if (__builtin_expect(esi_shared_slot_is(slot, key), 1))
            return &slot->count;
    }
    return esi_channel_make(channels, key);
}

/* The next number of a channel; ES_SEQUENCE_UNKNOWN if it has no counter. */
static inline uint32_t esi_channel_next(struct esi_channels *channels,
                                        int peer,
                                        int tag)
{
    _Atomic uint32_t *counter = esi_channel(channels, peer, tag);

    return __builtin_expect(counter != NULL, 1) ? esi_count_up(counter)
                                                : ES_SEQUENCE_UNKNOWN;
}

/* Takes back the last number: the call failed. */
void esi_channel_back(struct esi_channels *channels, int peer, int tag);

/* The next number of a channel of sends. */
static inline uint32_t esi_channel_next_sent(struct esi_channels *channels,
                                             int peer,
                                             int tag)
{
    uint32_t number = esi_channel_next(channels, peer, tag);

    return number < ESI_COUNT_DOUBTFUL ? number : ES_SEQUENCE_UNKNOWN;
}

/* The cancellation of the send with this number (ES_SEQUENCE_UNKNOWN if it has none) is
 * about to begin.  If it succeeds, the receiver counts one message less, so this and
 * later numbers are in doubt, and further sends on the channel get no number until the
 * outcome is known.  Returns the first number in doubt, and how many were assigned from
 * there on; ES_SEQUENCE_UNKNOWN and 0 if there is none. */
uint32_t esi_channel_doubt(struct esi_channels *channels,
                           int peer,
                           int tag,
                           uint32_t number,
                           uint32_t *ret_count);

/* The outcome of that cancellation.  When all cancellations of the channel have ended,
 * its sends are renumbered without the cancelled ones.  Not if threads send
 * concurrently and one was cancelled: a number assigned twice would refer to two
 * sends. */
void esi_channel_decide(struct esi_channels *channels,
                        int peer,
                        int tag,
                        bool cancelled);

void esi_channels_fini(struct esi_channels *channels);

/* --- Receives ------------------------------------------------------------------- */

/* An undecided receive.  Created by esi_match_post() and the like; freed by the match
 * when it is both decided and finished. */
struct esi_receive;

/* Called, with the match locked, for each tuple held back whose number is now decided.
 * `owner` and `site` are those passed to esi_match_complete(). */
typedef void esi_match_publish_fn(void *owner,
                                  const struct es_tuple *tuple,
                                  uint64_t site);

struct esi_match {
    struct esi_channels channels;
    struct esi_list queue; /* of receives, in posting order */
    esi_match_publish_fn *publish;
    _Atomic uint32_t queued; /* number of receives in the queue;
                                0 allows the fast path */
    _Atomic bool untracked;  /* a numbered receive was abandoned */
    uint32_t held;           /* number of queued receives that
                                are complete and held back */
    _Atomic uint32_t *shown; /* borrowed: where readers of the ledger
                                find `held`; NULL if nowhere */
    atomic_flag lock;
};

void esi_match_init(struct esi_match *match, esi_match_publish_fn *publish);

/* Frees everything, after publishing held-back tuples with an unknown number. */
void esi_match_fini(struct esi_match *match);

/* Publishes held-back tuples with unknown numbers, because nothing will decide them. */
void esi_match_flush(struct esi_match *match);

/* Returns whether receives are queued, so that further receives must use the slow
 * path. */
static inline bool esi_match_is_busy(const struct esi_match *match)
{
    return atomic_load_explicit(&match->queued, memory_order_relaxed) != 0;
}

/* The slow path of esi_match_post(). */
struct esi_receive *esi_match_enqueue(struct esi_match *match,
                                      int source,
                                      int tag,
                                      uint32_t *ret_number);

/* A receive is posted.  `source` may be ES_PEER_ANY, and `tag` may be ES_TAG_ANY.
 * Returns NULL if its number is decided immediately (*ret_number); else a receive that
 * must be completed, dropped or abandoned. */
static inline struct esi_receive *esi_match_post(struct esi_match *match,
                                                 int source,
                                                 int tag,
                                                 uint32_t *ret_number)
{
    if (source >= 0 && tag >= 0 && !esi_match_is_busy(match)) {
        *ret_number = esi_channel_next(&match->channels, source, tag);
        return NULL;
    }
    return esi_match_enqueue(match, source, tag, ret_number);
}

/* A queued receive has completed with a message from (source, tag).  `tuple` is
 * complete except its sequence; `site` is where it was posted.  It is published through
 * the callback, now or when it is decided.  Ends the receive. */
void esi_match_complete(struct esi_match *match,
                        struct esi_receive *receive,
                        int source,
                        int tag,
                        const struct es_tuple *tuple,
                        uint64_t site,
                        void *owner);

/* A queued receive took no message, because it was cancelled or failed.  Ends the
 * receive. */
void esi_match_drop(struct esi_match *match, struct esi_receive *receive);

/* The outcome of a queued receive will never be seen (MPI_Request_free): numbers that
 * depend on it remain unknown.  Ends the receive for the caller. */
void esi_match_abandon(struct esi_match *match, struct esi_receive *receive);

/* A receive that was decided when it was posted is abandoned: see
 * esi_match_reopen(). */
static inline void esi_match_untrack(struct esi_match *match)
{
    atomic_store_explicit(&match->untracked, true, memory_order_relaxed);
}

/* The number of a queued receive that is decided but not finished; else
 * ES_SEQUENCE_UNKNOWN. */
uint32_t esi_match_number(const struct esi_receive *receive);

/* The cancellation of an outstanding receive with a decided number has begun, so the
 * numbers of outstanding receives posted with or after it on its channel are in doubt.
 * `receives` contains these in the order of their numbers, starting with the cancelled
 * one (number `number`).  Entries that are NULL (decided when posted) are replaced by
 * queued receives.  The channel is set back to `number`.
 *
 * Returns 0.  Returns -ENOMEM, and then changes nothing.  If `receives` does not
 * contain all receives with such numbers, returns -EALREADY if one posted later has
 * completed, so the cancelled one has its message, and then changes nothing; or -ESTALE
 * if one that is gone may also have been outstanding, and then the numbers after
 * `number`, and all future ones of the channel, are unknown. */
int esi_match_reopen(struct esi_match *match,
                     int source,
                     int tag,
                     uint32_t number,
                     struct esi_receive **receives,
                     size_t count);

/* An undecided queued receive is being cancelled: it remains undecided until it
 * ends. */
void esi_match_doubt(struct esi_match *match, struct esi_receive *receive);

#endif
