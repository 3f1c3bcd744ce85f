/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The memory layout of a ledger in the arena of its segment; ledger.h describes its
 * meaning.
 *
 * A header of fixed size refers to tables that grow and move, each by one word, its
 * *place*.  Only the process writes.  After a table has moved, its memory may be
 * reused, so readers check the place again after copying.
 *
 * Counters and words that others read are stored relaxed if nothing depends on them.
 * Data is written before the place or offset that refers to it (release).
 */
#ifndef ES_TUPLESPACE_LEDGER_LAYOUT_H
#define ES_TUPLESPACE_LEDGER_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/tuple.h"
#include "tuplespace/layout.h"
#include "tuplespace/ledger.h"

enum {
    ESI_LEDGER_SHARDS_LOG2 = 4,
    ESI_LEDGER_SHARDS = 1 << ESI_LEDGER_SHARDS_LOG2,
    ESI_LEDGER_RECENT = 16, /* collectives kept for each communicator */
    ESI_LEDGER_MAX_EPOCHS = 256,
    ESI_LEDGER_MAX_WINDOWS = 64,
    ESI_LEDGER_OBJECT_KINDS = 8, /* number of slots; enum
                                    esi_ledger_object has fewer values */
    ESI_LEDGER_TEXT_WORDS = 64,
    ESI_LEDGER_HANDLES = 64, /* for each waiting thread */
};

/* Location of a table: its offset, a multiple of 64, with log2 of the number of slots
 * in the low bits.  0 if there is no table, or no room for it in the segment. */
#define ESI_PLACE_LOG2_MASK UINT64_C(63)

static inline uint64_t esi_place_make(uint64_t offset, unsigned int slots_log2)
{
    return offset != 0 ? offset | slots_log2 : 0;
}

/* An outstanding request.  The interposer's record (struct esi_request) has the same
 * fields at the same offsets, followed by private pointers. */
struct esi_ledger_slot {
    uint64_t handle;
    struct es_tuple tuple; /* the fields known so far; stop
                              is private to the interposer */
    uint8_t kind;          /* enum esi_ledger_request_kind; 0 for an empty slot */
    bool persistent : 1;
    bool active : 1;
    bool cancelled : 1;
    bool partitioned : 1;
    uint16_t site; /* number of the call site that posted it; 0 if not known */
    uint64_t private[2];
};

/* A channel, in the hash table of base/shared_map.h.  `key` is the peer in the upper
 * and the tag in the lower half, plus one; 0 for a free slot. */
struct esi_ledger_channel_slot {
    _Atomic uint64_t key;
    _Atomic uint32_t count;
    _Atomic uint32_t peer; /* private to the interposer: struct esi_shared_slot */
};

/* Precedes the channels of a communicator. */
struct esi_ledger_channels {
    uint64_t private[3];
    _Atomic uint64_t older; /* place of a map with older channels; 0 if none */
};

/* From this value on, a count of sends is not known (wrappers/mpi/match.h). */
#define ESI_LEDGER_COUNT_DOUBTFUL UINT32_C(0xC0000000)

/* A collective operation, in slot instance % ESI_LEDGER_RECENT.  Readers check the
 * first word again after reading the second. */
struct esi_ledger_recent {
    _Atomic uint64_t what; /* instance; the code of the operation
                              in the upper half; 0 if empty */
    _Atomic uint64_t how;  /* root; the hash in the upper half */
};

struct esi_ledger_communicator {
    uint32_t index;            /* in the segment's communicator table */
    _Atomic uint32_t held;     /* completed receives that are not counted yet,
                                  because an earlier receive, still
                                  outstanding, may have taken their messages */
    _Atomic uint64_t sent;     /* place of the channels of sends */
    _Atomic uint64_t received; /* place of the channels of receives */
    uint64_t reserved[5];
    struct esi_ledger_recent recent[ESI_LEDGER_RECENT];
};

/* What a thread waits for.  Never freed. */
struct esi_ledger_thread {
    _Atomic uint64_t next; /* offset of the next thread; 0 if none */
    int32_t thread;
    uint32_t reserved0;
    _Atomic uint64_t what;      /* number of requests; enum esi_ledger_wait_kind
                                in the upper half (release) */
    _Atomic uint32_t others;    /* also polled something other than requests */
    _Atomic uint32_t thread_id; /* kernel id of the thread that has the slot now */
    uint64_t reserved[4];
    uint64_t handles[ESI_LEDGER_HANDLES]; /* the first requests */
};

