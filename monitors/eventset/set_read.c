/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_read.c - reads event sets: lines, what each says, and whether all agree. */
#include "config.h"

#include "monitors/eventset/set_read.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/input.h"
#include "monitors/eventset/delivery.h"
#include "monitors/eventset/set_check.h"
#include "monitors/eventset/set_line.h"

/*
 * A file, line by line, each in memory that may be changed.
 */

/* Caller's memory; `number` may be read. */
struct esi_set_lines {
    FILE *stream; /* borrowed */
    char *buffer;
    size_t capacity;
    size_t from; /* what is read and not given yet */
    size_t to;
    uint64_t number; /* of the line that was given last, from 1 */
};

/* === A file, line by line ========================================================= */

enum { CAPACITY_MIN = 1 << 18, PEEK_MIN = 512 };

/* 0 or -ENOMEM. */
static int set_lines_init(struct esi_set_lines *lines, FILE *stream)
{
    *lines = (struct esi_set_lines){.stream = stream, .capacity = CAPACITY_MIN};
    lines->buffer = malloc(lines->capacity);
    return lines->buffer ? 0 : -ENOMEM;
}

static void set_lines_fini(struct esi_set_lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

/* Reads on behind what is there; one byte stays free for a 0.  Bytes, 0 at the end. */
static int lines_fill(struct esi_set_lines *lines, size_t *ret_got)
{
    if (lines->from > 0) {
        memmove(lines->buffer, lines->buffer + lines->from, lines->to - lines->from);
        lines->to -= lines->from;
        lines->from = 0;
    }
    if (lines->to > lines->capacity / 2 &&
        ESI_ARRAY_RESERVE(lines->buffer, lines->capacity, lines->capacity + 1) < 0)
        return -ENOMEM;
    errno = 0;
    *ret_got = fread(lines->buffer + lines->to, 1, lines->capacity - lines->to - 1,
                     lines->stream);
    if (*ret_got == 0 && ferror(lines->stream))
        return errno > 0 ? -errno : -EIO;
    lines->to += *ret_got;
    return 0;
}

/* The first bytes, at least 512 where the file has so many; before the first line is
 * given, which has them, too.  0; -ENOMEM; -errno of the stream. */
static int set_lines_peek(struct esi_set_lines *lines,
                          const char **ret_text,
                          size_t *ret_length)
{
    size_t got = 1;
    int code = 0;

    while (code == 0 && got > 0 && lines->to < PEEK_MIN)
        code = lines_fill(lines, &got);
    *ret_text = lines->buffer;
    *ret_length = lines->to;
    return code;
}

static int lines_give(struct esi_set_lines *lines,
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

/* The next line without its end; a 0 stands behind it.  It may be changed, and is there
 * until the next call.  1; 0 at the end; -ENOMEM; -errno of the stream. */
static int set_lines_next(struct esi_set_lines *lines,
                          char **ret_text,
                          size_t *ret_length)
{
    size_t searched = lines->from;

    for (;;) {
        char *end = memchr(lines->buffer + searched, '\n', lines->to - searched);
        size_t got, pending;
        int code;

        if (end)
            return lines_give(lines, end, ret_text, ret_length);
        pending = lines->to - lines->from;
        code = lines_fill(lines, &got);
        if (code < 0)
            return code;
        if (got == 0)
            return pending > 0 ? lines_give(lines, lines->buffer + lines->to, ret_text,
                                            ret_length)
                               : 0;
        searched = lines->from + pending;
    }
}

/* === The set ====================================================================== */

struct set_reading {
    const struct esi_set_read_config *config;
    struct es_error *error;
    struct esi_set_place place;
    struct esi_set_lines lines;
    struct esi_set_line *line;
    struct esi_set_check *check;
    struct esi_delivery *delivery;
    struct es_set_sink delivered; /* what goes into the delivery */
};

void esi_set_read_config_init(struct esi_set_read_config *config,
                              struct es_set_sink sink)
{
    *config = (struct esi_set_read_config){
        .sink = sink,
        .attributes = true,
        .memory_bytes = UINT64_C(512) << 20,
    };
}

/* --- Reading ---------------------------------------------------------------------- */

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct set_reading *reading = data;
    int code = esi_set_check_trace(reading->check);

    if (code == 0)
        code = reading->delivered.trace(reading->delivered.data, trace, name);
    return code;
}

static int take_event(struct set_reading *reading, struct es_set_event *event)
{
    int code =
        esi_set_check_event(reading->check, event, &reading->place, reading->error);

    if (code < 0)
        return code;
    if (event->kind == ES_EVENT_SEND) {
        event->partner_count = 0;
        event->partners = NULL;
    }
    if (!reading->config->attributes)
        event->attribute_count = 0;
    return reading->delivered.event(reading->delivered.data, event);
}

static bool is_blank(const char *text, size_t length)
{
    return strspn(text, " \t\r") == length;
}

/* The next line that is not blank: 1, 0 at the end, -errno. */
static int next_line(struct set_reading *reading, char **ret_text, size_t *ret_length)
{
    int code;

    do {
        code = set_lines_next(&reading->lines, ret_text, ret_length);
        reading->place.line = reading->lines.number;
    } while (code > 0 && reading->lines.number > 1 && is_blank(*ret_text, *ret_length));
    return code;
}

/* Whether the file is text at all. */
static int check_input(struct set_reading *reading)
{
    const char *text;
    size_t length;
    int code = set_lines_peek(&reading->lines, &text, &length);

    if (code < 0)
        return code;
    return esi_input_check(text, length, reading->place.source, reading->error);
}

static int read_header(struct set_reading *reading)
{
    const struct es_set_sink traces = {.trace = take_trace, .data = reading};
    size_t length;
    char *text;
    int code = check_input(reading);

    if (code < 0)
        return code;
    code = next_line(reading, &text, &length);
    if (code == 0)
        return es_error_set_at(reading->error, -EINVAL, reading->place.source, 1, 0,
                               "an empty file, expected a header");
    if (code < 0)
        return code;
    return esi_set_line_header(reading->line, text, length, &reading->place, &traces,
                               reading->error);
}

static int read_events(struct set_reading *reading)
{
    struct es_set_event event;
    size_t length;
    char *text;
    int code;

    while ((code = next_line(reading, &text, &length)) > 0) {
        code = esi_set_line_event(reading->line, text, length, &reading->place, &event,
                                  reading->error);
        if (code == 0)
            code = take_event(reading, &event);
        if (code < 0)
            break;
    }
    return code;
}

static int read_all(struct set_reading *reading)
{
    int code = read_header(reading);

    if (code == 0)
        code = read_events(reading);
    if (code == 0)
        code =
            esi_set_check_finish(reading->check, reading->place.source, reading->error);
    if (code == 0)
        code = esi_delivery_finish(reading->delivery, reading->error);
    return code;
}

/* --- Whole files ------------------------------------------------------------------ */

static int read_start(struct set_reading *reading, FILE *stream)
{
    const struct esi_set_read_config *config = reading->config;
    struct esi_delivery_config delivery;
    int code;

    esi_delivery_config_init(&delivery, config->sink);
    delivery.source = reading->place.source;
    delivery.line = &reading->place.line;
    delivery.memory_bytes = config->memory_bytes;
    delivery.spill_folder = config->spill_folder;
    code = set_lines_init(&reading->lines, stream);
    if (code == 0)
        code = esi_set_line_create(&reading->line);
    if (code == 0)
        code = esi_set_check_create(&reading->check);
    if (code == 0)
        code = esi_delivery_create(&delivery, &reading->delivery);
    if (code == 0)
        reading->delivered = esi_delivery_sink(reading->delivery);
    return code;
}

static void read_stop(struct set_reading *reading)
{
    set_lines_fini(&reading->lines);
    esi_set_line_destroy(reading->line);
    esi_set_check_destroy(reading->check);
    esi_delivery_destroy(reading->delivery);
}

int esi_set_read_stream(FILE *stream,
                        const char *name,
                        const struct esi_set_read_config *config,
                        struct es_error *error)
{
    struct set_reading reading = {.config = config, .error = error, .place = {name, 0}};
    int code = read_start(&reading, stream);

    if (code == 0)
        code = read_all(&reading);
    /* Unless there are words already; the sink has its own. */
    if (code < 0 && !esi_delivery_is_refused(reading.delivery))
        es_error_set_at(error, code, name, esi_set_place_line(&reading.place), 0, "%s",
                        strerror(-code));
    read_stop(&reading);
    return code;
}

int esi_set_read_file(const char *path,
                      const struct esi_set_read_config *config,
                      struct es_error *error)
{
    FILE *stream;
    int code;

    if (strcmp(path, "-") == 0)
        return esi_set_read_stream(stdin, "standard input", config, error);
    stream = fopen(path, "re");
    if (!stream) {
        code = -errno;
        return es_error_set_at(error, code, path, 0, 0, "%s", strerror(-code));
    }
    setvbuf(stream, NULL, _IONBF, 0); /* lines have a buffer of their own */
    code = esi_set_read_stream(stream, path, config, error);
    fclose(stream);
    return code;
}
