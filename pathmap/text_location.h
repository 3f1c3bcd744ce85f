/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Places in a JSON text: the way to a member, its name for people, its line and column.
 *
 * The parser keeps no places.  When one is needed, the text is walked again along the
 * way, O(bytes before the place).  The text has been accepted by the parser before, so
 * the cursor only tells strings, brackets and commas apart; on anything else it stays
 * within the text and finds nothing.
 */
#ifndef ES_PATHMAP_TEXT_LOCATION_H
#define ES_PATHMAP_TEXT_LOCATION_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"

/* One step of the way from the document's root.  Lives on the stack of who walks the
 * document; the root has no parent. */
struct esi_step {
    const struct esi_step *parent; /* borrowed */
    const char *key;               /* of a member, borrowed; NULL = item of a list */
    size_t index;                  /* of an item */
};

/* Writes "cluster.hosts[2].cores" ("document" for the root), cut if need be.  Returns
 * out. */
const char *esi_step_format(const struct esi_step *step, char *out, size_t size);

/* A value in a text, and the lines counted on the way there. */
struct esi_text_cursor {
    const char *at;
    const char *end;
    const char *counted; /* lines are counted up to here */
    const char *line_start;
    int line;
};

/* At the document's value. */
void esi_text_cursor_init(struct esi_text_cursor *cursor,
                          const char *text,
                          size_t length);
/* From the document's value to the step's (or to its name).  False if the text has
 * none. */
bool esi_text_cursor_seek(struct esi_text_cursor *cursor,
                          const struct esi_step *step,
                          bool name);
/* Where it is: from 1, in bytes. */
void esi_text_cursor_locate(struct esi_text_cursor *cursor,
                            int *ret_line,
                            int *ret_column);

/* --- Scopes ----------------------------------------------------------------------- */

struct esi_pathmap_scope;

/* Notes in the records of scopes where their stages and properties stand in the text.
 * `cursor` is at their list.  One walk over their text. */
void esi_scopes_locate(struct esi_text_cursor *cursor,
                       struct esi_pathmap_scope *scopes,
                       size_t count);

/* --- Faults ----------------------------------------------------------------------- */

/* The text that is being read, for the places of its faults.  text NULL = the map does
 * not come from a text. */
struct esi_reader {
    const char *text;
    size_t length;
    const char *source;
    struct es_error *error;
};

/* Fills the error with the place and name of `step` and the words.  Returns `code`. */
int esi_reader_fail(const struct esi_reader *reader,
                    const struct esi_step *step,
                    int code,
                    const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* The same at the member's name.  Returns -EINVAL. */
int esi_reader_fail_name(const struct esi_reader *reader,
                         const struct esi_step *step,
                         const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

enum { ESI_PATH_BYTES = 1536 };

/* The same with the way as text, "mapping.ranks[2].host", of names from the tables only
 * and less than ESI_PATH_BYTES long. */
int esi_reader_fail_path(const struct esi_reader *reader,
                         const char *path,
                         const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

/* Writes such a way, cut if need be.  Returns out. */
const char *esi_way(char out[ESI_PATH_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* No memory.  Returns -ENOMEM. */
int esi_reader_fail_memory(const struct esi_reader *reader);

#endif
