/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The members of every object in a pathmap, as tables.
 *
 * One table row says how a member is called, what it may hold and where it lies in
 * the C record.  Reading, checking, writing, freeing and describing all walk the same
 * rows, so that a new member is a new row (and one in docs/pathmap.schema.json: a test
 * compares them).
 */
#ifndef ES_PATHMAP_SCHEMA_H
#define ES_PATHMAP_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a member holds, and its type in the C record. */
enum esi_kind {
    ESI_STRING,     /* char *: printable text of at most `maximum` bytes */
    ESI_NAME,       /* char *: letters, digits and "_.-" */
    ESI_HOST,       /* char *: a name that may have colons too */
    ESI_PATTERN,    /* char *: printable, without spaces */
    ESI_RANGES,     /* char *: "0-3,7", "*" */
    ESI_INTEGER,    /* int64_t: minimum to maximum */
    ESI_BOOLEAN,    /* bool */
    ESI_CHOICE,     /* int: index of one of `choices` */
    ESI_CLASSES,    /* uint32_t: bits, from a list of class names */
    ESI_FLAGS,      /* uint32_t: bits, from a list of `choices` */
    ESI_EDGES,      /* struct es_tree_edge * and size_t: pairs of ranks */
    ESI_INTEGERS,   /* int64_t * and size_t: each minimum to maximum */
    ESI_OBJECT,     /* the record itself, by `schema` */
    ESI_OBJECTS,    /* array of records and size_t, by `schema` */
    ESI_PROPERTIES, /* struct es_pathmap_property * and size_t: anything, in order */
};

enum esi_member_flags {
    ESI_REQUIRED = 1,
    ESI_QUIET = 2, /* not written while it holds `initial` */
};

struct esi_schema;

struct esi_member {
    const char *name;
    enum esi_kind kind;
    unsigned flags;
    size_t offset;       /* in the record */
    size_t count_offset; /* of arrays: where their count lies */
    int64_t minimum;
    int64_t maximum;            /* of texts: bytes */
    int64_t initial;            /* integers, booleans, choices: when left out */
    const char *const *choices; /* ends with NULL */
    const struct esi_schema *schema;
};

struct esi_schema {
    const char *name; /* of its definition in docs/pathmap.schema.json */
    size_t size;      /* of the record */
    const struct esi_member *members;
    size_t member_count;
};

extern const struct esi_schema esi_schema_map;
extern const struct esi_schema esi_schema_host;
extern const struct esi_schema esi_schema_scope;
extern const struct esi_schema esi_schema_rules;
/* What the two stages of a path may carry; these have no record. */
extern const struct esi_schema esi_schema_collector_properties;
extern const struct esi_schema esi_schema_element_properties;

/* NULL when the schema has no such member. */
const struct esi_member *esi_schema_find(const struct esi_schema *schema,
                                         const char *name);

/* The member whose name is least different, NULL when none is near. */
const char *esi_schema_nearest(const struct esi_schema *schema, const char *name);

/* Writes what the member expects, such as "an integer from 1 to 64".  Returns out. */
const char *esi_member_expected(const struct esi_member *member,
                                char *out,
                                size_t size);

/* Index of the choice, -1 when there is none of that name. */
int esi_member_choice(const struct esi_member *member, const char *name);

/* Whether the text is what the member (of a text kind, ranges aside) may hold. */
bool esi_member_has_text(const struct esi_member *member, const char *text);

#endif
