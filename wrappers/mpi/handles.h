/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A map from MPI handles to our objects.
 *
 *   may run at the same time    find   set, remove
 *   find                        yes    yes
 *   set, remove                 yes    yes (serialized by a lock)
 *
 * Finding takes no lock.  The map does not own the objects.  MPI forbids using a handle
 * while it is being freed, so a found object may be used.
 */
#ifndef ES_WRAPPERS_MPI_HANDLES_H
#define ES_WRAPPERS_MPI_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct esi_shared_map;

/* Zero is an empty map. */
struct esi_handles {
    _Atomic(struct esi_shared_map *) map;
};

/* Finds the object of a handle; NULL if there is none. */
void *esi_handles_find(struct esi_handles *handles, uint64_t handle);

/* Adds or replaces an entry; false if out of memory. */
bool esi_handles_set(struct esi_handles *handles, uint64_t handle, void *object);

/* Removes an entry and returns its object; NULL if there is none. */
void *esi_handles_remove(struct esi_handles *handles, uint64_t handle);

#endif
