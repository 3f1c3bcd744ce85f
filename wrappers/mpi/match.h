/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Numbers of messages on their channels, so that a send and its receive can be matched
 * without history (design section 7).
 *
 * A channel is (communicator, source, destination, tag); one of source and destination
 * is this process, so a communicator's side of it is named by (peer, tag).  A send
 * takes the next number of its channel when it is called; cancelled ones are taken off
 * again (esi_channel_doubt()).  A receive takes the next
 * number of the channel *in posting order*, since that is how MPI matches.  Where the
 * channel is not known yet (a wildcard that is incomplete, a receive whose cancellation
 * is under way), later receives that it could have robbed are undecided too: they wait
 * in the queue, and when they complete before they are decided, their tuples are held
 * back.
 *
 * No MPI here.  One lock-free fast path: a receive with source and tag while nothing is
 * queued.  The queue is guarded by a spin lock that is only taken by receives that meet
 * a wildcard or a cancellation.
 *
 *   may run at the same time, on one match: everything but init and fini.
 *
 * Cost: O(1) on the fast path; a decision walks the queue, O(queued * undecided).
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

/* Set once when threads may call MPI at the same time; counters are then atomic. */
extern bool esi_multiple __attribute__((visibility("hidden")));

/* Bumped whenever what threads have cached (of handles, of counters) may have lost its
 * meaning. */
extern _Atomic uint32_t esi_handle_epoch __attribute__((visibility("hidden")));

/* Adds one and returns the old value. */
static inline uint32_t esi_count_up(_Atomic uint32_t *counter)
{
    uint32_t old;

    if (__builtin_expect(esi_multiple, 0))
        return atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    old = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, old + 1, memory_order_relaxed);
    return old;
}

/* --- Channels: (peer, tag) -> counter ------------------------------------------- */

struct esi_doubt; /* a channel on which a send was to be cancelled */

struct esi_channels {
    _Atomic(struct esi_shared_map *) map; /* from esi_channel_key() to counts; NULL
                                             until the first message; older ones hold
                                             what overflowed */
    struct esi_doubt *doubts;             /* under the lock of channels.c */
    _Atomic uint64_t *place; /* borrowed: where readers of the ledger find the map; NULL
                                = nowhere */
};

/* A counter from here on counts sends whose numbers nobody knows, because another send
 * of their channel is being cancelled. */
#define ESI_COUNT_DOUBTFUL UINT32_C(0xC0000000)

static inline uint64_t esi_channel_key(int peer, int tag)
{
    return ((uint64_t)(uint32_t)peer << 32 | (uint32_t)tag) + 1;
}

/* The counter of a channel, made if it is new; NULL when it cannot be (out of memory,
 * or beyond the bound of 2^20 channels a communicator).  Slow path in match.c. */
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

/* The next number of a channel, ES_SEQUENCE_UNKNOWN when channels ran out. */
static inline uint32_t esi_channel_next(struct esi_channels *channels,
                                        int peer,
                                        int tag)
{
    _Atomic uint32_t *counter = esi_channel(channels, peer, tag);

    return __builtin_expect(counter != NULL, 1) ? esi_count_up(counter)
                                                : ES_SEQUENCE_UNKNOWN;
}

/* Gives the last number back: the call failed. */
void esi_channel_back(struct esi_channels *channels, int peer, int tag);

/* The next number of a channel of sends. */
static inline uint32_t esi_channel_next_sent(struct esi_channels *channels,
                                             int peer,
                                             int tag)
{
    uint32_t number = esi_channel_next(channels, peer, tag);

    return number < ESI_COUNT_DOUBTFUL ? number : ES_SEQUENCE_UNKNOWN;
}

/* The cancellation of a send with this number (ES_SEQUENCE_UNKNOWN if it has none) is
 * about to begin.  If it succeeds its receiver counts one message less, so the numbers
 * from there on are in doubt, and further sends on the channel get none until it is
 * known.  Returns the first number in doubt, and how many were given from there on;
 * ES_SEQUENCE_UNKNOWN and 0 if there is none. */
uint32_t esi_channel_doubt(struct esi_channels *channels,
                           int peer,
                           int tag,
                           uint32_t number,
                           uint32_t *ret_count);

