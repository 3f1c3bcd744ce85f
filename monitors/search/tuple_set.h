/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A set of tuples of numbers, of any length, with at most 2^32 numbers in all.  Uses
 * four bytes per number, four per tuple for its length, and 16 to 32 per tuple for the
 * hash table.
 */
#ifndef ES_MONITORS_SEARCH_TUPLE_SET_H
#define ES_MONITORS_SEARCH_TUPLE_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* An empty set is all zeros. */
struct esi_tuple_set {
    struct esi_hash hash; /* position of each tuple in `numbers` */
    uint32_t *numbers;    /* owned: length and numbers of each tuple */
    size_t length;
    size_t capacity;
};

void esi_tuple_set_fini(struct esi_tuple_set *set);

/* Returns 1 if the tuple is new, 0 if it was in the set, or -ENOMEM, and then the set
 * is unchanged. */
int esi_tuple_set_add(struct esi_tuple_set *set,
                      const uint32_t *numbers,
                      size_t length);

uint64_t esi_tuple_set_bytes(const struct esi_tuple_set *set);

#endif
