/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Errors for people: what is wrong, and where in the input.
 *
 * Functions return 0 or a count, or a negative errno.  Where a person wrote the input,
 * or the reason needs words, the last parameter is a `struct es_error *`: it may be
 * NULL, is filled by whoever finds the fault, and the first fault wins.
 */
#ifndef EVENTSPACE_ERROR_H
#define EVENTSPACE_ERROR_H

#include <stdarg.h>

#include "eventspace/api.h"

/* A value type, so its fields are open.  An empty text means no error. */
struct es_error {
    char source[256]; /* file, segment or variable the fault is in; "" if none */
    int line;         /* from 1; 0 = not known */
    int column;       /* from 1, in bytes; 0 = not known */
    char text[512];   /* one sentence: what, and what was expected */
};

/* Clears the record, so that the next fault is kept.  Accepts NULL. */
ES_API void es_error_clear(struct es_error *error);

/* Fills an empty record with a text; keeps a filled one.  Accepts NULL.
 * Returns `code` (a negative errno), so that callers can write `return
 * es_error_set(...)`. */
ES_API int es_error_set(struct es_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a place.  `source` may be NULL (none). */
ES_API int es_error_set_at(struct es_error *error,
                           int code,
                           const char *source,
                           int line,
                           int column,
                           const char *format,
                           ...) __attribute__((format(printf, 6, 7)));

/* Writes "source:line:column: text" (the parts that are known) into `out` of `size`
 * bytes, cut if need be, always terminated.  Returns out. */
ES_API const char *es_error_format(const struct es_error *error,
                                   char *out,
                                   unsigned long size);

#endif
