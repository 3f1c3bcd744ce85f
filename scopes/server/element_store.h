/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The elements held by a tuple server itself: data of consumers, and trace elements of
 * other hosts that the pathmap places here (scopes/server/placement.h).
 *
 * They are stored in segments marked as kept, and read like all others, through the
 * server or directly.  Each element of a consumer has its own segment.  Placed elements
 * share one segment per process of origin, which has that process's pid, rank and
 * clock.
 *
 * The next tuple of a placed element has position moved_before + lost_moving + head in
 * the original.  A tuple received twice is therefore written once, even after a restart
 * of the server.
 *
 * The memory used by clients is limited, and a part of the shared memory always stays
 * free for the program.  Memory is reserved without holding the store's lock.
 *
 * Thread safe, except for placed elements: one thread places and writes them.
 */
#ifndef ES_SCOPES_SERVER_ELEMENT_STORE_H
#define ES_SCOPES_SERVER_ELEMENT_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/run.h"
#include "tuplespace/segment.h"

/* --- The budget --- */

/* Limits the shared memory that clients can use for elements of a tuple server.
 *
 * Bytes are counted before they are reserved: while they are promised, the file system
 * still reports them as free.
 *
 * Not thread safe: the caller's lock protects budget and shares. */

/* Bytes of one element: its ring, whose slots are a power of two above the
 * threshold. */
#define ES_BUDGET_ELEMENT_BYTES (UINT64_C(256) << 20)

enum {
    ES_BUDGET_ELEMENTS = 4096,       /* per server */
    ES_BUDGET_SHARE_ELEMENTS = 1024, /* created over one connection */
    /* In percent of the shared memory: */
    ES_BUDGET_PERCENT = 25,       /* all elements of one server */
    ES_BUDGET_SHARE_PERCENT = 12, /* those created over one connection */
    ES_BUDGET_FREE_PERCENT = 25,  /* stays free */
};

/* Of one server; initially {0}. */
struct esi_element_budget {
    size_t elements;   /* including those being created */
    uint64_t bytes;    /* of all elements */
    uint64_t promised; /* of elements being created */
};

/* The elements created over one connection; initially {0}. */
struct esi_element_share {
    size_t elements;
    uint64_t bytes;
};

/* Counts an element that will be created, and promises its bytes.  Returns -EDQUOT if a
 * limit is exceeded, -ENOSPC if too little would stay free, both with a text.  `share`
 * is NULL, here and below, if the element is not created over a connection. */
int esi_element_budget_add(struct esi_element_budget *budget,
                           struct esi_element_share *share,
                           uint64_t bytes,
                           struct es_error *error);
/* Withdraws a promise: the bytes have been reserved, or will not be. */
void esi_element_budget_expire(struct esi_element_budget *budget, uint64_t bytes);
/* Uncounts an element that was removed or not created. */
void esi_element_budget_remove(struct esi_element_budget *budget,
                               struct esi_element_share *share,
                               uint64_t bytes);

/* --- The store --- */

struct esi_element_store;
struct esi_segment_set;

/* Reads from `segments`, which must outlive the store, the elements left by a previous
 * server. */
int esi_element_store_create(struct esi_segment_set *segments,
                             const char *host,
                             struct esi_element_store **ret_store);
/* Removes its segments.  Accepts NULL. */
void esi_element_store_destroy(struct esi_element_store *store);
/* Ends all waits for readers in the store.  Accepts NULL. */
void esi_element_store_stop(struct esi_element_store *store);
/* Removes only the names of its segments: for a server that has to end while threads
 * are blocked in the store.  Takes no lock.  Accepts NULL. */
void esi_element_store_unlink(struct esi_element_store *store);
/* Detaches the share of a connection that ends; its elements stay.  Accepts NULL. */
void esi_element_store_leave(struct esi_element_store *store,
                             const struct esi_element_share *share);

/* --- Consumers' own data --- */

/* Creates an element.  Returns -EEXIST; -EINVAL; -EDQUOT if a limit is exceeded; or
 * -ENOSPC if the shared memory is full; each with a text. */
int esi_element_store_add(struct esi_element_store *store,
                          struct esi_element_share *share,
                          const char *name,
                          uint32_t tuple_bytes,
                          uint32_t threshold,
                          struct es_error *error);
/* Removes an element; current readers can still read it.  Returns -ENOENT, or -EBUSY
 * while it is being created. */
int esi_element_store_remove(struct esi_element_store *store,
                             const char *name,
                             struct es_error *error);

/* --- Placed elements: for one thread of the server --- */

struct esi_placed_element;

/* A process of another host.  All pointers are borrowed. */
struct esi_placed_process {
    const char *host;
    const char *program;
    struct esi_segment_keeping facts;
};

/* Finds or creates the place of an element of that process.  Borrowed from the store.
 * Returns -EDQUOT if a limit is exceeded, -ENOSPC if the shared memory is full, with a
 * text. */
int esi_element_store_place(struct esi_element_store *store,
                            const struct esi_placed_process *process,
                            const struct esi_element_config *config,
                            struct es_error *error,
                            struct esi_placed_element **ret_placed);

/* Writes the tuple at `position` of the original.  Skips a tuple that has already been
 * written; counts missing tuples before it as lost.  Returns -ETIMEDOUT if the element
 * blocks and its registered reader does not read. */
int esi_element_store_write(const struct esi_element_store *store,
                            struct esi_placed_element *placed,
                            uint64_t position,
                            const struct es_tuple *tuple);

/* Stores the state of the process, and its exit status after its end. */
void esi_element_store_note(const struct esi_placed_element *placed,
                            const struct es_segment_info *process);

/* Number of communicators in the segment of the process: the index of the next one. */
uint32_t esi_element_store_communicator_count(const struct esi_placed_element *placed);
/* Returns -EDQUOT or -ENOSPC on failure. */
int esi_element_store_add_communicator(struct esi_element_store *store,
                                       const struct esi_placed_element *placed,
                                       const struct esi_communicator_config *config);

#endif
