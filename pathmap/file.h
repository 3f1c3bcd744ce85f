/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Whole files in and out. */
#ifndef ES_PATHMAP_FILE_H
#define ES_PATHMAP_FILE_H

#include <stddef.h>

#include "eventspace/error.h"

/* Reads a file of at most 1 GiB, with a zero byte behind it.  Caller frees *ret_text.
 */
int esi_file_read(const char *path,
                  struct es_error *error,
                  char **ret_text,
                  size_t *ret_length);

/* Writes a file that appears whole or not at all; what is no plain file (a terminal, a
 * pipe) is written as it is. */
int esi_file_write(const char *path,
                   const char *text,
                   size_t length,
                   struct es_error *error);

#endif
