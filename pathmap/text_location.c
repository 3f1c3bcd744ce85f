/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Places in a JSON text. */
#include "config.h"

#include "pathmap/text_location.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

const char *esi_step_format(const struct esi_step *step, char *out, size_t size)
{
    if (step->parent == NULL) {
        snprintf(out, size, "document");
        return out;
    }
    out[0] = '\0';
    if (step->parent->parent != NULL)
        esi_step_format(step->parent, out, size);

    size_t used = strlen(out);
    if (step->key == NULL)
        snprintf(out + used, size - used, "[%zu]", step->index);
    else
        snprintf(out + used, size - used, "%s%.64s", used > 0 ? "." : "", step->key);
    /* Names come from the text: nothing in them may disturb a terminal. */
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

/* From the opening quote to behind the closing one. */
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

void esi_text_cursor_skip(struct esi_text_cursor *cursor)
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

bool esi_text_cursor_enter(struct esi_text_cursor *cursor)
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

bool esi_text_cursor_next(struct esi_text_cursor *cursor)
{
    skip_space(cursor);
    bool more = is_at(cursor, ',');
    if (cursor->at < cursor->end)
        cursor->at++;
    skip_space(cursor);
    return more && cursor->at < cursor->end;
}

/* Whether the string token of `length` bytes, quotes included, spells `key`. */
static bool is_key(const char *token, size_t length, const char *key)
{
    if (memchr(token, '\\', length) == NULL)
        return length == strlen(key) + 2 && memcmp(token + 1, key, length - 2) == 0;

    json_t *name = json_loadb(token, length, JSON_DECODE_ANY, NULL);
    bool same = json_is_string(name) && strcmp(json_string_value(name), key) == 0;
    json_decref(name);
    return same;
}

bool esi_text_cursor_read_name(struct esi_text_cursor *cursor, const char *key)
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
    if (!is_at(cursor, '{') || !esi_text_cursor_enter(cursor))
        return false;
    do {
        const char *start = cursor->at;
        if (esi_text_cursor_read_name(cursor, key)) {
            if (name)
                cursor->at = start;
            return cursor->at < cursor->end;
        }
        esi_text_cursor_skip(cursor);
    } while (esi_text_cursor_next(cursor));
    return false;
}

static bool seek_item(struct esi_text_cursor *cursor, size_t index)
{
    if (!is_at(cursor, '[') || !esi_text_cursor_enter(cursor))
        return false;
    for (size_t i = 0; i < index; i++) {
        esi_text_cursor_skip(cursor);
        if (!esi_text_cursor_next(cursor))
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

void esi_text_cursor_locate(struct esi_text_cursor *cursor,
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
