/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Fields: the members of a record as a table.
 *
 * A row says how a field is called, what it holds, where it lies in the C record, its
 * limits, its default and what it is for.  Whatever reads, checks, writes or describes
 * records walks the rows, so a new field is a new row:
 *
 *   text       here: esi_field_parse(), esi_field_format()
 *   lines      tuplespace/plan/lines.h: KEY=VALUE, for the observed process
 *   JSON       pathmap/record.h
 *   properties wrappers/stages/property.c, of stages
 *
 * Tables are static data.  All functions may be called by any thread; those that write
 * a record need it for themselves.
 */
#ifndef ES_BASE_FIELDS_H
#define ES_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a field holds, and its type in the record. */
enum esi_field_kind {
    /* Texts: char *, owned by the record, or char[maximum + 1] if ESI_FIELD_IN_PLACE.
     * The kinds differ in the characters that documents may have in them. */
    ESI_FIELD_STRING,  /* printable */
    ESI_FIELD_NAME,    /* letters, digits and "_.-" */
    ESI_FIELD_HOST,    /* a name that may have colons too */
    ESI_FIELD_PATTERN, /* printable, without spaces */
    ESI_FIELD_RANGES,  /* "0-3,7", "*" */

    /* Numbers: of another type where `size` says so. */
    ESI_FIELD_INTEGER,  /* int64_t: minimum to maximum */
    ESI_FIELD_DURATION, /* the same in ns */
    ESI_FIELD_BOOLEAN,  /* bool */
    ESI_FIELD_CHOICE,   /* int or enum: index of one of `choices` */
    ESI_FIELD_FLAGS,    /* uint32_t: bits 1 << index of `choices`, from index `minimum`
                           on */

    /* Arrays: a pointer at `offset`, a size_t at `count_offset`. */
    ESI_FIELD_RANKS,      /* struct esi_rank_range; by `text`, in JSON too */
    ESI_FIELD_EDGES,      /* struct esi_tree_edge: pairs of numbers */
    ESI_FIELD_INTEGERS,   /* int64_t, each minimum to maximum */
    ESI_FIELD_OBJECTS,    /* records, by `fields` */
    ESI_FIELD_PROPERTIES, /* anything, in order */

    ESI_FIELD_OBJECT, /* a record, by `fields` */
    ESI_FIELD_OTHER,  /* by `text` alone */
};

enum esi_field_flags {
    ESI_FIELD_REQUIRED = 1,
    ESI_FIELD_QUIET = 2, /* not written while it holds its default */
    ESI_FIELD_IN_PLACE = 4,
    ESI_FIELD_ENDLESS = 8,    /* uint64_t: `maximum` stands for UINT64_MAX */
    ESI_FIELD_LINE_ONLY = 16, /* not in JSON */
    ESI_FIELD_JSON_ONLY = 32, /* not in lines, or not as KEY=VALUE */
};

struct esi_field;

/* A piece of a text, not terminated; borrowed. */
struct esi_text_span {
    const char *text; /* NULL = there is none */
    size_t length;
};

/* What is wrong with a text: where, and what was expected. */
struct esi_field_fault {
    struct esi_text_span at; /* within the text */
    char expected[200];
};

/* How fields whose kind does not say it are read from text and written as text. */
struct esi_field_text {
    const char *expected; /* in words, for faults */
    /* As esi_field_parse(); the fault is filled already, but for a better place. */
    int (*parse)(const struct esi_field *field,
                 struct esi_text_span text,
                 struct esi_field_fault *fault,
                 void *record);
    void (*format)(const struct esi_field *field, const void *record, FILE *out);
};

/* A word for several bits of a FLAGS field in text. */
struct esi_field_group {
    const char *name; /* NULL = the end */
    uint32_t bits;
};

struct esi_fields;

struct esi_field {
    const char *name;
    const char *line_name; /* in lines, where it is not `name` */
    const char *help;      /* one line; NULL = none */
    enum esi_field_kind kind;
    unsigned flags;
    size_t offset;       /* in the record */
    size_t count_offset; /* of arrays: where their count lies */
    size_t size;         /* in bytes, of numbers and of OTHER; 0 = as the kind says */
    int64_t minimum;
    int64_t maximum; /* of texts: bytes; of choices: the last one that documents
                        may have, 0 = all */
    int64_t initial; /* of numbers: the default */
    const char *initial_text;   /* of texts in place: the default; NULL = "" */
    const char *const *choices; /* ends with NULL */
    const struct esi_field_group *groups; /* NULL = none */
    const struct esi_field_text *text;
    const struct esi_fields *fields;
};

/* The table of a record. */
struct esi_fields {
    const char *name; /* of the record, in documents */
    size_t size;      /* of the record */
    const struct esi_field *rows;
    size_t row_count;
    const struct esi_fields *base; /* whose rows come first; its record lies at the
                                      beginning of this one.  NULL = none */
};

/* --- Tables ----------------------------------------------------------------------- */

/* Rows with those of the base. */
size_t esi_fields_count(const struct esi_fields *fields);
const struct esi_field *esi_fields_at(const struct esi_fields *fields, size_t index);

/* NULL when the table has no such field. */
const struct esi_field *esi_fields_find(const struct esi_fields *fields,
                                        const char *name);

/* The field whose name is least different, NULL when none is near. */
const char *esi_fields_nearest(const struct esi_fields *fields, const char *name);

/* Sets the defaults.  Texts that are no arrays, and what `text` alone knows, stay as
 * they are. */
void esi_fields_init(const struct esi_fields *fields, void *record);

/* --- One field -------------------------------------------------------------------- */

enum esi_field_form { ESI_FORM_JSON, ESI_FORM_TEXT };

/* Writes what the field expects, such as "an integer from 1 to 64".  Returns out. */
const char *esi_field_expected(const struct esi_field *field,
                               enum esi_field_form form,
                               char *out,
                               size_t size);

/* Index of the choice, -1 when there is none of that name. */
int esi_field_choice(const struct esi_field *field, struct esi_text_span name);

/* Whether the text is what the field (of a text kind but RANGES) may hold. */
bool esi_field_has_text(const struct esi_field *field, const char *text);

/* Numbers, durations, booleans, choices and flags of a record. */
int64_t esi_field_get(const struct esi_field *field, const void *record);
void esi_field_set(const struct esi_field *field, void *record, int64_t value);

/* Reads the text into the record.  -EINVAL with the fault; -ENOMEM.  The record's field
 * is as it was then. */
int esi_field_parse(const struct esi_field *field,
                    struct esi_text_span text,
                    struct esi_field_fault *fault,
                    void *record);

/* Writes what esi_field_parse() reads; nothing for kinds without a text. */
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
/* Takes the text up to the next `separator` from the rest, and the separator too.  The
 * last piece leaves rest->text NULL. */
struct esi_text_span esi_text_span_split(struct esi_text_span *rest, char separator);
/* Digits only, at most `maximum`. */
bool esi_text_span_number(struct esi_text_span span,
                          uint64_t maximum,
                          uint64_t *ret_number);

#endif
