/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * communications.c - sparse counts of pairs; the pairs of each trace form a list.
 *
 * A pair with a removed trace remains and is never looked up again; iterations skip it.
 */
#include "config.h"

#include "monitors/order/cluster/communications.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

struct pair {
    uint64_t key; /* lesser trace << 32 | greater trace */
    uint64_t count;
    uint32_t next[2]; /* in the lists of the lesser and of the greater trace; pair +
                         1 */
};

struct pair_row {
    uint32_t first; /* pair + 1; 0 = none */
    bool is_gone;
};

struct esi_communications {
    struct pair *pairs;
    size_t pair_count;
    size_t pair_capacity;
    struct esi_hash numbers; /* of pairs, indexed by key */
    struct pair_row *rows;
    uint32_t row_count;
    size_t row_capacity;
};

int esi_communications_create(struct esi_communications **ret_counts)
{
    *ret_counts = calloc(1, sizeof **ret_counts);
    return *ret_counts ? 0 : -ENOMEM;
}

void esi_communications_destroy(struct esi_communications *counts)
{
    if (!counts)
        return;
    free(counts->rows);
    free(counts->pairs);
    esi_hash_fini(&counts->numbers);
    free(counts);
}

/* --- Pairs ------------------------------------------------------------------------ */

static uint64_t key_of(uint32_t trace, uint32_t other)
{
    uint32_t lesser = trace < other ? trace : other;
    uint32_t greater = trace < other ? other : trace;

    return (uint64_t)lesser << 32 | greater;
}

/* Returns NULL if the two have not communicated. */
static struct pair *find_pair(const struct esi_communications *counts, uint64_t key)
{
    ESI_HASH_FOREACH(slot, &counts->numbers, esi_hash_u64(key)) {
        struct pair *pair = &counts->pairs[esi_hash_index(&counts->numbers, slot)];

        if (pair->key == key)
            return pair;
    }
    return NULL;
}

/* Makes room for a new pair with this key.  Returns 0 or -ENOMEM. */
static int reserve_pair(struct esi_communications *counts, uint64_t key)
{
    size_t needed = counts->pair_count + 1;
    uint32_t greater = (uint32_t)key;

    if (ESI_ARRAY_RESERVE(counts->pairs, counts->pair_capacity, needed) < 0 ||
        esi_hash_reserve(&counts->numbers, needed) < 0 ||
        ESI_ARRAY_RESERVE(counts->rows, counts->row_capacity, (size_t)greater + 1) < 0)
        return -ENOMEM;
    while (counts->row_count <= greater)
        counts->rows[counts->row_count++] = (struct pair_row){.first = 0};
    return 0;
}

static void add_pair(struct esi_communications *counts, uint64_t key, uint64_t count)
{
    struct pair_row *lesser = &counts->rows[key >> 32];
    struct pair_row *greater = &counts->rows[(uint32_t)key];

    esi_hash_insert(&counts->numbers, esi_hash_u64(key), counts->pair_count);
    counts->pairs[counts->pair_count++] = (struct pair){
        .key = key, .count = count, .next = {lesser->first, greater->first}};
    lesser->first = greater->first = (uint32_t)counts->pair_count;
}

int esi_communications_add(struct esi_communications *counts,
                           uint32_t trace,
                           uint32_t other,
                           uint64_t more)
{
    uint64_t key = key_of(trace, other);
    struct pair *pair;

    if (trace == other)
        return 0;
    pair = find_pair(counts, key);
    if (pair) {
        pair->count += more;
        return 0;
    }
    if (reserve_pair(counts, key) < 0)
        return -ENOMEM;
    add_pair(counts, key, more);
    return 0;
}

int esi_communications_copy(const struct esi_communications *counts,
                            struct esi_communications **ret_copy)
{
    struct esi_communications *copy;
    int code = esi_communications_create(&copy);

    if (code < 0)
        return code;
    for (size_t i = 0; code >= 0 && i < counts->pair_count; i++) {
        const struct pair *pair = &counts->pairs[i];

        code = esi_communications_add(copy, (uint32_t)(pair->key >> 32),
                                      (uint32_t)pair->key, pair->count);
    }
    if (code < 0) {
        esi_communications_destroy(copy);
        return code;
    }
    for (uint32_t i = 0; i < copy->row_count; i++)
        copy->rows[i].is_gone = counts->rows[i].is_gone;
    *ret_copy = copy;
    return 0;
}

/* --- Queries --------------------------------------------------------------------- */

uint64_t esi_communications_count(const struct esi_communications *counts,
                                  uint32_t trace,
                                  uint32_t other)
{
    const struct pair *pair = find_pair(counts, key_of(trace, other));

    return pair ? pair->count : 0;
}

uint64_t esi_communications_sum(const struct esi_communications *counts)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < counts->pair_count; i++)
        sum += counts->pairs[i].count;
    return sum;
}

uint32_t esi_communications_traces(const struct esi_communications *counts)
{
    return counts->row_count;
}

uint64_t esi_communications_bytes(const struct esi_communications *counts)
{
    return sizeof *counts + counts->pair_capacity * sizeof *counts->pairs +
           esi_hash_bytes(&counts->numbers) +
           counts->row_capacity * sizeof *counts->rows;
}

static uint32_t next_pair(const struct esi_communications *counts,
                          uint32_t number,
                          uint32_t trace)
{
    const struct pair *pair = &counts->pairs[number - 1];

    return pair->next[pair->key >> 32 != trace];
}

uint32_t esi_communications_next(const struct esi_communications *counts,
                                 uint32_t trace,
                                 uint32_t *at)
{
    uint32_t next;

    if (trace >= counts->row_count)
        return UINT32_MAX;
    next = *at ? next_pair(counts, *at, trace) : counts->rows[trace].first;
    for (; next != 0; next = next_pair(counts, next, trace)) {
        uint64_t key = counts->pairs[next - 1].key;
        uint32_t other = key >> 32 == trace ? (uint32_t)key : (uint32_t)(key >> 32);

        if (counts->rows[other].is_gone)
            continue;
        *at = next;
        return other;
    }
    return UINT32_MAX;
}

int esi_communications_merge(struct esi_communications *counts,
                             uint32_t into,
                             uint32_t from)
{
    uint32_t at = 0;
    uint32_t other;

    if (into == from || from >= counts->row_count)
        return 0;
    while ((other = esi_communications_next(counts, from, &at)) != UINT32_MAX) {
        uint64_t count = esi_communications_count(counts, from, other);

        if (other != into && esi_communications_add(counts, into, other, count) < 0)
            return -ENOMEM;
        find_pair(counts, key_of(from, other))->count = 0;
    }
    counts->rows[from] = (struct pair_row){.is_gone = true};
    return 0;
}

/* --- Events ---------------------------------------------------------------------- */

static int take_trace(void *data, uint32_t trace, const char *name)
{
    (void)data;
    (void)trace;
    (void)name;
    return 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct esi_communications *counts = data;

    if (event->kind != ES_EVENT_RECEIVE && event->kind != ES_EVENT_SYNC)
        return 0;
    for (uint32_t i = 0; i < event->partner_count; i++) {
        int code = esi_communications_add(counts, event->id.trace,
                                          event->partners[i].trace, 1);

        if (code < 0)
            return code;
    }
    return 0;
}

struct es_set_sink esi_communications_sink(struct esi_communications *counts)
{
    return (struct es_set_sink){
        .trace = take_trace, .event = take_event, .data = counts};
}
