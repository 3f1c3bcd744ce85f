/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Files that are written as a whole or not at all: beside their place, which they take
 * when they are complete.  What is no regular file ("-" = standard output, a pipe, a
 * device) is written as it comes.
 */
#ifndef ES_MONITORS_ORDER_OUTPUT_FILE_H
#define ES_MONITORS_ORDER_OUTPUT_FILE_H

#include <stdio.h>

#include "eventspace/error.h"

struct es_output_file;

/* 0, -ENOMEM, or why the file cannot be made, with words. */
int es_output_file_open(const char *path,
                        struct es_error *error,
                        struct es_output_file **ret_file);
/* To write to.  Borrowed until the file is closed or discarded. */
FILE *es_output_file_stream(const struct es_output_file *file);

/* Completes the file and frees `file`.  0, or why it was not written: then what was at
 * its place still is. */
int es_output_file_close(struct es_output_file *file, struct es_error *error);
/* Writes no file and frees `file`.  Accepts NULL. */
void es_output_file_discard(struct es_output_file *file);

#endif
