/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Records by their name: an index over an array, sorted once, O(log n) to look up. */
#ifndef ES_PATHMAP_NAMES_H
#define ES_PATHMAP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct esi_name {
    const char *text; /* borrowed */
    size_t index;
};

/* Caller's memory; zeroed = of no records. */
struct esi_names {
    struct esi_name *items;
    size_t count;
};

/* Names of `count` records of `size` bytes, each a char * at `offset`, or an array of
 * characters if `in_place`; NULL names stay away.  -ENOMEM. */
int esi_names_init(struct esi_names *names,
                   const void *records,
                   size_t count,
                   size_t size,
                   size_t offset,
                   bool in_place);
void esi_names_fini(struct esi_names *names);

/* Index of the record, false when there is none of that name. */
bool esi_names_find(const struct esi_names *names, const char *text, size_t *ret_index);

/* Whether a name occurs twice: the first record that repeats one, and the one it
 * repeats. */
bool esi_names_repeat(const struct esi_names *names,
                      size_t *ret_index,
                      size_t *ret_earlier);

#endif
