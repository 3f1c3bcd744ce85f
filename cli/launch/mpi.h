/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The MPIs that this installation collects, and which one a program uses. */
#ifndef ES_CLI_LAUNCH_MPI_H
#define ES_CLI_LAUNCH_MPI_H

#include <stddef.h>

#include "cli/program_file.h"
#include "eventspace/error.h"

/* MPIs that have one binary interface. */
enum esi_mpi_family {
    ES_MPI_UNKNOWN,
    ES_MPI_MPICH,
    ES_MPI_OPEN_MPI,
    ES_MPI_ABI, /* libmpi_abi: the interface of MPI 5, of whichever MPI */
};

/* An MPI that the preload library was built for. */
struct esi_mpi {
    enum esi_mpi_family family;
    const char *name;     /* "mpich", as its folder */
    const char *compiler; /* as configure has found them */
    const char *launcher;
    const char *in_build; /* the preload library in a build tree */
    const char *folder;   /* where it is installed */
};

/* "MPICH or one like it" */
const char *esi_mpi_family_name(enum esi_mpi_family family);

/* The supported MPIs, that of the unit tests first; *ret_count is 0 where EventSpace
 * was built without any. */
const struct esi_mpi *esi_mpi_table(size_t *ret_count);

/* The row of the table; NULL for what is not supported. */
const struct esi_mpi *esi_mpi_find(enum esi_mpi_family family);

/* Whose library the program needs, itself or through others.  Unknown for scripts and
 * for programs that load MPI later. */
enum esi_mpi_family esi_mpi_family_of_program(const struct esi_program_file *file);

/* The MPI that `program` is to be collected for: EVENTSPACE_MPI, else what it is linked
 * with, else that of the launcher that this process was started by, else the first in
 * LD_LIBRARY_PATH, else the first of the table.  -EINVAL or -ENOTSUP with words in
 * `error`. */
int esi_mpi_choose(const char *program,
                   struct es_error *error,
                   const struct esi_mpi **ret_mpi);

#endif
