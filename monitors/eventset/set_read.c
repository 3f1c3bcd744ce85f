/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_read.c - reads event sets: parses lines and checks that they agree. */
#include "config.h"

#include "monitors/eventset/set_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "monitors/eventset/delivery.h"
#include "monitors/eventset/set_blocks.h"
#include "monitors/eventset/set_check.h"
#include "monitors/eventset/set_line.h"

struct set_reading {
    const struct esi_set_read_config *config;
    struct es_error *error;
    struct esi_set_place place;
    struct esi_set_blocks *blocks;
    struct esi_set_check *check;
    struct esi_delivery *delivery;
    struct es_set_sink delivered; /* the input of the delivery */
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

static int parse_header(struct set_reading *reading, const char *text, size_t length)
{
    const struct es_set_sink traces = {.trace = take_trace, .data = reading};
    struct esi_set_line *line;
    int code = esi_set_line_create(&line);

    if (code < 0)
        return code;
    code = esi_set_line_header(line, text, length, &reading->place, &traces,
                               reading->error);
    esi_set_line_destroy(line);
    return code;
}

static int read_header(struct set_reading *reading)
{
    const char *text;
    size_t length, read;
    int code = esi_set_blocks_header(reading->blocks, &text, &length, &read);

    if (code < 0)
        return code;
    reading->place.line = 1;
    if (code == 0)
        return es_error_set_at(reading->error, -EINVAL, reading->place.source, 1, 0,
                               "an empty file, expected a header");
    /* Checks that the file is text. */
    code = esi_input_check(text, read, reading->place.source, reading->error);
    return code < 0 ? code : parse_header(reading, text, length);
}

static int take_block(struct set_reading *reading, struct esi_set_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        int code;

        reading->place.line = block->lines[i];
        code = take_event(reading, &block->events[i]);
        if (code < 0)
            return code;
    }
    if (block->code < 0) {
        reading->place.line = block->line;
        if (reading->error)
            *reading->error = block->error;
    }
    return block->code;
}

static int read_events(struct set_reading *reading)
{
    struct esi_set_block *block;
    int code;

    while ((code = esi_set_blocks_next(reading->blocks, &block)) > 0) {
        code = take_block(reading, block);
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
    code = esi_set_blocks_create(stream, reading->place.source, config->threads,
                                 &reading->blocks);
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
    esi_set_blocks_destroy(reading->blocks);
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
    /* The sink reports its own errors. */
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
    setvbuf(stream, NULL, _IONBF, 0); /* the line reader has its own buffer */
    code = esi_set_read_stream(stream, path, config, error);
    fclose(stream);
    return code;
}
