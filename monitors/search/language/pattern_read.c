/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads pattern files. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/search/language/pattern_source.h"

/* Reads one byte more than is allowed, so that the parser rejects longer texts. */
static int read_all(FILE *stream, char **ret_text, size_t *ret_length)
{
    size_t most = (size_t)ESI_SOURCE_BYTES + 1;
    size_t room = 0;
    size_t length = 0;
    char *text = NULL;
    size_t got = 1;

    while (got > 0 && length < most) {
        if (ESI_ARRAY_RESERVE(text, room, room == length ? 2 * length + 4096 : 0) < 0) {
            free(text);
            return -ENOMEM;
        }
        errno = 0;
        got = fread(text + length, 1,
                    room - length < most - length ? room - length : most - length,
                    stream);
        length += got;
    }
    if (ferror(stream)) {
        free(text);
        return errno ? -errno : -EIO;
    }
    *ret_text = text;
    *ret_length = length;
    return 0;
}

int es_pattern_file_read(const char *path,
                         struct es_pattern_file **ret_file,
                         struct es_error *error)
{
    bool is_input = strcmp(path, "-") == 0;
    const char *name = is_input ? "standard input" : path;
    FILE *stream = is_input ? stdin : fopen(path, "re");
    size_t length = 0;
    char *text = NULL;
    int code = stream ? 0 : -errno;

    if (code == 0)
        code = read_all(stream, &text, &length);
    if (stream && !is_input)
        fclose(stream);
    if (code < 0)
        return es_error_set_at(error, code, name, 0, 0, "%s", strerror(-code));
    code = es_pattern_file_parse(text, length, name, ret_file, error);
    free(text);
    return code;
}
