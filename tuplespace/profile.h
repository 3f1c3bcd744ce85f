/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The profile of a process: sums over all its recorded calls, in its segment.
 *
 * Rings keep the newest tuples only.  The profile is complete: for each thread,
 * operation and place in the program how many calls there were, how long they took and
 * what they moved; and what was sent to each other process.  It outlives the process as
 * the segment does.
 *
 * The time of a row is that of the calls themselves: of a nonblocking operation it is
 * the call that posts it, not until it is complete.  So times of one thread do not
 * overlap, and their sum is at most the time that has passed.  A nonblocking receive
 * and its bytes are counted when it is complete.
 *
 * A reader copies while the process goes on.  Each sum only grows.  Those of one row
 * belong together but for the calls that end while it is copied: they contain the calls
 * that `calls` tells, and at most those too.  Nothing read is trusted.
 */
#ifndef ES_TUPLESPACE_PROFILE_H
#define ES_TUPLESPACE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/profile_layout.h"

struct es_segment;
struct es_segment_view;
struct esi_arena_pool;
struct esi_ledger_layout;

/* One thread's calls of one operation at one place. */
struct esi_profile_row {
    uint64_t site; /* address; 0 = not known */
    uint64_t calls;
    uint64_t ticks; /* of all calls ... */
    uint64_t shortest;
    uint64_t longest; /* ... the shortest and the longest */
    uint64_t bytes;   /* that they moved; those of receives that are complete */
    int32_t thread;
    uint16_t operation;
    bool has_sizes;
    uint64_t sizes[ESI_PROFILE_SIZES]; /* messages by size class */
};

/* A call that a thread is in: not in the sums yet. */
struct esi_profile_call {
    uint64_t site;
    uint64_t ticks; /* that it has lasted so far */
    int32_t thread;
    uint16_t operation;
};

struct esi_profile_peer {
    int32_t world; /* rank; -1 = not known */
    uint64_t messages;
    uint64_t bytes;
};

/* A copy; owned. */
struct esi_profile {
    struct esi_profile_row *rows;
    size_t row_count;
    size_t row_capacity;
    struct esi_profile_peer *peers;
    size_t peer_count;
    size_t peer_capacity;
    struct esi_profile_call *open;
    size_t open_count;
    size_t open_capacity;
    uint64_t began; /* ticks: MPI was up; 0 = it is not yet */
    uint64_t until; /* ticks: now; or MPI_Finalize began, or the last that is known */
    bool ended;     /* by MPI_Finalize */
    bool partial;   /* memory or a table was short: not all calls are counted */
};

/* --- The process's side ----------------------------------------------------------- */

/* Adds a profile to the segment, which the ledger leads to, and lets the pool take its
 * memory there.  -ENOSPC. */
int esi_segment_add_profile(struct es_segment *segment,
                            struct esi_ledger_layout *ledger,
                            struct esi_arena_pool *pool,
                            struct esi_profile_layout **ret_profile);

/* --- The others' side ------------------------------------------------------------- */

/* Reads the profile of a segment.  -ENOENT: it has none (an older segment, or ledgers
 * are off); -ENOMEM.  Free with esi_profile_fini(). */
int esi_profile_read(const struct es_segment_view *segment,
                     struct esi_profile *ret_profile);
/* All zero is allowed. */
void esi_profile_fini(struct esi_profile *profile);

#endif
