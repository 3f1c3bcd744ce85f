/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The tables of modules: written by the process, read by others. */
#include "config.h"

#include "tuplespace/modules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tuplespace/segment_private.h"
#include "tuplespace/view_private.h"

_Static_assert(sizeof(struct esi_module_layout) == 512, "entries of half a kilobyte");

/* --- Writing ---------------------------------------------------------------------- */

static struct esi_module_layout *entries_of(struct esi_module_table_layout *table)
{
    return (void *)(table + 1);
}

/* Adds a table and stores its offset in `from`.  The caller holds the lock. */
static int add_table(struct es_segment *segment,
                     _Atomic uint64_t *from,
                     struct esi_module_table_layout **ret_table)
{
    struct esi_module_table_layout *table;
    uint64_t offset;
    int rc = esi_segment_allocate(segment,
                                  sizeof *table + ES_MODULE_TABLE_ENTRIES *
                                                      sizeof(struct esi_module_layout),
                                  ES_CACHE_LINE, &offset);

    if (rc != 0)
        return rc;
    table = (void *)(segment->base + offset);
    table->capacity = ES_MODULE_TABLE_ENTRIES;
    table->entry_bytes = sizeof(struct esi_module_layout);
    /* Pairs with the acquire in find_table(): the header is complete. */
    atomic_store_explicit(from, offset, memory_order_release);
    *ret_table = table;
    return 0;
}

/* Finds or adds a table with room.  The caller holds the lock. */
static int find_room(struct es_segment *segment,
                     struct esi_module_table_layout **ret_table)
{
    _Atomic uint64_t *from = &segment->layout->modules_offset;

    for (int i = 0; i < ES_MODULE_TABLES_MAX; i++) {
        uint64_t offset = atomic_load_explicit(from, memory_order_relaxed);
        struct esi_module_table_layout *table;

        if (offset == 0)
            return add_table(segment, from, ret_table);
        table = (void *)(segment->base + offset);
        if (atomic_load_explicit(&table->count, memory_order_relaxed) <
            table->capacity) {
            *ret_table = table;
            return 0;
        }
        from = &table->next;
    }
    return -ENOSPC;
}

static void fill_module(struct esi_module_layout *entry, const struct es_module *module)
{
    entry->begin = module->begin;
    entry->end = module->end;
    entry->bias = module->bias;
    entry->build_id_bytes = module->build_id_bytes;
    memcpy(entry->build_id, module->build_id, sizeof entry->build_id);
    memcpy(entry->path, module->path, sizeof entry->path);
}

int esi_segment_add_module(struct es_segment *segment, const struct es_module *module)
{
    struct esi_module_table_layout *table;
    uint32_t count;
    int rc;

    pthread_mutex_lock(&segment->lock);
    rc = find_room(segment, &table);
    if (rc == 0) {
        count = atomic_load_explicit(&table->count, memory_order_relaxed);
        fill_module(&entries_of(table)[count], module);
        /* Pairs with the acquire in find_table(): the entry is complete. */
        atomic_store_explicit(&table->count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&segment->lock);
    return rc;
}

/* --- Reading ---------------------------------------------------------------------- */

/* The checked header of a table. */
struct module_table {
    struct esi_module_table_layout *layout;
    uint32_t count;
    uint32_t entry_bytes;
};

static bool find_table(const struct es_segment_view *view,
                       uint64_t offset,
                       struct module_table *ret_table)
{
    struct esi_module_table_layout *layout;
    uint32_t capacity, entry_bytes, count;
    uint64_t left;

    if (offset == 0 || offset % 8 != 0 || offset > view->bytes ||
        view->bytes - offset < sizeof *layout)
        return false;
    layout = (void *)(view->base + offset);
    left = view->bytes - offset - sizeof *layout;
    capacity = layout->capacity;
    entry_bytes = layout->entry_bytes;
    /* Pairs with the release in esi_segment_add_module(). */
    count = atomic_load_explicit(&layout->count, memory_order_acquire);
    if (entry_bytes < sizeof(struct esi_module_layout) || entry_bytes % 8 != 0 ||
        entry_bytes > (1u << 20) || count > capacity ||
        count > ES_MODULE_TABLE_ENTRIES * ES_MODULE_TABLES_MAX ||
        (uint64_t)count * entry_bytes > left)
        return false;
    *ret_table = (struct module_table){
        .layout = layout, .count = count, .entry_bytes = entry_bytes};
    return true;
}

/* Copies one entry; returns false if it is invalid. */
static bool copy_module(const struct module_table *table,
                        uint32_t index,
                        struct es_module *ret_module)
{
    const char *first = (const char *)(table->layout + 1);
    struct esi_module_layout entry;

    memcpy(&entry, first + (size_t)index * table->entry_bytes, sizeof entry);
    if (entry.begin >= entry.end || entry.build_id_bytes > ES_BUILD_ID_BYTES)
        return false;
    *ret_module = (struct es_module){.begin = entry.begin,
                                     .end = entry.end,
                                     .bias = entry.bias,
                                     .build_id_bytes = entry.build_id_bytes};
    memcpy(ret_module->build_id, entry.build_id, sizeof entry.build_id);
    memcpy(ret_module->path, entry.path, sizeof entry.path - 1);
    return true;
}

int es_segment_view_modules(const struct es_segment_view *segment,
                            struct es_module **ret_modules)
{
    struct es_module *modules = NULL;
    size_t count = 0, capacity = 0;
    uint64_t offset =
        atomic_load_explicit(&segment->layout->modules_offset, memory_order_acquire);
    struct module_table table;

    for (int i = 0; i < ES_MODULE_TABLES_MAX && find_table(segment, offset, &table);
         i++) {
        if (ESI_ARRAY_RESERVE(modules, capacity, count + table.count) < 0) {
            free(modules);
            return -ENOMEM;
        }
        for (uint32_t m = 0; m < table.count; m++)
            count += copy_module(&table, m, &modules[count]);
        /* Pairs with the release in add_table(). */
        offset = atomic_load_explicit(&table.layout->next, memory_order_acquire);
    }
    *ret_modules = modules;
    return (int)count;
}
