/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The table of communicators in a segment.  Entries never move; those of communicators
 * that can no longer be named are reused. */
#include "config.h"

#include "tuplespace/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tuplespace/segment_private.h"

#define NAME_WORDS 16
/* Fewer released communicators do not justify a sweep. */
#define LEAST_RELEASED 64

static struct esi_communicator_layout *entry_at(struct es_segment *segment,
                                                uint32_t index)
{
    uint64_t offset = segment->communicators.begin +
                      (uint64_t)index * sizeof(struct esi_communicator_layout);

    return (void *)(segment->base + offset);
}

static bool is_strided(const int32_t *ranks, int size, int32_t stride)
{
    for (int i = 1; i < size; i++)
        if ((int64_t)ranks[i] != (int64_t)ranks[0] + (int64_t)i * stride)
            return false;
    return true;
}

/* A list without space is equivalent to one kept elsewhere.  `old` is a group whose
 * space may be reused; size 0 if none. */
static void store_group(struct es_segment *segment,
                        const int32_t *ranks,
                        int size,
                        bool keep_list,
                        const struct esi_group_layout *old,
                        struct esi_group_layout *group)
{
    size_t bytes = (size_t)(size > 0 ? size : 0) * sizeof *ranks;

    *group = (struct esi_group_layout){.kind = ES_GROUP_ELSEWHERE, .size = size};
    if (!ranks || size <= 0)
        return;
    group->first = ranks[0];
    group->stride = size > 1 ? (int32_t)((uint32_t)ranks[1] - (uint32_t)ranks[0]) : 0;
    if (is_strided(ranks, size, group->stride)) {
        group->kind = ES_GROUP_STRIDED;
        return;
    }
    if (!keep_list)
        return;
    if (old->kind == ES_GROUP_LIST && old->size >= size)
        group->offset = old->offset;
    else if (esi_segment_allocate(segment, bytes, sizeof *ranks, &group->offset) != 0)
        return;
    memcpy(segment->base + group->offset, ranks, bytes);
    group->kind = ES_GROUP_LIST;
}

/* Truncates to 63 bytes; the words after the text are zero. */
static void store_name_words(struct esi_communicator_layout *entry, const char *name)
{
    uint32_t words[NAME_WORDS] = {0};

    memcpy(words, name, strnlen(name, sizeof words - 1));
    for (size_t i = 0; i < NAME_WORDS; i++)
        atomic_store_explicit(&entry->name[i], words[i], memory_order_relaxed);
}

/* Makes the version of the entry odd.  A reader that sees data stored after this also
 * sees the odd version, or the even version at the end. */
