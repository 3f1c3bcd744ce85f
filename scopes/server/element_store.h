/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The elements that a tuple server holds itself: consumers' own data, and trace
 * elements of other hosts whose tuples were moved here.
 *
 * They lie in segments of their own, marked as kept, so that they are read like all
 * others, through the server or directly.  Each element of consumers has a segment;
 * moved elements lie in one segment for each process they come from, which has that
 * process's pid, rank and clock.
 *
 * A moved element's next tuple is the original's at moved_before + lost_moving +
 * head.  So a
 * tuple that is sent twice is taken once, also by a server that was started again.
 *
 * What clients may take has limits (element_budget.h), and a part of the shared memory
 * always stays free for the program.  Memory is reserved while nobody waits for the
 * store.
 *
 * Thread safe.
 */
#ifndef ES_SCOPES_SERVER_ELEMENT_STORE_H
#define ES_SCOPES_SERVER_ELEMENT_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/tuple.h"
#include "scopes/server/element_budget.h"
#include "tuplespace/segment.h"

struct es_element_store;
struct esi_segment_set;

/* Reads from `segments` what a server before this one has left; they have to live
 * longer. */
int es_element_store_create(struct esi_segment_set *segments,
                            const char *host,
                            struct es_element_store **ret_store);
/* Removes its segments.  Accepts NULL. */
void es_element_store_destroy(struct es_element_store *store);
/* Nobody waits for readers in the store any more.  Accepts NULL. */
void es_element_store_stop(struct es_element_store *store);
/* Removes the names of its segments and nothing else: for a server that has to end
 * while threads hang in it.  Takes no lock.  Accepts NULL. */
void es_element_store_unlink(struct es_element_store *store);
/* The connection ends: what it has made stays, but nothing is counted there any more.
 * Accepts NULL. */
void es_element_store_leave(struct es_element_store *store,
                            const struct es_element_share *share);

/* --- Consumers' own data --- */

/* -EEXIST; -EINVAL; -EDQUOT: more than a limit; -ENOSPC: the shared memory has no room;
 * each with words. */
int es_element_store_add(struct es_element_store *store,
                         struct es_element_share *share,
                         const char *name,
                         uint32_t tuple_bytes,
                         uint32_t threshold,
                         struct es_error *error);
/* Who reads it goes on reading what there is.  -ENOENT, -EBUSY: it is being made. */
int es_element_store_remove(struct es_element_store *store,
                            const char *name,
                            struct es_error *error);

/* --- Moved elements --- */

/* A process of another host, and one of its elements.  All borrowed. */
struct es_moved_process {
    const char *host;
    const char *program;
    struct es_segment_keeping facts;
};

/* Finds or makes the place of an element.  `config`'s kind and on-full do not matter.
 * Failures as of es_element_store_add(), or -EBUSY: it is being made.  *ret_id is for
 * the calls below, *ret_position the original's position from which on tuples are
 * wanted. */
int es_element_store_take(struct es_element_store *store,
                          struct es_element_share *share,
                          const struct es_moved_process *process,
                          const struct es_element_config *config,
                          struct es_error *error,
                          uint32_t *ret_id,
                          uint64_t *ret_position);

/* Writes what follows without a gap from the original's `position` on; what was taken
 * already is passed over, what is missing before it counts as lost.  -ENOENT;
 * -ETIMEDOUT: the element blocks and its registered reader takes nothing. */
int es_element_store_write(struct es_element_store *store,
                           uint32_t id,
                           uint64_t position,
                           const struct es_tuple *tuples,
                           size_t count,
                           uint64_t *ret_position,
                           uint64_t *ret_lost);

/* Notes how the process of a moved element is: its state, and once it is gone, its exit
 * status (as waitpid(2) gives it; -1 = nobody saw).  -ENOENT. */
int es_element_store_note(struct es_element_store *store,
                          uint32_t id,
                          enum es_segment_state state,
                          bool ended,
                          int status);

/* Adds the communicators that the process's segment lacks: `index` is that of the next
 * one, which is added if it is the first that is lacking.  -ENOENT, -EDQUOT, -ENOSPC.
 */
int es_element_store_add_communicator(struct es_element_store *store,
                                      struct es_element_share *share,
                                      uint32_t id,
                                      uint16_t index,
                                      const struct es_communicator_config *config);

#endif
