/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
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
#ifndef ES_BASE_JSON_TEXT_H
#define ES_BASE_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "base/json_out.h"

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
