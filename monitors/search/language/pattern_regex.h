/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Regular expressions of patterns: the parser compiles them to tell their faults, the
 * matcher to use them, and both mean the same.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_REGEX_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_REGEX_H

#include <stddef.h>

struct pcre2_real_code_8;

enum { ESI_REGEX_WORDS = 120 };

/* The caller frees *ret_code with pcre2_code_free(); it matches texts that are UTF-8.
 * -EINVAL: the reason is in `words`, *ret_offset is where, in bytes; -ENOMEM. */
int esi_regex_compile(const char *expression,
                      struct pcre2_real_code_8 **ret_code,
                      size_t *ret_offset,
                      char words[ESI_REGEX_WORDS]);

#endif
