/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The bytes of a profile, in the arena of its segment (profile.h says what it tells).
 *
 * The ledger's header leads to the profile's, and that to two lists: of threads, each
 * with a list of rows, and of peers.  All are prepended to, and nothing is ever freed
 * or moved.  What an offset leads to is written before it (release).
 *
 * A row has one writer, the thread that has its slot; a peer has all threads.  Sums
 * only grow and are written with relaxed stores, a row's calls last (release).
 */
#ifndef ES_TUPLESPACE_PROFILE_LAYOUT_H
#define ES_TUPLESPACE_PROFILE_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/layout.h"

enum { ESI_PROFILE_SIZES = 33 }; /* classes of sizes: esi_profile_size_class() */

/* What one thread has called of one operation at one place of the program. */
struct esi_profile_row_layout {
    alignas(ES_CACHE_LINE) _Atomic uint64_t next; /* offset of an older row; 0 = none */
    uint64_t site;      /* address behind the call; 0 = all that have none */
    uint32_t operation; /* code */
    uint32_t has_sizes; /* 1: it moves data */
    _Atomic uint64_t ticks;
    _Atomic uint64_t shortest; /* call ... */
    _Atomic uint64_t span;     /* ... and how much longer the longest was, plus one; 0 =
                                  there was none yet */
    _Atomic uint64_t bytes;
    /* Calls by size class, ESI_PROFILE_SIZES of them if it moves data; else one number
     * of calls. */
    _Atomic uint64_t calls[];
};

struct esi_profile_thread_layout {
    alignas(ES_CACHE_LINE) _Atomic uint64_t next; /* offset of an older one; 0 = none */
    _Atomic uint64_t rows;                        /* offset of the newest row */
    int32_t thread;
    uint32_t reserved0;
    uint64_t reserved[5];
};

/* Messages that were sent to one process. */
struct esi_profile_peer_layout {
    alignas(ES_CACHE_LINE) _Atomic uint64_t next; /* offset of an older one; 0 = none */
    int32_t world; /* its world rank; -1 = all that have none */
    uint32_t reserved0;
    _Atomic uint64_t messages;
    _Atomic uint64_t bytes;
    uint64_t reserved[4];
};

struct esi_profile_layout {
    /* Constant; sizeofs as the process knows them. */
    alignas(ES_CACHE_LINE) uint32_t header_bytes;
    uint32_t row_bytes; /* with sizes */
    uint32_t thread_bytes;
    uint32_t peer_bytes;
    _Atomic uint64_t threads; /* offset of the newest thread's */
    _Atomic uint64_t peers;   /* offset of the newest peer's */
    _Atomic uint64_t began;   /* ticks: MPI was first up; 0 = not yet */
    _Atomic uint64_t ended;   /* ticks: MPI_Finalize was called; 0 = not yet */
    _Atomic uint32_t partial; /* not 0: something had no room, and is not counted */
    uint32_t reserved[3];
};

/* Class 0 has size 0, class N sizes from 2^(N-1) to 2^N - 1. */
static inline unsigned int esi_profile_size_class(uint32_t bytes)
{
    return 63 - (unsigned int)__builtin_clzll(2 * (unsigned long long)bytes + 1);
}

/* Bytes of a row. */
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
