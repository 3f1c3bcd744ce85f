/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets as logs for ShiViz: per event a line with its text, and a line with its
 * host and its vector clock, in the format of ShiViz's default regular expression.
 *
 * A clock's entry for a host is the number of events of that host that the event knows,
 * including itself: the index of its greatest predecessor there, from a dense order.
 * The halves of a sync know the same about each other, so the first half is written
 * together with the second.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "monitors/eventset/formats/export_private.h"
#include "monitors/eventset/set_line.h"
#include "monitors/eventset/set_texts.h"
#include "monitors/order/order.h"

struct shiviz_export {
    struct es_order *order;
    struct es_set_sink sink; /* sink of `order` */
    struct esi_texts hosts;  /* per trace, as ShiViz accepts them */
    char *held_text;         /* text of the first half of a sync; NULL = none waits */
    struct es_event_id held;
};

static void destroy_shiviz(void *state)
{
    struct shiviz_export *shiviz = state;

    if (!shiviz)
        return;
    esi_texts_fini(&shiviz->hosts);
    free(shiviz->held_text);
    es_order_destroy(shiviz->order);
    free(shiviz);
}

static int begin_shiviz(struct esi_export *export, struct es_error *error)
{
    struct shiviz_export *shiviz = calloc(1, sizeof *shiviz);
    struct esi_order_config config = {.store = "dense"};
    int result;

    if (!shiviz)
        return -ENOMEM;
    export->state = shiviz;
    esi_texts_init(&shiviz->hosts);
    result = esi_order_create(&config, error, &shiviz->order);
    if (result == 0)
        shiviz->sink = es_order_sink(shiviz->order);
    return result;
}

/* --- Hosts ------------------------------------------------------------------------ */

static bool is_utf8(const char *text)
{
    const unsigned char *next = (const unsigned char *)text;
    size_t length = 1;

    for (; *next && length > 0; next += length)
        length = esi_utf8_length(next);
    return length > 0;
}

/* Makes a single word of a host name. */
static void make_word(char *name)
{
    bool ascii = !is_utf8(name);

    for (unsigned char *next = (unsigned char *)name; *next; next++)
        if (*next <= ' ' || *next == 0x7f || (ascii && *next > 0x7f))
            *next = '_';
}

/* Caller frees.  NULL if out of memory. */
static char *make_host(const struct esi_texts *taken, uint32_t trace, const char *name)
{
    char *word = *name ? strdup(name) : NULL;
    char *host = NULL;
    char *other;

    if (word) {
        make_word(word);
        host = esi_plain_duplicate(word);
        free(word);
    }
    if (*name && !host)
        return NULL;
    if (!host && asprintf(&host, "trace%" PRIu32, trace) < 0)
        return NULL;
    while (esi_texts_find(taken, host, strlen(host)) != UINT32_MAX) {
        if (asprintf(&other, "%s_%" PRIu32, host, trace) < 0)
            other = NULL;
        free(host);
        if (!other)
            return NULL;
        host = other;
    }
    return host;
}

static int take_trace(struct esi_export *export, uint32_t trace, const char *name)
{
    struct shiviz_export *shiviz = export->state;
    char *host = make_host(&shiviz->hosts, trace, name);
    int result =
        host ? esi_texts_add(&shiviz->hosts, host, strlen(host), &trace) : -ENOMEM;

    free(host);
    return result < 0 ? result : shiviz->sink.trace(shiviz->sink.data, trace, name);
}

static const char *host_name(const struct shiviz_export *shiviz, uint32_t trace)
{
    return esi_texts_at(&shiviz->hosts, trace);
}

/* --- Events ----------------------------------------------------------------------- */

/* One line, never empty.  Caller frees. */
static char *make_text(const struct es_set_event *event)
{
    const char *type = event->type;
    char *text;

    if (!*type && !*event->text)
        type = esi_event_kind_name(event->kind);
    if (asprintf(&text, "%s%s%s", type, *type && *event->text ? " " : "", event->text) <
        0)
        return NULL;
    for (char *next = text; *next; next++)
        if (*next == '\n' || *next == '\r')
            *next = ' ';
    return text;
}

static int write_clock(const struct shiviz_export *shiviz,
                       struct esi_json_out *out,
                       struct es_event_id id)
{
    uint32_t traces = es_order_traces(shiviz->order);

    esi_json_out_unsigned(out, host_name(shiviz, id.trace), id.index);
    for (uint32_t trace = 0; trace < traces; trace++) {
        int64_t known = 0;

        if (trace != id.trace)
            known = es_order_greatest_predecessor(shiviz->order, id, trace);
        if (known < 0)
            return (int)known;
        if (known > 0)
            esi_json_out_signed(out, host_name(shiviz, trace), known);
    }
    return 0;
}

static int write_event(struct esi_export *export,
                       struct es_event_id id,
                       const char *text)
{
    const struct shiviz_export *shiviz = export->state;
    struct esi_json_out out;
    int result;

    esi_plain_print(export->stream, "%s\n", text);
    fprintf(export->stream, "%s ", host_name(shiviz, id.trace));
    esi_json_out_init(&out, export->stream);
    esi_json_out_begin_object(&out, NULL);
    result = write_clock(shiviz, &out, id);
    esi_json_out_end(&out);
    return result;
}

static int write_held(struct esi_export *export)
{
    struct shiviz_export *shiviz = export->state;
    int result = write_event(export, shiviz->held, shiviz->held_text);

    free(shiviz->held_text);
    shiviz->held_text = NULL;
    return result;
}

static int take_event(struct esi_export *export, const struct es_set_event *event)
{
    struct shiviz_export *shiviz = export->state;
    int result = shiviz->sink.event(shiviz->sink.data, event);
    char *text;

    if (result < 0)
        return result;
    text = make_text(event);
    if (!text)
        return -ENOMEM;
    if (event->kind == ES_EVENT_SYNC && !shiviz->held_text) {
        shiviz->held_text = text;
        shiviz->held = event->id;
        return 0;
    }
    if (shiviz->held_text)
        result = write_held(export);
    if (result == 0)
        result = write_event(export, event->id, text);
    free(text);
    return result;
}

static int finish_shiviz(struct esi_export *export, struct es_error *error)
{
    const struct shiviz_export *shiviz = export->state;

    (void)error;
    return es_order_sink_end(shiviz->order);
}

const struct esi_export_ops esi_export_shiviz = {
    .name = "shiviz",
    .begin = begin_shiviz,
    .trace = take_trace,
    .event = take_event,
    .finish = finish_shiviz,
    .destroy = destroy_shiviz,
};
