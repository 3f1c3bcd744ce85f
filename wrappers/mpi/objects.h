/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Datatypes, groups and operators: how many the program has not freed, and the
 * properties that members of a collective must agree on.
 *
 * MPI requires all members of a collective to use the same reduction operator and type
 * signature.  Signatures, not datatypes: two elements of four integers match eight
 * integers.  A datatype is therefore reduced to its size and the *basic* type of its
 * elements.  Basic types are numbered by kind and size, so their numbers are the same
 * in all processes, independent of handles, and for integers of C and Fortran.
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
    ESI_BASIC_UNKNOWN = 0xFFFF, /* created unseen, or matches all types (MPI_PACKED) */
};

/* In esi_call.alike, in addition to the code of the operator: count and type must
 * match, too. */
#define ESI_ALIKE_SIGNATURE UINT32_C(0x10000)

struct esi_type_facts {
    uint32_t bytes;
    uint16_t basic;
};

/* Finds a datatype without calling MPI: predefined ones, and those created by the
 * program. */
bool esi_type_find(uint64_t handle, struct esi_type_facts *ret_facts);

/* Index in the thread's cache. */
static inline unsigned int esi_type_slot(uint64_t handle)
{
    return (unsigned int)((handle ^ handle >> 8) % ESI_SIZE_CACHE);
}

/* The number of an operator, the same in all processes; one number for all user-defined
 * ones.  Never 0. */
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

/* --- Routines that create objects ------------------------------------------------- */

/* Returns whether the program, rather than MPI, makes the call; until
 * esi_object_leave(), all further calls are MPI's.  `here` is the stack position where
 * the call began. */
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
/* `lengths` contains `count` integers of `length_bytes` each. */
void esi_count_struct_type(MPI_Datatype *made,
                           MPI_Count count,
                           const void *lengths,
                           size_t length_bytes,
                           const MPI_Datatype *types);
void esi_count_type_freed(MPI_Datatype type);
void esi_count_group(const MPI_Group *made);
void esi_count_operator(void);

#endif
