/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Rows and peers of the profile, created when first needed.  If there is no room, data
 * is merged or lost: a row of the operation without its call site if there are too
 * many, otherwise one that is not visible, and the profile is marked incomplete.
 */
#include "config.h"

#include "wrappers/mpi/profile.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/shared_map.h"
#include "tuplespace/arena_pool.h"
#include "tuplespace/ledger_layout.h"
#include "tuplespace/profile.h"
#include "tuplespace/segment.h"
#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/ledger.h"

/* Maximum number of rows with a call site per thread, 320 bytes each. */
enum { SITE_ROWS_MAX = 2048 };

/* A row of no operation, with room for the sizes of any. */
static union {
    struct esi_profile_row_layout row;
    unsigned char room[sizeof(struct esi_profile_row_layout) +
                       ESI_PROFILE_SIZES * sizeof(uint64_t)];
} nobodys_memory;
static struct esi_profile_peer_layout nobodys_peer;
static struct esi_profile_layout private_profile;
static struct esi_profile_table nobodys_table;

static struct esi_arena_pool pool = ESI_ARENA_POOL_INITIALIZER;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static struct esi_profile_layout *profile = &private_profile;
static uint64_t site_mask;
static struct esi_shared_map *peers; /* by world rank, protected by `changing` */

char *esi_profile_base;

static struct esi_profile_row_layout *hidden_row(void)
{
    return &nobodys_memory.row;
}

void esi_profile_start(struct es_segment *segment, bool wants_sites)
{
    site_mask = wants_sites ? UINT64_MAX : 0;
    if (atomic_load_explicit(&esi_segment_layout(segment)->ledger_offset,
                             memory_order_relaxed) == 0 ||
        esi_segment_add_profile(segment, esi_ledger, &pool, &profile) < 0)
        return;
    esi_profile_base = (char *)esi_segment_layout(segment);
}

void esi_profile_leave(void)
{
    profile = &private_profile;
    pool.segment = NULL;
}

void esi_profile_begin(void)
{
    if (atomic_load_explicit(&profile->began, memory_order_relaxed) == 0)
        atomic_store_explicit(&profile->began, esi_clock_read(), memory_order_relaxed);
    atomic_store_explicit(&profile->ended, 0, memory_order_relaxed);
}

void esi_profile_end(void)
{
    atomic_store_explicit(&profile->ended, esi_clock_read(), memory_order_relaxed);
}

static void note_partial(void)
{
    atomic_store_explicit(&profile->partial, 1, memory_order_relaxed);
}

/* Allocates memory that is visible to readers, and returns its offset; NULL if there is
 * none. */
static void *take_shown(size_t bytes, uint64_t *ret_offset)
{
    void *piece = pool.segment != NULL ? esi_arena_pool_take(&pool, bytes) : NULL;

    *ret_offset = piece != NULL ? esi_arena_pool_offset(&pool, piece) : 0;
    if (piece != NULL && *ret_offset == 0) {
        esi_arena_pool_give(&pool, piece, bytes);
        piece = NULL;
    }
    if (piece == NULL)
        note_partial();
    return piece;
}

/* --- Rows ------------------------------------------------------------------------- */

static void table_init(struct esi_profile_table *table)
{
    for (int i = 0; i < ESI_PROFILE_RECENT; i++)
        table->recent[i] = hidden_row();
    table->site_mask = site_mask;
}

/* Makes a new thread visible to readers. */
static struct esi_profile_thread_layout *show_thread(int number)
{
    uint64_t offset;
    struct esi_profile_thread_layout *thread = take_shown(sizeof *thread, &offset);

    if (thread == NULL)
        return NULL;
    thread->thread = number;
    pthread_mutex_lock(&changing);
    atomic_init(&thread->next,
                atomic_load_explicit(&profile->threads, memory_order_relaxed));
    /* Pairs with the acquire of readers: it is complete. */
    atomic_store_explicit(&profile->threads, offset, memory_order_release);
    pthread_mutex_unlock(&changing);
    return thread;
}

struct esi_profile_table *esi_profile_add_thread(int number)
{
    struct esi_profile_table *table = calloc(1, sizeof *table);

    if (table == NULL) {
        note_partial();
        table = &nobodys_table;
    } else {
        table->shown = show_thread(number);
    }
    table_init(table);
    return table;
}

static bool moves_data(uint16_t code)
{
    const struct es_operation *operation = es_operation_find(code);

    switch (operation != NULL ? operation->op_class : ES_CLASS_NONE) {
    case ES_CLASS_SEND:
    case ES_CLASS_RECEIVE:
    case ES_CLASS_COLLECTIVE:
    case ES_CLASS_ONE_SIDED:
    case ES_CLASS_IO:
        return true;
    default:
        return false;
    }
}

/* Operations have codes below 4096. */
static uint64_t row_key(uint16_t operation, uint64_t site)
{
    return site << 12 | operation;
}

/* Doubles the map when it is half full; returns false if out of memory. */
static bool rows_reserve(struct esi_profile_table *table)
{
    struct esi_shared_map *larger;

    if (esi_shared_map_has_room(table->rows))
        return true;
    larger = esi_shared_map_create(table->rows);
    if (larger == NULL)
        return false;
    if (table->rows != NULL)
        esi_shared_map_copy(table->rows, larger);
    free(table->rows);
    table->rows = larger;
    return true;
}

