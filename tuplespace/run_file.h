/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Files of a run's directory.
 *
 * The directory is checked each time (run_directory.h).  A file is opened only if it is
 * a regular one of this user: no link is followed, and no call waits for a pipe.
 */
#ifndef ES_TUPLESPACE_RUN_FILE_H
#define ES_TUPLESPACE_RUN_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"

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

/* Whether EventSpace writes files of this name into run directories. */
bool esi_run_file_is_known(const char *file);

#endif
