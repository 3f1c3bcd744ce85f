/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The ledger of this process, as the interposer writes it (tuplespace/ledger.h says
 * what it is for, tuplespace/ledger_layout.h where everything lies).
 *
 * Requests, channels and what threads wait for are the interposer's own tables, which
 * only lie in the ledger's memory.  Where the segment has no room for them they lie
 * elsewhere, and the ledger says that it is not whole.
 *
 *   may run at the same time: everything.
 */
#ifndef ES_WRAPPERS_MPI_LEDGER_H
#define ES_WRAPPERS_MPI_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/ledger.h"
#include "tuplespace/ledger_layout.h"

struct es_segment;

/* Never NULL: until there is a segment, and in a child, a private one. */
extern struct esi_ledger_layout *esi_ledger __attribute__((visibility("hidden")));

/* Makes the ledger in the process's segment.  Without room it stays private. */
void esi_ledger_start(struct es_segment *segment);

/* A child of the process: the segment is its parent's. */
void esi_ledger_leave(void);

/* Memory that readers can find, if there is room; zero.  NULL without any memory. */
void *esi_ledger_take(size_t bytes);
/* The same of what is not missed: without room the ledger is whole all the same. */
void *esi_ledger_take_aside(size_t bytes);
void esi_ledger_give(void *piece, size_t bytes);

/* Where readers find a table of 1 << `slots_log2` slots; 0 = they do not. */
uint64_t esi_ledger_place(const void *piece, unsigned int slots_log2);

/* --- Communicators ---------------------------------------------------------------- */

/* The part of a communicator, by its index in the segment's table.  Never NULL: without
 * room it is one that nobody reads. */
struct esi_ledger_communicator *esi_ledger_add_communicator(uint16_t index);
void esi_ledger_remove_communicator(struct esi_ledger_communicator *communicator);

/* A collective operation is entered. */
static inline void esi_ledger_enter_instance(
    struct esi_ledger_communicator *communicator,
    uint32_t instance,
    uint16_t operation,
    int32_t root,
    uint32_t hash)
{
    struct esi_ledger_recent *recent =
        &communicator->recent[instance % ESI_LEDGER_RECENT];

    /* Readers look at `what` before and after `how`. */
    atomic_store_explicit(&recent->what, 0, memory_order_relaxed);
    atomic_store_explicit(&recent->how, (uint32_t)root | (uint64_t)hash << 32,
                          memory_order_release);
    atomic_store_explicit(&recent->what, instance | (uint64_t)operation << 32,
                          memory_order_release);
}

/* --- Threads ---------------------------------------------------------------------- */

/* The part of a thread, which stays; NULL without memory. */
struct esi_ledger_thread *esi_ledger_add_thread(int number);

static inline void esi_ledger_set_wait(struct esi_ledger_thread *thread,
                                       enum esi_ledger_wait_kind kind,
                                       uint32_t count)
{
    /* Pairs with the acquire of readers: the handles are there. */
    atomic_store_explicit(&thread->what, (uint64_t)kind << 32 | count,
                          memory_order_release);
}

/* A poll that found nothing: adds what it asked for, once. */
void esi_ledger_add_poll(struct esi_ledger_thread *thread,
                         uint32_t *position,
                         uint64_t handle);

/* --- Objects, errors -------------------------------------------------------------- */

/* The program has made (1) or freed (-1) one. */
void esi_ledger_count_object(enum esi_ledger_object object, int change);

/* A call has returned `code`, which is not MPI_SUCCESS. */
void esi_ledger_note_error(uint16_t operation, int code);
/* A call has failed so, and the program ends by it.  It is the last that is noted.
 * `operation` 0: of a call that is not recorded. */
void esi_ledger_note_fatal(uint16_t operation, int code);

/* --- Windows ---------------------------------------------------------------------- */

/* What the process knows of a window; in its owner's memory, zero at first. */
struct esi_window_ledger {
    uint16_t communicator;
    int32_t number;                    /* on the communicator */
    struct esi_ledger_window *shown;   /* NULL = without memory */
    struct esi_ledger_member *members; /* NULL = nobody counts */
    unsigned int members_log2;
};

void esi_window_ledger_init(struct esi_window_ledger *window,
                            uint16_t communicator,
                            int32_t number);
/* Also takes its epochs away. */
void esi_window_ledger_fini(struct esi_window_ledger *window);

/* A collective call on it is entered. */
void esi_window_ledger_count_collective(struct esi_window_ledger *window);

/* Makes room for the counts of so many members, unless that was done. */
void esi_window_ledger_reserve(struct esi_window_ledger *window, int size);

/* An epoch has begun, or a lock is asked for (`granted` false). */
void esi_window_ledger_open(const struct esi_window_ledger *window,
                            enum esi_ledger_epoch_kind kind,
                            int32_t peer,
                            uint32_t number,
                            bool granted);

/* Epochs of these kinds (bits 1 << kind) towards a peer, or towards any (ES_PEER_ANY),
 * have ended; `on_end`, unless NULL, is called for each. */
void esi_window_ledger_close(const struct esi_window_ledger *window,
                             uint32_t kinds,
                             int32_t peer,
                             void (*on_end)(const struct esi_window_ledger *window,
                                            int32_t peer));

/* The lock that was asked for towards the peer is held. */
void esi_window_ledger_grant(const struct esi_window_ledger *window, int32_t peer);

/* One more epoch towards a member. */
void esi_window_ledger_count(const struct esi_window_ledger *window,
                             enum esi_ledger_epoch_kind kind,
                             int32_t peer);
/* Its epoch of access has ended. */
void esi_window_ledger_complete(const struct esi_window_ledger *window, int32_t peer);

#endif
