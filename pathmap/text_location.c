/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Locations in JSON text. */
#include "config.h"

#include "pathmap/text_location.h"

#include <jansson.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "pathmap/map.h"

/* Formats "cluster.hosts[2].cores" ("document" for the root), truncated.  Returns
 * `out`. */
static const char *step_format(const struct esi_step *step, char *out, size_t size)
{
    if (step->parent == NULL) {
        snprintf(out, size, "document");
        return out;
    }
    out[0] = '\0';
    if (step->parent->parent != NULL)
        step_format(step->parent, out, size);

    size_t used = strlen(out);
    if (step->key == NULL)
        snprintf(out + used, size - used, "[%zu]", step->index);
    else
        snprintf(out + used, size - used, "%s%.64s", used > 0 ? "." : "", step->key);
    /* Names come from the text: they must not contain terminal control characters. */
    for (char *c = out + used; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return out;
}

static bool is_at(const struct esi_text_cursor *cursor, char c)
{
    return cursor->at < cursor->end && *cursor->at == c;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct esi_text_cursor *cursor)
{
    while (cursor->at < cursor->end && is_space(*cursor->at))
        cursor->at++;
}

/* From the opening quote to after the closing one. */
static void skip_string(struct esi_text_cursor *cursor)
{
    cursor->at++;
    while (cursor->at < cursor->end && *cursor->at != '"') {
        if (*cursor->at == '\\')
            cursor->at++;
        if (cursor->at < cursor->end)
            cursor->at++;
    }
    if (cursor->at < cursor->end)
        cursor->at++;
}

void esi_text_cursor_init(struct esi_text_cursor *cursor,
                          const char *text,
                          size_t length)
{
    *cursor = (struct esi_text_cursor){.at = text,
                                       .end = text + length,
                                       .counted = text,
                                       .line_start = text,
                                       .line = 1};
    skip_space(cursor);
}

/* From a value to after it. */
static void cursor_skip(struct esi_text_cursor *cursor)
{
    int depth = 0;

    skip_space(cursor);
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (c == '"') {
            skip_string(cursor);
            continue;
        }
        if (depth == 0 && (c == ',' || c == ']' || c == '}'))
            return;
        if (c == '[' || c == '{')
            depth++;
        if (c == ']' || c == '}')
            depth--;
        cursor->at++;
    }
}

/* From an object or list to its first name or item.  Returns false, after it, if it is
 * empty. */
static bool cursor_enter(struct esi_text_cursor *cursor)
{
    if (!is_at(cursor, '{') && !is_at(cursor, '['))
        return false;
    cursor->at++;
    skip_space(cursor);
    if (is_at(cursor, '}') || is_at(cursor, ']')) {
        cursor->at++;
        return false;
    }
    return cursor->at < cursor->end;
}

/* From after a value to the next name or item.  Returns false, after the whole, at the
 * end. */
static bool cursor_next(struct esi_text_cursor *cursor)
{
    skip_space(cursor);
    bool more = is_at(cursor, ',');
    if (cursor->at < cursor->end)
        cursor->at++;
    skip_space(cursor);
    return more && cursor->at < cursor->end;
}

/* Returns whether the string token of `length` bytes, including quotes, is `key`. */
static bool is_key(const char *token, size_t length, const char *key)
{
    if (memchr(token, '\\', length) == NULL)
        return length == strlen(key) + 2 && memcmp(token + 1, key, length - 2) == 0;

    json_t *name = json_loadb(token, length, JSON_DECODE_ANY, NULL);
    bool same = json_is_string(name) && strcmp(json_string_value(name), key) == 0;
    json_decref(name);
    return same;
}

/* From a name to its value; returns true if the name is `key`. */
static bool cursor_read_name(struct esi_text_cursor *cursor, const char *key)
{
    const char *token = cursor->at;

    if (!is_at(cursor, '"'))
        return false;
    skip_string(cursor);
    bool same = is_key(token, (size_t)(cursor->at - token), key);
    skip_space(cursor);
    if (is_at(cursor, ':'))
        cursor->at++;
    skip_space(cursor);
    return same;
}

