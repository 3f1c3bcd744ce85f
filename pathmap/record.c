/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Records described by tables of fields: read from JSON objects, written, freed. */
#include "config.h"

#include "pathmap/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/map.h"
#include "pathmap/pathmap.h"
#include "pathmap/layout.h"

/* --- Arrays of fields ------------------------------------------------------------- */

/* Pointers of any type are copied as bytes, because they are not `void *` objects. */
static void *array_of(const struct esi_field *member, const void *record)
{
    void *array;

    memcpy(&array, (const char *)record + member->offset, sizeof(array));
    return array;
}

static size_t count_of(const struct esi_field *member, const void *record)
{
    size_t count;

    memcpy(&count, (const char *)record + member->count_offset, sizeof(count));
    return count;
}

static void set_array(const struct esi_field *member,
                      void *record,
                      void *array,
                      size_t count)
{
    memcpy((char *)record + member->offset, &array, sizeof(array));
    memcpy((char *)record + member->count_offset, &count, sizeof(count));
}

/* --- Reading ---------------------------------------------------------------------- */

/* The context for reading one member. */
struct record_location {
    const struct esi_reader *reader;
    const struct esi_step *step;
    const struct esi_field *member;
};

/* Describes what was found, "-1", "'abc'", "a list", truncated to a few words.  Returns
 * `out`. */
