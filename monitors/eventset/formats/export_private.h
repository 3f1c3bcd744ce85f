/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* export_private.h - what a format does; export.c does the rest alike for all. */
#ifndef ES_MONITORS_EVENTSET_FORMATS_EXPORT_PRIVATE_H
#define ES_MONITORS_EVENTSET_FORMATS_EXPORT_PRIVATE_H

#include "base/json_out.h"
#include "base/output_file.h"
#include "monitors/eventset/formats/export.h"
#include "monitors/eventset/trace_names.h"

struct esi_export {
    const struct esi_export_ops *ops;
    struct esi_export_config config;
    struct esi_output_file *file; /* NULL: the format writes itself */
    FILE *stream;                 /* that of the file */
    struct esi_trace_names names;
    struct esi_export_counts counts;
    void *state; /* the format's own */
};

struct esi_export_ops {
    const char *name;
    bool writes_itself; /* to `path` of the configuration */
    /* Writes the beginning, and sets `state` if it needs some. */
    int (*begin)(struct esi_export *export, struct es_error *error);
    /* NULL: nothing to do; the name is kept by export.c. */
    int (*trace)(struct esi_export *export, uint32_t trace, const char *name);
    int (*event)(struct esi_export *export, const struct es_set_event *event);
    /* Writes the end; NULL: there is none. */
    int (*finish)(struct esi_export *export, struct es_error *error);
    /* NULL: there is no state.  The state may be NULL, too. */
    void (*destroy)(void *state);
};

extern const struct esi_export_ops esi_export_set;
extern const struct esi_export_ops esi_export_shiviz;
extern const struct esi_export_ops esi_export_chrome;
extern const struct esi_export_ops esi_export_dot;
extern const struct esi_export_ops esi_export_csv;

enum { ESI_NUMBER_BYTES = 24 };
/* The value as a text; a number is written into `out`. */
const char *esi_attribute_text(const struct es_event_attribute *attribute,
                               char out[ESI_NUMBER_BYTES]);
/* NULL: the event has none of this name. */
const struct es_event_attribute *esi_attribute_find(const struct es_set_event *event,
                                                    const char *name);
/* Members of an object, but those that `skip` (ended by NULL) names. */
void esi_attributes_write(struct esi_json_out *out,
                          const struct es_set_event *event,
                          const char *const *skip);

#endif
