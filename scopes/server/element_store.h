/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The elements that a tuple server holds itself: consumers' own data, and trace
 * elements of other hosts that the pathmap places here (scopes/server/placement.h).
 *
 * They lie in segments of their own, marked as kept, so that they are read like all
 * others, through the server or directly.  Each element of consumers has a segment;
 * placed elements lie in one segment for each process they come from, which has that
 * process's pid, rank and clock.
 *
 * A placed element's next tuple is the original's at moved_before + lost_moving + head.
 * So a tuple that comes twice is written once, also by a server that was started again.
 *
 * What clients may take has limits, and a part of the shared memory
 * always stays free for the program.  Memory is reserved while nobody waits for the
 * store.
 *
 * Thread safe, but for placed elements: one thread places and writes them.
 */
#ifndef ES_SCOPES_SERVER_ELEMENT_STORE_H
#define ES_SCOPES_SERVER_ELEMENT_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/run.h"
#include "tuplespace/segment.h"

/* --- The budget --- */

/* What clients may take of the shared memory for elements of a tuple server.
 *
 * Bytes are counted before they are reserved: as long as they are promised, what the
 * file system calls free does not lack them yet.
 *
 * Not thread safe: the caller's lock guards budget and shares. */

/* Bytes of one element: its ring, whose slots are a power of two above the threshold.
 */
#define ES_BUDGET_ELEMENT_BYTES (UINT64_C(256) << 20)

enum {
    ES_BUDGET_ELEMENTS = 4096,       /* of one server */
    ES_BUDGET_SHARE_ELEMENTS = 1024, /* made over one connection */
    /* Of the shared memory's size: */
    ES_BUDGET_PERCENT = 25,       /* all elements of one server */
    ES_BUDGET_SHARE_PERCENT = 12, /* those made over one connection */
    ES_BUDGET_FREE_PERCENT = 25,  /* what stays free */
};

/* Of one server; {0} at first. */
struct esi_element_budget {
    size_t elements;   /* also those being made */
    uint64_t bytes;    /* of all of them */
    uint64_t promised; /* of those being made */
};

/* What one connection has made; {0} at first. */
struct esi_element_share {
    size_t elements;
    uint64_t bytes;
};

/* Counts an element that is going to be made, and promises its bytes.  -EDQUOT: more
 * than a limit; -ENOSPC: too little would stay free; both with words.  `share` is NULL
 * where no connection makes it, here and below. */
int esi_element_budget_add(struct esi_element_budget *budget,
                           struct esi_element_share *share,
                           uint64_t bytes,
                           struct es_error *error);
/* The bytes are reserved, or will not be. */
void esi_element_budget_expire(struct esi_element_budget *budget, uint64_t bytes);
/* An element is gone, or was not made. */
void esi_element_budget_remove(struct esi_element_budget *budget,
                               struct esi_element_share *share,
                               uint64_t bytes);

/* --- The store --- */

struct esi_element_store;
struct esi_segment_set;

/* Reads from `segments` what a server before this one has left; they have to live
 * longer. */
int esi_element_store_create(struct esi_segment_set *segments,
                             const char *host,
                             struct esi_element_store **ret_store);
/* Removes its segments.  Accepts NULL. */
void esi_element_store_destroy(struct esi_element_store *store);
/* Nobody waits for readers in the store any more.  Accepts NULL. */
void esi_element_store_stop(struct esi_element_store *store);
/* Removes the names of its segments and nothing else: for a server that has to end
 * while threads hang in it.  Takes no lock.  Accepts NULL. */
void esi_element_store_unlink(struct esi_element_store *store);
/* The connection ends: what it has made stays, but nothing is counted there any more.
 * Accepts NULL. */
void esi_element_store_leave(struct esi_element_store *store,
                             const struct esi_element_share *share);

/* --- Consumers' own data --- */

/* -EEXIST; -EINVAL; -EDQUOT: more than a limit; -ENOSPC: the shared memory has no room;
 * each with words. */
int esi_element_store_add(struct esi_element_store *store,
                          struct esi_element_share *share,
                          const char *name,
                          uint32_t tuple_bytes,
                          uint32_t threshold,
                          struct es_error *error);
/* Who reads it goes on reading what there is.  -ENOENT, -EBUSY: it is being made. */
int esi_element_store_remove(struct esi_element_store *store,
                             const char *name,
                             struct es_error *error);

/* --- Placed elements: for one thread of the server --- */

struct esi_placed_element;

/* A process of another host.  All borrowed. */
struct esi_placed_process {
    const char *host;
    const char *program;
    struct esi_segment_keeping facts;
};

/* Finds or makes the place of an element of that process.  Borrowed from the store.
 * -EDQUOT: more than a limit; -ENOSPC: the shared memory has no room; with words. */
int esi_element_store_place(struct esi_element_store *store,
                            const struct esi_placed_process *process,
                            const struct esi_element_config *config,
                            struct es_error *error,
                            struct esi_placed_element **ret_placed);

/* Writes the tuple of the original's `position`.  A tuple that is there already is
 * passed over; tuples that are missing before it count as lost.  -ETIMEDOUT: the
 * element blocks and its registered reader takes nothing. */
int esi_element_store_write(const struct esi_element_store *store,
                            struct esi_placed_element *placed,
                            uint64_t position,
                            const struct es_tuple *tuple);

/* Notes the state of the process, and its exit status once it is gone. */
void esi_element_store_note(const struct esi_placed_element *placed,
                            const struct es_segment_info *process);

/* Communicators that the segment of the process has; the next one gets this index. */
uint32_t esi_element_store_communicator_count(const struct esi_placed_element *placed);
/* -EDQUOT, -ENOSPC. */
int esi_element_store_add_communicator(struct esi_element_store *store,
                                       const struct esi_placed_element *placed,
                                       const struct esi_communicator_config *config);

#endif
