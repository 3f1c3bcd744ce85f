/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Datatypes, groups and operators: how many the program has not freed, and what a
 * collective operation says of them.
 *
 * MPI wants the reduction operator and the type signature to be alike at all members
 * of a collective operation; signatures, not datatypes: two of four integers are like
 * eight integers.  So a datatype is reduced to its bytes and the *basic* type that it
 * is made of.  That is numbered by kind and size: alike in all processes, whatever the
 * handles are, and for an integer of C and one of Fortran.
 *
 *   may run at the same time: everything.
 */
#ifndef ES_WRAPPERS_MPI_OBJECTS_H
#define ES_WRAPPERS_MPI_OBJECTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrappers/mpi/thread.h"

enum {
    ESI_BASIC_NONE = 0,
    ESI_BASIC_MIXED = 0xFFFE,   /* several basic types */
    ESI_BASIC_UNKNOWN = 0xFFFF, /* made out of sight, or it matches all (MPI_PACKED) */
};

/* In esi_call.alike, beside the code of the operator: count and type, too. */
#define ESI_ALIKE_SIGNATURE UINT32_C(0x10000)

struct esi_type_facts {
    uint32_t bytes;
    uint16_t basic;
};

/* What is known of a datatype without asking MPI: of predefined ones, and those that
 * the program has made. */
bool esi_type_find(uint64_t handle, struct esi_type_facts *ret_facts);

/* Where a thread caches it. */
static inline unsigned int esi_type_slot(uint64_t handle)
{
    return (unsigned int)((handle ^ handle >> 8) % ESI_SIZE_CACHE);
}

/* The number of an operator, alike in all processes; one for all of the program's own.
 * Never 0. */
uint16_t esi_operator_find(MPI_Op op);

/* Never 0. */
static inline uint32_t esi_alike_hash(uint32_t alike, uint32_t basic, uint32_t bytes)
{
    uint32_t op = alike & 0xFFFF;
    uint64_t facts = op | (uint64_t)basic << 16;
    uint32_t hash;

    if ((alike & ESI_ALIKE_SIGNATURE) != 0)
        facts |= (uint64_t)bytes << 32;
    hash = (uint32_t)((facts * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
    return hash != 0 ? hash : 1;
}

/* --- Around routines that make objects -------------------------------------------- */

/* Whether the call is the program's, and not MPI's own; then, until
 * esi_object_leave(), calls are MPI's own.  `here` is where on the stack it began. */
static inline bool esi_object_enter(uint64_t here)
{
    if (esi_thread_self.depth != 0 && !esi_thread_is_abandoned(&esi_thread_self, here))
        return false;
    esi_thread_self.depth = 1;
    esi_thread_self.operation = 0;
    esi_thread_self.outermost = here;
    return true;
}

static inline void esi_object_leave(void)
{
    esi_thread_self.depth = 0;
}

void esi_count_type(MPI_Datatype *made, MPI_Datatype old);
/* `lengths` has `count` numbers of `length_bytes` each. */
void esi_count_struct_type(MPI_Datatype *made,
                           MPI_Count count,
                           const void *lengths,
                           size_t length_bytes,
                           const MPI_Datatype *types);
void esi_count_type_freed(MPI_Datatype type);
void esi_count_group(const MPI_Group *made);
void esi_count_operator(void);

#endif
