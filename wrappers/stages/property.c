/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* property.c - checks properties against the schema of a stage type. */
#include "config.h"

#include "eventspace/stage_property.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/nearest.h"

/* The conversion of one property from text to value. */
struct property_reading {
    const char *owner;
    const struct es_property_schema *schema;
    const struct es_property *property;
    struct es_error *error;
};

/* The schema row as a field of a value. */
static struct esi_field field_of(const struct es_property_schema *schema)
{
    static const enum esi_field_kind kinds[] = {
        [ES_PROPERTY_INTEGER] = ESI_FIELD_INTEGER,
        [ES_PROPERTY_BOOLEAN] = ESI_FIELD_BOOLEAN,
        [ES_PROPERTY_DURATION] = ESI_FIELD_DURATION,
        [ES_PROPERTY_CHOICE] = ESI_FIELD_CHOICE,
        [ES_PROPERTY_TEXT] = ESI_FIELD_STRING,
    };
    bool is_text = schema->type == ES_PROPERTY_TEXT;

    return (struct esi_field){
        .name = schema->name,
        .kind = kinds[schema->type],
        .offset = is_text ? offsetof(struct es_property_value, text)
                          : offsetof(struct es_property_value, integer),
        .size = is_text ? 0 : sizeof(int64_t),
        .minimum = schema->minimum,
        .maximum = schema->maximum,
        .choices = schema->choices,
    };
}

static int property_refuse(const struct property_reading *reading,
                           const char *found,
                           const char *expected)
{
    const struct es_property *property = reading->property;

    return es_error_set_at(reading->error, -EINVAL, property->source, property->line,
                           property->column,
                           "%s: property '%s' is '%.80s': expected %s", reading->owner,
                           property->name, found, expected);
}

/* It may come from another process, so it is checked like text. */
static int take_typed(const struct property_reading *reading,
                      struct es_property_value *value)
{
    const struct es_property_schema *schema = reading->schema;
    const struct es_property_value *typed = reading->property->typed;
    struct esi_field field = field_of(schema);
    int64_t minimum = schema->minimum, maximum = schema->maximum;
    char expected[200], found[32];

    if (schema->type == ES_PROPERTY_BOOLEAN || schema->type == ES_PROPERTY_CHOICE) {
        minimum = 0;
        maximum = 1;
    }
    for (size_t i = 0; schema->type == ES_PROPERTY_CHOICE && schema->choices[i]; i++)
        maximum = (int64_t)i;
    if (typed->type == schema->type && schema->type != ES_PROPERTY_TEXT &&
        typed->integer >= minimum && typed->integer <= maximum) {
        value->integer = typed->integer;
        return 0;
    }
    snprintf(found, sizeof found, "%" PRId64, typed->integer);
    return property_refuse(
        reading, found,
        esi_field_expected(&field, ESI_FORM_TEXT, expected, sizeof expected));
}

static int read_value(const struct property_reading *reading,
                      struct es_property_value *value)
{
    const struct es_property *property = reading->property;
    struct esi_field field = field_of(reading->schema);
    struct esi_field_fault fault;
    int result;

    value->type = reading->schema->type;
    value->line = property->line;
    value->column = property->column;
    if (property->typed)
        return take_typed(reading, value);
    result = esi_field_parse(&field, esi_text_span_of(property->value), &fault, value);
    return result == -EINVAL ? property_refuse(reading, property->value, fault.expected)
                             : result;
}

static bool is_known(const struct es_property_schema *schema,
                     size_t count,
                     const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(schema[i].name, name) == 0)
            return true;
    return false;
}

static int check_names(const char *owner,
                       const struct es_property_schema *schema,
                       size_t schema_count,
                       const struct es_property *properties,
                       size_t count,
                       struct es_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct es_property *property = &properties[i];
        struct esi_nearest nearest;

        if (is_known(schema, schema_count, property->name))
            continue;
        esi_nearest_init(&nearest, property->name);
        for (size_t j = 0; j < schema_count; j++)
            esi_nearest_try(&nearest, schema[j].name);
        return es_error_set_at(
            error, -EINVAL, property->source, property->line, property->column,
            nearest.name ? "%s has no property '%.60s': did you mean '%s'?"
                         : "%s has no property '%.60s'%s",
            owner, property->name, nearest.name ? nearest.name : "");
    }
    return 0;
}

/* Finds the only property of this name; a second one is an error. */
static int find_property(const struct property_reading *reading,
                         const struct es_property *properties,
                         size_t count,
                         const struct es_property **ret_property)
{
    const struct es_property *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(properties[i].name, reading->schema->name) != 0)
            continue;
        if (found)
            return es_error_set_at(reading->error, -EINVAL, properties[i].source,
                                   properties[i].line, properties[i].column,
                                   "%s: property '%s' is given twice", reading->owner,
                                   properties[i].name);
        found = &properties[i];
    }
    *ret_property = found;
    return 0;
}

static int read_row(struct property_reading *reading,
                    const struct es_property *properties,
                    size_t count,
                    struct es_property_value *value)
{
    const struct es_property_schema *schema = reading->schema;
    struct es_property fallback = {.name = schema->name, .value = schema->fallback};
    int result = find_property(reading, properties, count, &reading->property);

    if (result < 0)
        return result;
    if (!reading->property && !schema->fallback)
        return es_error_set(reading->error, -EINVAL, "%s needs the property '%s': %s",
                            reading->owner, schema->name, schema->help);
    if (!reading->property)
        reading->property = &fallback;
    return read_value(reading, value);
}

int es_property_values_parse(const char *owner,
                             const struct es_property_schema *schema,
                             size_t schema_count,
                             const struct es_property *properties,
                             size_t count,
                             struct es_error *error,
                             struct es_property_value **ret_values)
{
    struct property_reading reading = {.owner = owner, .error = error};
    struct es_property_value *values;
    int result = check_names(owner, schema, schema_count, properties, count, error);

    if (result < 0)
        return result;
    values = calloc(schema_count + 1, sizeof *values);
    if (!values)
        return -ENOMEM;
    for (size_t i = 0; i < schema_count && result == 0; i++) {
        reading.schema = &schema[i];
        result = read_row(&reading, properties, count, &values[i]);
    }
    if (result < 0) {
        es_property_values_free(values, schema_count);
        return result;
    }
    *ret_values = values;
    return 0;
}

void es_property_values_free(struct es_property_value *values, size_t schema_count)
{
    if (!values)
        return;
    for (size_t i = 0; i < schema_count; i++)
        free(values[i].text);
    free(values);
}
