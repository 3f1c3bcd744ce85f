/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Writing, initialising and freeing records by their tables. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/operation.h"
#include "pathmap/pathmap.h"
#include "pathmap/record.h"
#include "pathmap/record_private.h"
#include "pathmap/seed.h"

void esi_record_init(const struct esi_schema *schema, void *record)
{
    for (size_t i = 0; i < schema->member_count; i++) {
        const struct esi_member *member = &schema->members[i];
        void *field = (char *)record + member->offset;
        if (member->kind == ESI_INTEGER)
            *(int64_t *)field = member->initial;
        else if (member->kind == ESI_BOOLEAN)
            *(bool *)field = member->initial != 0;
        else if (member->kind == ESI_CHOICE)
            *(int *)field = (int)member->initial;
        else if (member->kind == ESI_OBJECT)
            esi_record_init(member->schema, field);
    }
}

/* --- Writing ---------------------------------------------------------------------- */

static json_t *write_classes(uint32_t classes)
{
    json_t *list = json_array();

    for (int i = ES_CLASS_NONE + 1; i < ES_CLASS_COUNT; i++)
        if ((classes & 1u << i) != 0 &&
            json_array_append_new(list, json_string(es_class_name((enum es_class)i))) !=
                0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *write_flags(const char *const *choices, uint32_t flags)
{
    json_t *list = json_array();

    for (int i = 0; choices[i] != NULL; i++)
        if ((flags & 1u << i) != 0 &&
            json_array_append_new(list, json_string(choices[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *write_edges(const struct es_tree_edge *edges, size_t count)
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

static json_t *write_record(const struct esi_schema *schema, const void *record)
{
    json_t *json = NULL;

    return esi_record_write(schema, record, &json) == 0 ? json : NULL;
}

static json_t *write_objects(const struct esi_schema *schema,
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

static json_t *write_properties(const struct es_pathmap_property *properties,
                                size_t count)
{
    json_t *json = NULL;

    return esi_properties_write(properties, count, &json) == 0 ? json : NULL;
}

/* Whether the document says nothing of the member. */
static bool is_left_out(const struct esi_member *member, const void *record)
{
    const void *field = (const char *)record + member->offset;
    bool quiet = (member->flags & ESI_QUIET) != 0;

    switch (member->kind) {
    case ESI_INTEGER:
        return quiet && *(const int64_t *)field == member->initial;
    case ESI_CHOICE:
        return quiet && *(const int *)field == (int)member->initial;
    case ESI_CLASSES:
    case ESI_FLAGS:
        return quiet && *(const uint32_t *)field == 0;
    case ESI_BOOLEAN:
    case ESI_OBJECT:
        return false;
    default:
        return esi_field_array(member, record) == NULL;
    }
}

static json_t *write_member(const struct esi_member *member, const void *record)
{
    const void *field = (const char *)record + member->offset;

    switch (member->kind) {
    case ESI_INTEGER:
        return json_integer(*(const int64_t *)field);
    case ESI_BOOLEAN:
        return json_boolean(*(const bool *)field);
    case ESI_CHOICE:
        return json_string(member->choices[*(const int *)field]);
    case ESI_CLASSES:
        return write_classes(*(const uint32_t *)field);
    case ESI_FLAGS:
        return write_flags(member->choices, *(const uint32_t *)field);
    case ESI_EDGES:
        return write_edges(esi_field_array(member, record),
                           esi_field_count(member, record));
    case ESI_INTEGERS:
        return write_integers(esi_field_array(member, record),
                              esi_field_count(member, record));
    case ESI_OBJECT:
        return write_record(member->schema, field);
    case ESI_OBJECTS:
        return write_objects(member->schema, esi_field_array(member, record),
                             esi_field_count(member, record));
    case ESI_PROPERTIES:
        return write_properties(esi_field_array(member, record),
                                esi_field_count(member, record));
    default:
        return json_string(esi_field_array(member, record));
    }
}

int esi_record_write(const struct esi_schema *schema,
                     const void *record,
                     json_t **ret_json)
{
    json_t *json;

    esi_json_seed();
    json = json_object();
    for (size_t i = 0; i < schema->member_count; i++) {
        const struct esi_member *member = &schema->members[i];
        if (is_left_out(member, record))
            continue;
        json_t *value = write_member(member, record);
        if (member->kind == ESI_OBJECT && (member->flags & ESI_REQUIRED) == 0 &&
            value != NULL && json_object_size(value) == 0) {
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

static void free_member(const struct esi_member *member, void *record)
{
    void *array;

    switch (member->kind) {
    case ESI_INTEGER:
    case ESI_BOOLEAN:
    case ESI_CHOICE:
    case ESI_CLASSES:
    case ESI_FLAGS:
        return;
    case ESI_OBJECT:
        esi_record_fini(member->schema, (char *)record + member->offset);
        return;
    case ESI_OBJECTS:
        array = esi_field_array(member, record);
        for (size_t i = 0; array != NULL && i < esi_field_count(member, record); i++)
            esi_record_fini(member->schema, (char *)array + i * member->schema->size);
        free(array);
        return;
    case ESI_PROPERTIES:
        esi_properties_destroy(esi_field_array(member, record),
                               esi_field_count(member, record));
        return;
    default:
        free(esi_field_array(member, record));
    }
}

void esi_record_fini(const struct esi_schema *schema, void *record)
{
    for (size_t i = 0; i < schema->member_count; i++)
        free_member(&schema->members[i], record);
    memset(record, 0, schema->size);
}
