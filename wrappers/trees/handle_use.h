/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Datatypes and operations that nonblocking trees still use.
 *
 * MPI lets a program free them while an operation is under way.  A copy would not
 * do: MPI_Type_dup() calls the program's attribute callbacks, operations cannot be
 * copied, and a user's function may compare the datatype it gets with its own.  So
 * the free is deferred until the last operation that uses the handle is done.
 *
 * Handles are kept as numbers and never read, so a handle that is not significant at
 * this rank may be in use as well.
 *
 *   may run at the same time: everything.
 */
#ifndef ES_WRAPPERS_TREES_HANDLE_USE_H
#define ES_WRAPPERS_TREES_HANDLE_USE_H

#include <mpi.h>
#include <stdbool.h>

struct esi_handle_use {
    MPI_Datatype types[2];
    MPI_Op op;
    int count; /* of them that are in use; 0 = none */
};

/* Marks the two types and the operation as in use.  False without memory: then none is.
 */
bool esi_handle_use_begin(struct esi_handle_use *handles);

/* Ends the use, and frees what the program has freed meanwhile. */
void esi_handle_use_end(struct esi_handle_use *handles);

/* Whether the program's MPI_Type_free() or MPI_Op_free() is deferred because the handle
 * is in use.  A predefined handle is not deferred, so that MPI reports the error. */
bool esi_handle_use_defer_type_free(MPI_Datatype type);
bool esi_handle_use_defer_op_free(MPI_Op op);

#endif
