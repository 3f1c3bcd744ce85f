/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causal_pool.c - records that come and go, and tables of them. */
#include "config.h"

#include "monitors/causality/causal_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 65536, FIRST_HEADS = 256 };

void esi_pool_init(struct esi_pool *pool, size_t bytes)
{
    *pool = (struct esi_pool){.bytes = bytes};
}

void esi_pool_fini(struct esi_pool *pool)
{
    for (void *chunk = pool->chunks, *next; chunk; chunk = next) {
        next = *(void **)chunk;
        free(chunk);
    }
    *pool = (struct esi_pool){.bytes = pool->bytes};
}

void *esi_pool_take(struct esi_pool *pool)
{
    void *record = pool->unused;

    if (record) {
        pool->unused = *(void **)record;
    } else {
        if (pool->left < pool->bytes) {
            void **chunk = malloc(CHUNK_BYTES);

            if (!chunk)
                return NULL;
            *chunk = pool->chunks;
            pool->chunks = chunk;
            pool->next = (char *)chunk + 2 * sizeof(void *);
            pool->left = CHUNK_BYTES - 2 * sizeof(void *);
        }
        record = pool->next;
        pool->next += pool->bytes;
        pool->left -= pool->bytes;
    }
    return memset(record, 0, pool->bytes);
}

void esi_pool_give(struct esi_pool *pool, void *record)
{
    *(void **)record = pool->unused;
    pool->unused = record;
}

int esi_table_init(struct esi_causal_table *table)
{
    *table = (struct esi_causal_table){.mask = FIRST_HEADS - 1};
    table->heads = calloc(FIRST_HEADS, sizeof *table->heads);
    return table->heads ? 0 : -ENOMEM;
}

void esi_table_empty(struct esi_causal_table *table)
{
    free(table->heads);
    *table = (struct esi_causal_table){.mask = 0};
}

/* Without memory chains get longer, and nothing else happens. */
static void grow_table(struct esi_causal_table *table)
{
    size_t mask = table->mask * 2 + 1;
    struct esi_link **heads = calloc(mask + 1, sizeof(struct esi_link *));

    if (!heads)
        return;
    for (size_t i = 0; i <= table->mask; i++)
        for (struct esi_link *link = table->heads[i], *next; link; link = next) {
            next = link->next;
            link->next = heads[link->hash & mask];
            heads[link->hash & mask] = link;
        }
    free(table->heads);
    table->heads = heads;
    table->mask = mask;
}

void esi_table_insert(struct esi_causal_table *table,
                      struct esi_link *link,
                      uint64_t hash)
{
    struct esi_link **head;

    if (table->count++ > table->mask)
        grow_table(table);
    head = &table->heads[hash & table->mask];
    link->hash = hash;
    link->next = *head;
    *head = link;
}

void esi_table_remove(struct esi_causal_table *table, struct esi_link *link)
{
    struct esi_link **at = &table->heads[link->hash & table->mask];

    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    table->count--;
}
