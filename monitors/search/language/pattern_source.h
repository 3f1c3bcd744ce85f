/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The text of a pattern file, and faults in it: a sentence, the line, and a caret below
 * the place.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_SOURCE_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_SOURCE_H

#include <stddef.h>

#include "eventspace/error.h"
#include "monitors/search/language/pattern.h"

enum { ESI_SOURCE_BYTES = 16 << 20 }; /* of a text, at most */

/* All borrowed. */
struct esi_source {
    const char *name;
    const char *text; /* UTF-8 without NUL bytes */
    size_t length;
    struct es_error *error; /* may be NULL */
};

/* Fills the record of errors, unless it is full.  The sentence has no full stop and is
 * cut after 200 bytes.  Returns -EINVAL. */
int esi_source_fault(const struct esi_source *source,
                     struct esi_pattern_place place,
                     const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

/* Whether the text is UTF-8 without NUL bytes, and not too long.  0 or -EINVAL with
 * words. */
int esi_source_check(const struct esi_source *source);

#endif
