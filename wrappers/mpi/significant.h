/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Which count and datatype of a collective's two buffers mean something at this rank.
 *
 * The table's recipes use these.  What MPI calls insignificant may be anything: it must
 * not be looked at, and a datatype least of all.
 */
#ifndef ES_WRAPPERS_MPI_SIGNIFICANT_H
#define ES_WRAPPERS_MPI_SIGNIFICANT_H

#include <mpi.h>
#include <stdbool.h>

/* A rank of the root's group that is not the root takes no part (intercommunicators).
 */
static inline MPI_Count esi_significant_bcast(int root, MPI_Count count)
{
    return root == MPI_PROC_NULL ? 0 : count;
}

/* Whether only the other side is significant: `buffer` is that of the side which every
 * rank has, such as the send buffer of a gather; it is absent in place and at an
 * intercommunicator's root.  Collectives without a root pass 0. */
static inline bool esi_significant_is_other_side(const void *buffer, int root)
{
    return buffer == MPI_IN_PLACE || root == MPI_ROOT;
}

static inline MPI_Count esi_significant_count(const void *buffer,
                                              int root,
                                              MPI_Count count,
                                              MPI_Count other_count)
{
    return esi_significant_bcast(
        root, esi_significant_is_other_side(buffer, root) ? other_count : count);
}

static inline MPI_Datatype esi_significant_type(const void *buffer,
                                                int root,
                                                MPI_Datatype datatype,
                                                MPI_Datatype other_datatype)
{
    return esi_significant_is_other_side(buffer, root) ? other_datatype : datatype;
}

#endif
