/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * input.h - what the first bytes of an input of a user say that it is, where it is not
 * the text that its reader expects: a compressed file, UTF-16, a program.
 *
 * Any threads may call these together.
 */
#ifndef ES_BASE_INPUT_H
#define ES_BASE_INPUT_H

#include <stddef.h>

#include "eventspace/error.h"

/* NULL: nothing speaks against text in UTF-8.  Else what to say behind the name of the
 * input: "is compressed with gzip; unpack it first (gunzip)".  The first 512 bytes are
 * enough. */
const char *esi_input_describe(const char *bytes, size_t length);

/* Bytes of the byte order mark of UTF-8 at the beginning: 3, or 0 where there is none.
 * For readers of text that skip it. */
size_t esi_input_mark(const char *bytes, size_t length);

/* 0, or -EINVAL with these words, at `source` (may be NULL). */
int esi_input_check(const char *bytes,
                    size_t length,
                    const char *source,
                    struct es_error *error);

#endif
