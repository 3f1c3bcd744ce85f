/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_format.c - writes the lines of event sets. */
#include "config.h"

#include "monitors/eventset/set_format.h"

#include "base/json_out.h"
#include "monitors/eventset/set_number.h"

void esi_set_format_header(FILE *stream, char *const *names, uint32_t count)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "format", "eventspace-events");
    esi_json_out_unsigned(&out, "version", 1);
    esi_json_out_begin_array(&out, "traces");
    for (uint32_t i = 0; i < count; i++)
        esi_json_out_string(&out, NULL, names[i]);
    esi_json_out_end(&out);
    esi_json_out_end(&out);
}

static void format_partners(struct esi_json_out *out, const struct es_set_event *event)
{
    esi_json_out_begin_array(out, "partners");
    for (uint32_t i = 0; i < event->partner_count; i++) {
        esi_json_out_begin_array(out, NULL);
        esi_json_out_unsigned(out, NULL, event->partners[i].trace);
        esi_json_out_unsigned(out, NULL, event->partners[i].index);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

static void format_attributes(struct esi_json_out *out,
                              const struct es_set_event *event)
{
    char number[ES_SET_NUMBER_LENGTH];

    esi_json_out_begin_object(out, "attributes");
    for (size_t i = 0; i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];
        if (!attribute->text)
            es_set_number_format(attribute->number, number);
        esi_json_out_string(out, attribute->name,
                            attribute->text ? attribute->text : number);
    }
    esi_json_out_end(out);
}

void esi_set_format_event(FILE *stream, const struct es_set_event *event)
{
    static const char *const kinds[] = {
        [ES_EVENT_SEND] = "send",
        [ES_EVENT_RECEIVE] = "receive",
        [ES_EVENT_SYNC] = "sync",
    };
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_unsigned(&out, "trace", event->id.trace);
    esi_json_out_unsigned(&out, "index", event->id.index);
    if (event->kind != ES_EVENT_UNARY)
        esi_json_out_string(&out, "kind", kinds[event->kind]);
    if (event->type[0] != '\0')
        esi_json_out_string(&out, "type", event->type);
    if (event->text[0] != '\0')
        esi_json_out_string(&out, "text", event->text);
    if (event->kind != ES_EVENT_SEND && event->partner_count > 0)
        format_partners(&out, event);
    if (event->attribute_count > 0)
        format_attributes(&out, event);
    esi_json_out_end(&out);
}
