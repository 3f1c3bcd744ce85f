/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Records of one size that come and go, and chained hash tables of them.
 *
 * A record in a table begins with a struct esi_link.  Records never move.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_POOL_H
#define ES_MONITORS_CAUSALITY_CAUSAL_POOL_H

#include <stddef.h>
#include <stdint.h>

struct esi_pool {
    size_t bytes; /* of a record */
    void *unused; /* chain of those given back */
    void *chunks; /* chain of all */
    char *next;   /* never used yet */
    size_t left;
};

void esi_pool_init(struct esi_pool *pool, size_t bytes);
void esi_pool_fini(struct esi_pool *pool);
/* A record of zeros; NULL without memory. */
void *esi_pool_take(struct esi_pool *pool);
void esi_pool_give(struct esi_pool *pool, void *record);

struct esi_link {
    struct esi_link *next;
    uint64_t hash;
};

struct esi_causal_table {
    struct esi_link **heads;
    size_t mask; /* heads - 1 */
    size_t count;
};

/* 0 or -ENOMEM. */
int esi_table_init(struct esi_causal_table *table);
/* The records are not its own. */
void esi_table_empty(struct esi_causal_table *table);
void esi_table_insert(struct esi_causal_table *table,
                      struct esi_link *link,
                      uint64_t hash);
void esi_table_remove(struct esi_causal_table *table, struct esi_link *link);

/* First record of the chain in which those of this hash are. */
static inline struct esi_link *esi_table_chain(const struct esi_causal_table *table,
                                               uint64_t hash)
{
    return table->heads[hash & table->mask];
}

/* Mixes a word into a hash (finalizer of MurmurHash3). */
static inline uint64_t esi_hash_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

#endif
