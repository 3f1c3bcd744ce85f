/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Nonblocking collective operations by tree.
 *
 * The program gets a generalized request.  The operation advances whenever the
 * program is inside MPI: calls that wait, test, probe or block advance it
 * (progress.h).
 *
 *   may run at the same time: everything.  One thread at a time advances operations; a
 *   thread that finds another doing so returns at once.
 */
#ifndef ES_WRAPPERS_TREES_NONBLOCKING_H
#define ES_WRAPPERS_TREES_NONBLOCKING_H

#include "tuplespace/plan/tree_rules.h"

struct esi_comm;

/* Notes whether any rule names a nonblocking form (esi_progress_collectives). */
void esi_nonblocking_start(const struct esi_tree_rules *rules);

/* Several threads may be in MPI at once.  Then calls advance operations always, once
 * there is a communicator of several processes: another thread may begin an operation
 * while one of them blocks. */
void esi_nonblocking_note_threads(void);

/* There is a communicator of several processes.  Before, no operation can go by tree,
 * and no call waits for another process. */
void esi_nonblocking_note_peers(void);

/* Advances until no operation of the communicator is under way. */
void esi_nonblocking_drain(const struct esi_comm *comm);

/* The same for all. */
void esi_nonblocking_drain_all(void);

#endif
