/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Fields: the members of a record, described by a table.
 *
 * A row contains the name of a field, its type, its offset in the C record, its limits,
 * its default and a description.  Code that reads, checks, writes or documents records
 * iterates over the rows, so a new field only needs a new row:
 *
 *   text       here: esi_field_parse(), esi_field_format()
 *   lines      tuplespace/plan/lines.h: KEY=VALUE, for the observed process
 *   JSON       pathmap/record.h
 *   properties wrappers/stages/property.c, of stages
 *
 * Tables are static data.  All functions are thread safe, but those that write a record
 * need exclusive access to it.
 */
#ifndef ES_BASE_FIELDS_H
#define ES_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The type of a field, also in the record. */
enum esi_field_kind {
    /* Texts: char *, owned by the record, or char[maximum + 1] with ESI_FIELD_IN_PLACE.
     * The kinds differ in the characters allowed in documents. */
    ESI_FIELD_STRING,  /* printable */
    ESI_FIELD_NAME,    /* letters, digits and "_.-" */
    ESI_FIELD_HOST,    /* a name that may also contain colons */
    ESI_FIELD_PATTERN, /* printable, without spaces */
    ESI_FIELD_RANGES,  /* "0-3,7", "*" */

    /* Numbers.  `size` selects another type. */
    ESI_FIELD_INTEGER,  /* int64_t, from minimum to maximum */
    ESI_FIELD_DURATION, /* int64_t in ns, from minimum to maximum */
    ESI_FIELD_BOOLEAN,  /* bool */
    ESI_FIELD_CHOICE,   /* int or enum: index of one of `choices` */
    ESI_FIELD_FLAGS,    /* uint32_t: bits 1 << index of `choices`,
                           starting at index `minimum` */

    /* Arrays: a pointer at `offset` and a size_t at `count_offset`. */
    ESI_FIELD_RANKS,      /* struct esi_rank_range; converted by `text`, also in JSON */
    ESI_FIELD_EDGES,      /* struct esi_tree_edge: pairs of numbers */
    ESI_FIELD_INTEGERS,   /* int64_t, each from minimum to maximum */
    ESI_FIELD_OBJECTS,    /* records described by `fields` */
    ESI_FIELD_PROPERTIES, /* any members, in order */

    ESI_FIELD_OBJECT, /* a record described by `fields` */
    ESI_FIELD_OTHER,  /* converted by `text` only */
};

enum esi_field_flags {
    ESI_FIELD_REQUIRED = 1,
    ESI_FIELD_QUIET = 2, /* omitted in output if it has its default */
    ESI_FIELD_IN_PLACE = 4,
    ESI_FIELD_ENDLESS = 8,    /* uint64_t: `maximum` represents UINT64_MAX */
    ESI_FIELD_LINE_ONLY = 16, /* not in JSON */
    ESI_FIELD_JSON_ONLY = 32, /* not in lines, or not as KEY=VALUE */
};

struct esi_field;

/* A part of a text, not terminated; borrowed. */
struct esi_text_span {
    const char *text; /* NULL if there is none */
    size_t length;
};

/* An error in a text: where, and what was expected. */
struct esi_field_fault {
    struct esi_text_span at; /* within the text */
    char expected[200];
};

/* How fields are converted from and to text if their kind does not determine it. */
struct esi_field_text {
    const char *expected; /* description for errors */
    /* Like esi_field_parse().  The fault is already filled; the function may improve
     * its location. */
    int (*parse)(const struct esi_field *field,
                 struct esi_text_span text,
                 struct esi_field_fault *fault,
                 void *record);
    void (*format)(const struct esi_field *field, const void *record, FILE *out);
};

/* A name for several bits of a FLAGS field in text. */
struct esi_field_group {
    const char *name; /* NULL ends the list */
    uint32_t bits;
};

struct esi_fields;

struct esi_field {
    const char *name;
    const char *line_name; /* name in lines, if not `name` */
    const char *help;      /* one line; NULL if none */
    enum esi_field_kind kind;
    unsigned flags;
    size_t offset;       /* in the record */
    size_t count_offset; /* of arrays: offset of their count */
    size_t size;         /* in bytes, of numbers and of OTHER;
                            0 for the size of the kind */
    int64_t minimum;
    int64_t maximum;                      /* of texts: bytes; of choices: the last
                                             one allowed in documents, 0 for all */
    int64_t initial;                      /* default of numbers */
    const char *initial_text;             /* default of texts in place; NULL for "" */
    const char *const *choices;           /* terminated by NULL */
    const struct esi_field_group *groups; /* NULL if none */
    const struct esi_field_text *text;
    const struct esi_fields *fields;
};

/* The table of a record. */
struct esi_fields {
    const char *name; /* of the record, in documents */
    size_t size;      /* of the record */
    const struct esi_field *rows;
    size_t row_count;
    const struct esi_fields *base; /* its rows come first, and its record is at
                                      the start of this one; NULL if none */
};

/* --- Tables ----------------------------------------------------------------------- */

/* Number of rows, including those of the base. */
size_t esi_fields_count(const struct esi_fields *fields);
const struct esi_field *esi_fields_at(const struct esi_fields *fields, size_t index);

/* Finds a field by name; NULL if there is none. */
const struct esi_field *esi_fields_find(const struct esi_fields *fields,
                                        const char *name);

/* The most similar field name; NULL if none is similar. */
const char *esi_fields_nearest(const struct esi_fields *fields, const char *name);

/* Sets the defaults.  Does not change texts that are not in place, and fields converted
 * by `text` only. */
void esi_fields_init(const struct esi_fields *fields, void *record);

/* --- One field -------------------------------------------------------------------- */

enum esi_field_form { ESI_FORM_JSON, ESI_FORM_TEXT };

/* Describes what the field expects, such as "an integer from 1 to 64".  Returns
 * `out`. */
const char *esi_field_expected(const struct esi_field *field,
                               enum esi_field_form form,
                               char *out,
                               size_t size);

/* Index of the choice; -1 if there is none with that name. */
int esi_field_choice(const struct esi_field *field, struct esi_text_span name);

/* Returns whether the text is a valid value of the field (of a text kind other than
 * RANGES). */
bool esi_field_has_text(const struct esi_field *field, const char *text);

/* Get and set numbers, durations, booleans, choices and flags of a record. */
int64_t esi_field_get(const struct esi_field *field, const void *record);
void esi_field_set(const struct esi_field *field, void *record, int64_t value);

/* Parses the text into the record.  Returns 0; or -EINVAL (with `fault` filled) or
 * -ENOMEM, and then leaves the record unchanged. */
int esi_field_parse(const struct esi_field *field,
                    struct esi_text_span text,
                    struct esi_field_fault *fault,
                    void *record);

/* Formats a field for esi_field_parse(); writes nothing for kinds without text. */
void esi_field_format(const struct esi_field *field, const void *record, FILE *out);

/* --- Texts ------------------------------------------------------------------------ */

struct esi_text_span esi_text_span_of(const char *text);
static inline bool esi_text_span_is(struct esi_text_span span, const char *text)
{
    for (size_t i = 0; i < span.length; i++)
        if (text[i] != span.text[i] || text[i] == '\0')
            return false;
    return text[span.length] == '\0';
}
/* Removes the text up to the next `separator`, and the separator, from `rest`, and
 * returns that text.  After the last part, rest->text is NULL. */
struct esi_text_span esi_text_span_split(struct esi_text_span *rest, char separator);
/* Parses digits only, with a value of at most `maximum`. */
bool esi_text_span_number(struct esi_text_span span,
                          uint64_t maximum,
                          uint64_t *ret_number);

#endif
