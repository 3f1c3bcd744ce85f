/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The bytes of a tree control, in the arena of its segment:
 *
 *   header | desired rules, even versions | desired rules, odd versions | log
 *
 * Desired rules are written into the place that those in force does not stand in, and
 * comes into force with its version.  So a writer that dies leaves nothing half done,
 * and a reader that was too slow sees it from the version.  The log is a ring; one slot
 * more than it shows is the one being written.
 *
 * Text and entries are copied word by word, since the other side may write meanwhile.
 */
#ifndef ES_TUPLESPACE_TREE_CONTROL_LAYOUT_H
#define ES_TUPLESPACE_TREE_CONTROL_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/layout.h"
#include "tuplespace/tree_control.h"

#define ES_TREE_LOG_SLOTS (ES_TREE_LOG_ENTRIES + 1)

struct esi_tree_control_layout {
    /* Constant; the process writes them. */
    alignas(ES_CACHE_LINE) uint32_t header_bytes; /* sizeof as the process knows it */
    uint32_t desired_bytes;                       /* of each of the two places */
    uint32_t entry_bytes;
    uint32_t log_slots;

    /* Whoever holds `writer` writes these. */
    alignas(ES_CACHE_LINE) _Atomic uint32_t
        desired_version;                /* 0 = none yet (release) */
    _Atomic uint32_t desired_length[2]; /* of the text in each place, without its end */
    uint32_t reserved;
    _Atomic uint64_t writer; /* who writes them: see ES_READER_PID_BITS; 0 = nobody */

    /* The process. */
    alignas(ES_CACHE_LINE) _Atomic uint64_t log_head; /* entries ever (release) */
};

_Static_assert(sizeof(struct esi_tree_control_layout) == 3 * ES_CACHE_LINE,
               "three lines");
_Static_assert(sizeof(struct esi_tree_log_entry) == 160, "whole words, no holes");
_Static_assert(ES_TREE_DESIRED_BYTES % 4 == 0, "whole words");

static inline uint64_t esi_tree_control_bytes(uint64_t header_bytes,
                                              uint64_t desired_bytes,
                                              uint64_t entry_bytes,
                                              uint64_t log_slots)
{
    return header_bytes + 2 * desired_bytes + entry_bytes * log_slots;
}

/* `bytes` is a multiple of 4. */
static inline void esi_tree_words_load(void *out,
                                       const _Atomic uint32_t *words,
                                       size_t bytes)
{
    uint32_t *copies = out;

    for (size_t i = 0; i < bytes / 4; i++)
        copies[i] = atomic_load_explicit(&words[i], memory_order_relaxed);
}

static inline void esi_tree_words_store(_Atomic uint32_t *words,
                                        const void *in,
                                        size_t bytes)
{
    const uint32_t *copies = in;

    for (size_t i = 0; i < bytes / 4; i++)
        atomic_store_explicit(&words[i], copies[i], memory_order_relaxed);
}

/* Copies the newest desired rules and returns its version; 0 = none, or it changed
 * all the time. `places` are the two of `desired_bytes` each; `out` has
 * ES_TREE_DESIRED_BYTES. */
uint32_t esi_tree_desired_copy(const struct esi_tree_control_layout *control,
                               const char *places,
                               uint32_t desired_bytes,
                               char *out);

#endif
