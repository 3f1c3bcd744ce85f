/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The table of communicators in a segment: written once per communicator, never moved.
 */
#include "config.h"

#include "tuplespace/segment.h"

#include <errno.h>
#include <string.h>

#include "tuplespace/segment_private.h"

#define NAME_WORDS 16

static struct es_communicator_layout *entry_at(struct es_segment *segment,
                                               uint32_t index)
{
    uint64_t offset = segment->communicators.begin +
                      (uint64_t)index * sizeof(struct es_communicator_layout);

    return (void *)(segment->base + offset);
}

static bool is_strided(const int32_t *ranks, int size, int32_t stride)
{
    for (int i = 1; i < size; i++)
        if ((int64_t)ranks[i] != (int64_t)ranks[0] + (int64_t)i * stride)
            return false;
    return true;
}

/* A list that finds no space is as good as one that is kept elsewhere. */
static void store_group(struct es_segment *segment,
                        const int32_t *ranks,
                        int size,
                        bool keep_list,
                        struct es_group_layout *group)
{
    size_t bytes = (size_t)(size > 0 ? size : 0) * sizeof *ranks;

    *group = (struct es_group_layout){.kind = ES_GROUP_ELSEWHERE, .size = size};
    if (!ranks || size <= 0)
        return;
    group->first = ranks[0];
    group->stride = size > 1 ? (int32_t)((uint32_t)ranks[1] - (uint32_t)ranks[0]) : 0;
    if (is_strided(ranks, size, group->stride)) {
        group->kind = ES_GROUP_STRIDED;
    } else if (keep_list && esi_segment_allocate(segment, bytes, sizeof *ranks,
                                                 &group->offset) == 0) {
        memcpy(segment->base + group->offset, ranks, bytes);
        group->kind = ES_GROUP_LIST;
    }
}

/* Cut to 63 bytes; the words behind the text are zero. */
static void store_name(struct es_communicator_layout *entry, const char *name)
{
    uint32_t words[NAME_WORDS] = {0};
    uint32_t version = atomic_load_explicit(&entry->name_version, memory_order_relaxed);

    memcpy(words, name, strnlen(name, sizeof words - 1));
    /* Odd first, words, even last: a reader that saw any new word sees one of the
     * versions. */
    atomic_store_explicit(&entry->name_version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (size_t i = 0; i < NAME_WORDS; i++)
        atomic_store_explicit(&entry->name[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&entry->name_version, version + 2, memory_order_release);
}

/* Caller holds the lock. */
static int add_communicator(struct es_segment *segment,
                            const struct es_communicator_config *config,
                            uint16_t *ret_index)
{
    struct es_segment_layout *layout = segment->layout;
    uint32_t count =
        atomic_load_explicit(&layout->communicator_count, memory_order_relaxed);
    struct es_communicator_layout *entry = entry_at(segment, count);
    uint64_t end = (uint64_t)((char *)(entry + 1) - segment->base);
    int rc;

    if (count >= layout->max_communicators || count >= ES_COMMUNICATOR_NONE)
        return -ENOSPC;
    rc = esi_segment_reserve(segment, &segment->communicators, end);
    if (rc != 0)
        return rc;
    memcpy(entry->key, config->key, sizeof entry->key);
    entry->rank = config->rank;
    entry->parent = config->parent;
    atomic_init(&entry->flags, config->flags);
    store_group(segment, config->group, config->group_size, config->keep_list,
                &entry->local);
    store_group(segment, config->remote, config->remote_size, config->keep_list,
                &entry->remote);
    store_name(entry, config->name ? config->name : "");
    /* Pairs with the readers' acquire of the count: the entry is complete. */
    atomic_store_explicit(&layout->communicator_count, count + 1, memory_order_release);
    *ret_index = (uint16_t)count;
    return 0;
}

int es_segment_add_communicator(struct es_segment *segment,
                                const struct es_communicator_config *config,
                                uint16_t *ret_index)
{
    int rc;

    pthread_mutex_lock(&segment->lock);
    rc = add_communicator(segment, config, ret_index);
    pthread_mutex_unlock(&segment->lock);
    if (rc != 0)
        atomic_fetch_add_explicit(&segment->layout->communicators_refused, 1,
                                  memory_order_relaxed);
    return rc;
}

static bool has_entry(struct es_segment *segment, uint16_t index)
{
    return index < atomic_load_explicit(&segment->layout->communicator_count,
                                        memory_order_relaxed);
}

void es_segment_name_communicator(struct es_segment *segment,
                                  uint16_t index,
                                  const char *name)
{
    if (!has_entry(segment, index))
        return;
    pthread_mutex_lock(&segment->lock);
    store_name(entry_at(segment, index), name);
    pthread_mutex_unlock(&segment->lock);
}

void es_segment_free_communicator(struct es_segment *segment, uint16_t index)
{
    if (has_entry(segment, index))
        atomic_fetch_or_explicit(&entry_at(segment, index)->flags,
                                 ES_COMMUNICATOR_FREED, memory_order_relaxed);
}