static void begin_change(struct esi_communicator_layout *entry)
{
    uint32_t version = atomic_load_explicit(&entry->name_version, memory_order_relaxed);

    atomic_store_explicit(&entry->name_version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

static void end_change(struct esi_communicator_layout *entry)
{
    uint32_t version = atomic_load_explicit(&entry->name_version, memory_order_relaxed);

    atomic_store_explicit(&entry->name_version, version + 1, memory_order_release);
}

static void store_name(struct esi_communicator_layout *entry, const char *name)
{
    begin_change(entry);
    store_name_words(entry, name);
    end_change(entry);
}

/* --- Adding ----------------------------------------------------------------------- */

/* Fills an entry whose version is odd, so that readers do not use it.  Stores words,
 * because readers may access the fields meanwhile. */
static void fill_entry(struct es_segment *segment,
                       const struct esi_communicator_config *config,
                       struct esi_communicator_layout *entry)
{
    struct esi_communicator_layout filled = {
        .key = {config->key[0], config->key[1]},
        .rank = config->rank,
        .parent = config->parent,
    };
    _Atomic uint32_t *words = (void *)entry;
    uint32_t word;

    store_group(segment, config->group, config->group_size, config->keep_list,
                &entry->local, &filled.local);
    store_group(segment, config->remote, config->remote_size, config->keep_list,
                &entry->remote, &filled.remote);
    for (size_t i = 0; i < offsetof(struct esi_communicator_layout, name) / 4; i++) {
        if (i == offsetof(struct esi_communicator_layout, name_version) / 4)
            continue;
        memcpy(&word, (char *)&filled + i * 4, sizeof word);
        atomic_store_explicit(&words[i], word, memory_order_relaxed);
    }
    atomic_store_explicit(&entry->flags, config->flags, memory_order_relaxed);
}

static bool has_bit(const uint8_t *bits, uint32_t index)
{
    return (bits[index / 8] & 1u << index % 8) != 0;
}

/* Takes the index of a communicator that nobody refers to; the version of its entry is
 * then odd.  Returns false if there is none, or if a reader has appeared. */
static bool take_reusable(struct es_segment *segment, uint16_t *ret_index)
{
    struct esi_segment_layout *layout = segment->layout;
    uint32_t count =
        atomic_load_explicit(&layout->communicator_count, memory_order_relaxed);
    uint32_t index = segment->reuse.next;

    if (segment->reuse.reusable_left == 0 ||
        atomic_load_explicit(&layout->watchers, memory_order_relaxed) != 0)
        return false;
    while (!has_bit(segment->reuse.reusable, index))
        index = index + 1 < count ? index + 1 : 0;
    segment->reuse.next = index;
    /* Pairs with the fence in esi_segment_view_watch(): a reader that starts now sees
     * the odd version, or we see the reader. */
    begin_change(entry_at(segment, index));
    if (atomic_load_explicit(&layout->watchers, memory_order_relaxed) != 0) {
        end_change(entry_at(segment, index));
        return false;
    }
    segment->reuse.reusable[index / 8] &= (uint8_t) ~(1u << index % 8);
    segment->reuse.reusable_left--;
    *ret_index = (uint16_t)index;
    return true;
}

/* The caller holds the lock. */
static int add_communicator(struct es_segment *segment,
                            const struct esi_communicator_config *config,
                            uint16_t *ret_index)
{
    struct esi_segment_layout *layout = segment->layout;
    uint32_t count =
        atomic_load_explicit(&layout->communicator_count, memory_order_relaxed);
    struct esi_communicator_layout *entry = entry_at(segment, count);
    int rc;

    if (take_reusable(segment, ret_index)) {
        entry = entry_at(segment, *ret_index);
        fill_entry(segment, config, entry);
        store_name_words(entry, config->name ? config->name : "");
        end_change(entry);
        return 0;
    }
    if (count >= layout->max_communicators || count >= ES_COMMUNICATOR_NONE)
        return -ENOSPC;
    rc = esi_segment_reserve(segment, &segment->communicators,
                             (uint64_t)((char *)(entry + 1) - segment->base));
    if (rc != 0)
        return rc;
    fill_entry(segment, config, entry);
    store_name(entry, config->name ? config->name : "");
    /* Pairs with the readers' acquire of the count: the entry is complete. */
    atomic_store_explicit(&layout->communicator_count, count + 1, memory_order_release);
    *ret_index = (uint16_t)count;
    return 0;
}

int esi_segment_add_communicator(struct es_segment *segment,
                                 const struct esi_communicator_config *config,
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

void esi_segment_name_communicator(struct es_segment *segment,
                                   uint16_t index,
                                   const char *name)
{
    if (!has_entry(segment, index))
        return;
    pthread_mutex_lock(&segment->lock);
    store_name(entry_at(segment, index), name);
    pthread_mutex_unlock(&segment->lock);
}

void esi_segment_free_communicator(struct es_segment *segment, uint16_t index)
{
    if (has_entry(segment, index))
        atomic_fetch_or_explicit(&entry_at(segment, index)->flags,
                                 ES_COMMUNICATOR_FREED, memory_order_relaxed);
}

/* --- Reusing indices -------------------------------------------------------------- */

void esi_segment_release_communicator(struct es_segment *segment, uint16_t index)
{
    if (!has_entry(segment, index))
        return;
    pthread_mutex_lock(&segment->lock);
    atomic_fetch_or_explicit(&entry_at(segment, index)->flags, ES_COMMUNICATOR_RELEASED,
                             memory_order_relaxed);
    segment->reuse.released++;
    pthread_mutex_unlock(&segment->lock);
}

bool esi_segment_should_sweep(struct es_segment *segment)
{
    const struct esi_segment_layout *layout = segment->layout;
    uint32_t count =
        atomic_load_explicit(&layout->communicator_count, memory_order_relaxed);
    bool should;

    pthread_mutex_lock(&segment->lock);
    should = segment->reuse.reusable_left == 0 &&
             segment->reuse.released >= LEAST_RELEASED &&
             segment->reuse.released >= count / 4 &&
             atomic_load_explicit(&layout->watchers, memory_order_relaxed) == 0;
    pthread_mutex_unlock(&segment->lock);
    return should;
}

static void set_bit(uint8_t *bits, uint32_t index)
{
    bits[index / 8] |= (uint8_t)(1u << index % 8);
}

/* Marks the communicators named in the slots of all rings.  Slots that were never
 * written are zero, which names the first communicator; it is never reused. */
static void mark_named(struct es_segment *segment, uint8_t *in_use)
{
    uint32_t count =
        atomic_load_explicit(&segment->layout->element_count, memory_order_relaxed);
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

    for (uint32_t i = 0; i < count; i++) {
        const struct esi_element_layout *element =
            (void *)(segment->base + segment->elements.begin +
                     (uint64_t)i * sizeof *element);
        _Atomic uint32_t *ring = (void *)(segment->base + element->ring_offset);

        if (element->kind != ES_ELEMENT_TRACE)
            continue;
        for (size_t slot = 0; slot < element->capacity; slot++) {
            uint32_t word = atomic_load_explicit(
                &ring[slot * ES_TUPLE_WORDS + ES_WORD_OPERATION], memory_order_relaxed);

            set_bit(in_use, (uint16_t)(word >> (big ? 0 : 16)));
        }
    }
}

static bool communicator_table_stays(const struct esi_communicator_layout *entry,
                                     const uint8_t *in_use,
                                     uint32_t index)
{
    return (atomic_load_explicit(&entry->flags, memory_order_relaxed) &
            ES_COMMUNICATOR_RELEASED) == 0 ||
           has_bit(in_use, index);
}

/* Parents of used entries are used, too, recursively. */
static void mark_parents(struct es_segment *segment, uint8_t *in_use, uint32_t count)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < count; i++) {
            const struct esi_communicator_layout *entry = entry_at(segment, i);

            if (entry->parent < count && communicator_table_stays(entry, in_use, i) &&
                !has_bit(in_use, entry->parent)) {
                set_bit(in_use, entry->parent);
                changed = true;
            }
        }
    }
}

