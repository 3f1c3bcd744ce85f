/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The preload library: finds it and adds it to a program's environment. */
#ifndef ES_CLI_LAUNCH_PRELOAD_H
#define ES_CLI_LAUNCH_PRELOAD_H

#include <stdbool.h>

#include "cli/launch/mpi.h"
#include "eventspace/error.h"

#define ES_PRELOAD_LIBRARY "libeventspace-mpi.so"

/* Finds an MPI's libeventspace-mpi.so: $EVENTSPACE_PRELOAD, the build tree that this
 * command runs from, next to the installed command, or the configured library
 * directory.  The caller frees *ret_path.  Returns 0, or -ENOENT and the like with
 * `error` filled. */
int esi_preload_find(const struct esi_mpi *mpi,
                     struct es_error *error,
                     char **ret_path);

/* Likewise, for the MPI that `program` uses. */
int esi_preload_find_for(const char *program, struct es_error *error, char **ret_path);

/* Whether the library is the runtime of a sanitizer that has to come first in the list
 * of libraries: libasan.so.8, libtsan.so.2, libclang_rt.asan-x86_64.so.  That of UBSan
 * may come anywhere. */
bool esi_preload_is_runtime(const char *library);

/* Prepends `path` to LD_PRELOAD in this process's environment, behind runtimes: those
 * in the list, and those that `program` needs, which EVENTSPACE_RUNTIMES then names.
 * Returns 0 or -ENOMEM. */
int esi_preload_set(const char *program, const char *path);

#endif
