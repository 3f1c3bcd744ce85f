/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Error reports for people: what is wrong, and where in the input.
 *
 * Functions return 0 or a count on success and a negative errno on failure.  Functions
 * that parse input written by a person, or whose errors need an explanation, take a
 * `struct es_error *` as their last parameter.  It may be NULL.  The function that
 * detects the fault fills it; later faults do not overwrite the first.
 */
#ifndef EVENTSPACE_ERROR_H
#define EVENTSPACE_ERROR_H

#include <stdarg.h>

#include "eventspace/api.h"

/* A value type: its fields are public.  An empty text means no error. */
struct es_error {
    char source[256]; /* file, segment or variable that
                         contains the fault; "" if none */
    int line;         /* from 1; 0 if not known */
    int column;       /* in bytes, from 1; 0 if not known */
    char text[512];   /* one sentence: what is wrong, and what was expected */
};

/* Clears the record, so that it can hold another error.  Accepts NULL. */
ES_API void es_error_clear(struct es_error *error);

/* Writes the text into an empty record; leaves a filled record unchanged.  Accepts
 * NULL.  Returns `code` (a negative errno), so that callers can write `return
 * es_error_set(...)`. */
ES_API int es_error_set(struct es_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Like es_error_set(), with a location.  `source` may be NULL (none). */
ES_API int es_error_set_at(struct es_error *error,
                           int code,
                           const char *source,
                           int line,
                           int column,
                           const char *format,
                           ...) __attribute__((format(printf, 6, 7)));

/* Writes "source:line:column: text" into `out` of `size` bytes, without the parts that
 * are not known.  The result is truncated to `size` and always terminated.  Returns
 * `out`. */
ES_API const char *es_error_format(const struct es_error *error,
                                   char *out,
                                   unsigned long size);

#endif
