/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_table.c - a map from trace to index: a hash table or a vector. */
#include "config.h"

#include "monitors/order/epoch/epoch_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A slot has twice the bytes of a vector entry, and at least half of the slots are
 * free. */
enum { DENSE_SHARE = 8, FIRST_SLOTS = 8, FEW_SLOTS = 256, TRIM_SHARE = 64 };

void esi_table_fini(struct esi_epoch_table *table)
{
    free(table->slots);
    free(table->dense);
    free(table->copy);
    memset(table, 0, sizeof *table);
}

uint64_t esi_table_bytes(const struct esi_epoch_table *table)
{
    uint64_t entries = table->room + (table->copy ? table->room : 0);

    return entries * (table->dense ? sizeof *table->dense : sizeof *table->slots);
}

void esi_table_copy(struct esi_epoch_table *table, uint32_t last)
{
    if (!table->copy)
        table->copy = malloc(table->room * sizeof *table->copy);
    if (!table->copy)
        return;
    memcpy(table->copy, table->dense, table->room * sizeof *table->copy);
    table->copy_first = table->since;
    table->copy_last = last;
}

void esi_table_clear(struct esi_epoch_table *table)
{
    table->copy_last = 0;
    if (table->known == 0)
        return;
    if (table->dense)
        memset(table->dense, 0, table->room * sizeof *table->dense);
    else
        memset(table->slots, 0, table->room * sizeof *table->slots);
    table->known = 0;
}

bool esi_table_next(const struct esi_epoch_table *table,
                    uint32_t *place,
                    uint32_t *ret_trace,
                    uint32_t *ret_value)
{
    for (; *place < table->room; ++*place) {
        uint64_t slot = table->dense ? table->dense[*place] : table->slots[*place];

        if (slot == 0)
            continue;
        *ret_trace = table->dense ? *place : (uint32_t)(slot >> 32) - 1;
        *ret_value = (uint32_t)slot;
        ++*place;
        return true;
    }
    return false;
}

static void move_to(struct esi_epoch_table *table, struct esi_epoch_table *larger)
{
    uint32_t place = 0, trace, value;

    while (esi_table_next(table, &place, &trace, &value))
        esi_table_raise(larger, trace, value);
    larger->since = table->since;
    esi_table_fini(table);
    *table = *larger;
}

static int make_dense(struct esi_epoch_table *table, uint32_t traces)
{
    struct esi_epoch_table larger = {.room = traces};

    if (table->dense && traces < UINT32_MAX / 2 && traces < table->room * 2)
        larger.room = table->room * 2;
    larger.dense = calloc(larger.room, sizeof *larger.dense);
    if (!larger.dense)
        return -ENOMEM;
    move_to(table, &larger);
    return 0;
}

static int make_slots(struct esi_epoch_table *table, uint64_t needed)
{
    struct esi_epoch_table larger = {.room = FIRST_SLOTS};

    while (larger.room < needed * 2)
        larger.room *= 2;
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return -ENOMEM;
    move_to(table, &larger);
    return 0;
}

int esi_table_reserve(struct esi_epoch_table *table, uint64_t more, uint32_t traces)
{
    uint64_t needed = table->known + more;

    if (table->dense)
        return table->room >= traces ? 0 : make_dense(table, traces);
    if (needed * 2 <= table->room)
        return 0;
    if (needed >= traces / DENSE_SHARE)
        return make_dense(table, traces);
    return make_slots(table, needed);
}

void esi_table_trim(struct esi_epoch_table *table, uint32_t used, uint32_t traces)
{
    used = table->known > used ? table->known : used;
    if (table->room > FEW_SLOTS && used < table->room / TRIM_SHARE &&
        used < traces / DENSE_SHARE)
        (void)make_slots(table, used); /* else it keeps its size */
}
