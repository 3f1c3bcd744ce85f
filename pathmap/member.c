/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What can be said about the members of a schema: look-up, nearest name, expectation.
 */
#include "config.h"

#include "pathmap/schema.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

const struct esi_member *esi_schema_find(const struct esi_schema *schema,
                                         const char *name)
{
    for (size_t i = 0; i < schema->member_count; i++)
        if (strcmp(schema->members[i].name, name) == 0)
            return &schema->members[i];
    return NULL;
}

const char *esi_schema_nearest(const struct esi_schema *schema, const char *name)
{
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < schema->member_count; i++)
        esi_nearest_try(&nearest, schema->members[i].name);
    return nearest.name;
}

static void format_choices(const struct esi_member *member, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "one of");

    for (size_t i = 0; member->choices[i] != NULL && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s \"%s\"", i > 0 ? "," : "",
                                 member->choices[i]);
}

const char *esi_member_expected(const struct esi_member *member, char *out, size_t size)
{
    long long maximum = member->maximum;

    switch (member->kind) {
    case ESI_STRING:
        snprintf(out, size, "a text of 1 to %lld bytes", maximum);
        break;
    case ESI_NAME:
        snprintf(out, size, "a name of 1 to %lld letters, digits, '_', '.', '-'",
                 maximum);
        break;
    case ESI_HOST:
        snprintf(out, size, "a name of 1 to %lld letters, digits, '_', '.', '-', ':'",
                 maximum);
        break;
    case ESI_PATTERN:
        snprintf(out, size, "a text of 1 to %lld bytes without spaces", maximum);
        break;
    case ESI_RANGES:
        snprintf(out, size, "numbers such as \"0-3,7\", or \"*\"");
        break;
    case ESI_INTEGER:
        if (member->minimum == maximum)
            snprintf(out, size, "%lld", maximum);
        else if (maximum == INT64_MAX)
            snprintf(out, size, "an integer from %" PRId64, member->minimum);
        else
            snprintf(out, size, "an integer from %" PRId64 " to %lld", member->minimum,
                     maximum);
        break;
    case ESI_BOOLEAN:
        snprintf(out, size, "true or false");
        break;
    case ESI_CHOICE:
        format_choices(member, out, size);
        break;
    case ESI_CLASSES:
        snprintf(out, size,
                 "a list of operation classes such as [\"send\", \"receive\"]");
        break;
    case ESI_FLAGS:
        snprintf(out, size, "a list of names such as [\"%s\"]", member->choices[0]);
        break;
    case ESI_EDGES:
        snprintf(out, size, "a list of edges such as [[0, 1], [0, 2]]");
        break;
    case ESI_INTEGERS:
        snprintf(out, size, "a list of integers");
        break;
    case ESI_OBJECT:
    case ESI_PROPERTIES:
        snprintf(out, size, "an object");
        break;
    case ESI_OBJECTS:
        snprintf(out, size, "a list of objects");
        break;
    }
    return out;
}

int esi_member_choice(const struct esi_member *member, const char *name)
{
    for (int i = 0; member->choices[i] != NULL; i++)
        if (strcmp(member->choices[i], name) == 0)
            return i;
    return -1;
}

static bool kind_has_char(enum esi_kind kind, unsigned char c)
{
    bool plain = c < 0x80 && (isalnum(c) || strchr("_.-", c) != NULL);

    switch (kind) {
    case ESI_NAME:
        return plain;
    case ESI_HOST:
        return plain || c == ':';
    case ESI_PATTERN:
        return c > ' ' && c != 0x7f;
    default:
        return c >= ' ' && c != 0x7f;
    }
}

bool esi_member_has_text(const struct esi_member *member, const char *text)
{
    size_t length = strlen(text);

    if (length == 0 || length > (uint64_t)member->maximum)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!kind_has_char(member->kind, (unsigned char)text[i]))
            return false;
    return true;
}
