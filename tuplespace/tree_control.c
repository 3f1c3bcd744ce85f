/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The tree board as the process sees it that the trees are in. */
#include "config.h"

#include "tuplespace/tree_control.h"

#include <errno.h>
#include <string.h>

#include "tuplespace/segment_private.h"
#include "tuplespace/tree_control_layout.h"

#define TRIES 100

static _Atomic uint32_t *wish_place(const char *places,
                                    uint32_t wish_bytes,
                                    uint32_t version)
{
    return (void *)(places + (uint64_t)(version % 2) * wish_bytes);
}

/* False: the text is not what the version promises. */
static bool copy_version(const struct es_tree_board_layout *board,
                         const char *places,
                         uint32_t wish_bytes,
                         uint32_t version,
                         char *out)
{
    uint32_t length =
        atomic_load_explicit(&board->wish_length[version % 2], memory_order_relaxed);
    uint32_t now;

    /* Whoever wrote it may have been broken. */
    if (length >= wish_bytes || length >= ES_TREE_WISH_BYTES)
        return false;
    esi_tree_words_load(out, wish_place(places, wish_bytes, version),
                        (length + 3) / 4 * 4);
    /* Pairs with the fence in write_wish(): who sees a word of the wish after the next
     * sees that the next came into force. */
    atomic_thread_fence(memory_order_acquire);
    now = atomic_load_explicit(&board->wish_version, memory_order_relaxed);
    if (now != version)
        return false;
    out[length] = '\0';
    return true;
}

uint32_t esi_tree_wish_copy(const struct es_tree_board_layout *board,
                            const char *places,
                            uint32_t wish_bytes,
                            char *out)
{
    for (int i = 0; i < TRIES; i++) {
        /* Pairs with the release in write_wish(): the text is complete. */
        uint32_t version =
            atomic_load_explicit(&board->wish_version, memory_order_acquire);

        if (version == 0)
            return 0;
        if (copy_version(board, places, wish_bytes, version, out))
            return version;
    }
    return 0;
}

/* --- The board -------------------------------------------------------------------- */

/* Caller holds the lock. */
static int add_board(struct es_segment *segment)
{
    struct es_tree_board_layout *board;
    uint64_t bytes =
        esi_tree_board_bytes(sizeof *board, ES_TREE_WISH_BYTES,
                             sizeof(struct es_tree_log_entry), ES_TREE_LOG_SLOTS);
    uint64_t offset;
    int rc = esi_segment_allocate(segment, bytes, ES_CACHE_LINE, &offset);

    if (rc != 0)
        return -ENOSPC;
    board = (void *)(segment->base + offset);
    board->header_bytes = sizeof *board;
    board->wish_bytes = ES_TREE_WISH_BYTES;
    board->entry_bytes = sizeof(struct es_tree_log_entry);
    board->log_slots = ES_TREE_LOG_SLOTS;
    segment->trees = board;
    /* Pairs with the acquire in find_board(): the header is complete. */
    atomic_store_explicit(&segment->layout->tree_board_offset, offset,
                          memory_order_release);
    return 0;
}

int es_segment_add_tree_board(struct es_segment *segment)
{
    int rc = 0;

    pthread_mutex_lock(&segment->lock);
    if (!segment->trees)
        rc = add_board(segment);
    pthread_mutex_unlock(&segment->lock);
    return rc;
}

uint32_t es_tree_wish_version(const struct es_segment *segment)
{
    return segment->trees ? atomic_load_explicit(&segment->trees->wish_version,
                                                 memory_order_acquire)
                          : 0;
}

uint32_t es_tree_wish_read(const struct es_segment *segment, char *out)
{
    return segment->trees
               ? esi_tree_wish_copy(segment->trees, (const char *)(segment->trees + 1),
                                    ES_TREE_WISH_BYTES, out)
               : 0;
}

/* --- The log ---------------------------------------------------------------------- */

static void add_entry(struct es_tree_board_layout *board,
                      const struct es_tree_log_entry *entry)
{
    char *log = (char *)(board + 1) + UINT64_C(2) * ES_TREE_WISH_BYTES;
    uint64_t head = atomic_load_explicit(&board->log_head, memory_order_relaxed);
    uint64_t offset = head % ES_TREE_LOG_SLOTS * sizeof *entry;

    /* Readers that see a word of this entry see at least the head before it, from which
     * they know that the slot's old entry is gone.  Pairs with the fence in
     * copy_entry(). */
    atomic_thread_fence(memory_order_release);
    esi_tree_words_store((void *)(log + offset), entry, sizeof *entry);
    /* Pairs with the acquire in es_segment_view_tree_log(): the entry is complete. */
    atomic_store_explicit(&board->log_head, head + 1, memory_order_release);
}

void es_tree_log_add(struct es_segment *segment, const struct es_tree_log_entry *entry)
{
    if (!segment->trees)
        return;
    pthread_mutex_lock(&segment->lock);
    add_entry(segment->trees, entry);
    pthread_mutex_unlock(&segment->lock);
}
