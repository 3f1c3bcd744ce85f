/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Files of patterns: predicates over the partial order of events, by name (Nichols,
 * chapter 3; docs/pattern-language.md).
 *
 *   es_pattern_file_read("races.pattern", &file, &error);
 *   number = es_pattern_find(file, "Race");
 *   es_pattern_file_destroy(file);
 *
 * A file is not changed after it was parsed: any number of threads may read it.
 * Predicates are numbered from 0 in the order of the file.
 */
#ifndef EVENTSPACE_PATTERN_H
#define EVENTSPACE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"

/* Not the number of anything. */
#define ES_PATTERN_NONE UINT32_MAX

struct es_pattern_file;

/* Parses a text of `length` bytes, which is borrowed for the call, as is `name`, for
 * errors.  The caller destroys the file.  Errors tell line and column, show the line
 * with a caret below the fault, and say what was expected; `error` may be NULL.  0,
 * -EINVAL with words, -ENOMEM.  Nichols, chapter 3. */
ES_API int es_pattern_file_parse(const char *text,
                                 size_t length,
                                 const char *name,
                                 struct es_pattern_file **ret_file,
                                 struct es_error *error);
/* The same of a file; "-" is the standard input.  Another -errno: it cannot be read. */
ES_API int es_pattern_file_read(const char *path,
                                struct es_pattern_file **ret_file,
                                struct es_error *error);
/* Accepts NULL.  Searches that borrow the file are destroyed before it. */
ES_API void es_pattern_file_destroy(struct es_pattern_file *file);

/* Number of predicates. */
ES_API uint32_t es_pattern_predicates(const struct es_pattern_file *file);
/* The number of a predicate; ES_PATTERN_NONE: no predicate has this name. */
ES_API uint32_t es_pattern_find(const struct es_pattern_file *file, const char *name);
/* The name of a predicate, borrowed from the file.  NULL: there is no such predicate,
 * or the parser made it as a part of a large one. */
ES_API const char *es_pattern_predicate_name(const struct es_pattern_file *file,
                                             uint32_t predicate);

#endif
