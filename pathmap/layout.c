/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Formats JSON for people.
 *
 * Each value is first tried on the rest of its line; only values that are too long are
 * divided.  So every value is dumped once per level above it: O(bytes * depth).
 */
#include "config.h"

#include "pathmap/layout.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 96, INDENT = 2 };

static int layout_put(FILE *out, const json_t *json, size_t indent, size_t used);

static void put_break(FILE *out, bool first, size_t indent)
{
    fprintf(out, "%s\n%*s", first ? "" : ",", (int)indent, "");
}

static int put_name(FILE *out, const char *name)
{
    json_t *json = json_string(name);
    int code = json == NULL ? -1 : json_dumpf(json, out, JSON_ENCODE_ANY);

    json_decref(json);
    fputs(": ", out);
    return code;
}

static int put_object(FILE *out, const json_t *json, size_t indent)
{
    bool first = true;

    fputc('{', out);
    for (void *at = json_object_iter((json_t *)json); at != NULL;
         at = json_object_iter_next((json_t *)json, at)) {
        const char *name = json_object_iter_key(at);
        put_break(out, first, indent + INDENT);
        first = false;
        if (put_name(out, name) != 0)
            return -1;
        /* The name is measured without its escapes, which may result in a long line. */
        if (layout_put(out, json_object_iter_value(at), indent + INDENT,
                       indent + INDENT + strlen(name) + 4) != 0)
            return -1;
    }
    put_break(out, true, indent);
    fputc('}', out);
    return 0;
}

static int put_list(FILE *out, const json_t *json, size_t indent)
{
    fputc('[', out);
    for (size_t i = 0; i < json_array_size(json); i++) {
        put_break(out, i == 0, indent + INDENT);
        if (layout_put(out, json_array_get(json, i), indent + INDENT,
                       indent + INDENT) != 0)
            return -1;
    }
    put_break(out, true, indent);
    fputc(']', out);
    return 0;
}

/* `used` bytes are on the line already. */
static int layout_put(FILE *out, const json_t *json, size_t indent, size_t used)
{
    char line[LINE];
    size_t length = json_dumpb(json, line, sizeof(line), JSON_ENCODE_ANY);

    if (length == 0)
        return -1;
    if (length + used < LINE) {
        fwrite(line, 1, length, out);
        return 0;
    }
    if (json_is_object(json))
        return put_object(out, json, indent);
    if (json_is_array(json))
        return put_list(out, json, indent);
    return json_dumpf(json, out, JSON_ENCODE_ANY);
}

int esi_layout_format(const json_t *json, char **ret_text)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return -ENOMEM;
    /* The outermost object is always divided. */
    bool failed = (json_is_object(json) ? put_object(out, json, 0)
                                        : layout_put(out, json, 0, 0)) != 0;
    fputc('\n', out);
    failed |= ferror(out) != 0;
    failed |= fclose(out) != 0;
    if (failed) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    return 0;
}

void esi_layout_free_dump(char *dump)
{
    json_free_t release;

    json_get_alloc_funcs(NULL, &release);
    if (dump != NULL)
        release(dump);
}

/* --- The hash seed ---------------------------------------------------------------- */

/* The library would do this with its first object, by reading a variable that other
 * threads may be writing.  That is correct, but race detectors report it. */
static void choose_seed(void)
{
    json_object_seed(0); /* 0: a random one */
}

void esi_json_seed(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, choose_seed);
}
