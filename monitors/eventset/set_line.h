/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Parses the lines of an event set.  Does not check that they are consistent
 * (set_check.h).
 */
#ifndef ES_MONITORS_EVENTSET_SET_LINE_H
#define ES_MONITORS_EVENTSET_SET_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

/* "unary", "send", "receive" or "sync"; NULL after the last. */
const char *esi_event_kind_name(size_t kind);

struct esi_set_line; /* memory for one line at a time */

/* The location of a line, for errors. */
struct esi_set_place {
    const char *source; /* borrowed */
    uint64_t line;
};

/* The line number as errors store it. */
int esi_set_place_line(const struct esi_set_place *place);

/* Returns 0 or -ENOMEM. */
int esi_set_line_create(struct esi_set_line **ret_line);
/* Accepts NULL. */
void esi_set_line_destroy(struct esi_set_line *line);

/* Reads the header and passes its traces to `sink`. Returns 0; -EINVAL with `error`
 * filled; -ENOMEM; or the error of `sink`. */
int esi_set_line_header(struct esi_set_line *line,
                        const char *text,
                        size_t length,
                        const struct esi_set_place *place,
                        const struct es_set_sink *sink,
                        struct es_error *error);

/* Reads an event; a send has the partners that it lists.  The event borrows from `line`
 * and from `text`, which is modified: strings are terminated in place.  text[length]
 * must belong to the buffer.  Returns 0, -EINVAL with `error` filled, or -ENOMEM. */
int esi_set_line_event(struct esi_set_line *line,
                       char *text,
                       size_t length,
                       const struct esi_set_place *place,
                       struct es_set_event *ret_event,
                       struct es_error *error);

/* Does the same with only the JSON library, which knows all of JSON; for comparison. */
int esi_set_line_event_slowly(struct esi_set_line *line,
                              const char *text,
                              size_t length,
                              const struct esi_set_place *place,
                              struct es_set_event *ret_event,
                              struct es_error *error);

/*
 * Decimal numbers in the texts of event sets.
 */

/* Whether `text` is a number in canonical form: a minus sign if negative, no plus, no
 * leading zeros, no blanks, within int64_t.  Formatting it again gives the same
 * text. */
bool esi_set_number_parse(const char *text, size_t length, int64_t *ret_number);

enum { ES_SET_NUMBER_LENGTH = 21 }; /* of the longest number, with its terminating 0 */

/* Writes the number and a terminating 0.  Returns its length. */
size_t esi_set_number_format(int64_t number, char out[ES_SET_NUMBER_LENGTH]);

#endif
