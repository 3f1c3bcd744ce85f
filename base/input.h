/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * input.h - recognizes user input that is not the expected text by its first bytes:
 * compressed files, UTF-16, programs.
 *
 * Thread safe.
 */
#ifndef ES_BASE_INPUT_H
#define ES_BASE_INPUT_H

#include <stddef.h>

#include "eventspace/error.h"

/* Length of a UTF-8 byte order mark at the beginning: 3, or 0 if there is none.  For
 * readers that skip it. */
size_t esi_input_mark(const char *bytes, size_t length);

/* Returns 0 if it may be UTF-8 text; otherwise -EINVAL, with a phrase in `error`, at
 * `source` (may be NULL), that follows the name of the input: "is compressed with gzip;
 * unpack it first (gunzip)". The first 512 bytes are sufficient. */
int esi_input_check(const char *bytes,
                    size_t length,
                    const char *source,
                    struct es_error *error);

#endif
