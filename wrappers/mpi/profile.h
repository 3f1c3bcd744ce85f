/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The profile of this process, as written by the interposer (tuplespace/profile.h
 * describes its meaning).  Each recorded call costs a few additions to one or two cache
 * lines.
 *
 * Each thread has a table of rows by operation and call site, with a small cache,
 * because programs call MPI from few places.  Data sent is added to the peer, which is
 * linked from the channel.
 *
 *   may run at the same time: everything.  A table belongs to its thread; peers are
 *   shared by all threads.
 */
#ifndef ES_WRAPPERS_MPI_PROFILE_H
#define ES_WRAPPERS_MPI_PROFILE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/profile_layout.h"
#include "wrappers/mpi/match.h"
#include "wrappers/mpi/thread.h"

struct es_segment;
struct esi_comm;

/* Creates the profile in the process's segment, in addition to the ledger.  If there is
 * no room, nothing is counted. */
void esi_profile_start(struct es_segment *segment, bool wants_sites);

/* In a child process: leaves the segment, which is the parent's. */
void esi_profile_leave(void);

/* MPI was initialized, or is about to be finalized. */
void esi_profile_begin(void);
void esi_profile_end(void);

/* --- Rows ------------------------------------------------------------------------- */

enum { ESI_PROFILE_RECENT = 256 };

/* The profile of one thread. */
struct esi_profile_table {
    struct esi_profile_row_layout
        *recent[ESI_PROFILE_RECENT];         /* indexed by call site; never NULL */
    uint64_t site_mask;                      /* 0 if call sites are not recorded */
    struct esi_shared_map *rows;             /* by operation and call
                                                site; NULL if none */
    struct esi_profile_thread_layout *shown; /* NULL if not visible */
    size_t count;
};

/* The table of a thread's slot.  Never NULL. */
struct esi_profile_table *esi_profile_add_thread(int number);

/* The row, created if necessary; one that is not visible if there is no room. */
struct esi_profile_row_layout *esi_profile_find_row(struct esi_profile_table *table,
                                                    uint16_t operation,
                                                    uint64_t site);

/* Index of a row in the cache. */
static inline size_t esi_profile_recent(uint16_t operation, uint64_t site)
{
    return (site ^ operation) % ESI_PROFILE_RECENT;
}

static inline uint64_t esi_profile_load(const _Atomic uint64_t *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed);
}

/* For totals with one writer. */
static inline void esi_profile_add(_Atomic uint64_t *sum, uint64_t more)
{
    atomic_store_explicit(sum, esi_profile_load(sum) + more, memory_order_relaxed);
}

ES_HOT struct esi_profile_row_layout *esi_profile_row(struct esi_profile_table *table,
                                                      uint16_t operation,
                                                      uint64_t site)
{
    struct esi_profile_row_layout *row;

    site &= table->site_mask;
    row = table->recent[esi_profile_recent(operation, site)];
    if (ESI_LIKELY(row->site == site && row->operation == operation))
        return row;
    return esi_profile_find_row(table, operation, site);
}

/* Updates the shortest and longest time with the first, a shorter or a longer call. */
void esi_profile_row_widen(struct esi_profile_row_layout *row, uint64_t ticks);

ES_HOT void esi_profile_row_add_time(struct esi_profile_row_layout *row, uint64_t ticks)
{
    esi_profile_add(&row->ticks, ticks);
    if (ESI_UNLIKELY(ticks - esi_profile_load(&row->shortest) >=
                     esi_profile_load(&row->span)))
        esi_profile_row_widen(row, ticks);
}

/* Counts a call.  Must be last: pairs with the acquire of readers, which then find the
 * call in the other totals. */
ES_HOT void esi_profile_row_count(struct esi_profile_row_layout *row,
                                  unsigned int size_class)
{
    _Atomic uint64_t *calls = &row->calls[size_class];

    atomic_store_explicit(calls, esi_profile_load(calls) + 1, memory_order_release);
}

/* Counts a message and its data, for an operation that moves data. */
ES_HOT void esi_profile_row_add_message(struct esi_profile_row_layout *row,
                                        uint32_t bytes)
{
    esi_profile_add(&row->bytes, bytes);
    esi_profile_row_count(row, esi_profile_size_class(bytes));
}

