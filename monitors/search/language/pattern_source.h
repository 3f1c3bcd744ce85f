/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The text of a pattern file and messages about faults in it: a sentence, the line, and
 * a caret below the position.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_SOURCE_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_SOURCE_H

#include <stddef.h>

#include "eventspace/error.h"
#include "monitors/search/language/pattern.h"

enum { ESI_SOURCE_BYTES = 16 << 20 }; /* maximum size of a text */

/* All fields are borrowed. */
struct esi_source {
    const char *name;
    const char *text; /* UTF-8 without NUL bytes */
    size_t length;
    struct es_error *error; /* may be NULL */
};

/* Fills the error record, unless it is filled already.  The sentence has no full stop
 * and is truncated to 200 bytes.  Returns -EINVAL. */
int esi_source_fault(const struct esi_source *source,
                     struct esi_pattern_place place,
                     const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

/* Checks that the text is UTF-8, has no NUL bytes and is not too long.  Returns 0, or
 * -EINVAL with a message. */
int esi_source_check(const struct esi_source *source);

#endif
