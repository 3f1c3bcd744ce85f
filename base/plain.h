/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Text for terminals, logs and sentences, however it came about.
 *
 * Names of communicators, paths, programs and hosts are chosen by others.  What a
 * terminal would obey instead of showing it is written as an escape:
 *
 *     \n \r \t \b \a \e \f \v     control characters
 *     \x01 \x7f                   the others, and each byte that is not UTF-8
 *     \u009b \u202e               control characters past ASCII, what has no width or
 *                                 is no character, what changes the writing's direction
 *
 * A backslash stays one, so that text that is escaped already stays as it is.
 */
#ifndef ES_BASE_PLAIN_H
#define ES_BASE_PLAIN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Whether nothing of the text has to be escaped. */
int esi_plain_is(const char *text);

/* Writes the text with escapes.  Write errors stay in the stream. */
void esi_plain_write(FILE *stream, const char *text);

/* As fprintf(3), of a text with escapes; line ends at the
 * beginning and the end of `format` stay. */
void esi_plain_print(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void esi_plain_vprint(FILE *stream, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Writes the text with escapes for strings in quotes, where a backslash in front of a
 * quote or backslash stands for that. */
void esi_plain_write_quoted(FILE *stream, const char *text);

/* Copies the text with escapes, cut to `size` bytes between two of them.  Returns
 * `out`. */
char *esi_plain_copy(char *out, size_t size, const char *text);

/* The same as long as that takes.  Caller frees; NULL without memory. */
char *esi_plain_duplicate(const char *text);

#endif
