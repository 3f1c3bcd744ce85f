/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* message.c - parses JSON messages.
 *
 * A member is the JSON library's value under another name: reading neither copies nor
 * counts references, so threads may share a message. */
#include "config.h"

#include "pathmap/message.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "base/library_words.h"
#include "pathmap/layout.h"

static const json_t *json_of(const struct es_member *member)
{
    return (const json_t *)member;
}

static const struct es_member *member_of(const json_t *json)
{
    return (const struct es_member *)json;
}

/* --- Whole messages ---------------------------------------------------------- */

static int fail_parse(const json_error_t *fault,
                      const char *source,
                      struct es_error *error)
{
    char words[JSON_ERROR_TEXT_LENGTH];

    /* If out of memory, the parser usually has no memory for a message either. */
    if (fault->text[0] == '\0' || json_error_code(fault) == json_error_out_of_memory)
        return es_error_set_at(error, -ENOMEM, source, 0, 0,
                               "no memory left for the message");
    return es_error_set_at(error, -EINVAL, source, fault->line > 0 ? fault->line : 1,
                           fault->column > 0 ? fault->column : 1, "JSON: %s",
                           esi_library_words(fault->text, words, sizeof words));
}

int esi_message_parse(const char *text,
                      size_t length,
                      const char *source,
                      struct es_error *error,
                      struct es_message **ret_message)
{
    json_error_t fault = {0};
    json_t *json;

    esi_json_seed();
    json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    if (!json)
        return fail_parse(&fault, source, error);
    if (!json_is_object(json)) {
        json_decref(json);
        return es_error_set_at(error, -EINVAL, source, 1, 1,
                               "a message is an object, found an array");
    }
    *ret_message = (struct es_message *)json;
    return 0;
}

void esi_message_destroy(struct es_message *message)
{
    int saved_errno = errno;

    json_decref((json_t *)message);
    errno = saved_errno;
}

const struct es_member *esi_message_root(const struct es_message *message)
{
    return member_of((const json_t *)message);
}

/* --- Within objects and arrays ----------------------------------------------- */

const struct es_member *esi_member_find(const struct es_member *object,
                                        const char *name)
{
    return member_of(json_object_get(json_of(object), name));
}

size_t esi_member_count(const struct es_member *list)
{
    const json_t *json = json_of(list);

    return json_is_object(json) ? json_object_size(json) : json_array_size(json);
}

const struct es_member *esi_member_at(const struct es_member *list, size_t index)
{
    return member_of(json_array_get(json_of(list), index));
}

int esi_member_foreach(const struct es_member *object,
                       int (*visit)(void *data,
                                    const char *name,
                                    const struct es_member *value),
                       void *data)
{
    /* Iterating does not modify it, although the library's pointer is not const. */
    json_t *json = (json_t *)json_of(object);
    int result = 0;

    for (void *at = json_object_iter(json); at && result == 0;
         at = json_object_iter_next(json, at))
        result = visit(data, json_object_iter_key(at),
                       member_of(json_object_iter_value(at)));
    return result;
}

/* --- Values ------------------------------------------------------------------ */

