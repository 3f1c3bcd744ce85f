/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* library_words.h - what libraries say of a user's input, without their own names. */
#ifndef ES_BASE_LIBRARY_WORDS_H
#define ES_BASE_LIBRARY_WORDS_H

#include <stddef.h>

/* Writes `text`, a message of jansson or PCRE2 for programmers, into `out` of `size`
 * bytes: without flags, functions and versions of the library, cut if need be, always
 * terminated.  What needs no change stays as it is.  Returns out.  Any threads may call
 * it together. */
const char *esi_library_words(const char *text, char *out, size_t size);

#endif
