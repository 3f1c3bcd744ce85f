/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What is known of the program's outstanding requests and matched messages, by handle.
 *
 * A table in shards.  Shards are locked (a spin lock of a few instructions, never held
 * across a call of MPI) only when threads may call MPI at the same time.
 *
 * A shard has two halves of equal size.  In the *window* each handle has one slot, and
 * handles that follow each other have slots that do: one compare finds a record, and a
 * sweep over requests in order is one over the memory.  A record whose slot there is
 * taken goes to the *overflow*, a hash table, which is mostly empty.
 *
 * Two ways to a record: in place (claim, find; then release or remove, soon), which the
 * common calls use, since copies of what was just written piece by piece are slow; and
 * by copy (put, get, take, finish).
 *
 * An MPI may hand out one handle for many requests that are complete from the start
 * (MPICH does for small sends); then the newest record stands for all, and it only
 * describes.
 */
#ifndef ES_WRAPPERS_MPI_REQUESTS_H
#define ES_WRAPPERS_MPI_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/tuple.h"
#include "tuplespace/ledger.h"
#include "tuplespace/ledger_layout.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/match.h"
#include "wrappers/mpi/thread.h"

struct esi_comm;
struct esi_receive;

enum esi_request_kind {
    ESI_REQUEST_NONE = 0, /* empty slot */
    /* Recorded when called: the record only describes. */
    ESI_REQUEST_SEND = ESI_LEDGER_SEND,
    ESI_REQUEST_RECEIVE = ESI_LEDGER_RECEIVE,
    ESI_REQUEST_COLLECTIVE = ESI_LEDGER_COLLECTIVE,
    ESI_REQUEST_DUPLICATE = ESI_LEDGER_DUPLICATE, /* MPI_Comm_idup */
    /* One-sided, I/O, partitioned: only describes. */
    ESI_REQUEST_OTHER = ESI_LEDGER_OTHER,
    /* A matched message (MPI_Mprobe), by message handle. */
    ESI_REQUEST_MESSAGE = ESI_LEDGER_MESSAGE,
    ESI_REQUEST_PAIR = ESI_LEDGER_PAIR, /* MPI_Isendrecv: completes as its receive */
};

/* MPI_Comm_idup: what its completion needs. */
struct esi_duplicate {
    void *made; /* where MPI puts the communicator */
    uint64_t key[2];
};

/* One cache line; others see it as struct esi_ledger_slot. */
struct esi_request {
    uint64_t handle;
    struct es_tuple tuple; /* as far as it is known; `stop` is the record's serial, in
                              order of posting, where threads race, else 0 */
    uint8_t kind;          /* enum esi_request_kind */
    union {
        struct {
            bool persistent : 1;
            bool active : 1;    /* persistent: started */
            bool cancelled : 1; /* MPI_Cancel was called */
            bool partitioned : 1;
        };
        uint8_t flags; /* all of these; 0 in the common case */
    };
    uint16_t site;         /* number of where it was posted: sites.h */
    struct esi_comm *comm; /* holds a reference if not NULL */
    union {
        struct esi_receive
            *receive; /* not decided yet; NULL = the tuple has its number */
        struct esi_duplicate *duplicate; /* DUPLICATE: owned */
    };
};

_Static_assert(sizeof(struct esi_request) == 64, "a record is a cache line");
_Static_assert(
    sizeof(struct esi_ledger_slot) == sizeof(struct esi_request) &&
        offsetof(struct esi_ledger_slot, tuple) ==
            offsetof(struct esi_request, tuple) &&
        offsetof(struct esi_ledger_slot, kind) == offsetof(struct esi_request, kind) &&
        offsetof(struct esi_ledger_slot, site) == offsetof(struct esi_request, site) &&
        offsetof(struct esi_ledger_slot, private) == offsetof(struct esi_request, comm),
    "others see what is written");

/*
 * When a thread completes a request, MPI may give its handle to another thread's new
 * one before the first comes here: then there are two records.  The older is meant by
 * those who began to complete before the newer was posted: they take
 * esi_request_serial() on entry, and pass it as `limit`.  UINT64_MAX means the newest.
 */
uint64_t esi_request_serial(void);

/* Sets esi_multiple while records are held; no other thread may be here. */
void esi_request_share(void);

