/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Neighbours in communicators with a topology. */
#ifndef ES_WRAPPERS_MPI_TOPOLOGY_H
#define ES_WRAPPERS_MPI_TOPOLOGY_H

#include "wrappers/mpi/describe.h"

/* Writes a tuple for each rank that this one hears from in neighbourhood collectives
 * on a new communicator, at the time `now`; one without a peer if there is none, and
 * nothing for a communicator without a topology.  `comm` is what is known of `handle`;
 * NULL is nothing. */
void esi_topology_write_neighbours(struct esi_thread *thread,
                                   MPI_Comm handle,
                                   const struct esi_comm *comm,
                                   uint64_t now);

#endif
