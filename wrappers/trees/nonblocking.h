/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Nonblocking collective operations by tree.
 *
 * The program gets a generalized request.  The operation moves on whenever the program
 * is inside MPI: calls that wait, test, probe or block do it (patient.h).
 *
 *   may run at the same time: everything.  Operations are moved on by one thread at a
 * time; who finds another at it goes on without.
 */
#ifndef ES_WRAPPERS_TREES_NONBLOCKING_H
#define ES_WRAPPERS_TREES_NONBLOCKING_H

#include "tuplespace/plan/tree_rules.h"

struct esi_comm;

/* Looks whether any rule names a nonblocking form. */
void esi_nonblocking_start(const struct es_tree_rules *rules);

/* Several threads may be in MPI at once.  Calls are patient always from when there is a
 * communicator of several processes, too: another thread may begin an operation on it
 * while one of them blocks. */
void esi_nonblocking_note_threads(void);

/* There is a communicator of several processes.  Before, no operation can go by tree,
 * nor can a call wait for another process. */
void esi_nonblocking_note_peers(void);

/* Moves on until no operation of the communicator is under way. */
void esi_nonblocking_drain(const struct esi_comm *comm);

/* The same for all. */
void esi_nonblocking_drain_all(void);

#endif
