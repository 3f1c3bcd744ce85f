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
#include <stdint.h>
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

/* --- Comma-separated values (RFC 4180); lines end in "\r\n" ----------------------- */

/* Writes a field, in quotes where it needs them and with escapes as above,
 * so that a row is a line.  A text that begins with = + - or @, and is no number, gets
 * a ' in front: spread sheets would calculate it.  Write errors stay in the stream. */
void esi_csv_text(FILE *stream, const char *text);

/* --- Characters of UTF-8 ---------------------------------------------------------- */

/* As RFC 3629 has them: no overlong forms, no surrogates, nothing past U+10FFFF. */

/* Length of the character that `text` begins with, or 0 if it begins with none.  `text`
 * ends with a 0, which is a character of length 1. */
size_t esi_utf8_length(const unsigned char *text);

/* The number of that character. */
uint32_t esi_utf8_value(const unsigned char *text, size_t length);

#endif
