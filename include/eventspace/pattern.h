/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Pattern files: named predicates over the partial order of events (Nichols, chapter 3;
 * docs/pattern-language.md).
 *
 *   es_pattern_file_read("races.pattern", &file, &error);
 *   number = es_pattern_find(file, "Race");
 *   es_pattern_file_destroy(file);
 *
 * A parsed file is immutable, so any number of threads may read it.  Predicates are
 * numbered from 0 in the order of the file.
 */
#ifndef EVENTSPACE_PATTERN_H
#define EVENTSPACE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"

/* Not a valid predicate number. */
#define ES_PATTERN_NONE UINT32_MAX

struct es_pattern_file;

/* Parses a text of `length` bytes.  `text` and `name`, which error messages use, are
 * borrowed for the call.  The caller frees the file with es_pattern_file_destroy().
 * Errors give line and column, show the line with a caret below the fault, and say what
 * was expected; `error` may be NULL.  Returns 0, -EINVAL (with `error` filled) or
 * -ENOMEM.  Nichols, chapter 3. */
ES_API int es_pattern_file_parse(const char *text,
                                 size_t length,
                                 const char *name,
                                 struct es_pattern_file **ret_file,
                                 struct es_error *error);
/* Like es_pattern_file_parse(), for a file; "-" is standard input.  Also returns
 * another -errno if the file cannot be read. */
ES_API int es_pattern_file_read(const char *path,
                                struct es_pattern_file **ret_file,
                                struct es_error *error);
/* Frees the file.  Accepts NULL.  Destroy all searches that borrow the file first. */
ES_API void es_pattern_file_destroy(struct es_pattern_file *file);

/* Number of predicates. */
ES_API uint32_t es_pattern_predicates(const struct es_pattern_file *file);
/* Finds a predicate by name.  Returns its number, or ES_PATTERN_NONE. */
ES_API uint32_t es_pattern_find(const struct es_pattern_file *file, const char *name);
/* Name of a predicate, borrowed from the file.  NULL if there is no such predicate, or
 * if the parser created it as part of a larger predicate. */
ES_API const char *es_pattern_predicate_name(const struct es_pattern_file *file,
                                             uint32_t predicate);

#endif
