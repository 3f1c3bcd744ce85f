/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Internals of a pattern file: names, and the notation of classes. */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_PRIVATE_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "monitors/search/language/arena.h"
#include "monitors/search/language/pattern.h"

/* --- Names ------------------------------------------------------------------------ */

/* The meaning of a name, a variable with its sign, or an attribute. */
struct esi_symbol {
    const char *name;      /* borrowed */
    uint32_t class_number; /* or ES_PATTERN_NONE */
    uint32_t number;       /* of the predicate or attribute */
    uint32_t line;         /* of the definition */
};

/* Memory of the caller, zeroed. */
struct esi_symbols {
    struct esi_hash hash;
    struct esi_symbol *items; /* owned; hash.count of them */
    size_t capacity;
};

/* NULL if there is none. */
struct esi_symbol *esi_symbols_find(const struct esi_symbols *symbols,
                                    const char *name,
                                    size_t length);
/* Adds a symbol, or replaces the one with the same name.  Returns 0 or -ENOMEM. */
int esi_symbols_put(struct esi_symbols *symbols, const struct esi_symbol *symbol);
void esi_symbols_fini(struct esi_symbols *symbols);

/* --- The file --------------------------------------------------------------------- */

/* How a class was written: NAME or literal, optionally followed by a dot and another
 * NAME or literal. */
struct esi_class {
    struct esi_pattern_class data;
    const char *left_name;  /* NULL for a literal, made of the conditions */
    uint32_t right;         /* class after the dot, or ES_PATTERN_NONE */
    const char *right_name; /* NULL for a literal, which is that class */
};

struct es_pattern_file {
    struct esi_arena memory; /* freed with the file */
    struct esi_symbols names;
    struct esi_symbols attributes;

    const char *source; /* name of the text, for errors */
    const char *text;
    size_t length;

    struct esi_pattern_predicate **predicates;
    uint32_t predicate_count;
    size_t predicate_room;

    struct esi_class **classes;
    uint32_t class_count;
    size_t class_room;

    const char **attribute_names;
    uint32_t attribute_count;
    size_t attribute_room;
};

/* Creates a file without statements from a text, which is copied. */
int esi_pattern_file_create(const char *source,
                            const char *text,
                            size_t length,
                            struct es_pattern_file **ret_file);

/* Append a zeroed predicate or class.  Return 0 or -ENOMEM. */
int esi_pattern_add_predicate(struct es_pattern_file *file,
                              struct esi_pattern_predicate **ret_predicate);
int esi_pattern_add_class(struct es_pattern_file *file,
                          struct esi_class **ret_class,
                          uint32_t *ret_number);
/* Returns the number of an attribute, and adds it if it is new. */
int esi_pattern_add_attribute(struct es_pattern_file *file,
                              const char *name,
                              uint32_t *ret_attribute);

/* The class that a predicate is only another name for, or ES_PATTERN_NONE. */
uint32_t esi_pattern_alias(const struct esi_pattern_predicate *predicate);

#endif
