/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Run directories: one per run, for data that is not in shared memory.
 *
 * Their parent directory is $EVENTSPACE_DIR, else $XDG_RUNTIME_DIR/eventspace, else
 * /tmp/eventspace-UID; it is called the folder below.  All are created with mode 0700,
 * regardless of the umask.  All calls that access the folder refuse one that is a link,
 * is owned by another user, or is writable by others.
 *
 * A directory belongs to a run only if it contains the file ES_RUN_MARK with the
 * version and the run id, which is created together with the directory.
 *
 * No call changes anything on failure.  Paths are written to caller's memory of
 * ES_RUN_PATH_BYTES; they are for messages and for programs that are started.
 */
#ifndef ES_TUPLESPACE_RUN_DIRECTORY_H
#define ES_TUPLESPACE_RUN_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

#define ES_RUN_PATH_BYTES 4096
#define ES_RUN_MARK "eventspace-run"

/* The path of the folder, which need not exist.  Returns 0; -ENAMETOOLONG; or -EINVAL
 * if $EVENTSPACE_DIR is not absolute. */
int esi_run_directory_base(struct es_error *error, char out[ES_RUN_PATH_BYTES]);

/* Like esi_run_directory_base(), but creates the folder if it does not exist.  Also
 * returns -EPERM or -ENOTDIR, like esi_run_directory_open(). */
int esi_run_directory_make_base(struct es_error *error, char out[ES_RUN_PATH_BYTES]);

/* A number that identifies the folder: equal for all who use it and different for other
 * folders; 0 if it has no path.  The folder need not exist. */
uint64_t esi_run_directory_folder(void);

/* The path of a run's directory or, if `file` is not NULL, of a file in it.  It need
 * not exist.  Returns 0, or -EINVAL for an invalid run id. */
int esi_run_directory_path(const char *run,
                           const char *file,
                           struct es_error *error,
                           char out[ES_RUN_PATH_BYTES]);

/* Opens a run's directory.  Returns the descriptor; -ENOENT if there is none; -EPERM if
 * it or the folder is owned by another user or writable by others, or it has no mark;
 * or -ENOTDIR if it or the folder is not a directory. */
int esi_run_directory_open(const char *run, struct es_error *error);

/* Creates the run's directory, and the folder if needed; `out` receives its path.
 * Returns 0; -EEXIST if the run has a directory; or -EPERM if the folder is not safe,
 * or contains something else with that name. */
int esi_run_directory_create(const char *run,
                             struct es_error *error,
                             char out[ES_RUN_PATH_BYTES]);

/* Removes a run's directory with the files written by EventSpace.  Returns 0; -ENOENT
 * if there is none; -EPERM if it is not a run's directory; or -ENOTEMPTY if it contains
 * other files, which `error` names, and then removes nothing. */
int esi_run_directory_remove(const char *run, struct es_error *error);

/* Checks whether esi_run_directory_remove() would succeed.  Returns the same errors. */
int esi_run_directory_check(const char *run, struct es_error *error);

/* Registers a file outside the run's directory, by its absolute path, to be removed
 * with the directory.  Returns 0, or -ENOENT if the run has no directory. */
int esi_run_directory_note_outside(const char *run,
                                   const char *path,
                                   struct es_error *error);

/* Lists the ids of runs that have a directory, sorted.  Returns their number; 0 if the
 * folder does not exist.  The caller frees *ret_runs, an array of 64-byte texts. */
int esi_run_directory_list(struct es_error *error, char (**ret_runs)[64]);

/* --- Files ------------------------------------------------------------------------ */

/* Each call checks the directory.  Only regular files of this user are opened; links
 * are not followed, and no call blocks on a pipe. */

/* Opens a file with the flags of open(2); O_CREAT creates it with mode 0600.  Returns
 * the descriptor; -ENOENT if the file or the run's directory does not exist; or -EPERM
 * if the folder, the directory or the file is not safe. */
int esi_run_file_open(const char *run,
                      const char *file,
                      int flags,
                      struct es_error *error);

/* Reads a file of at most 1 GiB and appends a zero byte.  The caller frees
 * *ret_text. */
int esi_run_file_read(const char *run,
                      const char *file,
                      struct es_error *error,
                      char **ret_text,
                      size_t *ret_length);

/* Replaces a file atomically: readers see the old or the new content. */
int esi_run_file_replace(const char *run,
                         const char *file,
                         const char *text,
                         size_t length,
                         struct es_error *error);

/* Removes a file.  Returns 0 or -errno. */
int esi_run_file_remove(const char *run, const char *file);

#endif
