/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The bytes of a ledger, in the arena of its segment (ledger.h says what it tells).
 *
 * A header of fixed size names tables that grow and move: each by one word, its
 * *place*.  The process writes everything; a table that has moved may be overwritten
 * with something else, so a reader looks at the place again when it has copied.
 *
 * Counters and words that readers look at are written with relaxed stores where nothing
 * depends on them.  What a place or an offset leads to is written before it (release).
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

enum {
    ESI_LEDGER_SHARDS_LOG2 = 4,
    ESI_LEDGER_SHARDS = 1 << ESI_LEDGER_SHARDS_LOG2,
    ESI_LEDGER_RECENT = 16, /* collective operations kept of each communicator */
    ESI_LEDGER_MAX_EPOCHS = 256,
    ESI_LEDGER_MAX_WINDOWS = 64,
    ESI_LEDGER_OBJECT_KINDS = 8, /* room; enum esi_ledger_object has fewer */
    ESI_LEDGER_TEXT_WORDS = 64,
    ESI_LEDGER_HANDLES = 64, /* of a thread's wait */
};

/* Where a table lies: its offset, a multiple of 64, and in the low bits log2 of its
 * slots.  0 = nowhere, also when it had no room in the segment. */
#define ESI_PLACE_LOG2_MASK UINT64_C(63)

static inline uint64_t esi_place_make(uint64_t offset, unsigned int slots_log2)
{
    return offset != 0 ? offset | slots_log2 : 0;
}

/* An outstanding request.  The interposer's own record (struct esi_request) has the
 * same fields in the same places; it has pointers of its own behind them. */
struct esi_ledger_slot {
    uint64_t handle;
    struct es_tuple tuple; /* as far as it is known; stop is the interposer's */
    uint8_t kind;          /* enum esi_ledger_request_kind; 0 = the slot is empty */
    bool persistent : 1;
    bool active : 1;
    bool cancelled : 1;
    bool partitioned : 1;
    uint16_t site; /* number of where it was posted; 0 = not known */
    uint64_t private[2];
};

/* A channel: base/shared_map.h says how they are found.  `key` is the peer in the upper
 * and the tag in the lower half, plus one; 0 = free. */
struct esi_ledger_channel_slot {
    _Atomic uint64_t key;
    _Atomic uint32_t count;
    _Atomic uint32_t peer; /* the interposer's: struct esi_shared_slot */
};

/* In front of a communicator's channels. */
struct esi_ledger_channels {
    uint64_t private[3];
    _Atomic uint64_t older; /* place of a map that holds what came before; 0 = none */
};

/* From here on a count of sends is not known (wrappers/mpi/match.h). */
#define ESI_LEDGER_COUNT_DOUBTFUL UINT32_C(0xC0000000)

/* A collective operation: slot instance % ESI_LEDGER_RECENT.  Readers look at the first
 * word again when they have the second. */
struct esi_ledger_recent {
    _Atomic uint64_t what; /* instance; the operation's code above; 0 = none */
    _Atomic uint64_t how;  /* the root; the hash above */
};

struct esi_ledger_communicator {
    uint32_t index;        /* in the segment's table */
    _Atomic uint32_t held; /* receives that are complete and not counted yet: an earlier
                              one, outstanding, may have taken their messages */
    _Atomic uint64_t sent; /* place of the channels of sends */
    _Atomic uint64_t received; /* and of receives */
    uint64_t reserved[5];
    struct esi_ledger_recent recent[ESI_LEDGER_RECENT];
};

/* What a thread waits for.  Never freed. */
struct esi_ledger_thread {
    _Atomic uint64_t next; /* offset of another thread's; 0 = none */
    int32_t thread;
    uint32_t reserved0;
    _Atomic uint64_t what;   /* requests; enum esi_ledger_wait_kind above (release) */
    _Atomic uint32_t others; /* polled, too: something that is no request */
    uint32_t reserved1;
    uint64_t reserved[4];
    uint64_t handles[ESI_LEDGER_HANDLES]; /* the first of them */
};

/* An epoch that is open.  Threads of the process take slots by the first word. */
struct esi_ledger_epoch_slot {
    _Atomic uint64_t what; /* communicator, kind << 16, granted << 24, window << 32;
                              0 = free */
    _Atomic uint64_t whom; /* peer; number << 32 */
};

/* Epochs towards one member of a window, ever. */
struct esi_ledger_member {
    _Atomic uint32_t posted;
    _Atomic uint32_t started;
    _Atomic uint32_t completed;
    uint32_t reserved;
};

struct esi_ledger_window {
    uint32_t communicator;
    int32_t number;
    _Atomic uint32_t collectives; /* collective calls entered on it, but its making */
    uint32_t reserved0;
    _Atomic uint64_t members; /* place of its members' counts */
    uint64_t reserved[5];
};

/* Above the operation of an error: the program ended by it. */
#define ESI_LEDGER_ERROR_FATAL (UINT32_C(1) << 16)

struct esi_ledger_layout {
    /* Constant but for the place; the process writes them. */
    alignas(ES_CACHE_LINE) uint32_t
        header_bytes; /* sizeofs as the process knows them */
    uint32_t slot_bytes;
    uint32_t communicator_bytes;
    uint32_t thread_bytes;
    uint64_t null_request;  /* the handle that stands for no request */
    _Atomic uint64_t sites; /* place of the addresses of sites, by number less one; 0 =
                               none yet */
    /* In what was reserved before: offset of the profile (profile_layout.h); 0 = the
     * process has none (release). */
    _Atomic uint64_t profile;
    uint64_t reserved0[3];

    alignas(ES_CACHE_LINE) _Atomic uint64_t communicators; /* place of a table of
                                                 offsets, by index; 0 = none there */
    _Atomic uint64_t threads;         /* offset of the newest thread's */
    _Atomic uint32_t partial;         /* not 0: something had no room */
    _Atomic uint32_t error_version;   /* odd while the error is being changed */
    _Atomic uint32_t error_class;     /* of the last call that failed; 0 = none */
    _Atomic uint32_t error_operation; /* and ESI_LEDGER_ERROR_FATAL */
    _Atomic uint64_t unfreed[ESI_LEDGER_OBJECT_KINDS]; /* by enum esi_ledger_object;
                                         freed more than made: as a negative number */
    _Atomic uint32_t error_text[ESI_LEDGER_TEXT_WORDS];

    /* A line each: with many threads a shard's lock guards its counter. */
    struct esi_ledger_shard {
        alignas(ES_CACHE_LINE) _Atomic uint64_t requests; /* place of the slots */
        _Atomic uint64_t changes; /* requests that came or went */
    } shards[ESI_LEDGER_SHARDS];

    _Atomic uint64_t windows[ESI_LEDGER_MAX_WINDOWS]; /* offsets; 0 = free */
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
