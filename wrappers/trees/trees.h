/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Collective trees in the observed process: which operation takes which way.
 *
 * Generated wrappers of the seven operations (blocking, nonblocking and large-count
 * forms) come here before they call the real routine, if esi_trees_on says so, inside
 * the operation's own recording.  Each function does the operation by tree if the
 * rules, the arguments and the communicator allow, else it calls the real routine; all
 * ranks decide alike.  See docs/collective-trees.md for the argument.
 *
 * What all ranks must decide alike is decided by what they have in common only: the
 * rules of EVENTSPACE_TREES, the operation's significant arguments, the number of
 * tree-capable operations on the communicator so far, and what rank 0 has told the
 * others at an agreement (agreement.h).  So it works where nothing can be recorded, too
 * (no shared memory): a rank that stepped aside still takes part.
 */
#ifndef ES_WRAPPERS_TREES_TREES_H
#define ES_WRAPPERS_TREES_TREES_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrappers/trees/dispatch.h"

struct esi_call;
struct esi_comm;

/* Whether EVENTSPACE_TREES was given and understood.  Set before the first call goes on
 * into MPI; constant afterwards. */
extern bool esi_trees_on;

/* Reads EVENTSPACE_TREES.  Called once, from process.c, before anything else decides
 * whether to record.  A text that cannot be read is told by rank 0 (`rank` as the
 * launcher says); all ranks read the same text, so all do without trees. */
void esi_trees_start(int rank);

/* MPI is up: what judges arguments is made. */
void esi_trees_ready(bool has_threads);
#if MPI_VERSION >= 4
/* The same in a session; and the end of one. */
void esi_trees_ready_in_session(MPI_Session session);
void esi_trees_end_session(MPI_Session session);
#endif

/* --- Called by generated wrappers ------------------------------------------------- */

/* A row with the flag `tree` has a function esi_tree_NAME in its generated file, which
 * fills a struct esi_collective and calls one of these; false: the real routine is to
 * be called, and nothing else has been done.
 */

/* A blocking operation, done by tree. */
bool esi_trees_do(struct esi_call *call,
                  const struct esi_collective *collective,
                  int *ret_result);

/* A nonblocking one, begun by tree (nonblocking.c): *ret_request is what the program
 * gets unless *ret_result says that it failed. */
bool esi_trees_post(struct esi_call *call,
                    const struct esi_collective *collective,
                    MPI_Request *ret_request,
                    int *ret_result);

/* The communicator (and with it its trees) is about to be freed or disconnected by the
 * program: collective over it. */
void esi_trees_comm_freed(struct esi_comm *comm);

/* MPI is about to be finalized. */
void esi_trees_finalize(void);

/* --- Nonblocking operations under way (nonblocking.c) ----------------------------- */

/* How many nonblocking tree operations of this process are not done: while it is not 0,
 * calls that block must see to it that these move on (patient.h). */
extern _Atomic int esi_trees_pending;

/* Moves all of them on, without waiting. */
void esi_trees_progress(void);

#endif
