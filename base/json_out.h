/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Writes JSON Lines: one value a line, in one pass, without building anything in
 * memory.
 *
 *     struct esi_json_out out;
 *
 *     esi_json_out_init(&out, stdout);
 *     esi_json_out_begin_object(&out, NULL);
 *     esi_json_out_string(&out, "run", name);
 *     esi_json_out_begin_array(&out, "ranks");
 *     esi_json_out_signed(&out, NULL, 3);
 *     esi_json_out_end(&out);
 *     esi_json_out_end(&out);              the object ends, and with it the line
 *
 * Inside an object every value has a key, inside an array and on top none (NULL):
 * assert() checks.  Not for several threads at once.
 */
#ifndef ES_BASE_JSON_OUT_H
#define ES_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { ES_JSON_OUT_DEPTH = 128 }; /* how deep objects and arrays may nest */

/* Caller's memory; its fields are private. */
struct esi_json_out {
    FILE *stream; /* borrowed */
    unsigned depth;
    struct {
        bool object;
        bool filled; /* the next value needs a comma before it */
    } level[ES_JSON_OUT_DEPTH];
};

/* Starts writing to `stream` (borrowed).  Write errors stay in the stream: see
 * ferror(3). */
void esi_json_out_init(struct esi_json_out *out, FILE *stream);

void esi_json_out_begin_object(struct esi_json_out *out, const char *key);
void esi_json_out_begin_array(struct esi_json_out *out, const char *key);
bool esi_json_out_is_in_array(const struct esi_json_out *out);
/* Ends the innermost object or array; ends the line when it was the outermost. */
void esi_json_out_end(struct esi_json_out *out);

/* A string; bytes that are not UTF-8 become U+FFFD each.  `text` NULL writes null. */
void esi_json_out_string(struct esi_json_out *out, const char *key, const char *text);
void esi_json_out_signed(struct esi_json_out *out, const char *key, int64_t value);
void esi_json_out_unsigned(struct esi_json_out *out, const char *key, uint64_t value);
/* As few digits as tell the value from its neighbours; not-a-number and infinity are
 * null. */
void esi_json_out_real(struct esi_json_out *out, const char *key, double value);
void esi_json_out_bool(struct esi_json_out *out, const char *key, bool value);
void esi_json_out_null(struct esi_json_out *out, const char *key);
/* A value that is JSON text already. */
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

/* Caller's memory, which stays where it is until the text is finished. */
struct esi_json_text {
    struct esi_json_out out; /* write here */
    FILE *stream;            /* for JSON that is text already */
    char *text;              /* private, as `length` */
    size_t length;
};

/* -ENOMEM: there is nothing to finish. */
int esi_json_text_begin(struct esi_json_text *json);

/* Gives what was written, and its length unless `ret_length` is NULL.  Caller frees
 * *ret_text.  -ENOMEM: *ret_text is NULL. */
int esi_json_text_finish(struct esi_json_text *json,
                         char **ret_text,
                         size_t *ret_length);

#endif
