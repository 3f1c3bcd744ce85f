/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Properties of stages: what a person may write, checked against what the type
 * declares.
 *
 * A type lists its properties in a schema.  What was written (name, text and place in
 * the input) becomes one value per schema row, in the schema's order; rows that nobody
 * wrote take their default.
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
    ES_PROPERTY_DURATION, /* a number with ns, us, ms or s; minimum and maximum in ns */
    ES_PROPERTY_CHOICE,   /* one of the words in `choices` */
    ES_PROPERTY_TEXT,     /* anything; minimum and maximum bound the length */
};

/* One row of a schema.  Static data of the type. */
struct es_property_schema {
    const char *name;
    enum es_property_type type;
    const char *fallback; /* the default as text; NULL = must be given */
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
    int line;    /* where a person wrote it; 0 = not known, or the default */
    int column;
};

/* As a person or a planner gives it; all borrowed. */
struct es_property {
    const char *name;
    const char *value;  /* as text; NULL where it is typed */
    const char *source; /* file or option; may be NULL */
    int line;           /* of the value; 0 = not known */
    int column;
    const struct es_property_value
        *typed; /* a number, of the schema's type, that is not
                                              to be read from text; NULL = text */
};

/* Checks `count` properties against `schema` (`owner` names the type in messages) and
 * makes one value per schema row.  Unknown names are refused with the nearest known
 * one, wrong values with what was expected, at their place.  -EINVAL, or -ENOMEM.  Free
 * with es_property_values_free(). */
ES_API int es_property_values_parse(const char *owner,
                                    const struct es_property_schema *schema,
                                    size_t schema_count,
                                    const struct es_property *properties,
                                    size_t count,
                                    struct es_error *error,
                                    struct es_property_value **ret_values);

/* Accepts NULL. */
ES_API void es_property_values_free(struct es_property_value *values,
                                    size_t schema_count);

/* Reads a duration: "1500ms", "2s", "0".  -EINVAL without `unit`, unless it is 0;
 * -ERANGE. */
ES_API int es_duration_parse(const char *text, uint64_t *ret_ns);

#endif