/* How that cancellation ended.  When all of the channel have ended its sends are
 * numbered again, without those that were cancelled.  Not where threads send at the
 * same time and one was: a number that is given twice would mean two sends. */
void esi_channel_decide(struct esi_channels *channels,
                        int peer,
                        int tag,
                        bool cancelled);

void esi_channels_fini(struct esi_channels *channels);

/* --- Receives ------------------------------------------------------------------- */

/* A receive that is not decided yet.  Made by esi_match_post() and friends, freed by
 * the match when it is both decided and finished. */
struct esi_receive;

/* Called, with the match locked, for each held-back tuple whose number is now decided.
 * `owner` and `site` are what esi_match_complete() was given. */
typedef void esi_match_publish_fn(void *owner,
                                  const struct es_tuple *tuple,
                                  uint64_t site);

struct esi_match {
    struct esi_channels channels;
    struct esi_list queue; /* of receives, in posting order */
    esi_match_publish_fn *publish;
    _Atomic uint32_t queued; /* receives in the queue; 0 = fast path */
    _Atomic bool untracked;  /* a receive with a number was forgotten */
    uint32_t held;           /* of these, completed and held back */
    _Atomic uint32_t *shown; /* borrowed: where readers of the ledger find that; NULL =
                                nowhere */
    atomic_flag lock;
};

void esi_match_init(struct esi_match *match, esi_match_publish_fn *publish);

/* Frees everything; held-back tuples are published with an unknown number first. */
void esi_match_fini(struct esi_match *match);

/* Publishes what is held back with unknown numbers: nothing will decide it any more. */
void esi_match_flush(struct esi_match *match);

/* Whether receives are queued, so that every further one must ask. */
static inline bool esi_match_is_busy(const struct esi_match *match)
{
    return atomic_load_explicit(&match->queued, memory_order_relaxed) != 0;
}

/* The slow part of esi_match_post(). */
struct esi_receive *esi_match_enqueue(struct esi_match *match,
                                      int source,
                                      int tag,
                                      uint32_t *ret_number);

/* A receive is posted; `source` may be ES_PEER_ANY, `tag` ES_TAG_ANY.  NULL when its
 * number is decided at once (*ret_number); else a receive to be completed, cancelled or
 * abandoned. */
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
 * complete but for its sequence, `site` where it was posted: it is published
 * through the callback, now or when it is decided.  Ends the receive. */
void esi_match_complete(struct esi_match *match,
                        struct esi_receive *receive,
                        int source,
                        int tag,
                        const struct es_tuple *tuple,
                        uint64_t site,
                        void *owner);

/* A queued receive took no message (cancelled, or failed).  Ends the receive. */
void esi_match_drop(struct esi_match *match, struct esi_receive *receive);

/* Nobody will ever see how a queued receive ends (MPI_Request_free): what it could have
 * robbed stays unknown.  Ends the receive for the caller. */
void esi_match_abandon(struct esi_match *match, struct esi_receive *receive);

/* A receive that was decided when it was posted is abandoned: see esi_match_reopen().
 */
static inline void esi_match_untrack(struct esi_match *match)
{
    atomic_store_explicit(&match->untracked, true, memory_order_relaxed);
}

/* The number of a queued receive that is decided but not finished, else
 * ES_SEQUENCE_UNKNOWN. */
uint32_t esi_match_number(const struct esi_receive *receive);

/* The cancellation of an outstanding receive with a decided number has begun, so the
 * numbers of the outstanding receives that were posted with or after it on its channel
 * are in doubt.  `receives` holds these in the order of their numbers, the cancelled
 * one (number `number`) first; entries that are NULL (decided when posted) are filled
 * with queued receives.  The channel is taken back to `number`. Returns 0, or -ENOMEM
 * when nothing has changed, or, where these are not all that have such numbers:
 * -EALREADY: one posted later has completed, so the cancelled one has its message;
 * nothing has changed. -ESTALE: one that is gone may also have been outstanding; the
 * numbers behind `number`, and all that are to come on the channel, are unknown. */
int esi_match_reopen(struct esi_match *match,
                     int source,
                     int tag,
                     uint32_t number,
                     struct esi_receive **receives,
                     size_t count);

/* An undecided queued receive is being cancelled: it stays undecided until it ends. */
void esi_match_doubt(struct esi_match *match, struct esi_receive *receive);

#endif