/* A part of the table. */
struct esi_request_shard {
    atomic_flag lock;
    unsigned int shift;           /* of hashes, to slots of the overflow */
    size_t mask;                  /* slots of a half - 1 */
    size_t overflowed;            /* records in the overflow */
    struct esi_request *window;   /* in the ledger, where it has room; never NULL */
    struct esi_request *overflow; /* behind it */
};

/* One is used while one thread at a time calls MPI: better for the cache. */
extern struct esi_request_shard esi_request_shards[ESI_LEDGER_SHARDS]
    __attribute__((visibility("hidden")));

/* The handle's slot in the window.  Handles are numbers that differ in their low bits,
 * or addresses of objects of some 100 bytes. */
static inline struct esi_request *esi_request_window_slot(
    const struct esi_request_shard *shard,
    uint64_t handle)
{
    return &shard->window[(handle ^ handle >> 7) & shard->mask];
}

/* Tells readers of the ledger that a request has come or gone; the shard is locked. */
ES_HOT void esi_request_note_change(const struct esi_request_shard *shard)
{
    _Atomic uint64_t *changes = &esi_ledger->shards[shard - esi_request_shards].changes;

    atomic_store_explicit(changes,
                          atomic_load_explicit(changes, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* The ways where the record is not the first that is looked at, or threads race. */
struct esi_request *esi_request_claim_slowly(uint64_t handle);
struct esi_request *esi_request_find_slowly(uint64_t handle, uint64_t limit);
void esi_request_release_slowly(struct esi_request *request);
void esi_request_remove_slowly(struct esi_request *request);

/* The record of a handle, to be filled anew but for the handle and `stop`; its
 * shard is locked until esi_request_release() or esi_request_remove().  NULL without
 * memory: the request is then not known, and its completion goes unseen. */
ES_HOT struct esi_request *esi_request_claim(uint64_t handle)
{
    struct esi_request_shard *shard = &esi_request_shards[0];
    struct esi_request *slot = esi_request_window_slot(shard, handle);

    if (ESI_UNLIKELY(esi_multiple || shard->overflowed != 0 ||
                     slot->kind != ESI_REQUEST_NONE))
        return esi_request_claim_slowly(handle);
    esi_request_note_change(shard);
    slot->handle = handle;
    slot->tuple.stop = 0;
    return slot;
}

/* The record of a handle, locked as above; NULL (nothing locked) when there is none. */
ES_HOT struct esi_request *esi_request_find(uint64_t handle, uint64_t limit)
{
    struct esi_request_shard *shard = &esi_request_shards[0];
    struct esi_request *slot = esi_request_window_slot(shard, handle);

    if (ESI_UNLIKELY(esi_multiple))
        return esi_request_find_slowly(handle, limit);
    if (ESI_LIKELY(slot->handle == handle && slot->kind != ESI_REQUEST_NONE))
        return slot;
    return shard->overflowed != 0 ? esi_request_find_slowly(handle, limit) : NULL;
}

ES_HOT void esi_request_release(struct esi_request *request)
{
    if (ESI_UNLIKELY(esi_multiple))
        esi_request_release_slowly(request);
}

ES_HOT void esi_request_remove(struct esi_request *request)
{
    struct esi_request_shard *shard = &esi_request_shards[0];

    if (ESI_UNLIKELY(esi_multiple || request >= shard->overflow)) {
        esi_request_remove_slowly(request);
        return;
    }
    request->kind = ESI_REQUEST_NONE;
    esi_request_note_change(shard);
}

/* Adds a copy, in place of a record with the same handle.  False without memory. */
bool esi_request_put(const struct esi_request *request);

/* Changes a record that was copied out before, if it is still there. */
void esi_request_update(const struct esi_request *request);

/* Copies the record of a handle; false when there is none. */
bool esi_request_get(uint64_t handle, struct esi_request *ret_request);

/* Copies and removes it. */
bool esi_request_take(uint64_t handle, struct esi_request *ret_request);

/* Copies and removes it, unless it is persistent: then it becomes inactive. */
bool esi_request_finish(uint64_t handle,
                        uint64_t limit,
                        struct esi_request *ret_request);

/* Changes all records for which `visit` returns true to what it made of them.  Shards
 * are locked meanwhile. */
void esi_request_foreach(bool (*visit)(struct esi_request *request, void *context),
                         void *context);

#endif