static bool seek_member(struct esi_text_cursor *cursor, const char *key, bool name)
{
    if (!is_at(cursor, '{') || !cursor_enter(cursor))
        return false;
    do {
        const char *start = cursor->at;
        if (cursor_read_name(cursor, key)) {
            if (name)
                cursor->at = start;
            return cursor->at < cursor->end;
        }
        cursor_skip(cursor);
    } while (cursor_next(cursor));
    return false;
}

static bool seek_item(struct esi_text_cursor *cursor, size_t index)
{
    if (!is_at(cursor, '[') || !cursor_enter(cursor))
        return false;
    for (size_t i = 0; i < index; i++) {
        cursor_skip(cursor);
        if (!cursor_next(cursor))
            return false;
    }
    return true;
}

bool esi_text_cursor_seek(struct esi_text_cursor *cursor,
                          const struct esi_step *step,
                          bool name)
{
    if (step->parent == NULL)
        return cursor->at < cursor->end;
    if (!esi_text_cursor_seek(cursor, step->parent, false))
        return false;
    if (step->key == NULL)
        return seek_item(cursor, step->index);
    return seek_member(cursor, step->key, name);
}

/* Line and column of the cursor, from 1; the column in bytes. */
static void cursor_locate(struct esi_text_cursor *cursor,
                          int *ret_line,
                          int *ret_column)
{
    for (; cursor->counted < cursor->at; cursor->counted++) {
        if (*cursor->counted != '\n')
            continue;
        cursor->line++;
        cursor->line_start = cursor->counted + 1;
    }
    *ret_line = cursor->line;
    *ret_column = (int)(cursor->at - cursor->line_start) + 1;
}

/* --- Stages and properties of scopes ---------------------------------------------- */

/*
 * The records were read from the same text, so their order is that of the text: cursor
 * and records advance in parallel.
 */
static void place_value(struct esi_text_cursor *cursor,
                        struct esi_pathmap_property *property);

static void place_items(struct esi_text_cursor *cursor,
                        struct esi_pathmap_property *items,
                        size_t count,
                        bool named)
{
    size_t i = 0;

    for (bool more = cursor_enter(cursor); more && i < count; i++) {
        if (named) {
            cursor_locate(cursor, &items[i].name_line, &items[i].name_column);
            cursor_read_name(cursor, items[i].name);
        }
        place_value(cursor, &items[i]);
        more = cursor_next(cursor);
    }
}

/* Leaves the cursor after the value. */
static void place_value(struct esi_text_cursor *cursor,
                        struct esi_pathmap_property *property)
{
    cursor_locate(cursor, &property->line, &property->column);
    if (property->kind == ES_PATHMAP_VALUE_LIST)
        place_items(cursor, property->items, property->item_count, false);
    else if (property->kind == ES_PATHMAP_VALUE_OBJECT)
        place_items(cursor, property->items, property->item_count, true);
    else
        cursor_skip(cursor);
}

static void place_stage(struct esi_text_cursor *cursor,
                        struct esi_pathmap_stage *stage);

static void place_children(struct esi_text_cursor *cursor,
                           struct esi_pathmap_stage *stage)
{
    size_t i = 0;

    for (bool more = cursor_enter(cursor); more && i < stage->child_count; i++) {
        place_stage(cursor, &stage->children[i]);
        more = cursor_next(cursor);
    }
}

static void place_stage(struct esi_text_cursor *cursor, struct esi_pathmap_stage *stage)
{
    cursor_locate(cursor, &stage->line, &stage->column);
    for (bool more = cursor_enter(cursor); more; more = cursor_next(cursor)) {
        struct esi_text_cursor name = *cursor;
        if (cursor_read_name(cursor, "children")) {
            place_children(cursor, stage);
            continue;
        }
        *cursor = name;
        if (cursor_read_name(cursor, "properties"))
            place_items(cursor, stage->properties, stage->property_count, true);
        else
            cursor_skip(cursor);
    }
}

