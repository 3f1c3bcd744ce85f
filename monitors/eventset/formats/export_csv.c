/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets as comma-separated values (RFC 4180): one line per event.  Columns keep
 * their names and positions.  The usual attributes of MPI programs have their own
 * columns; the others form a JSON object in the last one.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/plain.h"
#include "base/json_out.h"
#include "monitors/eventset/formats/export_private.h"
#include "monitors/eventset/set_line.h"

static const char *const columns[] = {
    "operation", "class", "rank",  "host", "communicator", "peer",
    "tag",       "bytes", "start", "stop", NULL,
};

static int begin_csv(struct esi_export *export, struct es_error *error)
{
    (void)error;
    fputs("trace,name,index,kind,type,text,partners", export->stream);
    for (const char *const *column = columns; *column; column++)
        fprintf(export->stream, ",%s", *column);
    fputs(",attributes\r\n", export->stream);
    return 0;
}

/* "0:1 2:5". */
static void write_partners(FILE *stream, const struct es_set_event *event)
{
    fputc(',', stream);
    for (uint32_t i = 0; i < event->partner_count; i++)
        fprintf(stream, "%s%" PRIu32 ":%" PRIu32, i ? " " : "",
                event->partners[i].trace, event->partners[i].index);
}

static void write_columns(FILE *stream, const struct es_set_event *event)
{
    char number[ESI_NUMBER_BYTES];

    for (const char *const *column = columns; *column; column++) {
        const struct es_event_attribute *attribute = esi_attribute_find(event, *column);

        fputc(',', stream);
        if (attribute)
            esi_csv_text(stream, esi_attribute_text(attribute, number));
    }
}

static bool has_others(const struct es_set_event *event)
{
    size_t known = 0;

    for (const char *const *column = columns; *column; column++)
        known += esi_attribute_find(event, *column) != NULL;
    return event->attribute_count > known;
}

static int write_others(FILE *stream, const struct es_set_event *event)
{
    struct esi_json_text json;
    char *text;
    size_t length;
    int result;

    fputc(',', stream);
    if (!has_others(event))
        return 0;
    result = esi_json_text_begin(&json);
    if (result < 0)
        return result;
    esi_json_out_begin_object(&json.out, NULL);
    esi_attributes_write(&json.out, event, columns);
    esi_json_out_end(&json.out);
    result = esi_json_text_finish(&json, &text, &length);
    if (result < 0)
        return result;
    if (length > 0 && text[length - 1] == '\n')
        text[length - 1] = '\0';
    esi_csv_text(stream, text);
    free(text);
    return 0;
}

static int write_event(struct esi_export *export, const struct es_set_event *event)
{
    FILE *stream = export->stream;
    int result;

    fprintf(stream, "%" PRIu32 ",", event->id.trace);
    esi_csv_text(stream, export->names.names[event->id.trace]);
    fprintf(stream, ",%" PRIu32 ",%s,", event->id.index,
            esi_event_kind_name(event->kind));
    esi_csv_text(stream, event->type);
    fputc(',', stream);
    esi_csv_text(stream, event->text);
    write_partners(stream, event);
    write_columns(stream, event);
    result = write_others(stream, event);
    fputs("\r\n", stream);
    return result;
}

const struct esi_export_ops esi_export_csv = {
    .name = "csv",
    .begin = begin_csv,
    .event = write_event,
};
