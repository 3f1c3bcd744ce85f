/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Locations in JSON text: the path to a member, its name for people, its line and
 * column.
 *
 * The parser does not record locations.  When one is needed, the text is scanned again
 * along the path, O(bytes before it).  The parser has accepted the text, so the scan
 * only distinguishes strings, brackets and commas; in other text, it stays within
 * bounds and finds nothing.
 */
#ifndef ES_PATHMAP_TEXT_LOCATION_H
#define ES_PATHMAP_TEXT_LOCATION_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"

/* One step of the path from the root of the document.  Stored on the stack of the code
 * that traverses the document; the root has no parent. */
struct esi_step {
    const struct esi_step *parent; /* borrowed */
    const char *key;               /* of a member, borrowed; NULL
                                      for an item of a list */
    size_t index;                  /* of an item */
};

/* A value in a text, and the number of lines before it. */
struct esi_text_cursor {
    const char *at;
    const char *end;
    const char *counted; /* lines are counted up to here */
    const char *line_start;
    int line;
};

/* Sets the cursor to the value of the document. */
void esi_text_cursor_init(struct esi_text_cursor *cursor,
                          const char *text,
                          size_t length);
/* Moves from the value of the document to that of the step, or to its name.  Returns
 * false if there is none. */
bool esi_text_cursor_seek(struct esi_text_cursor *cursor,
                          const struct esi_step *step,
                          bool name);

/* --- Scopes ----------------------------------------------------------------------- */

struct esi_pathmap_scope;

/* Stores the locations of stages and properties in the records of scopes.  `cursor` is
 * at the list of scopes.  Scans their text once. */
void esi_scopes_locate(struct esi_text_cursor *cursor,
                       struct esi_pathmap_scope *scopes,
                       size_t count);

/* --- Faults ----------------------------------------------------------------------- */

/* The text being read, for the locations of errors.  `text` is NULL if the map does not
 * come from a text. */
struct esi_reader {
    const char *text;
    size_t length;
    const char *source;
    struct es_error *error;
};

/* Reports an error with the location of `step`, its line and column in bytes from 1,
 * and its name: "cluster.hosts[2].cores", "document" for the root, truncated.  Returns
 * `code`. */
int esi_reader_fail(const struct esi_reader *reader,
                    const struct esi_step *step,
                    int code,
                    const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* Reports an error at the name of the member.  Returns -EINVAL. */
int esi_reader_fail_name(const struct esi_reader *reader,
                         const struct esi_step *step,
                         const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

enum { ESI_PATH_BYTES = 1536 };

/* Reports an error at a path given as text, "mapping.ranks[2].host", shorter than
 * ESI_PATH_BYTES and with names from the tables only. */
int esi_reader_fail_path(const struct esi_reader *reader,
                         const char *path,
                         const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

/* Formats such a path, truncated.  Returns `out`. */
const char *esi_way(char out[ESI_PATH_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports that memory is exhausted.  Returns -ENOMEM. */
int esi_reader_fail_memory(const struct esi_reader *reader);

#endif
