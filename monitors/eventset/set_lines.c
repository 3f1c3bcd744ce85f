/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_lines.c - lines in a buffer that is filled by large reads, and grows with the
 * longest line. */
#include "config.h"

#include "monitors/eventset/set_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MIN = 1 << 18, PEEK_MIN = 512 };

int esi_set_lines_init(struct esi_set_lines *lines, FILE *stream)
{
    *lines = (struct esi_set_lines){.stream = stream, .capacity = CAPACITY_MIN};
    lines->buffer = malloc(lines->capacity);
    return lines->buffer ? 0 : -ENOMEM;
}

void esi_set_lines_fini(struct esi_set_lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

/* Reads on behind what is there; one byte stays free for a 0.  Bytes, 0 at the end. */
static int fill(struct esi_set_lines *lines, size_t *ret_got)
{
    if (lines->from > 0) {
        memmove(lines->buffer, lines->buffer + lines->from, lines->to - lines->from);
        lines->to -= lines->from;
        lines->from = 0;
    }
    if (lines->to > lines->capacity / 2) {
        char *grown = lines->capacity <= SIZE_MAX / 2
                          ? realloc(lines->buffer, 2 * lines->capacity)
                          : NULL;
        if (!grown)
            return -ENOMEM;
        lines->buffer = grown;
        lines->capacity *= 2;
    }
    errno = 0;
    *ret_got = fread(lines->buffer + lines->to, 1, lines->capacity - lines->to - 1,
                     lines->stream);
    if (*ret_got == 0 && ferror(lines->stream))
        return errno > 0 ? -errno : -EIO;
    lines->to += *ret_got;
    lines->bytes += *ret_got;
    return 0;
}

int esi_set_lines_peek(struct esi_set_lines *lines,
                       const char **ret_text,
                       size_t *ret_length)
{
    size_t got = 1;
    int code = 0;

    while (code == 0 && got > 0 && lines->to < PEEK_MIN)
        code = fill(lines, &got);
    *ret_text = lines->buffer;
    *ret_length = lines->to;
    return code;
}

static int give(struct esi_set_lines *lines,
                char *end,
                char **ret_text,
                size_t *ret_length)
{
    *end = '\0';
    *ret_text = lines->buffer + lines->from;
    *ret_length = (size_t)(end - *ret_text);
    lines->from = (size_t)(end - lines->buffer) + 1;
    if (lines->from > lines->to)
        lines->from = lines->to; /* the last line lacks its end */
    lines->number++;
    return 1;
}

int esi_set_lines_next(struct esi_set_lines *lines, char **ret_text, size_t *ret_length)
{
    size_t searched = lines->from;

    for (;;) {
        char *end = memchr(lines->buffer + searched, '\n', lines->to - searched);
        size_t got, pending;
        int code;

        if (end)
            return give(lines, end, ret_text, ret_length);
        pending = lines->to - lines->from;
        code = fill(lines, &got);
        if (code < 0)
            return code;
        if (got == 0)
            return pending > 0
                       ? give(lines, lines->buffer + lines->to, ret_text, ret_length)
                       : 0;
        searched = lines->from + pending;
    }
}
