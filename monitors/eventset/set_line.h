/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Lines of an event set: from JSON to what they say.  Whether that makes sense is not
 * asked here (set_check.h).
 */
#ifndef ES_MONITORS_EVENTSET_SET_LINE_H
#define ES_MONITORS_EVENTSET_SET_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

/* "unary", "send", "receive", "sync"; NULL behind the last. */
const char *esi_event_kind_name(size_t kind);

struct esi_set_line; /* room for one line at a time */

/* Where the line stands, for errors. */
struct esi_set_place {
    const char *source; /* borrowed */
    uint64_t line;
};

/* The place's line as errors hold it. */
int esi_set_place_line(const struct esi_set_place *place);

/* 0 or -ENOMEM. */
int esi_set_line_create(struct esi_set_line **ret_line);
/* Accepts NULL. */
void esi_set_line_destroy(struct esi_set_line *line);

/* Reads the header and tells its traces.  0; -EINVAL with words; -ENOMEM; what `sink`
 * gave. */
int esi_set_line_header(struct esi_set_line *line,
                        const char *text,
                        size_t length,
                        const struct esi_set_place *place,
                        const struct es_set_sink *sink,
                        struct es_error *error);

/* Reads an event; a send has the partners that it lists.  It borrows from `line` and
 * from `text`, which is changed (texts get their ends).  text[length] belongs to the
 * line, too.  0, -EINVAL with words, -ENOMEM. */
int esi_set_line_event(struct esi_set_line *line,
                       char *text,
                       size_t length,
                       const struct esi_set_place *place,
                       struct es_set_event *ret_event,
                       struct es_error *error);

/* The same by the JSON library alone, which knows all of JSON, for comparison. */
int esi_set_line_event_slowly(struct esi_set_line *line,
                              const char *text,
                              size_t length,
                              const struct esi_set_place *place,
                              struct es_set_event *ret_event,
                              struct es_error *error);

/*
 * Decimal numbers in texts of event sets.
 */

/* Whether `text` is a number just as it would be written: a minus sign where it is
 * negative, no plus, no leading zeros, no blanks, within int64_t.  Written again it is
 * the same text. */
bool esi_set_number_parse(const char *text, size_t length, int64_t *ret_number);

enum { ES_SET_NUMBER_LENGTH = 21 }; /* of the longest, with its end */

/* Writes the number and a terminating 0.  Returns its length. */
size_t esi_set_number_format(int64_t number, char out[ES_SET_NUMBER_LENGTH]);

#endif
