/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A map from MPI handles to our own objects.
 *
 *   may run at the same time    find   set, remove
 *   find                        yes    yes
 *   set, remove                 yes    yes (they take turns by a lock)
 *
 * Finding takes no lock.  Objects are not owned; MPI forbids using a handle while it is
 * freed, so who finds an object may use it.
 */
#ifndef ES_WRAPPERS_MPI_HANDLES_H
#define ES_WRAPPERS_MPI_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct esi_shared_map;

/* Zero-initialised is empty. */
struct esi_handles {
    _Atomic(struct esi_shared_map *) map;
};

/* NULL when the handle is not there. */
void *esi_handles_find(struct esi_handles *handles, uint64_t handle);

/* Adds or replaces; false without memory. */
bool esi_handles_set(struct esi_handles *handles, uint64_t handle, void *object);

/* Returns what was there, or NULL. */
void *esi_handles_remove(struct esi_handles *handles, uint64_t handle);

#endif
