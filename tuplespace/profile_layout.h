/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The memory layout of a profile in the arena of its segment; profile.h describes its
 * meaning.
 *
 * The ledger's header refers to the profile's header, which refers to two lists:
 * threads, each with a list of rows, and peers.  New entries are added at the head;
 * nothing is freed or moved.  Data is written before the offset that refers to it
 * (release).
 *
 * A row has one writer, the thread that has its slot; all threads write peers.  Totals
 * only grow.  They are stored relaxed, and the calls of a row last (release).
 */
#ifndef ES_TUPLESPACE_PROFILE_LAYOUT_H
#define ES_TUPLESPACE_PROFILE_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/layout.h"

enum { ESI_PROFILE_SIZES = 33 }; /* number of size classes: esi_profile_size_class() */

/* The calls of one thread of one operation from one call site. */
struct esi_profile_row_layout {
    alignas(ES_CACHE_LINE) _Atomic uint64_t next; /* offset of an older row;
                                                     0 if none */
    uint64_t site;      /* return address of the call; 0 for all calls without one */
    uint32_t operation; /* code */
    uint32_t has_sizes; /* 1 if it moves data */
    _Atomic uint64_t ticks;
    _Atomic uint64_t shortest; /* shortest call */
    _Atomic uint64_t span;     /* longest call minus shortest, plus
                                  one; 0 if there was no call yet */
    _Atomic uint64_t bytes;
    /* Number of calls by size class, ESI_PROFILE_SIZES of them, if it moves data;
     * otherwise one number of calls. */
    _Atomic uint64_t calls[];
};

struct esi_profile_thread_layout {
    alignas(ES_CACHE_LINE) _Atomic uint64_t next; /* offset of an older
                                                     thread; 0 if none */
    _Atomic uint64_t rows;                        /* offset of the newest row */
    int32_t thread;
    uint32_t reserved0;
    uint64_t reserved[5];
};

/* Messages sent to one process. */
struct esi_profile_peer_layout {
    alignas(ES_CACHE_LINE) _Atomic uint64_t next; /* offset of an older peer;
                                                     0 if none */
    int32_t world; /* its world rank; -1 for all that have none */
    uint32_t reserved0;
    _Atomic uint64_t messages;
    _Atomic uint64_t bytes;
    uint64_t reserved[4];
};

struct esi_profile_layout {
    /* Constant.  Struct sizes as compiled into the process. */
    alignas(ES_CACHE_LINE) uint32_t header_bytes;
    uint32_t row_bytes; /* with sizes */
    uint32_t thread_bytes;
    uint32_t peer_bytes;
    _Atomic uint64_t threads; /* offset of the newest thread */
    _Atomic uint64_t peers;   /* offset of the newest peer */
    _Atomic uint64_t began;   /* ticks when MPI was initialized; 0 if not yet */
    _Atomic uint64_t ended;   /* ticks when MPI_Finalize was called; 0 if not yet */
    _Atomic uint32_t partial; /* not 0 if something did not fit and is not counted */
    uint32_t reserved[3];
};

/* Class 0 has size 0, class N sizes from 2^(N-1) to 2^N - 1. */
static inline unsigned int esi_profile_size_class(uint32_t bytes)
{
    return 63 - (unsigned int)__builtin_clzll(2 * (unsigned long long)bytes + 1);
}

/* Size of a row in bytes. */
static inline size_t esi_profile_row_bytes(bool has_sizes)
{
    return offsetof(struct esi_profile_row_layout, calls) +
           sizeof(uint64_t) * (has_sizes ? ESI_PROFILE_SIZES : 1);
}

_Static_assert(offsetof(struct esi_profile_row_layout, calls) == 56,
               "a row without sizes is a cache line, one with them five");
_Static_assert(sizeof(struct esi_profile_thread_layout) == 64, "a cache line");
_Static_assert(sizeof(struct esi_profile_peer_layout) == 64, "a cache line");
_Static_assert(sizeof(struct esi_profile_layout) == 64, "a cache line");

#endif
