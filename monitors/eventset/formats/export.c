/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Export of event sets: the parts common to all formats. */
#include "config.h"

#include "monitors/eventset/formats/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "monitors/eventset/formats/export_private.h"

static const struct esi_export_ops *const formats[] = {
    &esi_export_set, &esi_export_shiviz, &esi_export_chrome,
    &esi_export_dot, &esi_export_csv,
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

struct esi_export_counts esi_export_counts(const struct esi_export *export)
{
    return export->counts;
}

static const struct esi_export_ops *find_format(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

static int refuse_format(const char *name, struct es_error *error)
{
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < FORMATS; i++)
        esi_nearest_try(&nearest, formats[i]->name);
    if (nearest.name)
        return es_error_set(error, -EINVAL,
                            "'%s' is not a format of event sets; did you mean '%s'?",
                            name, nearest.name);
    return es_error_set(error, -EINVAL,
                        "'%s' is not a format of event sets; expected "
                        "event-set, shiviz, chrome, perfetto, dot or csv",
                        name);
}

static int begin_export(struct esi_export *export, struct es_error *error)
{
    int result;

    export->stream = export->config.stream;
    if (!export->stream && !export->ops->writes_itself) {
        result = esi_output_file_open(export->config.path, error, &export->file);
        if (result < 0)
            return result;
        export->stream = esi_output_file_stream(export->file);
    }
    return export->ops->begin(export, error);
}

int esi_export_create(const struct esi_export_config *config,
                      struct es_error *error,
                      struct esi_export **ret_export)
{
    const struct esi_export_ops *ops = find_format(config->format);
    struct esi_export *export;
    int result;

    if (!ops)
        return refuse_format(config->format, error);
    export = malloc(sizeof *export);
    if (!export)
        return -ENOMEM;
    *export = (struct esi_export){.ops = ops, .config = *config};
    result = begin_export(export, error);
    if (result < 0) {
        esi_export_destroy(export);
        return result;
    }
    *ret_export = export;
    return 0;
}

void esi_export_destroy(struct esi_export *export)
{
    if (!export)
        return;
    if (export->ops->destroy)
        export->ops->destroy(export->state);
    esi_output_file_discard(export->file);
    esi_trace_names_fini(&export->names);
    free(export);
}

/* --- Incoming events -------------------------------------------------------------- */

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_export *export = data;

    if (trace != export->names.count)
        return -EINVAL;
    if (esi_trace_names_add(&export->names, name) < 0)
        return -ENOMEM;
    return export->ops->trace ? export->ops->trace(export, trace, name) : 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct esi_export *export = data;
    int result;

    if (event->id.trace >= export->names.count)
        return -EINVAL;
    export->counts.events++;
    result = export->ops->event(export, event);
    return result == 0 && export->stream && ferror(export->stream) ? -EIO : result;
}

struct es_set_sink esi_export_sink(struct esi_export *export)
{
    return (struct es_set_sink){
        .trace = take_trace, .event = take_event, .data = export};
}

int esi_export_finish(struct esi_export *export, struct es_error *error)
{
    struct esi_output_file *file = export->file;
    int result = export->ops->finish ? export->ops->finish(export, error) : 0;

    if (result < 0 || !file)
        return result;
    export->file = NULL;
    return esi_output_file_close(file, error);
}

/* --- Common to all formats -------------------------------------------------------- */

const char *esi_attribute_text(const struct es_event_attribute *attribute,
                               char out[ESI_NUMBER_BYTES])
{
    if (attribute->text)
        return attribute->text;
    snprintf(out, ESI_NUMBER_BYTES, "%" PRId64, attribute->number);
    return out;
}

const struct es_event_attribute *esi_attribute_find(const struct es_set_event *event,
                                                    const char *name)
{
    for (size_t i = 0; i < event->attribute_count; i++)
        if (strcmp(event->attributes[i].name, name) == 0)
            return &event->attributes[i];
    return NULL;
}

bool esi_event_number(const struct es_set_event *event,
                      const char *name,
                      int64_t *ret_number)
{
    const struct es_event_attribute *attribute = esi_attribute_find(event, name);
    long long number;
    char *end;

    if (!attribute)
        return false;
    if (!attribute->text) {
        *ret_number = attribute->number;
        return true;
    }
    errno = 0;
    number = strtoll(attribute->text, &end, 10);
    if (errno || end == attribute->text || *end)
        return false;
    *ret_number = number;
    return true;
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

void esi_attributes_write(struct esi_json_out *out,
                          const struct es_set_event *event,
                          const char *const *skip)
{
    char number[ESI_NUMBER_BYTES];

    for (size_t i = 0; i < event->attribute_count; i++)
        if (!is_among(event->attributes[i].name, skip))
            esi_json_out_string(out, event->attributes[i].name,
                                esi_attribute_text(&event->attributes[i], number));
}
