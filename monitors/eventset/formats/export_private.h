/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* export_private.h - the operations of a format; export.c has the common parts. */
#ifndef ES_MONITORS_EVENTSET_FORMATS_EXPORT_PRIVATE_H
#define ES_MONITORS_EVENTSET_FORMATS_EXPORT_PRIVATE_H

#include "base/json_out.h"
#include "base/output_file.h"
#include "monitors/eventset/formats/export.h"
#include "monitors/eventset/trace_names.h"

struct esi_export {
    const struct esi_export_ops *ops;
    struct esi_export_config config;
    struct esi_output_file *file; /* NULL: the format opens its own */
    FILE *stream;                 /* of the file */
    struct esi_trace_names names;
    struct esi_export_counts counts;
    void *state; /* private to the format */
};

struct esi_export_ops {
    const char *name;
    bool writes_itself; /* to `path` of the configuration */
    /* Writes the start, and sets `state` if the format has state. */
    int (*begin)(struct esi_export *export, struct es_error *error);
    /* NULL: nothing to do; export.c keeps the name. */
    int (*trace)(struct esi_export *export, uint32_t trace, const char *name);
    int (*event)(struct esi_export *export, const struct es_set_event *event);
    /* Writes the end; may be NULL. */
    int (*finish)(struct esi_export *export, struct es_error *error);
    /* Frees the state, which may be NULL; may be NULL. */
    void (*destroy)(void *state);
};

extern const struct esi_export_ops esi_export_set;
extern const struct esi_export_ops esi_export_shiviz;
extern const struct esi_export_ops esi_export_chrome;
extern const struct esi_export_ops esi_export_dot;
extern const struct esi_export_ops esi_export_csv;

enum { ESI_NUMBER_BYTES = 24 };
/* The value as text; numbers are formatted into `out`. */
const char *esi_attribute_text(const struct es_event_attribute *attribute,
                               char out[ESI_NUMBER_BYTES]);
/* NULL if the event has no such attribute. */
const struct es_event_attribute *esi_attribute_find(const struct es_set_event *event,
                                                    const char *name);
/* Writes the attributes as members of an object, except those named in `skip` (ended by
 * NULL). */
void esi_attributes_write(struct esi_json_out *out,
                          const struct es_set_event *event,
                          const char *const *skip);

#endif
