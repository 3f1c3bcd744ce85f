/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* property.c - checks what a person wrote against a stage type's schema. */
#include "config.h"

#include "eventspace/stage_property.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"

/* One property on its way from text to value. */
struct reading {
    const char *owner;
    const struct es_property_schema *schema;
    const struct es_property *property;
    struct es_error *error;
};

static int refuse(const struct reading *reading, const char *expected)
{
    const struct es_property *property = reading->property;

    return es_error_set_at(reading->error, -EINVAL, property->source, property->line,
                           property->column,
                           "%s: property \"%s\" is \"%.80s\": expected %s",
                           reading->owner, property->name, property->value, expected);
}

static int refuse_range(const struct reading *reading, const char *what)
{
    const struct es_property_schema *schema = reading->schema;
    char expected[128];

    snprintf(expected, sizeof expected, "%s from %" PRId64 " to %" PRId64, what,
             schema->minimum, schema->maximum);
    return refuse(reading, expected);
}

static int read_integer(const struct reading *reading, struct es_property_value *value)
{
    const char *text = reading->property->value;
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < reading->schema->minimum ||
        number > reading->schema->maximum)
        return refuse_range(reading, "a whole number");
    value->integer = number;
    return 0;
}

static int read_boolean(const struct reading *reading, struct es_property_value *value)
{
    static const char *const words[] = {"no",  "yes", "false", "true",
                                        "off", "on",  "0",     "1"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(reading->property->value, words[i]) == 0) {
            value->integer = (int64_t)(i % 2);
            return 0;
        }
    }
    return refuse(reading, "yes or no");
}

static int read_duration(const struct reading *reading, struct es_property_value *value)
{
    uint64_t duration_ns;
    int result = es_duration_parse(reading->property->value, &duration_ns);

    if (result == -EINVAL)
        return refuse(reading, "a number with ns, us, ms or s");
    if (result < 0 || duration_ns > (uint64_t)reading->schema->maximum ||
        (int64_t)duration_ns < reading->schema->minimum)
        return refuse_range(reading, "a time in ns");
    value->integer = (int64_t)duration_ns;
    return 0;
}

static int read_choice(const struct reading *reading, struct es_property_value *value)
{
    const char *const *choices = reading->schema->choices;
    char expected[256] = "one of";

    for (size_t i = 0; choices[i]; i++) {
        size_t length = strlen(expected);

        if (strcmp(reading->property->value, choices[i]) == 0) {
            value->integer = (int64_t)i;
            return 0;
        }
        snprintf(expected + length, sizeof expected - length, " %s", choices[i]);
    }
    return refuse(reading, expected);
}

static int read_text(const struct reading *reading, struct es_property_value *value)
{
    int64_t length = (int64_t)strlen(reading->property->value);

    if (length < reading->schema->minimum || length > reading->schema->maximum)
        return refuse_range(reading, "a text of a length");
    value->text = strdup(reading->property->value);
    return value->text ? 0 : -ENOMEM;
}

static int read_value(const struct reading *reading, struct es_property_value *value)
{
    value->type = reading->schema->type;
    value->line = reading->property->line;
    value->column = reading->property->column;
    switch (reading->schema->type) {
    case ES_PROPERTY_INTEGER:
        return read_integer(reading, value);
    case ES_PROPERTY_BOOLEAN:
        return read_boolean(reading, value);
    case ES_PROPERTY_DURATION:
        return read_duration(reading, value);
    case ES_PROPERTY_CHOICE:
        return read_choice(reading, value);
    case ES_PROPERTY_TEXT:
        return read_text(reading, value);
    }
    return -EINVAL;
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
            nearest.name ? "%s has no property \"%.60s\": did you mean \"%s\"?"
                         : "%s has no property \"%.60s\"%s",
            owner, property->name, nearest.name ? nearest.name : "");
    }
    return 0;
}

/* The one property of this name; a second one is a fault. */
static int find_property(const struct reading *reading,
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
                                   "%s: property \"%s\" is given twice", reading->owner,
                                   properties[i].name);
        found = &properties[i];
    }
    *ret_property = found;
    return 0;
}

static int read_row(struct reading *reading,
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
        return es_error_set(reading->error, -EINVAL, "%s needs the property \"%s\": %s",
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
    struct reading reading = {.owner = owner, .error = error};
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
