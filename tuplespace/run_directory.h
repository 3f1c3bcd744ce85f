/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Run directories: one per run, for what is not in shared memory.
 *
 * They lie in a folder, $EVENTSPACE_DIR, else $XDG_RUNTIME_DIR/eventspace, else
 * /tmp/eventspace-UID.  All are made with mode 0700, whatever the umask.  A folder that
 * is a link, that belongs to somebody else, or that others may write to, is refused by
 * every call that looks into it.
 *
 * A directory in there is a run's only if it holds the mark: the file ES_RUN_MARK with
 * the version and the run's id, which comes into being together with the directory.
 *
 * No call changes anything on failure.  Paths are written to caller's memory of
 * ES_RUN_PATH_BYTES; they are for people, and for programs that are started.
 */
#ifndef ES_TUPLESPACE_RUN_DIRECTORY_H
#define ES_TUPLESPACE_RUN_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

#define ES_RUN_PATH_BYTES 4096
#define ES_RUN_MARK "eventspace-run"

/* The folder's path; it need not exist.  -ENAMETOOLONG; -EINVAL where $EVENTSPACE_DIR
 * is not absolute. */
int esi_run_directory_base(struct es_error *error, char out[ES_RUN_PATH_BYTES]);

/* The same, and makes it where it is missing.  -EPERM, -ENOTDIR as opening has them. */
int esi_run_directory_make_base(struct es_error *error, char out[ES_RUN_PATH_BYTES]);

/* A number for the folder: the same for all that use it, another for another one. 0: it
 * has no path.  The folder need not exist. */
uint64_t esi_run_directory_folder(void);

/* The path of a run's directory, or with `file` not NULL of a file in it; need not
 * exist. -EINVAL: not a run id. */
int esi_run_directory_path(const char *run,
                           const char *file,
                           struct es_error *error,
                           char out[ES_RUN_PATH_BYTES]);

/* Opens a run's directory.  Returns the descriptor.  -ENOENT: there is none; -EPERM: it
 * or the folder belongs to somebody else, others may write to it, or it has no mark;
 * -ENOTDIR: it or the folder is no directory. */
int esi_run_directory_open(const char *run, struct es_error *error);

/* Makes the run's directory, and the folder where it is missing; `out` gets its path.
 * -EEXIST when the run has one already, -EPERM when the folder cannot be trusted, or
 * when something of that name lies in it that is no run directory. */
int esi_run_directory_create(const char *run,
                             struct es_error *error,
                             char out[ES_RUN_PATH_BYTES]);

/* Removes a run's directory with the files that EventSpace wrote.  -ENOENT when there
 * is none; -EPERM when it is no run's; -ENOTEMPTY when something else lies in it, which
 * `error` names: then nothing is removed. */
int esi_run_directory_remove(const char *run, struct es_error *error);

/* Whether it could be removed: what esi_run_directory_remove() would refuse. */
int esi_run_directory_check(const char *run, struct es_error *error);

/* Notes a file elsewhere, by its absolute path, that goes with the run's directory: a
 * removal removes it, too.  -ENOENT: the run has no directory. */
int esi_run_directory_note_outside(const char *run,
                                   const char *path,
                                   struct es_error *error);

/* The run ids that have a directory, sorted.  Returns their number; caller frees
 * *ret_runs, an array of 64-byte texts.  A folder that does not exist holds none. */
int esi_run_directory_list(struct es_error *error, char (**ret_runs)[64]);

/* --- Files ------------------------------------------------------------------------ */

/* The directory is checked each time.  A file is opened only if it is a regular one of
 * this user: no link is followed, and no call waits for a pipe. */

/* Opens a file with the flags of open(2); with O_CREAT it has mode 0600.  Returns the
 * descriptor.  -ENOENT: there is none, or the run has no directory; -EPERM: the folder,
 * the directory or the file cannot be trusted. */
int esi_run_file_open(const char *run,
                      const char *file,
                      int flags,
                      struct es_error *error);

/* Reads a whole file of at most 1 GiB, with a zero byte behind it.  Caller frees
 * *ret_text. */
int esi_run_file_read(const char *run,
                      const char *file,
                      struct es_error *error,
                      char **ret_text,
                      size_t *ret_length);

/* Puts a text in the place of a file: readers see the one or the other. */
int esi_run_file_replace(const char *run,
                         const char *file,
                         const char *text,
                         size_t length,
                         struct es_error *error);

/* Removes a file.  -errno. */
int esi_run_file_remove(const char *run, const char *file);

#endif
