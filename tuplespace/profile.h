/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The profile of a process: totals over all recorded calls, kept in its segment.
 *
 * Rings keep only the newest tuples; the profile is complete.  For each thread,
 * operation and call site it has the number of calls, their time and the data moved;
 * and for each peer process the data sent to it.  It outlives the process, as the
 * segment does.
 *
 * The time of a row is that spent in the calls themselves; for a nonblocking operation,
 * in the call that posts it.  The times of one thread therefore do not overlap, and
 * their sum is at most the elapsed time.  A nonblocking receive and its bytes are
 * counted when it completes.
 *
 * A reader copies while the process continues.  Totals only grow.  Those of one row are
 * consistent except for calls that end during the copy: they include all calls counted
 * in `calls`, and possibly those.  Nothing read is trusted.
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

/* One thread's calls of one operation from one call site. */
struct esi_profile_row {
    uint64_t site; /* address; 0 if not known */
    uint64_t calls;
    uint64_t ticks; /* total time of the calls */
    uint64_t shortest;
    uint64_t longest; /* longest call, in ticks; `shortest` likewise */
    uint64_t bytes;   /* data moved; for receives, only of completed ones */
    int32_t thread;
    uint16_t operation;
    bool has_sizes;
    uint64_t sizes[ESI_PROFILE_SIZES]; /* number of messages by size class */
};

/* A call that a thread is in; not included in the totals yet. */
struct esi_profile_call {
    uint64_t site;
    uint64_t ticks; /* time since it began */
    int32_t thread;
    uint16_t operation;
};

struct esi_profile_peer {
    int32_t world; /* world rank; -1 if not known */
    uint64_t messages;
    uint64_t bytes;
};

/* A copy of a profile, which owns its arrays. */
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
    uint64_t began; /* ticks when MPI was initialized; 0 if it is not yet */
    uint64_t until; /* ticks now; or when MPI_Finalize
                       began; or the latest known time */
    bool ended;     /* MPI_Finalize was called */
    bool partial;   /* incomplete, because memory or a table was full */
};

/* --- Writing ---------------------------------------------------------------------- */

/* Adds a profile to the segment, linked from the ledger, and lets the pool allocate
 * there.  Returns 0 or -ENOSPC. */
int esi_segment_add_profile(struct es_segment *segment,
                            struct esi_ledger_layout *ledger,
                            struct esi_arena_pool *pool,
                            struct esi_profile_layout **ret_profile);

/* --- Reading ---------------------------------------------------------------------- */

/* Reads the profile of a segment.  Returns 0; -ENOENT if it has none (an older segment,
 * or ledgers are off); or -ENOMEM.  Free with esi_profile_fini(). */
int esi_profile_read(const struct es_segment_view *segment,
                     struct esi_profile *ret_profile);
/* Frees the arrays.  Accepts a zeroed struct. */
void esi_profile_fini(struct esi_profile *profile);

#endif
