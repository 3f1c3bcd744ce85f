/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The preload library: finds it and adds it to a program's environment. */
#ifndef ES_CLI_LAUNCH_PRELOAD_H
#define ES_CLI_LAUNCH_PRELOAD_H

#include "cli/launch/mpi.h"
#include "eventspace/error.h"

/* Finds an MPI's libeventspace-mpi.so: $EVENTSPACE_PRELOAD, the build tree that this
 * command runs from, next to the installed command, or the configured library
 * directory.  The caller frees *ret_path.  Returns 0, or -ENOENT and the like with
 * `error` filled. */
int esi_preload_find(const struct esi_mpi *mpi,
                     struct es_error *error,
                     char **ret_path);

/* Likewise, for the MPI that `program` uses. */
int esi_preload_find_for(const char *program, struct es_error *error, char **ret_path);

/* Prepends `path` to LD_PRELOAD in this process's environment.  Returns 0 or
 * -ENOMEM. */
int esi_preload_set(const char *path);

#endif
