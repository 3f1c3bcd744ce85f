/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The line codec: records as lines of KEY=VALUE, for processes that know no JSON.
 *
 *   HEAD 1
 *   WORD NAME key=value key=value
 *   end
 *
 * The keys and values are those of a table of fields without a base (base/fields.h).
 * In texts %XX stands for the byte with that hexadecimal code: needed for '%', ';',
 * blanks and control characters.  Empty lines and lines that begin with '#' are
 * skipped.
 */
#ifndef ES_TUPLESPACE_PLAN_LINES_H
#define ES_TUPLESPACE_PLAN_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include "base/fields.h"
#include "eventspace/error.h"

/* A text that is being read; all borrowed.  Faults are shown in its current line. */
struct esi_lines {
    const char *source;
    struct es_error *error;
    const char *text;     /* what follows the line */
    const char *line;     /* its start: columns count from here */
    const char *end;      /* its end */
    const char *rest;     /* what is not read yet of it */
    int number;           /* 0 = there are no lines, only this text */
    const char *line_end; /* characters that end a line that is no comment */
};

/* `WHAT "SPAN": expected EXPECTED`, or without the span where its text is NULL: then at
 * the rest of the line.  Returns -EINVAL. */
int esi_lines_fault(const struct esi_lines *lines,
                    struct esi_text_span span,
                    const char *what,
                    const char *expected);

/* Reads the first line, "HEAD 1".  -EINVAL. */
int esi_lines_head(struct esi_lines *lines, const char *head);

/* Moves to the next line that says something, whose first word is in *ret_word.  1; 0
 * behind "end"; -EINVAL when the text ends without it. */
int esi_lines_next(struct esi_lines *lines, struct esi_text_span *ret_word);

/* The next word of the line, of length 0 at its end. */
struct esi_text_span esi_lines_word(struct esi_lines *lines);

/* The next word as a text with escapes of 1 to size - 1 bytes; `what` names it in
 * faults, after which `out` is undefined. */
int esi_lines_text(struct esi_lines *lines, const char *what, char *out, size_t size);

enum { ESI_LINE_MEMBERS = 16 };

/* Where the members of a line stand, by row of the table; text NULL = left out. */
struct esi_line_members {
    struct esi_text_span keys[ESI_LINE_MEMBERS];
    struct esi_text_span values[ESI_LINE_MEMBERS];
};

/* Reads the rest of the line into the record, which has its defaults.  Values are read
 * in the order of the rows.  -EINVAL (a member that is required is missing, too),
 * -ENOMEM. */
int esi_lines_members(struct esi_lines *lines,
                      const struct esi_fields *fields,
                      void *record,
                      struct esi_line_members *ret_members);

/* Reads one value.  -EINVAL, -ENOMEM; the field is undefined then. */
int esi_lines_value(const struct esi_lines *lines,
                    const struct esi_field *field,
                    struct esi_text_span value,
                    void *record);

/* Makes a whole text: "HEAD 1", the lines that `print` writes of the record, "end".
 * Caller frees *ret_text.  -ENOMEM. */
int esi_lines_format(const char *head,
                     void (*print)(FILE *out, const void *record),
                     const void *record,
                     char **ret_text);
/* Writes a text with escapes. */
void esi_lines_print_text(FILE *out, const char *text);
/* Writes " KEY=VALUE" of each field, of those in `defaults` (NULL = none) only if the
 * value is another. */
void esi_lines_print(FILE *out,
                     const struct esi_fields *fields,
                     const void *record,
                     const void *defaults);

#endif
