/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Writing, initialising and freeing records by their tables. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/pathmap.h"
#include "pathmap/record.h"
#include "pathmap/record_private.h"
#include "pathmap/seed.h"

/* --- Writing ---------------------------------------------------------------------- */

static json_t *write_flags(const struct esi_field *member, uint32_t flags)
{
    json_t *list = json_array();

    for (int i = (int)member->minimum; member->choices[i] != NULL; i++)
        if ((flags & 1u << i) != 0 &&
            json_array_append_new(list, json_string(member->choices[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *write_edges(const struct esi_tree_edge *edges, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(
                list, json_pack("[i, i]", edges[i].parent, edges[i].child)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *write_integers(const int64_t *numbers, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(list, json_integer(numbers[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *write_record(const struct esi_fields *schema, const void *record)
{
    json_t *json = NULL;

    return esi_record_write(schema, record, &json) == 0 ? json : NULL;
}

static json_t *write_objects(const struct esi_fields *schema,
                             const char *records,
                             size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(
                list, write_record(schema, records + i * schema->size)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *write_properties(const struct esi_pathmap_property *properties,
                                size_t count)
{
    json_t *json = NULL;

    return esi_properties_write(properties, count, &json) == 0 ? json : NULL;
}

/* What a field has a text for. */
static json_t *write_text(const struct esi_field *member, const void *record)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    json_t *json = NULL;

    if (out == NULL)
        return NULL;
    esi_field_format(member, record, out);
    if (fclose(out) == 0)
        json = json_string(text);
    free(text);
    return json;
}

/* Whether the document says nothing of the member. */
static bool is_left_out(const struct esi_field *member, const void *record)
{
    const char *field = (const char *)record + member->offset;
    bool quiet = (member->flags & ESI_FIELD_QUIET) != 0;

    if ((member->flags & ESI_FIELD_LINE_ONLY) != 0)
        return true;
    if ((member->flags & ESI_FIELD_IN_PLACE) != 0)
        return *field == '\0';
    switch (member->kind) {
    case ESI_FIELD_INTEGER:
    case ESI_FIELD_DURATION:
    case ESI_FIELD_CHOICE:
    case ESI_FIELD_FLAGS:
        return quiet && esi_field_get(member, record) == member->initial;
    case ESI_FIELD_BOOLEAN:
    case ESI_FIELD_OBJECT:
    case ESI_FIELD_RANKS:
        return false;
    default:
        return esi_field_array(member, record) == NULL;
    }
}

static json_t *write_member(const struct esi_field *member, const void *record)
{
    const void *field = (const char *)record + member->offset;

    switch (member->kind) {
    case ESI_FIELD_INTEGER:
    case ESI_FIELD_DURATION:
        return json_integer(esi_field_get(member, record));
    case ESI_FIELD_BOOLEAN:
        return json_boolean(esi_field_get(member, record));
    case ESI_FIELD_CHOICE:
        return json_string(member->choices[esi_field_get(member, record)]);
    case ESI_FIELD_FLAGS:
        return write_flags(member, (uint32_t)esi_field_get(member, record));
    case ESI_FIELD_RANKS:
        return write_text(member, record);
    case ESI_FIELD_EDGES:
        return write_edges(esi_field_array(member, record),
                           esi_field_count(member, record));
    case ESI_FIELD_INTEGERS:
        return write_integers(esi_field_array(member, record),
                              esi_field_count(member, record));
    case ESI_FIELD_OBJECT:
        return write_record(member->fields, field);
    case ESI_FIELD_OBJECTS:
        return write_objects(member->fields, esi_field_array(member, record),
                             esi_field_count(member, record));
    case ESI_FIELD_PROPERTIES:
        return write_properties(esi_field_array(member, record),
                                esi_field_count(member, record));
    default:
        return json_string((member->flags & ESI_FIELD_IN_PLACE) != 0
                               ? field
                               : esi_field_array(member, record));
    }
}

int esi_record_write(const struct esi_fields *schema,
                     const void *record,
                     json_t **ret_json)
{
    json_t *json;

    esi_json_seed();
    json = json_object();
    for (size_t i = 0; i < esi_fields_count(schema); i++) {
        const struct esi_field *member = esi_fields_at(schema, i);
        if (is_left_out(member, record))
            continue;
        json_t *value = write_member(member, record);
        if (member->kind == ESI_FIELD_OBJECT &&
            (member->flags & ESI_FIELD_REQUIRED) == 0 && value != NULL &&
            json_object_size(value) == 0) {
            json_decref(value);
            continue;
        }
        if (json_object_set_new(json, member->name, value) != 0) {
            json_decref(json);
            return -ENOMEM;
        }
    }
    if (json == NULL)
        return -ENOMEM;
    *ret_json = json;
    return 0;
}

/* --- Freeing ---------------------------------------------------------------------- */

static void free_member(const struct esi_field *member, void *record)
{
    void *array;

    if ((member->flags & (ESI_FIELD_IN_PLACE | ESI_FIELD_LINE_ONLY)) != 0)
        return;
    switch (member->kind) {
    case ESI_FIELD_INTEGER:
    case ESI_FIELD_DURATION:
    case ESI_FIELD_BOOLEAN:
    case ESI_FIELD_CHOICE:
    case ESI_FIELD_FLAGS:
    case ESI_FIELD_OTHER:
        return;
    case ESI_FIELD_OBJECT:
        esi_record_fini(member->fields, (char *)record + member->offset);
        return;
    case ESI_FIELD_OBJECTS:
        array = esi_field_array(member, record);
        for (size_t i = 0; array != NULL && i < esi_field_count(member, record); i++)
            esi_record_fini(member->fields, (char *)array + i * member->fields->size);
        free(array);
        return;
    case ESI_FIELD_PROPERTIES:
        esi_properties_destroy(esi_field_array(member, record),
                               esi_field_count(member, record));
        return;
    default:
        free(esi_field_array(member, record));
    }
}

void esi_record_fini(const struct esi_fields *schema, void *record)
{
    for (size_t i = 0; i < esi_fields_count(schema); i++)
        free_member(esi_fields_at(schema, i), record);
    memset(record, 0, schema->size);
}
