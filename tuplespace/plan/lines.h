/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The line codec: records as lines of KEY=VALUE, for processes without a JSON parser.
 *
 *   HEAD 1
 *   WORD NAME key=value key=value
 *   end
 *
 * Keys and values are described by a table of fields without a base (base/fields.h).
 * In texts, %XX is the byte with that hexadecimal code, as needed for '%', ';', spaces
 * and control characters.  Empty lines and lines that begin with '#' are ignored.
 */
#ifndef ES_TUPLESPACE_PLAN_LINES_H
#define ES_TUPLESPACE_PLAN_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include "base/fields.h"
#include "eventspace/error.h"

/* A text being parsed; all pointers are borrowed.  Errors are reported for the current
 * line. */
struct esi_lines {
    const char *source;
    struct es_error *error;
    const char *text;     /* the text after the line */
    const char *line;     /* start of the line, from which columns are counted */
    const char *end;      /* its end */
    const char *rest;     /* the part of the line that is not read yet */
    int number;           /* 0 if the text is not divided into lines */
    const char *line_end; /* characters that end a line other than a comment */
};

/* Reports `WHAT "SPAN": expected EXPECTED`.  If the text of the span is NULL, reports
 * the error at the rest of the line, without the span.  Returns -EINVAL. */
int esi_lines_fault(const struct esi_lines *lines,
                    struct esi_text_span span,
                    const char *what,
                    const char *expected);

/* Reads the first line, "HEAD 1".  Returns 0 or -EINVAL. */
int esi_lines_head(struct esi_lines *lines, const char *head);

/* Moves to the next line that is not empty or a comment; *ret_word is its first word.
 * Returns 1; 0 after "end"; or -EINVAL if the text ends without it. */
int esi_lines_next(struct esi_lines *lines, struct esi_text_span *ret_word);

/* Reads the next word of the line; its length is 0 at the end of the line. */
struct esi_text_span esi_lines_word(struct esi_lines *lines);

/* Reads the next word as a text with escapes, of 1 to size - 1 bytes.  `what` names it
 * in errors.  On error `out` is undefined. */
int esi_lines_text(struct esi_lines *lines, const char *what, char *out, size_t size);

enum { ESI_LINE_MEMBERS = 16 };

/* Location of each member of a line, by row of the table; text is NULL if it is
 * missing. */
struct esi_line_members {
    struct esi_text_span keys[ESI_LINE_MEMBERS];
    struct esi_text_span values[ESI_LINE_MEMBERS];
};

/* Reads the rest of the line into the record, which must contain its defaults.  Values
 * are read in the order of the rows.  Returns 0; -EINVAL, also if a required member is
 * missing; or -ENOMEM. */
int esi_lines_members(struct esi_lines *lines,
                      const struct esi_fields *fields,
                      void *record,
                      struct esi_line_members *ret_members);

/* Reads one value.  Returns 0; or -EINVAL or -ENOMEM, and then the field is
 * undefined. */
int esi_lines_value(const struct esi_lines *lines,
                    const struct esi_field *field,
                    struct esi_text_span value,
                    void *record);

/* Creates a complete text: "HEAD 1", the lines written by `print`, and "end".  Returns
 * 0 or -ENOMEM.  The caller frees *ret_text. */
int esi_lines_format(const char *head,
                     void (*print)(FILE *out, const void *record),
                     const void *record,
                     char **ret_text);
/* Writes a text with escapes. */
void esi_lines_print_text(FILE *out, const char *text);
/* Writes " KEY=VALUE" for each field.  Omits fields whose value is the same in
 * `defaults`, unless that is NULL. */
void esi_lines_print(FILE *out,
                     const struct esi_fields *fields,
                     const void *record,
                     const void *defaults);

#endif
