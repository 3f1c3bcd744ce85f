/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The preload library: where it is, and how it gets into a program's environment. */
#ifndef ES_CLI_LAUNCH_PRELOAD_H
#define ES_CLI_LAUNCH_PRELOAD_H

#include "cli/launch/mpi.h"
#include "eventspace/error.h"

/* Finds an MPI's libeventspace-mpi.so: $EVENTSPACE_PRELOAD, the build tree that this
 * command runs from, beside the installed command, the configured library directory.
 * Caller frees *ret_path.  -ENOENT and the like with words in `error`. */
int esi_preload_find(const struct esi_mpi *mpi,
                     struct es_error *error,
                     char **ret_path);

/* The same for the MPI that `program` uses. */
int esi_preload_find_for(const char *program, struct es_error *error, char **ret_path);

/* Puts `path` in front of LD_PRELOAD in this process's environment.  0 or -ENOMEM. */
int esi_preload_set(const char *path);

#endif