/* An open epoch.  Threads of the process claim slots through the first word. */
struct esi_ledger_epoch_slot {
    _Atomic uint64_t what; /* communicator, kind << 16, granted
                              << 24, window << 32; 0 if free */
    _Atomic uint64_t whom; /* peer; number << 32 */
};

/* Number of epochs with one member of a window. */
struct esi_ledger_member {
    _Atomic uint32_t posted;
    _Atomic uint32_t started;
    _Atomic uint32_t completed;
    uint32_t reserved;
};

struct esi_ledger_window {
    uint32_t communicator;
    int32_t number;
    _Atomic uint32_t collectives; /* collective calls entered on
                                     it, except its creation */
    uint32_t reserved0;
    _Atomic uint64_t members; /* place of the counts of its members */
    uint64_t reserved[5];
};

struct esi_ledger_layout {
    /* Constant except the places.  Written by the process. */
    alignas(ES_CACHE_LINE) uint32_t
        header_bytes; /* struct sizes as compiled into the process */
    uint32_t slot_bytes;
    uint32_t communicator_bytes;
    uint32_t thread_bytes;
    uint64_t null_request;  /* the handle of MPI_REQUEST_NULL */
    _Atomic uint64_t sites; /* place of the addresses of call sites,
                               by number minus one; 0 if none yet */
    /* Formerly reserved: offset of the profile (profile_layout.h); 0 if the process has
     * none (release). */
    _Atomic uint64_t profile;
    /* Not 0 if threads may call MPI at the same time: MPI_THREAD_MULTIPLE, or a
     * session. */
    _Atomic uint32_t concurrent;
    uint32_t reserved0;
    /* Written by readers while the process lives: how many of its threads have never
     * called MPI and are not the MPI library's, and when this was counted. */
    _Atomic uint64_t others_counted;
    _Atomic uint32_t others;
    uint32_t reserved1;

    alignas(ES_CACHE_LINE) _Atomic uint64_t communicators; /* place of a table of
                                                              offsets, by index; 0 for
                                                              unused indices */
    _Atomic uint64_t threads;         /* offset of the newest thread */
    _Atomic uint32_t partial;         /* not 0 if something did not fit */
    _Atomic uint32_t error_version;   /* odd while the error is being changed */
    _Atomic uint32_t error_class;     /* of the last call that failed; 0 if none */
    _Atomic uint32_t error_operation; /* the call */
    _Atomic uint64_t unfreed[ESI_LEDGER_OBJECT_KINDS]; /* by enum esi_ledger_object;
                                                          modulo 2^64: negative if more
                                                          were freed than created */
    _Atomic uint32_t error_text[ESI_LEDGER_TEXT_WORDS];

    /* Kernel ids of the threads that the MPI library created when it was initialised; 0
     * for a free slot. */
    _Atomic uint32_t library_threads[ESI_LEDGER_LIBRARY_THREADS];

    /* One cache line each.  With several threads, the shard's lock protects its
     * counter. */
    struct esi_ledger_shard {
        alignas(ES_CACHE_LINE) _Atomic uint64_t requests; /* place of the request
                                                             slots */
        _Atomic uint64_t changes; /* number of requests added or removed */
    } shards[ESI_LEDGER_SHARDS];

    _Atomic uint64_t windows[ESI_LEDGER_MAX_WINDOWS]; /* offsets; 0 if free */
    struct esi_ledger_epoch_slot epochs[ESI_LEDGER_MAX_EPOCHS];
};

_Static_assert(sizeof(struct esi_ledger_slot) == 64, "a cache line");
_Static_assert(offsetof(struct esi_ledger_slot, kind) == 44, "behind the tuple");
_Static_assert(offsetof(struct esi_ledger_slot, site) == 46, "behind the flags");
_Static_assert(sizeof(struct esi_ledger_channels) == 32, "as struct esi_shared_map");
_Static_assert(sizeof(struct esi_ledger_channel_slot) == 16, "two words");
_Static_assert(sizeof(struct esi_ledger_communicator) == 64 + 256, "five lines");
_Static_assert(sizeof(struct esi_ledger_thread) == 64 + 512, "nine lines");
_Static_assert(sizeof(struct esi_ledger_window) == 64, "a cache line");
_Static_assert(sizeof(struct esi_ledger_member) == 16, "two words");
_Static_assert(sizeof(struct esi_ledger_shard) == ES_CACHE_LINE, "a line each");
_Static_assert(sizeof(struct esi_ledger_layout) % ES_CACHE_LINE == 0, "whole lines");

#endif
