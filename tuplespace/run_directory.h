/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Run directories: one per run, for what is not in shared memory.
 *
 * They lie in $EVENTSPACE_DIR, else $XDG_RUNTIME_DIR/eventspace, else
 * /tmp/eventspace-UID.  All are made with mode 0700; a base directory that belongs to
 * somebody else, or that others may write to, is refused.
 *
 * No call changes anything on failure.  Paths are written to caller's memory of
 * ES_RUN_PATH_BYTES.
 */
#ifndef ES_TUPLESPACE_RUN_DIRECTORY_H
#define ES_TUPLESPACE_RUN_DIRECTORY_H

#include <stddef.h>

#include "eventspace/error.h"

#define ES_RUN_PATH_BYTES 4096

/* The base directory's path; it need not exist.  -ENAMETOOLONG; -EINVAL where
 * $EVENTSPACE_DIR is not absolute. */
int es_run_directory_base(struct es_error *error, char out[ES_RUN_PATH_BYTES]);

/* The path of a run's directory, or with `file` not NULL of a file in it; need not
 * exist. -EINVAL: not a run id. */
int es_run_directory_path(const char *run,
                          const char *file,
                          struct es_error *error,
                          char out[ES_RUN_PATH_BYTES]);

/* Makes the run's directory, and the base where it is missing; `out` gets its path.
 * -EEXIST when the run has one already, -EPERM when the base directory cannot be
 * trusted. */
int es_run_directory_create(const char *run,
                            struct es_error *error,
                            char out[ES_RUN_PATH_BYTES]);

/* Removes a run's directory with the files in it (there are no folders in it).  -ENOENT
 * when there is none, -ENOTEMPTY when something else lies in it. */
int es_run_directory_remove(const char *run, struct es_error *error);

/* The run ids that have a directory, sorted.  Returns their number; caller frees
 * *ret_runs, an array of 64-byte texts.  A base directory that does not exist holds
 * none. */
int es_run_directory_list(struct es_error *error, char (**ret_runs)[64]);

#endif
