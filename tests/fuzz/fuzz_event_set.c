/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds JSON Lines to the reader of event sets.  Both parsers of a line agree.  A set
 * that is accepted in delivery order is also accepted in the order of the file, and is
 * the same when it is written and read again.
 */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/eventset/set_write.h"
#include "monitors/eventset/set_line.h"
#include "monitors/eventset/set_read.h"
#include "tests/fuzz/fuzz_target.h"

/* --- Both ways to read a line ----------------------------------------------------- */

static int same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static void compare_events(const struct es_set_event *a, const struct es_set_event *b)
{
    require(a->id.trace == b->id.trace && a->id.index == b->id.index);
    require(a->kind == b->kind && a->partner_count == b->partner_count);
    require(a->attribute_count == b->attribute_count);
    require(same_text(a->type, b->type) && same_text(a->text, b->text));
    for (uint32_t i = 0; i < a->partner_count; i++)
        require(a->partners[i].trace == b->partners[i].trace &&
                a->partners[i].index == b->partners[i].index);
    for (size_t i = 0; i < a->attribute_count; i++)
        require(same_text(a->attributes[i].name, b->attributes[i].name) &&
                same_text(a->attributes[i].text, b->attributes[i].text) &&
                a->attributes[i].number == b->attributes[i].number);
}

static void compare_line(struct esi_set_line *quick,
                         struct esi_set_line *slow,
                         char *text,
                         size_t length)
{
    const struct esi_set_place place = {"input", 1};
    struct es_set_event a, b;
    struct es_error error = {.text = ""};
    /* The quick parser modifies the text, so it is called last. */
    int expected = esi_set_line_event_slowly(slow, text, length, &place, &b, &error);
    int code = esi_set_line_event(quick, text, length, &place, &a, NULL);

    require(code == expected && (code >= 0 || error.text[0] != '\0'));
    if (code == 0)
        compare_events(&a, &b);
}

static void compare_lines(const uint8_t *data, size_t size)
{
    struct esi_set_line *quick, *slow;
    char *text = malloc(size + 1);
    char *end;

    require(text != NULL);
    require(esi_set_line_create(&quick) >= 0 && esi_set_line_create(&slow) >= 0);
    memcpy(text, data, size);
    text[size] = '\n';
    for (char *at = text; at < text + size; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + size + 1 - at));
        *end = '\0';
        compare_line(quick, slow, at, (size_t)(end - at));
    }
    esi_set_line_destroy(quick);
    esi_set_line_destroy(slow);
    free(text);
}

/* --- Whole sets ------------------------------------------------------------------- */

static int read_text(const void *text, size_t length, struct es_set_sink sink)
{
    struct esi_set_read_config config;
    struct es_error error = {.text = ""};
    FILE *stream = length > 0 ? fmemopen((void *)(uintptr_t)text, length, "r")
                              : fopen("/dev/null", "re");
    int code;

    require(stream != NULL);
    esi_set_read_config_init(&config, sink);
    config.memory_bytes = 0;
    code = esi_set_read_stream(stream, "input", &config, &error);
    fclose(stream);
    require(code != -EINVAL || error.text[0] != '\0');
    return code;
}

struct written {
    FILE *stream;
    char *names[256];
    uint32_t count;
};

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct written *written = data;

    (void)trace;
    if (written->count == 256)
        return -E2BIG;
    written->names[written->count] = strdup(name);
    return written->names[written->count++] ? 0 : -ENOMEM;
}

static int take_event(void *data, const struct es_set_event *event)
{
    esi_set_format_event(((struct written *)data)->stream, event);
    return 0;
}

/* Returns the canonical form of a valid set, or NULL if it has too many traces.  The
 * caller frees. */
static char *rewrite(const void *text, size_t length, size_t *ret_length)
{
    struct written written = {.count = 0};
    char *events = NULL, *header = NULL;
    size_t events_length, header_length;
    int code;

    written.stream = open_memstream(&events, &events_length);
    code =
        read_text(text, length, (struct es_set_sink){take_trace, take_event, &written});
    fclose(written.stream);
    written.stream = open_memstream(&header, &header_length);
    esi_set_format_header(written.stream, written.names, written.count);
    fwrite(events, 1, events_length, written.stream);
    fclose(written.stream);
    free(events);
    for (uint32_t i = 0; i < written.count; i++)
        free(written.names[i]);
    require(code >= 0 || code == -E2BIG);
    if (code < 0) {
        free(header);
        return NULL;
    }
    *ret_length = header_length;
    return header;
}

static int pass_trace(void *data, uint32_t trace, const char *name)
{
    (void)data, (void)trace, (void)name;
    return 0;
}

static int pass_event(void *data, const struct es_set_event *event)
{
    (void)data, (void)event;
    return 0;
}

static void check_set(const uint8_t *data, size_t size)
{
    size_t length = 0, again_length = 0;
    char *text, *again;

    if (read_text(data, size, (struct es_set_sink){pass_trace, pass_event, NULL}) < 0)
        return;
    text = rewrite(data, size, &length);
    if (!text)
        return;
    again = rewrite(text, length, &again_length);
    require(again && again_length == length && memcmp(text, again, length) == 0);
    free(again);
    free(text);
}

FUZZ_TARGET(fuzz_event_set, data, size)
{
    compare_lines(data, size);
    check_set(data, size);
    return 0;
}