static const char *type_name(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a fraction";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

static int fail_type(const json_t *json,
                     const char *name,
                     const char *expected,
                     struct es_error *error)
{
    if (!json)
        return es_error_set(error, -EINVAL, "'%s' is missing, expected %s", name,
                            expected);
    return es_error_set(error, -EINVAL, "'%s' is %s, expected %s", name,
                        type_name(json), expected);
}

int esi_member_text(const struct es_member *object,
                    const char *name,
                    struct es_error *error,
                    const char **ret_text)
{
    const json_t *json = json_object_get(json_of(object), name);

    if (!json_is_string(json))
        return fail_type(json, name, "a text", error);
    *ret_text = json_string_value(json);
    return 0;
}

int esi_member_integer(const struct es_member *object,
                       const char *name,
                       int64_t minimum,
                       int64_t maximum,
                       struct es_error *error,
                       int64_t *ret_value)
{
    const json_t *json = json_object_get(json_of(object), name);
    int64_t value;

    if (!json_is_integer(json))
        return fail_type(json, name, "an integer", error);
    value = json_integer_value(json);
    if (value < minimum || value > maximum)
        return es_error_set(error, -EINVAL,
                            "'%s' is %" PRId64 ", expected %" PRId64 " to %" PRId64,
                            name, value, minimum, maximum);
    *ret_value = value;
    return 0;
}

int esi_member_boolean(const struct es_member *object,
                       const char *name,
                       struct es_error *error,
                       bool *ret_value)
{
    const json_t *json = json_object_get(json_of(object), name);

    if (!json_is_boolean(json))
        return fail_type(json, name, "true or false", error);
    *ret_value = json_is_true(json);
    return 0;
}

const char *esi_member_text_or(const struct es_member *object,
                               const char *name,
                               const char *fallback)
{
    const json_t *json = json_object_get(json_of(object), name);

    return json_is_string(json) ? json_string_value(json) : fallback;
}

int64_t esi_member_integer_or(const struct es_member *object,
                              const char *name,
                              int64_t fallback)
{
    const json_t *json = json_object_get(json_of(object), name);

    return json_is_integer(json) ? json_integer_value(json) : fallback;
}

int64_t esi_member_integer_within(const struct es_member *object,
                                  const char *name,
                                  int64_t minimum,
                                  int64_t maximum,
                                  int64_t fallback)
{
    int64_t value = esi_member_integer_or(object, name, fallback);

    return value >= minimum && value <= maximum ? value : fallback;
}

uint64_t esi_member_counter(const struct es_member *object, const char *name)
{
    return (uint64_t)esi_member_integer_within(object, name, 0, INT64_MAX, 0);
}

bool esi_member_boolean_or(const struct es_member *object,
                           const char *name,
                           bool fallback)
{
    const json_t *json = json_object_get(json_of(object), name);

    return json_is_boolean(json) ? json_is_true(json) : fallback;
}

double esi_member_real_or(const struct es_member *object,
                          const char *name,
                          double fallback)
{
    const json_t *json = json_object_get(json_of(object), name);

    return json_is_number(json) ? json_number_value(json) : fallback;
}

const char *esi_member_as_text(const struct es_member *value)
{
    return json_string_value(json_of(value));
}

int64_t esi_member_as_integer(const struct es_member *value)
{
    return json_integer_value(json_of(value));
}

bool esi_member_number(const struct es_member *value, int64_t *ret_number)
{
    const json_t *json = json_of(value);

    if (json_is_boolean(json))
        *ret_number = json_is_true(json);
    else if (json_is_integer(json))
        *ret_number = json_integer_value(json);
    return json_is_boolean(json) || json_is_integer(json);
}

/* --- Copies of objects ------------------------------------------------------- */

int esi_message_copy(const struct es_member *object, struct es_message **ret_message)
{
    json_t *json;

    if (!object || !json_is_object(json_of(object)))
        return -EINVAL;
    esi_json_seed();
    json = json_deep_copy(json_of(object));
    if (!json)
        return -ENOMEM;
    *ret_message = (struct es_message *)json;
    return 0;
}

void esi_member_write(const struct es_member *value,
                      struct esi_json_out *out,
                      const char *key)
{
    const json_t *json = json_of(value);
    const char *name;
    json_t *below;
    size_t index;

    switch (json_typeof(json)) {
    case JSON_OBJECT:
        esi_json_out_begin_object(out, key);
        json_object_foreach((json_t *)json, name, below)
            esi_member_write(member_of(below), out, name);
        esi_json_out_end(out);
        return;
    case JSON_ARRAY:
        esi_json_out_begin_array(out, key);
        json_array_foreach(json, index, below)
            esi_member_write(member_of(below), out, NULL);
        esi_json_out_end(out);
        return;
    case JSON_STRING:
        esi_json_out_string(out, key, json_string_value(json));
        return;
    case JSON_INTEGER:
        esi_json_out_signed(out, key, json_integer_value(json));
        return;
    case JSON_REAL:
        esi_json_out_real(out, key, json_real_value(json));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        esi_json_out_bool(out, key, json_is_true(json));
        return;
    case JSON_NULL:
        esi_json_out_null(out, key);
    }
}
