/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Records read from, written to and freed by the tables of schema.h. */
#ifndef ES_PATHMAP_RECORD_H
#define ES_PATHMAP_RECORD_H

#include <jansson.h>

#include "eventspace/error.h"
#include "pathmap/text_location.h"
#include "pathmap/schema.h"

struct esi_pathmap_property;

/* The text that is being read, for the places of its faults.  text NULL = the map does
 * not come from a text. */
struct esi_reader {
    const char *text;
    size_t length;
    const char *source;
    struct es_error *error;
};

/* Fills the error with the place and name of `step` and the words.  Returns `code`. */
int esi_reader_fail(const struct esi_reader *reader,
                    const struct esi_step *step,
                    int code,
                    const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* The same at the member's name.  Returns -EINVAL. */
int esi_reader_fail_name(const struct esi_reader *reader,
                         const struct esi_step *step,
                         const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

enum { ESI_PATH_BYTES = 1536 };

/* The same with the way as text, "mapping.ranks[2].host", of names from the tables only
 * and less than ESI_PATH_BYTES long. */
int esi_reader_fail_path(const struct esi_reader *reader,
                         const char *path,
                         const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

/* Writes such a way, cut if need be.  Returns out. */
const char *esi_way(char out[ESI_PATH_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* No memory.  Returns -ENOMEM. */
int esi_reader_fail_memory(const struct esi_reader *reader);

/* Reads an object into a zeroed record.  On failure the record is to be finished all
 * the same.  -EINVAL, -ENOMEM. */
int esi_record_read(const struct esi_reader *reader,
                    const struct esi_step *step,
                    const struct esi_fields *schema,
                    const json_t *json,
                    void *record);

/* A new JSON object; -ENOMEM. */
int esi_record_write(const struct esi_fields *schema,
                     const void *record,
                     json_t **ret_json);

/* Frees what the record owns and zeroes it; the record is the caller's. */
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

/* "-1", "\"abc\"", "a list": what was found, cut to a few words.  Returns out. */
const char *esi_json_found(const json_t *json, char *out, size_t size);

#endif
