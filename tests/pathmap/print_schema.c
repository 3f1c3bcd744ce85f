/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Prints the tables of members, one line each, for check_schema.py:
 *
 *   SCHEMA MEMBER KIND required|optional MINIMUM MAXIMUM INITIAL DETAIL
 *
 * with tabs between; DETAIL is the choices with commas, or the schema of what is below.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "pathmap/schema.h"

enum { MOST_SCHEMAS = 64 };

static const struct esi_schema *seen[MOST_SCHEMAS];
static int seen_count;

static const char *kind_name(enum esi_kind kind)
{
    static const char *const names[] = {
        [ESI_STRING] = "string",
        [ESI_NAME] = "name",
        [ESI_HOST] = "host",
        [ESI_PATTERN] = "pattern",
        [ESI_RANGES] = "ranges",
        [ESI_INTEGER] = "integer",
        [ESI_BOOLEAN] = "boolean",
        [ESI_CHOICE] = "choice",
        [ESI_CLASSES] = "classes",
        [ESI_FLAGS] = "flags",
        [ESI_EDGES] = "edges",
        [ESI_INTEGERS] = "integers",
        [ESI_OBJECT] = "object",
        [ESI_OBJECTS] = "objects",
        [ESI_PROPERTIES] = "properties",
    };

    return names[kind];
}

static void print_member(const struct esi_schema *schema,
                         const struct esi_member *member)
{
    printf("%s\t%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t", schema->name,
           member->name, kind_name(member->kind),
           (member->flags & ESI_REQUIRED) != 0 ? "required" : "optional",
           member->minimum, member->maximum, member->initial);
    for (int i = 0; member->choices != NULL && member->choices[i] != NULL; i++)
        printf("%s%s", i > 0 ? "," : "", member->choices[i]);
    printf("%s\n", member->schema != NULL ? member->schema->name : "");
}

static void print_schema(const struct esi_schema *schema)
{
    for (int i = 0; i < seen_count; i++)
        if (seen[i] == schema)
            return;
    if (seen_count == MOST_SCHEMAS)
        return;
    seen[seen_count++] = schema;
    for (size_t i = 0; i < schema->member_count; i++)
        print_member(schema, &schema->members[i]);
    for (size_t i = 0; i < schema->member_count; i++)
        if (schema->members[i].schema != NULL)
            print_schema(schema->members[i].schema);
}

int main(void)
{
    print_schema(&esi_schema_map);
    print_schema(&esi_schema_collector_properties);
    print_schema(&esi_schema_element_properties);
    return 0;
}