static struct esi_profile_row_layout *make_row(struct esi_profile_table *table,
                                               uint16_t operation,
                                               uint64_t site)
{
    bool has_sizes = moves_data(operation);
    struct esi_profile_row_layout *row;
    uint64_t offset;

    if (!rows_reserve(table)) {
        note_partial();
        return NULL;
    }
    row = take_shown(esi_profile_row_bytes(has_sizes), &offset);
    if (row == NULL)
        return NULL;
    row->site = site;
    row->operation = operation;
    row->has_sizes = has_sizes;
    atomic_init(&row->next,
                atomic_load_explicit(&table->shown->rows, memory_order_relaxed));
    /* Pairs with the acquire of readers: the row is complete. */
    atomic_store_explicit(&table->shown->rows, offset, memory_order_release);
    esi_shared_map_insert(table->rows, row_key(operation, site), (uintptr_t)row);
    table->count++;
    return row;
}

/* An existing row; NULL if none. */
static struct esi_profile_row_layout *known_row(const struct esi_profile_table *table,
                                                uint16_t operation,
                                                uint64_t site)
{
    struct esi_shared_slot *slot =
        table->rows != NULL ? esi_shared_map_find(table->rows, row_key(operation, site))
                            : NULL;

    return slot != NULL
               ? (struct esi_profile_row_layout *)(uintptr_t)atomic_load_explicit(
                     &slot->word, memory_order_relaxed)
               : NULL;
}

struct esi_profile_row_layout *esi_profile_find_row(struct esi_profile_table *table,
                                                    uint16_t operation,
                                                    uint64_t site)
{
    struct esi_profile_row_layout *row;

    if (table->shown == NULL || pool.segment == NULL)
        return hidden_row();
    row = known_row(table, operation, site);
    if (row == NULL && table->count >= SITE_ROWS_MAX && site != 0)
        return esi_profile_find_row(table, operation, 0);
    if (row == NULL)
        row = make_row(table, operation, site);
    if (row == NULL)
        return hidden_row();
    table->recent[esi_profile_recent(operation, site)] = row;
    return row;
}

/* Clocks of two cores may differ slightly: no call takes less than no time. */
void esi_profile_row_widen(struct esi_profile_row_layout *row, uint64_t ticks)
{
    uint64_t span = esi_profile_load(&row->span);
    uint64_t shortest = span > 0 ? esi_profile_load(&row->shortest) : ticks;
    uint64_t longest = span > 0 ? shortest + span - 1 : ticks;

    if (ticks >> 63 != 0)
        return;
    if (ticks < shortest)
        shortest = ticks;
    if (ticks > longest)
        longest = ticks;
    atomic_store_explicit(&row->shortest, shortest, memory_order_relaxed);
    atomic_store_explicit(&row->span, longest - shortest + 1, memory_order_relaxed);
}

/* --- Peers ------------------------------------------------------------------------ */

/* Creates the peer with this world rank; NULL if there is no room.  The caller holds
 * the lock. */
static struct esi_profile_peer_layout *make_peer(int32_t world)
{
    uint64_t offset;
    struct esi_profile_peer_layout *peer;
    struct esi_shared_map *larger;

    if (!esi_shared_map_has_room(peers)) {
        larger = esi_shared_map_create(peers);
        if (larger == NULL)
            return NULL;
        if (peers != NULL)
            esi_shared_map_copy(peers, larger);
        free(peers);
        peers = larger;
    }
    peer = take_shown(sizeof *peer, &offset);
    if (peer == NULL)
        return NULL;
    peer->world = world;
    atomic_init(&peer->next,
                atomic_load_explicit(&profile->peers, memory_order_relaxed));
    /* Pairs with the acquire of readers: it is complete. */
    atomic_store_explicit(&profile->peers, offset, memory_order_release);
    esi_shared_map_insert(peers, (uint64_t)(world + 1) + 1, (uintptr_t)peer);
    return peer;
}

static struct esi_profile_peer_layout *peer_with_rank(int32_t world)
{
    struct esi_profile_peer_layout *peer;
    struct esi_shared_slot *slot;

    pthread_mutex_lock(&changing);
    slot = peers != NULL ? esi_shared_map_find(peers, (uint64_t)(world + 1) + 1) : NULL;
    if (slot != NULL)
        peer = (struct esi_profile_peer_layout *)(uintptr_t)atomic_load_explicit(
            &slot->word, memory_order_relaxed);
    else
        peer = make_peer(world);
    pthread_mutex_unlock(&changing);
    return peer;
}

struct esi_profile_peer_layout *esi_profile_find_peer(struct esi_comm *comm,
                                                      MPI_Comm handle,
                                                      int rank,
                                                      int tag)
{
    _Atomic uint32_t *counter = esi_channel(&comm->sent, rank, tag);
    struct esi_profile_peer_layout *peer;
    uint64_t offset;

    if (pool.segment == NULL || counter == NULL)
        return &nobodys_peer;
    peer = esi_profile_peer_of(counter);
    if (peer != NULL)
        return peer;
    peer = peer_with_rank(esi_comm_world_rank(handle, comm, rank));
    if (peer == NULL)
        return &nobodys_peer;
    offset = esi_arena_pool_offset(&pool, peer);
    if (offset / ES_CACHE_LINE <= UINT32_MAX) /* else it is looked up again */
        atomic_store_explicit(&esi_channel_slot(counter)->peer,
                              (uint32_t)(offset / ES_CACHE_LINE), memory_order_release);
    return peer;
}

void esi_profile_add_sent(struct esi_comm *comm,
                          int rank,
                          int tag,
                          int64_t messages,
                          int64_t bytes)
{
    _Atomic uint32_t *counter = esi_channel(&comm->sent, rank, tag);
    struct esi_profile_peer_layout *peer =
        counter != NULL && pool.segment != NULL ? esi_profile_peer_of(counter) : NULL;

    if (peer != NULL)
        esi_profile_peer_add(peer, (uint64_t)messages, (uint64_t)bytes);
}
