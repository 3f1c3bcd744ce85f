/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Characters of UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing past
 * U+10FFFF). */
#ifndef ES_BASE_UTF8_H
#define ES_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length of the character that `text` begins with, or 0 if it begins with none.  `text`
 * ends with a 0, which is a character of length 1. */
size_t esi_utf8_length(const unsigned char *text);

/* The number of that character. */
uint32_t esi_utf8_value(const unsigned char *text, size_t length);

#endif
