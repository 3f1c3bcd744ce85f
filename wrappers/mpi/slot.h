/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What outlives an observed thread: its number, its paths, and tuples others left for
 * it. */
#ifndef ES_WRAPPERS_MPI_SLOT_H
#define ES_WRAPPERS_MPI_SLOT_H

#include <stdatomic.h>
#include <stdint.h>

#include "eventspace/tuple.h"

/* A tuple held back by one thread whose number another thread decided: only the first
 * may write its elements. */
struct esi_late {
    struct esi_late *next;
    struct es_tuple tuple;
};

struct esi_slot {
    struct esi_slot *next;     /* of the idle slots */
    struct esi_slot *next_all; /* of all slots */
    int number;                /* of the thread, in order of first calls */
    struct owned_path *paths;
    _Atomic(struct esi_late *) late; /* newest first */
};

/* Tuples that are left for threads and not yet written, of all slots (record.c). */
extern _Atomic uint32_t esi_late_count;

/* Writes what all threads have been left, for them: when MPI ends no other is in it,
 * and a thread that has ended will not come back (path.c). */
void esi_slots_write_late(void);

#endif