/* Counts a call with its time and data.  `bytes` is ignored for operations that move no
 * data. */
ES_HOT void esi_profile_add_call(struct esi_thread *thread,
                                 uint16_t operation,
                                 uint64_t ticks,
                                 uint32_t bytes)
{
    struct esi_profile_row_layout *row =
        esi_profile_row(thread->profile, operation, thread->site);

    esi_profile_row_add_time(row, ticks);
    if (row->has_sizes)
        esi_profile_row_add_message(row, bytes);
    else
        esi_profile_row_count(row, 0);
}

/* The same for a send or receive. */
ES_HOT void esi_profile_add_message(struct esi_thread *thread,
                                    uint16_t operation,
                                    uint64_t ticks,
                                    uint32_t bytes)
{
    struct esi_profile_row_layout *row =
        esi_profile_row(thread->profile, operation, thread->site);

    esi_profile_row_add_time(row, ticks);
    esi_profile_row_add_message(row, bytes);
}

/* Adds the time of a call that posts a receive, which is counted when it completes. */
ES_HOT void esi_profile_add_post(struct esi_thread *thread,
                                 uint16_t operation,
                                 uint64_t ticks)
{
    esi_profile_row_add_time(esi_profile_row(thread->profile, operation, thread->site),
                             ticks);
}

/* Counts a completed receive that was posted at `site`, or a message that is not the
 * call itself (half of a send-receive, a start), whose time is that of the call. */
ES_HOT void esi_profile_add_moved(struct esi_thread *thread,
                                  uint16_t operation,
                                  uint64_t site,
                                  uint32_t bytes)
{
    if (ESI_LIKELY(thread->profile != NULL && operation != 0))
        esi_profile_row_add_message(esi_profile_row(thread->profile, operation, site),
                                    bytes);
}

/* --- Peers ------------------------------------------------------------------------ */

/* Start of the segment. */
extern char *esi_profile_base __attribute__((visibility("hidden")));

static inline struct esi_shared_slot *esi_channel_slot(_Atomic uint32_t *counter)
{
    return (struct esi_shared_slot *)((char *)counter -
                                      offsetof(struct esi_shared_slot, count));
}

/* The peer of a channel, by the number in its slot; NULL if not known yet. */
static inline struct esi_profile_peer_layout *esi_profile_peer_of(
    _Atomic uint32_t *counter)
{
    uint32_t number =
        atomic_load_explicit(&esi_channel_slot(counter)->peer, memory_order_acquire);

    return number != 0
               ? (struct esi_profile_peer_layout *)(esi_profile_base +
                                                    (size_t)number * ES_CACHE_LINE)
               : NULL;
}

/* Finds the peer of a channel of sends and stores it with the channel.  Never NULL.
 * `handle` is the valid handle of `comm`. */
struct esi_profile_peer_layout *esi_profile_find_peer(struct esi_comm *comm,
                                                      MPI_Comm handle,
                                                      int rank,
                                                      int tag);

/* While one thread at a time calls MPI. */
ES_HOT void esi_profile_peer_add_alone(struct esi_profile_peer_layout *peer,
                                       uint64_t messages,
                                       uint64_t bytes)
{
    esi_profile_add(&peer->messages, messages);
    esi_profile_add(&peer->bytes, bytes);
}

ES_HOT void esi_profile_peer_add(struct esi_profile_peer_layout *peer,
                                 uint64_t messages,
                                 uint64_t bytes)
{
    if (ESI_UNLIKELY(esi_multiple)) {
        atomic_fetch_add_explicit(&peer->messages, messages, memory_order_relaxed);
        atomic_fetch_add_explicit(&peer->bytes, bytes, memory_order_relaxed);
    } else {
        esi_profile_peer_add_alone(peer, messages, bytes);
    }
}

/* Adds to the peer of a channel that was found before; negative values undo. */
void esi_profile_add_sent(struct esi_comm *comm,
                          int rank,
                          int tag,
                          int64_t messages,
                          int64_t bytes);

#endif
