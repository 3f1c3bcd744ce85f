/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Collective trees in the observed process: where they begin and end.
 *
 * esi_trees_start() (wrappers/mpi/tree_ops.h) reads EVENTSPACE_TREES and installs the
 * table of functions through which generated wrappers come here, inside the operation's
 * own recording.  An operation is done by tree if the rules, the arguments and the
 * communicator allow it.  Else the wrapper calls the real routine.  All ranks decide
 * alike: docs/collective-trees.md has the argument.
 *
 * A decision that all ranks must make alike depends on what they have in common only:
 * the rules of EVENTSPACE_TREES, the operation's significant arguments, the number of
 * tree-capable operations on the communicator so far, and what rank 0 has sent at the
 * last rule synchronisation (rule_sync.h).  So it works where nothing can be recorded,
 * too (no shared memory): a rank that stepped aside still takes part.
 */
#ifndef ES_WRAPPERS_TREES_TREES_H
#define ES_WRAPPERS_TREES_TREES_H

#include <mpi.h>
#include <stdbool.h>

struct esi_call;
struct esi_collective;
struct esi_shared_rules;

/* The rules that the run began with; borrowed. */
struct esi_shared_rules *esi_trees_rules(void);

/* struct esi_tree_ops of nonblocking operations (nonblocking.c). */
bool esi_trees_post(struct esi_call *call,
                    const struct esi_collective *collective,
                    MPI_Request *ret_request,
                    int *ret_result);
void esi_trees_progress(void);

#endif