static void place_scope(struct esi_text_cursor *cursor, struct esi_pathmap_scope *scope)
{
    for (bool more = cursor_enter(cursor); more; more = cursor_next(cursor)) {
        struct esi_text_cursor name = *cursor;
        if (cursor_read_name(cursor, "tree")) {
            place_stage(cursor, &scope->tree);
            continue;
        }
        *cursor = name;
        if (cursor_read_name(cursor, "properties"))
            place_items(cursor, scope->properties, scope->property_count, true);
        else
            cursor_skip(cursor);
    }
}

void esi_scopes_locate(struct esi_text_cursor *cursor,
                       struct esi_pathmap_scope *scopes,
                       size_t count)
{
    size_t i = 0;

    for (bool more = cursor_enter(cursor); more && i < count; i++) {
        place_scope(cursor, &scopes[i]);
        more = cursor_next(cursor);
    }
}

/* --- Faults ----------------------------------------------------------------------- */

enum { WORDS_BYTES = 320, PATH_STEPS = 2 * ESI_MAX_DEPTH + 16 };

static int reader_fail(const struct esi_reader *reader,
                       const struct esi_step *step,
                       bool name,
                       int code,
                       const char *words)
{
    char path[192];
    int line = 0, column = 0;

    if (reader->text != NULL) {
        struct esi_text_cursor cursor;
        esi_text_cursor_init(&cursor, reader->text, reader->length);
        if (esi_text_cursor_seek(&cursor, step, name))
            cursor_locate(&cursor, &line, &column);
    }
    return es_error_set_at(reader->error, code, reader->source, line, column, "%s: %s",
                           step_format(step, path, sizeof(path)), words);
}

int esi_reader_fail(const struct esi_reader *reader,
                    const struct esi_step *step,
                    int code,
                    const char *format,
                    ...)
{
    char words[WORDS_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    return reader_fail(reader, step, false, code, words);
}

int esi_reader_fail_name(const struct esi_reader *reader,
                         const struct esi_step *step,
                         const char *format,
                         ...)
{
    char words[WORDS_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    return reader_fail(reader, step, true, -EINVAL, words);
}

/* Splits "mapping.ranks[2].host" into steps, whose keys are copied to `keys`, of twice
 * the length of the path.  Returns the last step. */
static const struct esi_step *reader_split(const char *path,
                                           char *keys,
                                           struct esi_step *steps)
{
    size_t count = 1;

    steps[0] = (struct esi_step){0};
    while (*path != '\0' && count < PATH_STEPS) {
        struct esi_step *step = &steps[count];
        *step = (struct esi_step){.parent = &steps[count - 1]};
        count++;
        if (*path == '[') {
            char *end;
            step->index = strtoull(path + 1, &end, 10);
            path = end + (*end == ']');
        } else {
            size_t length = strcspn(path, ".[");
            memcpy(keys, path, length);
            keys[length] = '\0';
            step->key = keys;
            keys += length + 1;
            path += length;
        }
        path += *path == '.';
    }
    return &steps[count - 1];
}

int esi_reader_fail_path(const struct esi_reader *reader,
                         const char *path,
                         const char *format,
                         ...)
{
    char words[WORDS_BYTES], keys[2 * ESI_PATH_BYTES];
    struct esi_step steps[PATH_STEPS];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    return reader_fail(reader, reader_split(path, keys, steps), false, -EINVAL, words);
}

const char *esi_way(char out[ESI_PATH_BYTES], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(out, ESI_PATH_BYTES, format, arguments);
    va_end(arguments);
    return out;
}

int esi_reader_fail_memory(const struct esi_reader *reader)
{
    return es_error_set_at(reader->error, -ENOMEM, reader->source, 0, 0,
                           "no memory left for the pathmap");
}
