/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* json_text.c - JSON Lines into a stream that is memory. */
#include "config.h"

#include "base/json_text.h"

#include <errno.h>
#include <stdlib.h>

int esi_json_text_begin(struct esi_json_text *json)
{
    json->text = NULL;
    json->length = 0;
    json->stream = open_memstream(&json->text, &json->length);
    if (!json->stream)
        return -ENOMEM;
    esi_json_out_init(&json->out, json->stream);
    return 0;
}

int esi_json_text_finish(struct esi_json_text *json,
                         char **ret_text,
                         size_t *ret_length)
{
    int is_lost = ferror(json->stream);

    if (fclose(json->stream) != 0 || is_lost) {
        free(json->text);
        *ret_text = NULL;
        return -ENOMEM;
    }
    *ret_text = json->text;
    if (ret_length)
        *ret_length = json->length;
    return 0;
}
