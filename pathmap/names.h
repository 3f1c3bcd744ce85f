/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Finds records by name: a sorted index of an array, O(log n) lookup. */
#ifndef ES_PATHMAP_NAMES_H
#define ES_PATHMAP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct esi_name {
    const char *text; /* borrowed */
    size_t index;
};

/* In caller's memory; zero is an empty index. */
struct esi_names {
    struct esi_name *items;
    size_t count;
};

/* Creates an index of `count` records of `size` bytes.  The name of a record is a char
 * * at `offset`, or an array of characters if `in_place`; records with a NULL name are
 * omitted.  Returns 0 or -ENOMEM. */
int esi_names_init(struct esi_names *names,
                   const void *records,
                   size_t count,
                   size_t size,
                   size_t offset,
                   bool in_place);
void esi_names_fini(struct esi_names *names);

/* Finds the index of a record; returns false if there is none with that name. */
bool esi_names_find(const struct esi_names *names, const char *text, size_t *ret_index);

/* Returns whether a name occurs twice, with the first record that repeats a name and
 * the one that has it before. */
bool esi_names_repeat(const struct esi_names *names,
                      size_t *ret_index,
                      size_t *ret_earlier);

#endif
