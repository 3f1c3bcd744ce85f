/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * set_write.c - writes event sets.
 *
 * A regular file first receives the header with the traces known at the first event,
 * then the events.  If more traces were added, a second file receives the complete
 * header and a copy of the events.  Any other output receives header and events at the
 * end, from an unnamed file, unless all traces were announced beforehand.
 */
#include "config.h"

#include "monitors/eventset/set_write.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "base/output_file.h"
#include "monitors/eventset/set_line.h"
#include "monitors/eventset/set_spool.h"
#include "monitors/eventset/trace_names.h"

/* === Lines ======================================================================== */

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
            esi_set_number_format(attribute->number, number);
        esi_json_out_string(out, attribute->name,
                            attribute->text ? attribute->text : number);
    }
    esi_json_out_end(out);
}

void esi_set_format_event(FILE *stream, const struct es_set_event *event)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_unsigned(&out, "trace", event->id.trace);
    esi_json_out_unsigned(&out, "index", event->id.index);
    if (event->kind != ES_EVENT_UNARY)
        esi_json_out_string(&out, "kind", esi_event_kind_name(event->kind));
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

/* === Files ======================================================================== */

enum { BUFFER_BYTES = 1 << 16 };

struct esi_set_write {
    char *path;
    struct esi_output_file *file;
    bool is_pipe;       /* the output cannot be read again */
    FILE *events_apart; /* NULL: events go into the file */
    FILE *stream;       /* where events go; NULL: no event yet */
    off_t header_bytes; /* of `stream` */
    uint32_t header_names;
    struct esi_trace_names names;
    bool is_told; /* all traces are known */
    int code;     /* the first failure */
};

/* --- Opening ---------------------------------------------------------------------- */

static int write_fail(struct esi_set_write *write)
{
    if (write->code == 0)
        write->code = errno > 0 ? -errno : -EIO;
    return write->code;
}

int esi_set_write_open(const char *path,
                       struct es_error *error,
                       struct esi_set_write **ret_write)
{
    struct esi_set_write *write = calloc(1, sizeof *write);
    int code = -ENOMEM;

    if (write && (write->path = strdup(path)))
        code = esi_output_file_open(path, error, &write->file);
    if (code < 0) {
        esi_set_write_destroy(write);
        return es_error_set_at(error, code, path, 0, 0, "cannot be written: %s",
                               strerror(-code));
    }
    write->is_pipe = !esi_output_file_is_beside(write->file);
    *ret_write = write;
    return 0;
}

void esi_set_write_destroy(struct esi_set_write *write)
{
    int saved_errno = errno;

    if (!write)
        return;
    if (write->events_apart)
        fclose(write->events_apart);
    esi_output_file_discard(write->file);
    esi_trace_names_fini(&write->names);
    free(write->path);
    free(write);
    errno = saved_errno;
}

/* --- Writing ---------------------------------------------------------------------- */

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_set_write *write = data;

    if (trace != write->names.count || write->is_told)
        return -EINVAL;
    return esi_trace_names_add(&write->names, name);
}

static int write_header(struct esi_set_write *write)
{
    FILE *stream = esi_output_file_stream(write->file);

    errno = 0;
    write->header_names = write->names.count;
    esi_set_format_header(stream, write->names.names, write->names.count);
    return ferror(stream) ? write_fail(write) : 0;
}

/* Opens a file for events that wait until all traces are known. */
static int open_apart(struct esi_set_write *write)
{
    int file = esi_spool_open_file(NULL);

    if (file < 0)
        return write->code = file;
    write->stream = write->events_apart = fdopen(file, "w+");
    if (!write->stream) {
        write_fail(write);
        close(file);
        return write->code;
    }
    setvbuf(write->stream, NULL, _IOFBF, BUFFER_BYTES);
    return 0;
}

/* Before the first event: writes the header if it is known. */
static int write_start(struct esi_set_write *write)
{
    if (write->is_pipe && !write->is_told)
        return open_apart(write);
    write->stream = esi_output_file_stream(write->file);
    if (!write->is_pipe)
        setvbuf(write->stream, NULL, _IOFBF, BUFFER_BYTES);
    if (write_header(write) < 0)
        return write->code;
    write->header_bytes = write->is_pipe ? 0 : ftello(write->stream);
    return write->header_bytes < 0 ? write_fail(write) : 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct esi_set_write *write = data;

    if (write->code == 0 && !write->stream)
        write_start(write);
    if (write->code < 0)
        return write->code;
    errno = 0;
    esi_set_format_event(write->stream, event);
    return ferror(write->stream) ? write_fail(write) : 0;
}

struct es_set_sink esi_set_write_sink(struct esi_set_write *write)
{
    return (struct es_set_sink){take_trace, take_event, write};
}

void esi_set_write_traces_told(struct esi_set_write *write)
{
    write->is_told = true;
}

/* --- Completing ------------------------------------------------------------------- */

/* Appends the events to the file, from the current position of `from`. */
static int copy_events(struct esi_set_write *write, FILE *from)
{
    FILE *to = esi_output_file_stream(write->file);
    off_t at = write->header_bytes;
    char *buffer = malloc(BUFFER_BYTES);
    ssize_t got = 1;

    if (!buffer)
        return write->code = -ENOMEM;
    errno = 0;
    if (fflush(from) != 0)
        write_fail(write);
    while (write->code == 0 && got > 0) {
        got = pread(fileno(from), buffer, BUFFER_BYTES, at);
        if (got < 0 || fwrite(buffer, 1, (size_t)got, to) != (size_t)got)
            write_fail(write);
        at += got;
    }
    free(buffer);
    return write->code;
}

/* Copies the events after a complete header into another file. */
static int write_again(struct esi_set_write *write, struct es_error *error)
{
    struct esi_output_file *first = write->file;

    write->code = esi_output_file_open(write->path, error, &write->file);
    if (write->code < 0) {
        write->file = first;
        return write->code;
    }
    if (write_header(write) == 0)
        copy_events(write, esi_output_file_stream(first));
    esi_output_file_discard(first);
    return write->code;
}

int esi_set_write_close(struct esi_set_write *write, struct es_error *error)
{
    int code;

    if (write->code == 0 && !write->stream)
        write_start(write);
    if (write->code == 0 && write->events_apart) {
        if (write_header(write) == 0)
            copy_events(write, write->events_apart);
    } else if (write->code == 0 && write->header_names != write->names.count) {
        write_again(write, error);
    }
    if (write->code == 0) {
        write->code = esi_output_file_close(write->file, error);
        write->file = NULL;
    }
    code = write->code;
    if (code < 0)
        es_error_set_at(error, code, write->path, 0, 0, "cannot be written: %s",
                        strerror(-code)); /* unless `error` is already set */
    esi_set_write_destroy(write);
    return code;
}
