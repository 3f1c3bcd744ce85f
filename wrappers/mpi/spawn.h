/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Worlds that the program spawns (MPI-4.0, chapter 11).
 *
 * The process that spawns hands EVENTSPACE_SPAWN to those that it starts, "KEY:RANKS":
 * the key of the communicator between both sides, in 32 hexadecimal digits, and the
 * ranks in the run of those that spawn, "0-3,1000-1000".  The other side finds the new
 * ranks in the segments of the spawned processes on its host.
 */
#ifndef ES_WRAPPERS_MPI_SPAWN_H
#define ES_WRAPPERS_MPI_SPAWN_H

#include <mpi.h>
#include <stdint.h>

/* What the segment of a process says of the call that spawned it; 0 = nothing.  `text`
 * is its EVENTSPACE_SPAWN, or "". */
uint64_t esi_spawn_mark(const char *text);

/* Registers the communicator with those that have spawned this process. */
void esi_spawn_register_parent(MPI_Comm parent);

#endif
