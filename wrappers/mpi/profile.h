/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The profile of this process, as the interposer writes it (tuplespace/profile.h says
 * what it tells): a few additions to one or two cache lines for each recorded call.
 *
 * Each thread has a table of rows by operation and site, and a small cache in front of
 * it: programs call from a few places.  What is sent is added to the peer, which the
 * channel leads to.
 *
 *   may run at the same time: everything.  A table is its thread's own; peers are all
 *   threads'.
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

/* Makes the profile in the process's segment, beside the ledger.  Without room nothing
 * is counted. */
void esi_profile_start(struct es_segment *segment, bool wants_sites);

/* A child of the process: the segment is its parent's. */
void esi_profile_leave(void);

/* MPI is up, from now on; it is about to be over. */
void esi_profile_begin(void);
void esi_profile_end(void);

/* --- Rows ------------------------------------------------------------------------- */

enum { ESI_PROFILE_RECENT = 256 };

/* A thread's. */
struct esi_profile_table {
    struct esi_profile_row_layout *recent[ESI_PROFILE_RECENT]; /* by site; never NULL */
    uint64_t site_mask;                      /* 0: sites are not wanted */
    struct esi_shared_map *rows;             /* by operation and site; NULL = none */
    struct esi_profile_thread_layout *shown; /* NULL: nobody sees it */
    size_t count;
};

/* The table of a thread's slot; never NULL. */
struct esi_profile_table *esi_profile_add_thread(int number);

/* The row, made if it is new; without room one that nobody reads. */
struct esi_profile_row_layout *esi_profile_find_row(struct esi_profile_table *table,
                                                    uint16_t operation,
                                                    uint64_t site);

/* Where in the cache a row belongs. */
static inline size_t esi_profile_recent(uint16_t operation, uint64_t site)
{
    return (site ^ operation) % ESI_PROFILE_RECENT;
}

static inline uint64_t esi_profile_load(const _Atomic uint64_t *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed);
}

/* Of a sum with one writer. */
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

/* The first call, a shorter or a longer one. */
void esi_profile_row_widen(struct esi_profile_row_layout *row, uint64_t ticks);

ES_HOT void esi_profile_row_add_time(struct esi_profile_row_layout *row, uint64_t ticks)
{
    esi_profile_add(&row->ticks, ticks);
    if (ESI_UNLIKELY(ticks - esi_profile_load(&row->shortest) >=
                     esi_profile_load(&row->span)))
        esi_profile_row_widen(row, ticks);
}

/* One more call, last of all.  Pairs with the acquire of readers: they find it in the
 * other sums. */
ES_HOT void esi_profile_row_count(struct esi_profile_row_layout *row,
                                  unsigned int size_class)
{
    _Atomic uint64_t *calls = &row->calls[size_class];

    atomic_store_explicit(calls, esi_profile_load(calls) + 1, memory_order_release);
}

/* What a call or a message has moved, and that it was one.  Of operations that move
 * nothing `bytes` means something else. */
ES_HOT void esi_profile_row_add_bytes(struct esi_profile_row_layout *row,
                                      uint32_t bytes)
{
    if (row->has_sizes) {
        esi_profile_add(&row->bytes, bytes);
        esi_profile_row_count(row, esi_profile_size_class(bytes));
    } else {
        esi_profile_row_count(row, 0);
    }
}

/* A call with what it has moved. */
ES_HOT void esi_profile_add_call(struct esi_thread *thread,
                                 uint16_t operation,
                                 uint64_t ticks,
                                 uint32_t bytes)
{
    struct esi_profile_row_layout *row =
        esi_profile_row(thread->profile, operation, thread->site);

    esi_profile_row_add_time(row, ticks);
    esi_profile_row_add_bytes(row, bytes);
}

/* The time of a call that posts a receive, which is counted when it is complete. */
ES_HOT void esi_profile_add_post(struct esi_thread *thread,
                                 uint16_t operation,
                                 uint64_t ticks)
{
    esi_profile_row_add_time(esi_profile_row(thread->profile, operation, thread->site),
                             ticks);
}

/* A receive that was posted at `site` is complete; or a message that is not the call
 * itself (a half of a send-receive, a start), whose time is the call's. */
ES_HOT void esi_profile_add_moved(struct esi_thread *thread,
                                  uint16_t operation,
                                  uint64_t site,
                                  uint32_t bytes)
{
    if (ESI_LIKELY(thread->profile != NULL && operation != 0))
        esi_profile_row_add_bytes(esi_profile_row(thread->profile, operation, site),
                                  bytes);
}

/* --- Peers ------------------------------------------------------------------------ */

/* Where the segment begins. */
extern char *esi_profile_base __attribute__((visibility("hidden")));

static inline struct esi_shared_slot *esi_channel_slot(_Atomic uint32_t *counter)
{
    return (struct esi_shared_slot *)((char *)counter -
                                      offsetof(struct esi_shared_slot, count));
}

/* Whom a channel counts, by the number that its slot has; NULL = that is not known. */
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

/* Finds the peer of a channel of sends, and notes it with the channel; never NULL.
 * `handle` is the valid handle of `comm`. */
struct esi_profile_peer_layout *esi_profile_find_peer(struct esi_comm *comm,
                                                      MPI_Comm handle,
                                                      int rank,
                                                      int tag);

ES_HOT void esi_profile_peer_add(struct esi_profile_peer_layout *peer,
                                 uint64_t messages,
                                 uint64_t bytes)
{
    if (ESI_UNLIKELY(esi_multiple)) {
        atomic_fetch_add_explicit(&peer->messages, messages, memory_order_relaxed);
        atomic_fetch_add_explicit(&peer->bytes, bytes, memory_order_relaxed);
    } else {
        esi_profile_add(&peer->messages, messages);
        esi_profile_add(&peer->bytes, bytes);
    }
}

/* The same for a channel whose peer was found before; what is taken back is negative.
 */
void esi_profile_add_sent(struct esi_comm *comm,
                          int rank,
                          int tag,
                          int64_t messages,
                          int64_t bytes);

#endif
