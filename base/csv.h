/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Fields of comma-separated values (RFC 4180); lines end in "\r\n". */
#ifndef ES_BASE_CSV_H
#define ES_BASE_CSV_H

#include <stdio.h>

/* Writes a field, in quotes where it needs them and with escapes as plain.h has them,
 * so that a row is a line.  A text that begins with = + - or @, and is no number, gets
 * a ' in front: spread sheets would calculate it.  Write errors stay in the stream. */
void esi_csv_text(FILE *stream, const char *text);

#endif
