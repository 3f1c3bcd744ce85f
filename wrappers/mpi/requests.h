/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The program's outstanding requests and matched messages, by handle.
 *
 * A table divided into shards.  Shards are locked only if threads may call MPI
 * concurrently, by a spin lock held for a few instructions and never across a call of
 * MPI.
 *
 * A shard has two halves of equal size.  In the *window*, each handle has one slot, and
 * consecutive handles have consecutive slots, so a record is found by one comparison,
 * and a scan of requests in order is a scan of memory.  A record whose slot is taken
 * goes to the *overflow*, a hash table, which is usually empty.
 *
 * Records are accessed in place (claim or find, soon followed by release or remove), as
 * in the common calls, because copying what was just written field by field is slow; or
 * by copy (put, get, take, finish).
 *
 * An MPI may use one handle for many requests that are complete from the start (MPICH
 * does for small sends).  Then the newest record stands for all of them, and is only a
 * description.
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
    /* Recorded when called: the record is only a description. */
    ESI_REQUEST_SEND = ESI_LEDGER_SEND,
    ESI_REQUEST_RECEIVE = ESI_LEDGER_RECEIVE,
    ESI_REQUEST_COLLECTIVE = ESI_LEDGER_COLLECTIVE,
    ESI_REQUEST_DUPLICATE = ESI_LEDGER_DUPLICATE, /* MPI_Comm_idup */
    /* One-sided, I/O, partitioned: only a description. */
    ESI_REQUEST_OTHER = ESI_LEDGER_OTHER,
    /* A matched message (MPI_Mprobe), by message handle. */
    ESI_REQUEST_MESSAGE = ESI_LEDGER_MESSAGE,
    ESI_REQUEST_PAIR = ESI_LEDGER_PAIR, /* MPI_Isendrecv: completes like its receive */
};

/* For MPI_Comm_idup: needed when it completes. */
struct esi_duplicate {
    void *made; /* where MPI stores the communicator */
    uint64_t key[2];
};

/* One cache line; readers see it as struct esi_ledger_slot. */
struct esi_request {
    uint64_t handle;
    struct es_tuple tuple; /* the fields known so far; `stop` is the serial number of
                              the record, in posting order, if threads race, else 0 */
    uint8_t kind;          /* enum esi_request_kind */
    union {
        struct {
            bool persistent : 1;
            bool active : 1;    /* persistent requests: started */
            bool cancelled : 1; /* MPI_Cancel was called */
            bool partitioned : 1;
        };
        uint8_t flags; /* all of these flags; usually 0 */
    };
    uint16_t site;         /* number of the call site that posted it: sites.h */
    struct esi_comm *comm; /* holds a reference unless NULL */
    union {
        struct esi_receive
            *receive; /* not decided yet; NULL if the tuple has its number */
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
 * When a thread completes a request, MPI may reuse its handle for a new request of
 * another thread before the first gets here; then there are two records.  The older one
 * is meant by threads that began to complete before the newer one was posted: they take
 * esi_request_serial() on entry and pass it as `limit`.  UINT64_MAX means the newest.
 */
uint64_t esi_request_serial(void);

/* Sets esi_multiple if records are held; no other thread may be here. */
void esi_request_share(void);

/* One shard of the table. */
struct esi_request_shard {
    atomic_flag lock;
    unsigned int shift;           /* from hashes to slots of the overflow */
    size_t mask;                  /* number of slots of a half, minus 1 */
    size_t overflowed;            /* number of records in the overflow */
    struct esi_request *window;   /* in the ledger, if there is room; never NULL */
    struct esi_request *overflow; /* follows the window */
};

/* Only one is used while one thread at a time calls MPI, which is better for the
 * cache. */
extern struct esi_request_shard esi_request_shards[ESI_LEDGER_SHARDS]
    __attribute__((visibility("hidden")));

/* The slot of a handle in the window.  Handles are numbers that differ in their low
 * bits, or addresses of objects of about 100 bytes. */
static inline struct esi_request *esi_request_window_slot(
    const struct esi_request_shard *shard,
    uint64_t handle)
{
    return &shard->window[(handle ^ handle >> 7) & shard->mask];
}

/* Notifies readers of the ledger that requests were added or removed; the shard is
 * locked. */
ES_HOT void esi_request_note_changes(const struct esi_request_shard *shard,
                                     uint64_t count)
{
    _Atomic uint64_t *changes = &esi_ledger->shards[shard - esi_request_shards].changes;

    atomic_store_explicit(changes,
                          atomic_load_explicit(changes, memory_order_relaxed) + count,
                          memory_order_relaxed);
}

ES_HOT void esi_request_note_change(const struct esi_request_shard *shard)
{
    esi_request_note_changes(shard, 1);
}

/* The slow paths, if the record is not the first one examined, or threads race. */
struct esi_request *esi_request_claim_slowly(uint64_t handle);
struct esi_request *esi_request_find_slowly(uint64_t handle, uint64_t limit);
void esi_request_release_slowly(struct esi_request *request);
void esi_request_remove_slowly(struct esi_request *request);

/* The record of a handle, to be filled except the handle and `stop`.  Its shard is
 * locked until esi_request_release() or esi_request_remove().  NULL if out of memory:
 * the request is then unknown, and its completion is not recorded.  The first function
 * is for while one thread at a time calls MPI, and needs no release. */
ES_HOT struct esi_request *esi_request_claim_alone(uint64_t handle)
{
    struct esi_request_shard *shard = &esi_request_shards[0];
    struct esi_request *slot = esi_request_window_slot(shard, handle);

    if (ESI_UNLIKELY(shard->overflowed != 0 || slot->kind != ESI_REQUEST_NONE))
        return esi_request_claim_slowly(handle);
    esi_request_note_change(shard);
    slot->handle = handle;
    slot->tuple.stop = 0;
    return slot;
}

ES_HOT struct esi_request *esi_request_claim(uint64_t handle)
{
    return ESI_UNLIKELY(esi_multiple) ? esi_request_claim_slowly(handle)
                                      : esi_request_claim_alone(handle);
}

/* Finds the record of a handle and locks it as above; NULL, and nothing locked, if
 * there is none. */
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

/* Adds a copy, replacing a record with the same handle.  Returns false if out of
 * memory. */
bool esi_request_put(const struct esi_request *request);

/* Updates a record that was copied before, if it still exists. */
void esi_request_update(const struct esi_request *request);

/* Copies the record of a handle; returns false if there is none. */
bool esi_request_get(uint64_t handle, struct esi_request *ret_request);

/* Copies and removes the record of a handle. */
bool esi_request_take(uint64_t handle, struct esi_request *ret_request);

/* Copies and removes the record of a handle; a persistent one becomes inactive
 * instead. */
bool esi_request_finish(uint64_t handle,
                        uint64_t limit,
                        struct esi_request *ret_request);

/* Calls `visit` with a copy of each record, and stores the copy if it returns true.
 * Shards are locked meanwhile. */
void esi_request_foreach(bool (*visit)(struct esi_request *request, void *context),
                         void *context);

#endif
