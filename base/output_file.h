/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Files that are written completely or not at all: a temporary file next to the target,
 * with a name that nobody can foresee, replaces it when complete.  Links in a path that
 * the user has named are followed: their target is replaced, and keeps its permissions.
 * Targets that are not regular files ("-" or /dev/stdout for standard output, pipes,
 * devices) or have no name (/proc/self/fd/3 after deletion) are written directly.
 */
#ifndef ES_BASE_OUTPUT_FILE_H
#define ES_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "eventspace/error.h"

struct esi_output_file;

/* Opens an output file.  Returns 0; -ENOMEM; or another -errno if it cannot be created,
 * with `error` filled. */
int esi_output_file_open(const char *path,
                         struct es_error *error,
                         struct esi_output_file **ret_file);
/* Opens an output file whose name was not chosen by the user, so that others may have
 * foreseen it: no link is followed, nothing is waited for, and only a regular file of
 * this user is replaced.  Returns as above; -EPERM if the path is anything else. */
int esi_output_file_open_own(const char *path,
                             struct es_error *error,
                             struct esi_output_file **ret_file);
/* The stream to write to.  Borrowed until the file is closed or discarded. */
FILE *esi_output_file_stream(const struct esi_output_file *file);
/* Returns whether a temporary file is written, whose contents can be read again and
 * discarded. */
bool esi_output_file_is_beside(const struct esi_output_file *file);

/* Completes the file and frees `file`.  Returns 0; or -errno if it was not written, and
 * then the previous file remains. */
int esi_output_file_close(struct esi_output_file *file, struct es_error *error);
/* Discards the file and frees `file`.  Accepts NULL. */
void esi_output_file_discard(struct esi_output_file *file);

#endif
