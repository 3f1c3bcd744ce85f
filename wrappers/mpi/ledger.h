/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The ledger of this process, as written by the interposer (tuplespace/ledger.h
 * describes its purpose, tuplespace/ledger_layout.h its layout).
 *
 * Requests, channels and what threads wait for are tables of the interposer, stored in
 * the memory of the ledger.  If the segment has no room for them, they are stored
 * elsewhere, and the ledger is marked incomplete.
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

/* Never NULL: a private ledger until there is a segment, and in a child process. */
extern struct esi_ledger_layout *esi_ledger __attribute__((visibility("hidden")));

/* Creates the ledger in the process's segment.  If it has no room, it stays private. */
void esi_ledger_start(struct es_segment *segment);

/* In a child process: leaves the segment, which is the parent's. */
void esi_ledger_leave(void);

/* Allocates zeroed memory, visible to readers if there is room; NULL if out of
 * memory. */
void *esi_ledger_take(size_t bytes);
/* Like esi_ledger_take(), for data whose absence does not make the ledger
 * incomplete. */
void *esi_ledger_take_aside(size_t bytes);
void esi_ledger_give(void *piece, size_t bytes);

/* The place of a table of 1 << `slots_log2` slots, for readers; 0 if it is not
 * visible. */
uint64_t esi_ledger_place(const void *piece, unsigned int slots_log2);

/* --- Communicators ---------------------------------------------------------------- */

/* The part of a communicator, by its index in the segment's table.  Never NULL: one
 * that is not visible if there is no room. */
struct esi_ledger_communicator *esi_ledger_add_communicator(uint16_t index);
void esi_ledger_remove_communicator(struct esi_ledger_communicator *communicator);

/* Records that a collective operation is entered. */
static inline void esi_ledger_enter_instance(
    struct esi_ledger_communicator *communicator,
    uint32_t instance,
    uint16_t operation,
    int32_t root,
    uint32_t hash)
{
    struct esi_ledger_recent *recent =
        &communicator->recent[instance % ESI_LEDGER_RECENT];

    /* Readers check `what` before and after reading `how`. */
    atomic_store_explicit(&recent->what, 0, memory_order_relaxed);
    atomic_store_explicit(&recent->how, (uint32_t)root | (uint64_t)hash << 32,
                          memory_order_release);
    atomic_store_explicit(&recent->what, instance | (uint64_t)operation << 32,
                          memory_order_release);
}

/* Undoes esi_ledger_enter_instance() for a call that was refused.  Returns whether its
 * place still held it.  What was there before, ESI_LEDGER_RECENT operations ago, is
 * lost. */
static inline bool esi_ledger_leave_instance(
    struct esi_ledger_communicator *communicator,
    uint32_t instance,
    uint16_t operation)
{
    struct esi_ledger_recent *recent =
        &communicator->recent[instance % ESI_LEDGER_RECENT];
    uint64_t what = instance | (uint64_t)operation << 32;

    return atomic_compare_exchange_strong_explicit(
        &recent->what, &what, 0, memory_order_relaxed, memory_order_relaxed);
}

/* --- Threads ---------------------------------------------------------------------- */

/* Allocates the part of a thread, which is never freed; NULL if out of memory. */
struct esi_ledger_thread *esi_ledger_add_thread(int number);

static inline void esi_ledger_set_wait(struct esi_ledger_thread *thread,
                                       enum esi_ledger_wait_kind kind,
                                       uint32_t count)
{
    /* Pairs with the acquire of readers: the handles are written before. */
    atomic_store_explicit(&thread->what, (uint64_t)kind << 32 | count,
                          memory_order_release);
}

/* Records whether threads may call MPI at the same time, and the threads that the MPI
 * library created in its initialisation: all others of a process that was `alone`, with
 * one thread, before. */
void esi_ledger_note_threads(bool concurrent, bool alone);

/* Records a poll that found nothing, once for each handle. */
void esi_ledger_add_poll(struct esi_ledger_thread *thread,
                         uint32_t *position,
                         uint64_t handle);

/* --- Objects, errors -------------------------------------------------------------- */

/* The program has created (1) or freed (-1) an object. */
void esi_ledger_count_object(enum esi_ledger_object object, int change);

/* A call has returned `code`, which is not MPI_SUCCESS.  Returns the number of its
 * class (tuplespace/error_classes.h). */
uint32_t esi_ledger_note_error(uint16_t operation, int code);

/* Returns whether the error is that of an argument: MPI refused the call before it
 * communicated. */
bool esi_error_is_refusal(int code);

/* --- Windows ---------------------------------------------------------------------- */

/* The ledger's data of a window, in its owner's memory; initially zero. */
struct esi_window_ledger {
    uint16_t communicator;
    int32_t number;                    /* number of the window on the communicator */
    struct esi_ledger_window *shown;   /* NULL if out of memory */
    struct esi_ledger_member *members; /* NULL if not counted */
    unsigned int members_log2;
};

void esi_window_ledger_init(struct esi_window_ledger *window,
                            uint16_t communicator,
                            int32_t number);
/* Frees the data and removes the window's epochs. */
void esi_window_ledger_fini(struct esi_window_ledger *window);

/* A collective call on the window is entered (1), or was refused (-1). */
void esi_window_ledger_count_collective(struct esi_window_ledger *window, int change);

/* Makes room for the counts of `size` members, unless done before. */
void esi_window_ledger_reserve(struct esi_window_ledger *window, int size);

/* An epoch has begun, or a lock is requested (`granted` is false). */
void esi_window_ledger_open(const struct esi_window_ledger *window,
                            enum esi_ledger_epoch_kind kind,
                            int32_t peer,
                            uint32_t number,
                            bool granted);

/* Epochs of these kinds (bits 1 << kind) with a peer, or with any (ES_PEER_ANY), have
 * ended.  Calls `on_end`, unless NULL, for each. */
void esi_window_ledger_close(const struct esi_window_ledger *window,
                             uint32_t kinds,
                             int32_t peer,
                             void (*on_end)(const struct esi_window_ledger *window,
                                            int32_t peer));

/* The requested lock of the peer is held. */
void esi_window_ledger_grant(const struct esi_window_ledger *window, int32_t peer);

/* Counts another epoch with a member. */
void esi_window_ledger_count(const struct esi_window_ledger *window,
                             enum esi_ledger_epoch_kind kind,
                             int32_t peer);
/* The access epoch with the peer has ended. */
void esi_window_ledger_complete(const struct esi_window_ledger *window, int32_t peer);

#endif