static const char *json_found(const json_t *json, char *out, size_t size)
{
    size_t length;

    switch (json_typeof(json)) {
    case JSON_OBJECT:
        snprintf(out, size, "an object");
        break;
    case JSON_ARRAY:
        snprintf(out, size, json_array_size(json) > 0 ? "a list" : "an empty list");
        break;
    case JSON_STRING:
        snprintf(out, size, "'%.60s'", json_string_value(json));
        break;
    default:
        /* As it would be written: 4.0 is not 4. */
        length =
            json_dumpb(json, out, size - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        out[length < size ? length : size - 1] = '\0';
    }
    for (char *c = out; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return out;
}

static int fail_found(const struct record_location *place, const json_t *json)
{
    char found[80], expected[160];

    return esi_reader_fail(
        place->reader, place->step, -EINVAL, "found %s, expected %s",
        json_found(json, found, sizeof(found)),
        esi_field_expected(place->member, ESI_FORM_JSON, expected, sizeof(expected)));
}

static int check_ranges(const struct record_location *place, const char *text)
{
    struct es_error error = {0};
    struct esi_rank_range *ranges = NULL;
    int count = esi_rank_ranges_parse(text, &error, &ranges);

    free(ranges);
    if (count == -ENOMEM)
        return esi_reader_fail_memory(place->reader);
    if (count < 0 || *text == '\0')
        return esi_reader_fail(
            place->reader, place->step, -EINVAL,
            "found '%.60s', expected numbers such as '0-3,7', or '*'", text);
    return 0;
}

static int read_text(const struct record_location *place,
                     const json_t *json,
                     void *field)
{
    if (!json_is_string(json))
        return fail_found(place, json);

    const char *text = json_string_value(json);
    if (place->member->kind == ESI_FIELD_RANGES) {
        int code = check_ranges(place, text);
        if (code < 0)
            return code;
    } else if (!esi_field_has_text(place->member, text)) {
        return fail_found(place, json);
    }
    if ((place->member->flags & ESI_FIELD_IN_PLACE) != 0) {
        strcpy(field, text);
        return 0;
    }
    char *copy = strdup(text);
    memcpy(field, &copy, sizeof(copy));
    return copy != NULL ? 0 : esi_reader_fail_memory(place->reader);
}

/* Reads an array in text form, such as "0-3,7". */
static int read_ranks(const struct record_location *place,
                      const json_t *json,
                      void *record)
{
    const char *text = json_is_string(json) ? json_string_value(json) : "";
    struct esi_field_fault fault;
    int code = esi_field_parse(place->member, esi_text_span_of(text), &fault, record);

    if (code == -ENOMEM)
        return esi_reader_fail_memory(place->reader);
    return code == 0 ? 0 : fail_found(place, json);
}

static int read_integer(const struct record_location *place,
                        const json_t *json,
                        void *record)
{
    int64_t value = json_integer_value(json);

    if (!json_is_integer(json) || value < place->member->minimum ||
        value > place->member->maximum)
        return fail_found(place, json);
    esi_field_set(place->member, record, value);
    return 0;
}

static int read_boolean(const struct record_location *place,
                        const json_t *json,
                        void *record)
{
    if (!json_is_boolean(json))
        return fail_found(place, json);
    esi_field_set(place->member, record, json_is_true(json));
    return 0;
}

/* -1 if it is not a choice allowed in documents. */
static int choice_of(const struct esi_field *member, const json_t *json)
{
    const char *name = json_is_string(json) ? json_string_value(json) : "";
    int choice = esi_field_choice(member, esi_text_span_of(name));

    if (member->kind == ESI_FIELD_FLAGS)
        return choice < member->minimum ? -1 : choice;
    return member->maximum > 0 && choice > member->maximum ? -1 : choice;
}

static int read_choice(const struct record_location *place,
                       const json_t *json,
                       void *record)
{
    int choice = choice_of(place->member, json);

    if (choice < 0)
        return fail_found(place, json);
    esi_field_set(place->member, record, choice);
    return 0;
}

static int fail_flag(const struct record_location *place,
                     const struct esi_step *step,
                     const json_t *json)
{
    struct esi_field one = *place->member;
    char found[80], expected[240];

    one.kind = ESI_FIELD_CHOICE;
    one.choices += one.minimum;
    one.maximum = 0;
    return esi_reader_fail(
        place->reader, step, -EINVAL, "found %s, expected %s",
        json_found(json, found, sizeof(found)),
        esi_field_expected(&one, ESI_FORM_JSON, expected, sizeof(expected)));
}

static int read_flags(const struct record_location *place,
                      const json_t *json,
                      void *record)
{
    uint32_t flags = 0;

    if (!json_is_array(json) || json_array_size(json) == 0)
        return fail_found(place, json);
    for (size_t i = 0; i < json_array_size(json); i++) {
        struct esi_step step = {place->step, NULL, i};
        const json_t *item = json_array_get(json, i);
        int choice = choice_of(place->member, item);
        if (choice < 0)
            return fail_flag(place, &step, item);
        if ((flags & 1u << choice) != 0)
            return esi_reader_fail(place->reader, &step, -EINVAL,
                                   "found '%s' a second time, expected each once",
                                   place->member->choices[choice]);
        flags |= 1u << choice;
    }
    esi_field_set(place->member, record, flags);
    return 0;
}

static int read_rank(const struct record_location *place,
                     const struct esi_step *pair,
                     size_t index,
                     const json_t *json,
                     int *ret_rank)
{
    struct esi_step step = {pair, NULL, index};
    const struct esi_field rank = {.kind = ESI_FIELD_INTEGER,
                                   .minimum = place->member->minimum,
                                   .maximum = place->member->maximum};
    struct record_location at = {place->reader, &step, &rank};
    int64_t number = 0;
    int code = read_integer(&at, json, &number);
    if (code == 0)
        *ret_rank = (int)number;
    return code;
}

/* Reads a list of [parent, child]. */
static int read_edges(const struct record_location *place,
                      const json_t *json,
                      void *record)
{
    size_t count = json_array_size(json);

    if (!json_is_array(json) || count == 0)
        return fail_found(place, json);

    struct esi_tree_edge *edges = calloc(count, sizeof(*edges));
    if (edges == NULL)
        return esi_reader_fail_memory(place->reader);
    set_array(place->member, record, edges, count);
    for (size_t i = 0; i < count; i++) {
        struct esi_step step = {place->step, NULL, i};
        const json_t *pair = json_array_get(json, i);
        char found[80];
        if (json_array_size(pair) != 2)
            return esi_reader_fail(place->reader, &step, -EINVAL,
                                   "found %s, expected two ranks: [parent, child]",
                                   json_found(pair, found, sizeof(found)));
        int code =
            read_rank(place, &step, 0, json_array_get(pair, 0), &edges[i].parent);
        if (code == 0)
            code = read_rank(place, &step, 1, json_array_get(pair, 1), &edges[i].child);
        if (code < 0)
            return code;
    }
    return 0;
}

static int read_integers(const struct record_location *place,
                         const json_t *json,
                         void *record)
{
    size_t count = json_array_size(json);

    if (!json_is_array(json))
        return fail_found(place, json);

    int64_t *numbers = calloc(count > 0 ? count : 1, sizeof(*numbers));
    if (numbers == NULL)
        return esi_reader_fail_memory(place->reader);
    set_array(place->member, record, numbers, count);
    for (size_t i = 0; i < count; i++) {
        struct esi_step step = {place->step, NULL, i};
        const struct esi_field item = {.kind = ESI_FIELD_INTEGER,
                                       .minimum = place->member->minimum,
                                       .maximum = place->member->maximum};
        struct record_location at = {place->reader, &step, &item};
        int code = read_integer(&at, json_array_get(json, i), &numbers[i]);
        if (code < 0)
            return code;
    }
    return 0;
}

static int read_objects(const struct record_location *place,
                        const json_t *json,
                        void *record)
{
    const struct esi_fields *schema = place->member->fields;
    size_t count = json_array_size(json);

    if (!json_is_array(json))
        return fail_found(place, json);

    char *records = calloc(count > 0 ? count : 1, schema->size);
    if (records == NULL)
        return esi_reader_fail_memory(place->reader);
    set_array(place->member, record, records, count);
    for (size_t i = 0; i < count; i++) {
        struct esi_step step = {place->step, NULL, i};
        int code = esi_record_read(place->reader, &step, schema,
                                   json_array_get(json, i), records + i * schema->size);
        if (code < 0)
            return code;
    }
    return 0;
}

static int read_properties(const struct record_location *place,
                           const json_t *json,
                           void *record)
{
    struct esi_pathmap_property *properties = NULL;
    size_t count = 0;

    if (!json_is_object(json))
        return fail_found(place, json);
    int code =
        esi_properties_read(place->reader, place->step, json, &properties, &count);
    if (code == -ENOMEM)
        return esi_reader_fail_memory(place->reader);
    if (code == 0)
        set_array(place->member, record, properties, count);
    return code;
}

static int read_member(const struct record_location *place,
                       const json_t *json,
                       void *record)
{
    void *field = (char *)record + place->member->offset;

    switch (place->member->kind) {
    case ESI_FIELD_STRING:
    case ESI_FIELD_NAME:
    case ESI_FIELD_HOST:
    case ESI_FIELD_PATTERN:
    case ESI_FIELD_RANGES:
        return read_text(place, json, field);
    case ESI_FIELD_RANKS:
        return read_ranks(place, json, record);
    case ESI_FIELD_INTEGER:
    case ESI_FIELD_DURATION:
        return read_integer(place, json, record);
    case ESI_FIELD_BOOLEAN:
        return read_boolean(place, json, record);
    case ESI_FIELD_CHOICE:
        return read_choice(place, json, record);
    case ESI_FIELD_FLAGS:
        return read_flags(place, json, record);
    case ESI_FIELD_EDGES:
        return read_edges(place, json, record);
    case ESI_FIELD_INTEGERS:
        return read_integers(place, json, record);
    case ESI_FIELD_OBJECT:
        return esi_record_read(place->reader, place->step, place->member->fields, json,
                               field);
    case ESI_FIELD_OBJECTS:
        return read_objects(place, json, record);
    case ESI_FIELD_PROPERTIES:
        return read_properties(place, json, record);
    case ESI_FIELD_OTHER:
        break;
    }
    return -EINVAL;
}

static int fail_unknown(const struct esi_reader *reader,
                        const struct esi_step *step,
                        const struct esi_fields *schema)
{
    char words[240];
    const char *nearest = esi_fields_nearest(schema, step->key);
    size_t used = 0;

    if (nearest != NULL)
        return esi_reader_fail_name(reader, step, "unknown member, did you mean '%s'?",
                                    nearest);
    for (size_t i = 0; i < esi_fields_count(schema) && used < sizeof(words); i++)
        if ((esi_fields_at(schema, i)->flags & ESI_FIELD_LINE_ONLY) == 0)
            used +=
                (size_t)snprintf(words + used, sizeof(words) - used, "%s '%s'",
                                 used > 0 ? "," : "", esi_fields_at(schema, i)->name);
    return esi_reader_fail_name(reader, step, "unknown member, expected one of%s",
                                words);
}

static int check_required(const struct esi_reader *reader,
                          const struct esi_step *step,
                          const struct esi_fields *schema,
                          const json_t *json)
{
    char expected[160];

    for (size_t i = 0; i < esi_fields_count(schema); i++) {
        const struct esi_field *member = esi_fields_at(schema, i);
        if ((member->flags & ESI_FIELD_REQUIRED) == 0 ||
            (member->flags & ESI_FIELD_LINE_ONLY) != 0 ||
            json_object_get(json, member->name) != NULL)
            continue;
        return esi_reader_fail(
            reader, step, -EINVAL, "member '%s' is missing, expected %s", member->name,
            esi_field_expected(member, ESI_FORM_JSON, expected, sizeof(expected)));
    }
    return 0;
}

static size_t depth_of(const struct esi_step *step)
{
    size_t depth = 0;

    for (; step->parent != NULL; step = step->parent)
        depth++;
    return depth;
}

int esi_record_read(const struct esi_reader *reader,
                    const struct esi_step *step,
                    const struct esi_fields *schema,
                    const json_t *json,
                    void *record)
{
    char found[80];

    if (!json_is_object(json))
        return esi_reader_fail(reader, step, -EINVAL, "found %s, expected an object",
                               json_found(json, found, sizeof(found)));
    if (depth_of(step) > 2 * ESI_MAX_DEPTH)
        return esi_reader_fail(reader, step, -EINVAL, "nested deeper than %d levels",
                               ESI_MAX_DEPTH);
    esi_fields_init(schema, record);

    /* In the order of the text, so that the first error is reported first. */
    for (void *at = json_object_iter((json_t *)json); at != NULL;
         at = json_object_iter_next((json_t *)json, at)) {
        struct esi_step below = {step, json_object_iter_key(at), 0};
        struct record_location place = {reader, &below,
                                        esi_fields_find(schema, below.key)};
        int code =
            place.member == NULL || (place.member->flags & ESI_FIELD_LINE_ONLY) != 0
                ? fail_unknown(reader, &below, schema)
                : read_member(&place, json_object_iter_value(at), record);
        if (code < 0)
            return code;
    }
    return check_required(reader, step, schema, json);
}

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

/* Writes a field in its text form. */
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

/* Returns whether the member is omitted in the document. */
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
        return array_of(member, record) == NULL;
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
        return write_edges(array_of(member, record), count_of(member, record));
    case ESI_FIELD_INTEGERS:
        return write_integers(array_of(member, record), count_of(member, record));
    case ESI_FIELD_OBJECT:
        return write_record(member->fields, field);
    case ESI_FIELD_OBJECTS:
        return write_objects(member->fields, array_of(member, record),
                             count_of(member, record));
    case ESI_FIELD_PROPERTIES:
        return write_properties(array_of(member, record), count_of(member, record));
    default:
        return json_string((member->flags & ESI_FIELD_IN_PLACE) != 0
                               ? field
                               : array_of(member, record));
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
        array = array_of(member, record);
        for (size_t i = 0; array != NULL && i < count_of(member, record); i++)
            esi_record_fini(member->fields, (char *)array + i * member->fields->size);
        free(array);
        return;
    case ESI_FIELD_PROPERTIES:
        esi_properties_destroy(array_of(member, record), count_of(member, record));
        return;
    default:
        free(array_of(member, record));
    }
}

void esi_record_fini(const struct esi_fields *schema, void *record)
{
    for (size_t i = 0; i < esi_fields_count(schema); i++)
        free_member(esi_fields_at(schema, i), record);
    memset(record, 0, schema->size);
}
