/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The tree control as the process sees it that the trees are in. */
#include "config.h"

#include "tuplespace/tree_control.h"

#include <errno.h>
#include <string.h>

#include "tuplespace/segment_private.h"
#include "tuplespace/tree_control_layout.h"

#define TRIES 100

static _Atomic uint32_t *desired_place(const char *places,
                                       uint32_t desired_bytes,
                                       uint32_t version)
{
    return (void *)(places + (uint64_t)(version % 2) * desired_bytes);
}

/* False: the text is not what the version promises. */
static bool copy_version(const struct esi_tree_control_layout *control,
                         const char *places,
                         uint32_t desired_bytes,
                         uint32_t version,
                         char *out)
{
    uint32_t length = atomic_load_explicit(&control->desired_length[version % 2],
                                           memory_order_relaxed);
    uint32_t now;

    /* Whoever wrote it may have been broken. */
    if (length >= desired_bytes || length >= ES_TREE_DESIRED_BYTES)
        return false;
    esi_tree_words_load(out, desired_place(places, desired_bytes, version),
                        (length + 3) / 4 * 4);
    /* Pairs with the fence in write_desired(): who sees a word of the desired rules
     * after the next sees that the next came into force. */
    atomic_thread_fence(memory_order_acquire);
    now = atomic_load_explicit(&control->desired_version, memory_order_relaxed);
    if (now != version)
        return false;
    out[length] = '\0';
    return true;
}

uint32_t esi_tree_desired_copy(const struct esi_tree_control_layout *control,
                               const char *places,
                               uint32_t desired_bytes,
                               char *out)
{
    for (int i = 0; i < TRIES; i++) {
        /* Pairs with the release in write_desired(): the text is complete. */
        uint32_t version =
            atomic_load_explicit(&control->desired_version, memory_order_acquire);

        if (version == 0)
            return 0;
        if (copy_version(control, places, desired_bytes, version, out))
            return version;
    }
    return 0;
}

/* --- The control ------------------------------------------------------------- */

/* Caller holds the lock. */
static int add_board(struct es_segment *segment)
{
    struct esi_tree_control_layout *control;
    uint64_t bytes =
        esi_tree_control_bytes(sizeof *control, ES_TREE_DESIRED_BYTES,
                               sizeof(struct esi_tree_log_entry), ES_TREE_LOG_SLOTS);
    uint64_t offset;
    int rc = esi_segment_allocate(segment, bytes, ES_CACHE_LINE, &offset);

    if (rc != 0)
        return -ENOSPC;
    control = (void *)(segment->base + offset);
    control->header_bytes = sizeof *control;
    control->desired_bytes = ES_TREE_DESIRED_BYTES;
    control->entry_bytes = sizeof(struct esi_tree_log_entry);
    control->log_slots = ES_TREE_LOG_SLOTS;
    segment->trees = control;
    /* Pairs with the acquire in find_board(): the header is complete. */
    atomic_store_explicit(&segment->layout->tree_control_offset, offset,
                          memory_order_release);
    return 0;
}

int esi_segment_add_tree_control(struct es_segment *segment)
{
    int rc = 0;

    pthread_mutex_lock(&segment->lock);
    if (!segment->trees)
        rc = add_board(segment);
    pthread_mutex_unlock(&segment->lock);
    return rc;
}

uint32_t esi_tree_desired_version(const struct es_segment *segment)
{
    return segment->trees ? atomic_load_explicit(&segment->trees->desired_version,
                                                 memory_order_acquire)
                          : 0;
}

uint32_t esi_tree_desired_read(const struct es_segment *segment, char *out)
{
    return segment->trees ? esi_tree_desired_copy(segment->trees,
                                                  (const char *)(segment->trees + 1),
                                                  ES_TREE_DESIRED_BYTES, out)
                          : 0;
}

/* --- The log ---------------------------------------------------------------------- */

static void add_entry(struct esi_tree_control_layout *control,
                      const struct esi_tree_log_entry *entry)
{
    char *log = (char *)(control + 1) + UINT64_C(2) * ES_TREE_DESIRED_BYTES;
    uint64_t head = atomic_load_explicit(&control->log_head, memory_order_relaxed);
    uint64_t offset = head % ES_TREE_LOG_SLOTS * sizeof *entry;

    /* Readers that see a word of this entry see at least the head before it, from which
     * they know that the slot's old entry is gone.  Pairs with the fence in
     * copy_entry(). */
    atomic_thread_fence(memory_order_release);
    esi_tree_words_store((void *)(log + offset), entry, sizeof *entry);
    /* Pairs with the acquire in esi_segment_view_tree_log(): the entry is complete. */
    atomic_store_explicit(&control->log_head, head + 1, memory_order_release);
}

void esi_tree_log_add(struct es_segment *segment,
                      const struct esi_tree_log_entry *entry)
{
    if (!segment->trees)
        return;
    pthread_mutex_lock(&segment->lock);
    add_entry(segment->trees, entry);
    pthread_mutex_unlock(&segment->lock);
}
