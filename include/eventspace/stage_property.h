/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Properties of stages: text written by people, checked against a schema.
 *
 * Each stage type declares its properties in a schema.  The properties that were
 * written (name, text and location in the input) are converted to one value per schema
 * row, in the order of the schema.  Missing properties take their default.
 */
#ifndef EVENTSPACE_STAGE_PROPERTY_H
#define EVENTSPACE_STAGE_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"

enum es_property_type {
    ES_PROPERTY_INTEGER,  /* decimal, within minimum and maximum */
    ES_PROPERTY_BOOLEAN,  /* yes, no, true, false, on, off, 1, 0 */
    ES_PROPERTY_DURATION, /* a number with the unit ns, us, ms or
                             s; minimum and maximum are in ns */
    ES_PROPERTY_CHOICE,   /* one of the words in `choices` */
    ES_PROPERTY_TEXT,     /* any text; minimum and maximum bound its length */
};

/* One row of a schema.  Schemas are static data. */
struct es_property_schema {
    const char *name;
    enum es_property_type type;
    const char *fallback; /* the default as text; NULL if the property is required */
    int64_t minimum;
    int64_t maximum;
    const char *const *choices; /* CHOICE: NULL-terminated words */
    const char *help;           /* one line */
};

struct es_property_value {
    enum es_property_type type;
    int64_t
        integer; /* INTEGER; BOOLEAN: 0 or 1; DURATION: ns; CHOICE: index of the word */
    char *text;  /* TEXT; owned by the array of values */
    int line;    /* location in the input; 0 if not known or a default */
    int column;
};

/* A property to be checked.  All pointers are borrowed. */
struct es_property {
    const char *name;
    const char *value;  /* as text; not used if `typed` is set */
    const char *source; /* file or option; may be NULL */
    int line;           /* of the value; 0 if not known */
    int column;
    const struct es_property_value *typed; /* a numeric value of the schema's type;
                                              NULL if `value` is to be parsed */
};

/* Checks `count` properties against `schema` and creates one value per schema row.
 * `owner` names the stage type in error messages.  Errors give the location; for an
 * unknown name they suggest the nearest known one, for a wrong value they say what was
 * expected.  Returns 0, -EINVAL or -ENOMEM.  The caller frees the values with
 * es_property_values_free(). */
ES_API int es_property_values_parse(const char *owner,
                                    const struct es_property_schema *schema,
                                    size_t schema_count,
                                    const struct es_property *properties,
                                    size_t count,
                                    struct es_error *error,
                                    struct es_property_value **ret_values);

/* Frees values of es_property_values_parse().  Accepts NULL. */
ES_API void es_property_values_free(struct es_property_value *values,
                                    size_t schema_count);

/* Parses a duration, such as "1500ms", "2s" or "0".  Returns 0; -EINVAL if it is not a
 * number with a unit or 0; or -ERANGE. */
ES_API int es_duration_parse(const char *text, uint64_t *ret_ns);

#endif