/* The caller holds the lock. */
static void communicator_table_sweep(struct es_segment *segment, uint8_t *in_use)
{
    uint32_t count = atomic_load_explicit(&segment->layout->communicator_count,
                                          memory_order_relaxed);

    segment->reuse.released = 0;
    if (!segment->reuse.reusable)
        segment->reuse.reusable = calloc(1, ES_COMMUNICATOR_BITS_BYTES);
    if (!segment->reuse.reusable)
        return;
    mark_named(segment, in_use);
    mark_parents(segment, in_use, count);
    for (uint32_t i = 0; i < count; i++)
        if (!communicator_table_stays(entry_at(segment, i), in_use, i) &&
            !has_bit(segment->reuse.reusable, i)) {
            set_bit(segment->reuse.reusable, i);
            segment->reuse.reusable_left++;
        }
    /* The rings were scanned above; whoever has read them before is counted as a
     * watcher (esi_segment_view_watch()). */
    atomic_thread_fence(memory_order_seq_cst);
}

void esi_segment_sweep_communicators(struct es_segment *segment,
                                     uint8_t in_use[ES_COMMUNICATOR_BITS_BYTES])
{
    pthread_mutex_lock(&segment->lock);
    communicator_table_sweep(segment, in_use);
    pthread_mutex_unlock(&segment->lock);
}
