/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads, writes and frees records described by the tables of schema.h. */
#ifndef ES_PATHMAP_RECORD_H
#define ES_PATHMAP_RECORD_H

#include <jansson.h>

#include "eventspace/error.h"
#include "pathmap/text_location.h"
#include "pathmap/schema.h"

struct esi_pathmap_property;

/* Reads an object into a zeroed record.  Returns 0, -EINVAL or -ENOMEM.  The caller
 * frees the record in any case. */
int esi_record_read(const struct esi_reader *reader,
                    const struct esi_step *step,
                    const struct esi_fields *schema,
                    const json_t *json,
                    void *record);

/* Creates a JSON object from a record.  Returns 0 or -ENOMEM. */
int esi_record_write(const struct esi_fields *schema,
                     const void *record,
                     json_t **ret_json);

/* Frees the contents of the record and zeroes it. */
void esi_record_fini(const struct esi_fields *schema, void *record);

/* The same for the properties of a stage (property.c). */
int esi_properties_read(const struct esi_reader *reader,
                        const struct esi_step *step,
                        const json_t *json,
                        struct esi_pathmap_property **ret_properties,
                        size_t *ret_count);
int esi_properties_write(const struct esi_pathmap_property *properties,
                         size_t count,
                         json_t **ret_json);
void esi_properties_destroy(struct esi_pathmap_property *properties, size_t count);

#endif
