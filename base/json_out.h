/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Writes JSON Lines: one value per line, in one pass, without building it in memory.
 *
 *     struct esi_json_out out;
 *
 *     esi_json_out_init(&out, stdout);
 *     esi_json_out_begin_object(&out, NULL);
 *     esi_json_out_string(&out, "run", name);
 *     esi_json_out_begin_array(&out, "ranks");
 *     esi_json_out_signed(&out, NULL, 3);
 *     esi_json_out_end(&out);
 *     esi_json_out_end(&out);              ends the object and the line
 *
 * Values in objects have a key; values in arrays and at the top level have none (NULL).
 * This is checked with assert().  Not thread safe.
 */
#ifndef ES_BASE_JSON_OUT_H
#define ES_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { ES_JSON_OUT_DEPTH = 128 }; /* maximum nesting of objects and arrays */

/* In caller's memory; its fields are private. */
struct esi_json_out {
    FILE *stream; /* borrowed */
    unsigned depth;
    struct {
        bool object;
        bool filled; /* a comma is needed before the next value */
    } level[ES_JSON_OUT_DEPTH];
};

/* Starts writing to `stream` (borrowed).  Write errors are left in the stream: see
 * ferror(3). */
void esi_json_out_init(struct esi_json_out *out, FILE *stream);

void esi_json_out_begin_object(struct esi_json_out *out, const char *key);
void esi_json_out_begin_array(struct esi_json_out *out, const char *key);
bool esi_json_out_is_in_array(const struct esi_json_out *out);
/* Ends the innermost object or array; if it was the outermost, ends the line. */
void esi_json_out_end(struct esi_json_out *out);

/* Writes a string, or null if `text` is NULL.  Bytes that are not UTF-8 become
 * U+FFFD. */
void esi_json_out_string(struct esi_json_out *out, const char *key, const char *text);
void esi_json_out_signed(struct esi_json_out *out, const char *key, int64_t value);
void esi_json_out_unsigned(struct esi_json_out *out, const char *key, uint64_t value);
/* Writes as few digits as identify the value; NaN and infinity become null. */
void esi_json_out_real(struct esi_json_out *out, const char *key, double value);
void esi_json_out_bool(struct esi_json_out *out, const char *key, bool value);
void esi_json_out_null(struct esi_json_out *out, const char *key);
/* Writes a value that is JSON text. */
void esi_json_out_raw(struct esi_json_out *out, const char *key, const char *json);

/* --- As a text in memory ---------------------------------------------------------- */

/*
 * JSON as a text in memory.
 *
 *     struct esi_json_text json;
 *
 *     if (esi_json_text_begin(&json) < 0)
 *         return -ENOMEM;
 *     esi_json_out_begin_object(&json.out, NULL);
 *     esi_json_out_end(&json.out);
 *     return esi_json_text_finish(&json, &text, &length);
 */

/* In caller's memory; must not be moved until the text is finished. */
struct esi_json_text {
    struct esi_json_out out; /* for writing */
    FILE *stream;            /* for writing JSON text directly */
    char *text;              /* private, like `length` */
    size_t length;
};

/* Starts a text.  Returns 0; or -ENOMEM, and then it must not be finished. */
int esi_json_text_begin(struct esi_json_text *json);

/* Returns the text and, unless `ret_length` is NULL, its length.  Returns 0; or
 * -ENOMEM, and then *ret_text is NULL.  The caller frees *ret_text. */
int esi_json_text_finish(struct esi_json_text *json,
                         char **ret_text,
                         size_t *ret_length);

#endif
