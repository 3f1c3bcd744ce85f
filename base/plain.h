/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Text from untrusted sources, for terminals, logs and messages.
 *
 * Names of communicators, paths, programs and hosts may contain anything.  Bytes that
 * could control a terminal are escaped:
 *
 *     \n \r \t \b \a \e \f \v     control characters
 *     \x01 \x7f                   other control characters, bytes that are not UTF-8
 *     \u009b \u202e               non-ASCII control characters, characters without
 *                                 width, non-characters, direction controls
 *
 * Backslashes are not escaped, so text that is already escaped does not change.
 */
#ifndef ES_BASE_PLAIN_H
#define ES_BASE_PLAIN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns whether no byte of the text has to be escaped. */
int esi_plain_is(const char *text);

/* Writes the text with escapes.  Write errors are left in the stream. */
void esi_plain_write(FILE *stream, const char *text);

/* Like fprintf(3), with escapes, except line breaks at the beginning and end of
 * `format`. */
void esi_plain_print(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void esi_plain_vprint(FILE *stream, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Writes the text with escapes inside a quoted string, where quotes and backslashes are
 * preceded by a backslash. */
void esi_plain_write_quoted(FILE *stream, const char *text);

/* Copies the text with escapes, truncated to `size` bytes between two escapes.  Returns
 * `out`. */
char *esi_plain_copy(char *out, size_t size, const char *text);

/* Like esi_plain_copy(), without truncation.  Returns NULL if out of memory.  The
 * caller frees the text. */
char *esi_plain_duplicate(const char *text);

/* --- Comma-separated values (RFC 4180); lines end in "\r\n" ----------------------- */

/* Writes a field, quoted if necessary and with escapes, so that a row is one line.  A
 * text that begins with = + - or @ and is not a number is preceded by ', because
 * spreadsheets would evaluate it.  Write errors are left in the stream. */
void esi_csv_text(FILE *stream, const char *text);

/* --- XML: pictures in SVG --------------------------------------------------------- */

/* Writes a text for an element or an attribute, with both kinds of escapes.  Of more
 * than `most` characters the rest becomes an ellipsis.  Write errors are left in the
 * stream. */
void esi_xml_text(FILE *stream, const char *text, size_t most);

/* --- Characters of UTF-8 ---------------------------------------------------------- */

/* As defined by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */

/* Length of the character at the start of `text`; 0 if there is no valid one.  The
 * terminating 0 is a character of length 1. */
size_t esi_utf8_length(const unsigned char *text);

/* The code point of that character. */
uint32_t esi_utf8_value(const unsigned char *text, size_t length);

#endif
