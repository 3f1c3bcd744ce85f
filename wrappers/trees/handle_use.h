/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Datatypes and operations that nonblocking trees still use.
 *
 * MPI lets a program free them while an operation is under way.  A copy would not do:
 * MPI_Type_dup() calls the program's attribute callbacks, operations cannot be copied,
 * and a user's function may compare the datatype it is given with its own.  So freeing
 * waits until the last operation that uses the handle is done.
 *
 * Handles are kept as numbers and never looked into, so that what is not significant at
 * this rank may be held as well.
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
    int count; /* of them that are held; 0 = none */
};

/* Holds the two types and the operation.  False without memory: nothing is held. */
bool esi_handle_use_begin(struct esi_handle_use *handles);

/* Lets them go, and frees what the program has freed meanwhile. */
void esi_handle_use_end(struct esi_handle_use *handles);

/* Whether the program's MPI_Type_free() or MPI_Op_free() is put off because the handle
 * is in use.  What must not be freed (a predefined one) is not put off, so that MPI
 * says so. */
bool esi_handle_use_defer_type_free(MPI_Datatype type);
bool esi_handle_use_defer_op_free(MPI_Op op);

#endif
