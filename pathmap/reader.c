/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Faults in a pathmap: their words, and their place in the text where there is one. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/map.h"
#include "pathmap/record.h"

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
            esi_text_cursor_locate(&cursor, &line, &column);
    }
    return es_error_set_at(reader->error, code, reader->source, line, column, "%s: %s",
                           esi_step_format(step, path, sizeof(path)), words);
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

/* Cuts "mapping.ranks[2].host" into steps, whose keys are copied to `keys`, as long as
 * twice the path.  Returns the last step. */
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
