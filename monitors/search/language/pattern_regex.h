/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Regular expressions in patterns.  The parser compiles them to detect errors and the
 * matcher to use them, both with the same options.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_REGEX_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_REGEX_H

#include <stddef.h>

struct pcre2_real_code_8;

enum { ESI_REGEX_WORDS = 120 };

/* Compiles an expression for UTF-8 texts.  The caller frees *ret_code with
 * pcre2_code_free().  Returns -EINVAL, with the reason in `words` and its offset in
 * bytes in *ret_offset, or -ENOMEM. */
int esi_regex_compile(const char *expression,
                      struct pcre2_real_code_8 **ret_code,
                      size_t *ret_offset,
                      char words[ESI_REGEX_WORDS]);

#endif
