/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* ends.c - records in chunks, a table of their indexes, and a list of those that wait.
 */
#include "config.h"

#include "monitors/follow/ends.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void esi_ends_init(struct esi_ends *ends, size_t record_bytes, uint64_t max)
{
    size_t alignment = _Alignof(max_align_t);

    *ends = (struct esi_ends){
        .record_bytes = (record_bytes + alignment - 1) / alignment * alignment,
        .max = max,
    };
}

void esi_ends_fini(struct esi_ends *ends)
{
    for (size_t i = 0; i < ends->chunk_count; i++)
        free(ends->chunks[i]);
    free(ends->chunks);
    esi_hash_fini(&ends->table);
    esi_ends_init(ends, ends->record_bytes, ends->max);
}

/* Makes a record that nobody has used yet. */
static struct esi_end *make_record(struct esi_ends *ends)
{
    struct esi_end *end;

    if (ends->made == ends->chunk_count * ESI_ENDS_CHUNK) {
        char *chunk;

        if (ESI_ARRAY_RESERVE(ends->chunks, ends->chunk_capacity,
                              ends->chunk_count + 1) < 0)
            return NULL;
        chunk = malloc(ESI_ENDS_CHUNK * ends->record_bytes);
        if (!chunk)
            return NULL;
        ends->chunks[ends->chunk_count++] = chunk;
    }
    end = esi_ends_at(ends, ends->made);
    end->index = (uint32_t)ends->made++;
    return end;
}

void *esi_ends_add(struct esi_ends *ends, const struct esi_ends_key *key)
{
    struct esi_end *end;
    uint32_t index;

    if (esi_hash_reserve(&ends->table, ends->table.count + 1) < 0)
        return NULL;
    end = ESI_LIST_POP(struct esi_end, &ends->unused, link);
    if (!end)
        end = make_record(ends);
    if (!end)
        return NULL;
    index = end->index;
    memset(end, 0, ends->record_bytes);
    end->key = *key;
    end->hash = esi_ends_hash(key);
    end->index = index;
    esi_hash_insert(&ends->table, end->hash, index);
    return end;
}

static void stop_waiting(struct esi_ends *ends, struct esi_end *end)
{
    if (end->weight == 0)
        return;
    esi_list_remove(&ends->waiting, &end->link);
    ends->weight -= end->weight;
    end->weight = 0;
}

void esi_ends_wait(struct esi_ends *ends, struct esi_end *end, uint32_t weight)
{
    stop_waiting(ends, end);
    esi_list_append(&ends->waiting, &end->link);
    end->weight = weight;
    ends->weight += weight;
}

void esi_ends_forget(struct esi_ends *ends, struct esi_end *end)
{
    size_t slot = esi_hash_find(&ends->table, end->hash);

    stop_waiting(ends, end);
    while (esi_hash_index(&ends->table, slot) != end->index)
        slot = esi_hash_find_next(&ends->table, slot);
    esi_hash_remove(&ends->table, slot);
    esi_list_prepend(&ends->unused, &end->link);
}
