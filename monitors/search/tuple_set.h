/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A set of tuples of numbers of any length, 2^32 numbers in all: four bytes a number,
 * four a tuple for its length, and sixteen to 32 for the table that finds it again.
 */
#ifndef ES_MONITORS_SEARCH_TUPLE_SET_H
#define ES_MONITORS_SEARCH_TUPLE_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* Zeros are an empty set. */
struct esi_tuple_set {
    struct esi_hash hash; /* of each tuple: where in `numbers` it begins */
    uint32_t *numbers;    /* owned: of each tuple its length and its numbers */
    size_t length;
    size_t capacity;
};

void esi_tuple_set_fini(struct esi_tuple_set *set);

/* 1: it is new; 0: it was there; -ENOMEM: the set is as it was. */
int esi_tuple_set_add(struct esi_tuple_set *set,
                      const uint32_t *numbers,
                      size_t length);

uint64_t esi_tuple_set_bytes(const struct esi_tuple_set *set);

#endif
