/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Prints the tables of members, one line each, for check_schema.py:
 *
 *   SCHEMA MEMBER KIND required|optional MINIMUM MAXIMUM INITIAL DETAIL HELP
 *
 * Fields are separated by tabs. DETAIL is the list of choices with commas, or the
 * schema of the elements.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "pathmap/path.h"
#include "pathmap/schema.h"

enum { MOST_SCHEMAS = 64 };

static const struct esi_fields *seen[MOST_SCHEMAS];
static int seen_count;

static const char *kind_name(enum esi_field_kind kind)
{
    static const char *const names[] = {
        [ESI_FIELD_STRING] = "string",
        [ESI_FIELD_NAME] = "name",
        [ESI_FIELD_HOST] = "host",
        [ESI_FIELD_PATTERN] = "pattern",
        [ESI_FIELD_RANGES] = "ranges",
        [ESI_FIELD_RANKS] = "ranges",
        [ESI_FIELD_INTEGER] = "integer",
        [ESI_FIELD_BOOLEAN] = "boolean",
        [ESI_FIELD_CHOICE] = "choice",
        [ESI_FIELD_FLAGS] = "flags",
        [ESI_FIELD_EDGES] = "edges",
        [ESI_FIELD_INTEGERS] = "integers",
        [ESI_FIELD_OBJECT] = "object",
        [ESI_FIELD_OBJECTS] = "objects",
        [ESI_FIELD_PROPERTIES] = "properties",
    };

    return names[kind];
}

static void print_field(const char *table, const struct esi_field *field, bool required)
{
    bool is_choice = field->kind == ESI_FIELD_CHOICE;
    bool is_flags = field->kind == ESI_FIELD_FLAGS;
    int64_t last = is_choice && field->maximum > 0 ? field->maximum : INT64_MAX;
    int64_t first = is_flags ? field->minimum : 0;

    if ((field->flags & ESI_FIELD_LINE_ONLY) != 0)
        return;
    printf("%s\t%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t", table,
           field->name, kind_name(field->kind), required ? "required" : "optional",
           field->minimum, field->maximum, field->initial);
    for (int64_t i = first; field->choices && field->choices[i] && i <= last; i++)
        printf("%s%s", i > first ? "," : "", field->choices[i]);
    printf("%s\t%s\n", field->fields != NULL ? field->fields->name : "",
           field->help != NULL ? field->help : "");
}

static void print_table(const struct esi_fields *fields)
{
    for (int i = 0; i < seen_count; i++)
        if (seen[i] == fields)
            return;
    if (seen_count == MOST_SCHEMAS)
        return;
    seen[seen_count++] = fields;
    for (size_t i = 0; i < esi_fields_count(fields); i++) {
        const struct esi_field *field = esi_fields_at(fields, i);
        print_field(fields->name, field, (field->flags & ESI_FIELD_REQUIRED) != 0);
    }
    for (size_t i = 0; i < esi_fields_count(fields); i++)
        if (esi_fields_at(fields, i)->fields != NULL)
            print_table(esi_fields_at(fields, i)->fields);
}

int main(void)
{
    print_table(&esi_map_fields);
    for (int i = 0; i < ESI_PATH_STAGES; i++)
        for (int j = 0; j < ESI_PATH_PROPERTIES; j++)
            print_field(esi_path_stages[i].definition,
                        esi_fields_find(&esi_collector_fields,
                                        esi_path_stages[i].properties[j]),
                        true);
    return 0;
}
