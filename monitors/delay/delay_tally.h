/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_tally.h - sums by key, efficient for few and for many keys. */
#ifndef ES_MONITORS_DELAY_DELAY_TALLY_H
#define ES_MONITORS_DELAY_DELAY_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct esi_tally_item {
    uint64_t key;
    double sum;
};

/* Caller's memory; a zeroed struct is empty. */
struct esi_tally {
    struct esi_tally_item *items; /* in order of insertion */
    size_t count, capacity;
    struct esi_hash table;
};

void esi_tally_fini(struct esi_tally *tally);
/* Empties it, but keeps the memory. */
void esi_tally_clear(struct esi_tally *tally);
/* NULL if there is no such key. */
struct esi_tally_item *esi_tally_find(const struct esi_tally *tally, uint64_t key);
/* Returns 0 or -ENOMEM. */
int esi_tally_add(struct esi_tally *tally, uint64_t key, double value);
/* Adds all sums of another tally. */
int esi_tally_add_all(struct esi_tally *tally, const struct esi_tally *other);

#endif
