/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* library_words.h - error messages of libraries, without library internals. */
#ifndef ES_BASE_LIBRARY_WORDS_H
#define ES_BASE_LIBRARY_WORDS_H

#include <stddef.h>

/* Copies `text`, an error message of jansson or PCRE2, to `out` of `size` bytes,
 * without flags, functions and versions of the library.  The result is truncated to
 * `size` and always terminated.  Other messages are copied unchanged.  Returns `out`.
 * Thread safe. */
const char *esi_library_words(const char *text, char *out, size_t size);

#endif
