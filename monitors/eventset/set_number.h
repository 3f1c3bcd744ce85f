/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Decimal numbers in texts of event sets.
 */
#ifndef ES_MONITORS_EVENTSET_SET_NUMBER_H
#define ES_MONITORS_EVENTSET_SET_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether `text` is a number just as it would be written: a minus sign where it is
 * negative, no plus, no leading zeros, no blanks, within int64_t.  Written again it is
 * the same text. */
bool es_set_number_parse(const char *text, size_t length, int64_t *ret_number);

enum { ES_SET_NUMBER_LENGTH = 21 }; /* of the longest, with its end */

/* Writes the number and a terminating 0.  Returns its length. */
size_t es_set_number_format(int64_t number, char out[ES_SET_NUMBER_LENGTH]);

#endif
