/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads whole files. */
#ifndef ES_PATHMAP_FILE_H
#define ES_PATHMAP_FILE_H

#include <stddef.h>

#include "eventspace/error.h"

/* Reads a file of at most 1 GiB and appends a zero byte.  The caller frees
 * *ret_text. */
int esi_file_read(const char *path,
                  struct es_error *error,
                  char **ret_text,
                  size_t *ret_length);

#endif
