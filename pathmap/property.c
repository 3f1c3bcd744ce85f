/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Properties of stages and scopes: any JSON values, in order, checked by the stage's
 * type. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/layout.h"
#include "pathmap/map.h"
#include "pathmap/record.h"

static int read_value(const struct esi_reader *reader,
                      const struct esi_step *step,
                      const json_t *json,
                      struct esi_pathmap_property *property,
                      int depth);

static int read_list(const struct esi_reader *reader,
                     const struct esi_step *step,
                     const json_t *json,
                     struct esi_pathmap_property *property,
                     int depth)
{
    size_t count = json_array_size(json);

    property->kind = ES_PATHMAP_VALUE_LIST;
    property->items = calloc(count > 0 ? count : 1, sizeof(*property->items));
    if (property->items == NULL)
        return -ENOMEM;
    property->item_count = count;
    for (size_t i = 0; i < count; i++) {
        struct esi_step below = {step, NULL, i};
        int code = read_value(reader, &below, json_array_get(json, i),
                              &property->items[i], depth + 1);
        if (code < 0)
            return code;
    }
    return 0;
}

static int read_object(const struct esi_reader *reader,
                       const struct esi_step *step,
                       const json_t *json,
                       struct esi_pathmap_property *property,
                       int depth)
{
    size_t count = json_object_size(json), i = 0;

    property->kind = ES_PATHMAP_VALUE_OBJECT;
    property->items = calloc(count > 0 ? count : 1, sizeof(*property->items));
    if (property->items == NULL)
        return -ENOMEM;
    property->item_count = count;
    for (void *at = json_object_iter((json_t *)json); at != NULL;
         at = json_object_iter_next((json_t *)json, at), i++) {
        struct esi_step below = {step, json_object_iter_key(at), 0};
        property->items[i].name = strdup(below.key);
        if (property->items[i].name == NULL)
            return -ENOMEM;
        int code = read_value(reader, &below, json_object_iter_value(at),
                              &property->items[i], depth + 1);
        if (code < 0)
            return code;
    }
    return 0;
}

/* A string unchanged, other values as JSON.  NULL if out of memory. */
static char *text_of(const json_t *json)
{
    if (json_is_string(json))
        return strdup(json_string_value(json));

    char *dump = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
    char *text = dump != NULL ? strdup(dump) : NULL;
    esi_layout_free_dump(dump);
    return text;
}

static int read_value(const struct esi_reader *reader,
                      const struct esi_step *step,
                      const json_t *json,
                      struct esi_pathmap_property *property,
                      int depth)
{
    if (depth > ESI_MAX_DEPTH)
        return esi_reader_fail(reader, step, -EINVAL, "nested deeper than %d levels",
                               ESI_MAX_DEPTH);
    property->text = text_of(json);
    if (property->text == NULL)
        return -ENOMEM;
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return read_object(reader, step, json, property, depth);
    case JSON_ARRAY:
        return read_list(reader, step, json, property, depth);
    case JSON_STRING:
        property->kind = ES_PATHMAP_VALUE_STRING;
        return 0;
    case JSON_INTEGER:
        property->kind = ES_PATHMAP_VALUE_INTEGER;
        property->integer = json_integer_value(json);
        property->real = (double)property->integer;
        return 0;
    case JSON_REAL:
        property->kind = ES_PATHMAP_VALUE_REAL;
        property->real = json_real_value(json);
        return 0;
    case JSON_TRUE:
    case JSON_FALSE:
        property->kind = ES_PATHMAP_VALUE_BOOLEAN;
        property->boolean = json_is_true(json);
        return 0;
    case JSON_NULL:
        property->kind = ES_PATHMAP_VALUE_NULL;
        return 0;
    }
    return -EINVAL;
}

int esi_properties_read(const struct esi_reader *reader,
                        const struct esi_step *step,
                        const json_t *json,
                        struct esi_pathmap_property **ret_properties,
                        size_t *ret_count)
{
    struct esi_pathmap_property all = {0};
    int code = read_object(reader, step, json, &all, 0);

    if (code < 0) {
        esi_properties_destroy(all.items, all.item_count);
        return code;
    }
    *ret_properties = all.items;
    *ret_count = all.item_count;
    return 0;
}

static json_t *write_value(const struct esi_pathmap_property *property)
{
    json_t *json = NULL;

    switch (property->kind) {
    case ES_PATHMAP_VALUE_NULL:
        return json_null();
    case ES_PATHMAP_VALUE_BOOLEAN:
        return json_boolean(property->boolean);
    case ES_PATHMAP_VALUE_INTEGER:
        return json_integer(property->integer);
    case ES_PATHMAP_VALUE_REAL:
        return json_real(property->real);
    case ES_PATHMAP_VALUE_STRING:
        return json_string(property->text);
    case ES_PATHMAP_VALUE_LIST:
        json = json_array();
        for (size_t i = 0; i < property->item_count; i++)
            if (json_array_append_new(json, write_value(&property->items[i])) != 0) {
                json_decref(json);
                return NULL;
            }
        return json;
    case ES_PATHMAP_VALUE_OBJECT:
        return esi_properties_write(property->items, property->item_count, &json) == 0
                   ? json
                   : NULL;
    }
    return NULL;
}

int esi_properties_write(const struct esi_pathmap_property *properties,
                         size_t count,
                         json_t **ret_json)
{
    json_t *json;

    esi_json_seed();
    json = json_object();
    for (size_t i = 0; i < count; i++)
        if (json_object_set_new(json, properties[i].name,
                                write_value(&properties[i])) != 0) {
            json_decref(json);
            return -ENOMEM;
        }
    if (json == NULL)
        return -ENOMEM;
    *ret_json = json;
    return 0;
}

void esi_properties_destroy(struct esi_pathmap_property *properties, size_t count)
{
    for (size_t i = 0; properties != NULL && i < count; i++) {
        free(properties[i].name);
        free(properties[i].text);
        esi_properties_destroy(properties[i].items, properties[i].item_count);
    }
    free(properties);
}
