/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * communications.c - sparse counts of pairs: a hash table of pairs, and for each trace
 * a list of those that it has a pair with.
 *
 * A pair of which one is gone stays in the table and is never looked up again; lists
 * keep those that are gone, and whoever walks them skips them.
 */
#include "config.h"

#include "monitors/order/cluster/communications.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_SLOTS = 64 };

struct pair {
    uint64_t key; /* lesser trace << 32 | greater trace; 0 = free */
    uint64_t count;
};

struct pair_row {
    uint32_t *others;
    uint32_t count;
    uint32_t capacity;
    bool is_gone;
};

struct esi_communications {
    struct pair *pairs;
    size_t slots; /* a power of two, at most half in use */
    size_t used;
    struct pair_row *rows;
    uint32_t row_count;
    uint32_t row_capacity;
    uint64_t other_bytes; /* of all lists */
};

int esi_communications_create(struct esi_communications **ret_counts)
{
    struct esi_communications *counts = calloc(1, sizeof *counts);

    if (!counts)
        return -ENOMEM;
    counts->slots = FEWEST_SLOTS;
    counts->pairs = calloc(counts->slots, sizeof *counts->pairs);
    if (!counts->pairs) {
        free(counts);
        return -ENOMEM;
    }
    *ret_counts = counts;
    return 0;
}

void esi_communications_destroy(struct esi_communications *counts)
{
    if (!counts)
        return;
    for (uint32_t i = 0; i < counts->row_count; i++)
        free(counts->rows[i].others);
    free(counts->rows);
    free(counts->pairs);
    free(counts);
}

/* --- The table ------------------------------------------------------------------- */

static uint64_t key_of(uint32_t trace, uint32_t other)
{
    uint32_t lesser = trace < other ? trace : other;
    uint32_t greater = trace < other ? other : trace;

    return (uint64_t)lesser << 32 | greater;
}

/* Where a key is, or would be. */
static struct pair *find_pair(const struct esi_communications *counts, uint64_t key)
{
    size_t slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20);

    for (;; slot++) {
        struct pair *pair = &counts->pairs[slot & (counts->slots - 1)];

        if (pair->key == key || pair->key == 0)
            return pair;
    }
}

static int reserve_pair(struct esi_communications *counts)
{
    struct esi_communications larger = {.slots = counts->slots * 2};

    if (counts->used * 2 < counts->slots)
        return 0;
    larger.pairs = calloc(larger.slots, sizeof *larger.pairs);
    if (!larger.pairs)
        return -ENOMEM;
    for (size_t i = 0; i < counts->slots; i++)
        if (counts->pairs[i].key != 0)
            *find_pair(&larger, counts->pairs[i].key) = counts->pairs[i];
    free(counts->pairs);
    counts->pairs = larger.pairs;
    counts->slots = larger.slots;
    return 0;
}

/* --- Lists ----------------------------------------------------------------------- */

static int reserve_row(struct esi_communications *counts, uint32_t trace)
{
    uint32_t capacity = counts->row_capacity ? counts->row_capacity : 16;
    struct pair_row *rows;

    if (trace < counts->row_count)
        return 0;
    while (capacity <= trace)
        capacity = capacity > UINT32_MAX / 2 ? UINT32_MAX : capacity * 2;
    if (capacity != counts->row_capacity) {
        rows = realloc(counts->rows, capacity * sizeof *rows);
        if (!rows)
            return -ENOMEM;
        counts->rows = rows;
        counts->row_capacity = capacity;
    }
    memset(&counts->rows[counts->row_count], 0,
           (trace + 1 - counts->row_count) * sizeof *counts->rows);
    counts->row_count = trace + 1;
    return 0;
}

/* Room for one more in a list. */
static int reserve_other(struct esi_communications *counts, uint32_t trace)
{
    struct pair_row *row;
    uint32_t capacity;
    uint32_t *others;

    if (reserve_row(counts, trace) < 0)
        return -ENOMEM;
    row = &counts->rows[trace];
    if (row->count < row->capacity)
        return 0;
    capacity = row->capacity ? row->capacity * 2 : 4;
    others = realloc(row->others, capacity * sizeof *others);
    if (!others)
        return -ENOMEM;
    counts->other_bytes += (capacity - row->capacity) * sizeof *others;
    row->others = others;
    row->capacity = capacity;
    return 0;
}

static void list_pairs(struct esi_communications *counts,
                       uint32_t trace,
                       uint32_t other)
{
    struct pair_row *row = &counts->rows[trace];

    row->others[row->count++] = other;
}

int esi_communications_add(struct esi_communications *counts,
                           uint32_t trace,
                           uint32_t other,
                           uint64_t more)
{
    struct pair *pair;
    uint64_t key = key_of(trace, other);

    if (trace == other)
        return 0;
    pair = find_pair(counts, key);
    if (pair->key == 0) {
        if (reserve_pair(counts) < 0 || reserve_other(counts, trace) < 0 ||
            reserve_other(counts, other) < 0)
            return -ENOMEM;
        pair = find_pair(counts, key);
        pair->key = key;
        counts->used++;
        list_pairs(counts, trace, other);
        list_pairs(counts, other, trace);
    }
    pair->count += more;
    return 0;
}

int esi_communications_copy(const struct esi_communications *counts,
                            struct esi_communications **ret_copy)
{
    struct esi_communications *copy;
    int code = esi_communications_create(&copy);

    if (code < 0)
        return code;
    for (size_t i = 0; code >= 0 && i < counts->slots; i++) {
        const struct pair *pair = &counts->pairs[i];

        if (pair->key != 0)
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

/* --- Asking ---------------------------------------------------------------------- */

uint64_t esi_communications_count(const struct esi_communications *counts,
                                  uint32_t trace,
                                  uint32_t other)
{
    return trace == other ? 0 : find_pair(counts, key_of(trace, other))->count;
}

uint32_t esi_communications_traces(const struct esi_communications *counts)
{
    return counts->row_count;
}

uint64_t esi_communications_bytes(const struct esi_communications *counts)
{
    return sizeof *counts + counts->slots * sizeof *counts->pairs +
           counts->row_capacity * sizeof *counts->rows + counts->other_bytes;
}

uint32_t esi_communications_next(const struct esi_communications *counts,
                                 uint32_t trace,
                                 uint32_t *at)
{
    const struct pair_row *row;

    if (trace >= counts->row_count)
        return UINT32_MAX;
    row = &counts->rows[trace];
    while (*at < row->count) {
        uint32_t other = row->others[(*at)++];

        if (!counts->rows[other].is_gone)
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
        struct pair *pair = find_pair(counts, key_of(from, other));
        int code = other == into
                       ? 0
                       : esi_communications_add(counts, into, other, pair->count);

        if (code < 0)
            return code;
        find_pair(counts, key_of(from, other))->count = 0;
    }
    free(counts->rows[from].others);
    counts->other_bytes -=
        counts->rows[from].capacity * sizeof *counts->rows[from].others;
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
