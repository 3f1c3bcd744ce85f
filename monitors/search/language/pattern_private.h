/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Inside a pattern file: names, and how classes were written. */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_PRIVATE_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "monitors/search/language/arena.h"
#include "monitors/search/language/pattern.h"

/* --- Names ------------------------------------------------------------------------ */

/* What a name, a variable with its sign, or an attribute stands for. */
struct esi_symbol {
    const char *name;      /* borrowed */
    uint32_t class_number; /* or ES_PATTERN_NONE */
    uint32_t number;       /* of the predicate, or the attribute */
    uint32_t line;         /* in which it was defined */
};

/* Caller's memory, zeroed. */
struct esi_symbols {
    struct esi_hash hash;
    struct esi_symbol *items; /* owned; as many as `hash` has */
    size_t capacity;
};

/* NULL: there is none. */
struct esi_symbol *esi_symbols_find(const struct esi_symbols *symbols,
                                    const char *name,
                                    size_t length);
/* Of a name that is not there yet, or else replaces it.  0 or -ENOMEM. */
int esi_symbols_put(struct esi_symbols *symbols, const struct esi_symbol *symbol);
void esi_symbols_fini(struct esi_symbols *symbols);

/* --- The file --------------------------------------------------------------------- */

/* How a class was written: NAME or literal, perhaps a dot, and NAME or literal. */
struct esi_class {
    struct esi_pattern_class data;
    const char *left_name;  /* NULL: a literal of the conditions */
    uint32_t right;         /* class behind the dot, or ES_PATTERN_NONE */
    const char *right_name; /* NULL: that class' literal */
};

struct es_pattern_file {
    struct esi_arena memory; /* what goes with the file */
    struct esi_symbols names;
    struct esi_symbols attributes;

    const char *source; /* the name of the text, for errors */
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

/* Of a text, which is copied. */
int esi_pattern_file_create(const char *source,
                            const char *text,
                            size_t length,
                            struct es_pattern_file **ret_file);

/* New ones at the end, zeroed.  0 or -ENOMEM. */
int esi_pattern_add_predicate(struct es_pattern_file *file,
                              struct esi_pattern_predicate **ret_predicate);
int esi_pattern_add_class(struct es_pattern_file *file,
                          struct esi_class **ret_class,
                          uint32_t *ret_number);
/* The number of an attribute, which may be new. */
int esi_pattern_add_attribute(struct es_pattern_file *file,
                              const char *name,
                              uint32_t *ret_attribute);

/* The class that a predicate stands for, and nothing else; or ES_PATTERN_NONE. */
uint32_t esi_pattern_alias(const struct esi_pattern_predicate *predicate);

#endif
