/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The MPI libraries that this installation supports, and which one a program uses. */
#ifndef ES_CLI_LAUNCH_MPI_H
#define ES_CLI_LAUNCH_MPI_H

#include <stddef.h>

#include "cli/program_file.h"
#include "eventspace/error.h"

/* MPI libraries with the same binary interface. */
enum esi_mpi_family {
    ES_MPI_UNKNOWN,
    ES_MPI_MPICH,
    ES_MPI_OPEN_MPI,
    ES_MPI_ABI, /* libmpi_abi: the interface of MPI 5, of any implementation */
};

/* An MPI that the preload library was built for. */
struct esi_mpi {
    enum esi_mpi_family family;
    const char *name;     /* "mpich", the name of its folder */
    const char *compiler; /* as found by configure */
    const char *launcher;
    const char *in_build; /* the preload library in a build tree */
    const char *folder;   /* its installation folder */
};

/* "MPICH or one like it" */
const char *esi_mpi_family_name(enum esi_mpi_family family);

/* The supported MPI libraries, that of the unit tests first; *ret_count is 0 if
 * EventSpace was built without any. */
const struct esi_mpi *esi_mpi_table(size_t *ret_count);

/* The table row of a family; NULL if it is not supported. */
const struct esi_mpi *esi_mpi_find(enum esi_mpi_family family);

/* The family of a library's name such as "libmpi.so.40". */
enum esi_mpi_family esi_mpi_family_of_library(const char *name);

/* The family that the program is linked with, directly or indirectly.  Unknown for
 * scripts and for programs that load MPI later. */
enum esi_mpi_family esi_mpi_family_of_program(const struct esi_program_file *file);

/* A second family that the program is linked with, too; unknown if there is none. */
enum esi_mpi_family esi_mpi_second_family(const struct esi_program_file *file);

/* Chooses the MPI for collecting `program`: EVENTSPACE_MPI, or else the one it is
 * linked with, that of the launcher that started this process, the first in
 * LD_LIBRARY_PATH, or the first of the table.  Returns 0, or -EINVAL or -ENOTSUP with
 * `error` filled. */
int esi_mpi_choose(const char *program,
                   struct es_error *error,
                   const struct esi_mpi **ret_mpi);

#endif
