/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Worlds spawned by the program (MPI-4.0, chapter 11).
 *
 * The spawning process passes EVENTSPACE_SPAWN to the new ones, "KEY:RANKS": the key of
 * the communicator between both sides, in 32 hexadecimal digits, and the ranks in the
 * run of the spawning processes, "0-3,1000-1000".  The spawning side finds the new
 * ranks in the segments of the spawned processes on its host.
 */
#ifndef ES_WRAPPERS_MPI_SPAWN_H
#define ES_WRAPPERS_MPI_SPAWN_H

#include <mpi.h>
#include <stdint.h>

/* The mark of the call that spawned a process, for its segment; 0 if none.  `text` is
 * its EVENTSPACE_SPAWN, or "". */
uint64_t esi_spawn_mark(const char *text);

/* Registers the communicator with the processes that spawned this one. */
void esi_spawn_register_parent(MPI_Comm parent);

#endif
