/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Files that are written as a whole or not at all: beside their place, which they take
 * when they are complete.  Links are followed: what they lead to is replaced, and keeps
 * its permissions.  What is no regular file ("-" or /dev/stdout = standard output, a
 * pipe, a device), and what has no name (/proc/self/fd/3 that was deleted), is written
 * in its place, as it comes.
 */
#ifndef ES_BASE_OUTPUT_FILE_H
#define ES_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "eventspace/error.h"

struct esi_output_file;

/* 0, -ENOMEM, or why the file cannot be made, with words. */
int esi_output_file_open(const char *path,
                         struct es_error *error,
                         struct esi_output_file **ret_file);
/* To write to.  Borrowed until the file is closed or discarded. */
FILE *esi_output_file_stream(const struct esi_output_file *file);
/* Whether it is written beside its place: then what was written can be read again, and
 * be thrown away. */
bool esi_output_file_is_beside(const struct esi_output_file *file);

/* Completes the file and frees `file`.  0, or why it was not written: then what was at
 * its place still is. */
int esi_output_file_close(struct esi_output_file *file, struct es_error *error);
/* Writes no file and frees `file`.  Accepts NULL. */
void esi_output_file_discard(struct esi_output_file *file);

#endif
