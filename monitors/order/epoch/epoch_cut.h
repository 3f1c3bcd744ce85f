/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_cut.h - cuts: what an event that follows events of many traces knows of all
 * traces, stored once for all events that know it.
 *
 * Cut c has an event x(c) and a base vector: base(c, p) is the index of the last event
 * of p that is x(c) or precedes it.  Cuts are numbered so that x(1) precedes x(2) and
 * so on. Cut 0 is the beginning; its base is 0 everywhere.  A vector consists of pages;
 * a cut shares unchanged pages with the previous cut.
 *
 * Cuts are stored in the arena of the era in which they were made or last carried on;
 * see epoch_memory.h.
 *
 *   call                      may run concurrently with
 *   esi_cut_base              all others, for cuts that the writer has published
 *   others                    not with each other
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_CUT_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_CUT_H

#include <stddef.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_arena.h"
#include "monitors/eventset/segmented.h"

enum { ESI_PAGE_LOG2 = 6, ESI_PAGE = 1 << ESI_PAGE_LOG2 };

struct esi_cut {
    const uint32_t *const *pages;
    const uint32_t *whole; /* all pages if they are contiguous; else NULL */
    uint32_t traces;       /* length of the vector; later traces have 0 */
    uint32_t era;          /* of the arena that contains it */
};

enum { ESI_CHUNK_LOG2 = 6, ESI_CHUNK = 1 << ESI_CHUNK_LOG2 };

/* Cuts with consecutive numbers. */
struct esi_cut_chunk {
    uint32_t era;
    struct esi_cut cuts[ESI_CHUNK];
};

/* Allocated by the caller; private.  The draft is the next cut, under construction. */
struct esi_cuts {
    struct esi_segmented chunks; /* _Atomic(struct esi_cut_chunk *) */
    uint32_t last;               /* number of the last cut */
    struct esi_epoch_arena arena;
    struct {
        uint32_t of;            /* the cut that it is derived from */
        uint32_t traces;        /* length of the vector */
        size_t room;            /* in pages */
        const uint32_t **pages; /* pages of that cut, or own pages */
        uint32_t *own;          /* own page i is at i * ESI_PAGE */
    } draft;
};

/* Initializes cuts.  `page_bytes` is the chunk size of memory in pages; 0 = from
 * malloc().  Returns 0 or -ENOMEM; esi_cuts_fini() may be called in both cases. */
int esi_cuts_init(struct esi_cuts *cuts, size_t page_bytes);
void esi_cuts_fini(struct esi_cuts *cuts);

/* Returns the number of the last cut; for the writer. */
static inline uint32_t esi_cuts_last(const struct esi_cuts *cuts)
{
    return cuts->last;
}

static inline const struct esi_cut *esi_cut_at(const struct esi_cuts *cuts,
                                               uint32_t cut)
{
    _Atomic(struct esi_cut_chunk *) *chunk =
        esi_segmented_at(&cuts->chunks, cut >> ESI_CHUNK_LOG2);

    /* Pairs with the release store in copy_chunk(). */
    return &atomic_load_explicit(chunk, memory_order_acquire)
                ->cuts[cut & (ESI_CHUNK - 1)];
}

static inline uint32_t esi_cut_base(const struct esi_cuts *cuts,
                                    uint32_t cut,
                                    uint32_t trace)
{
    const struct esi_cut *of;

    if (cut == 0)
        return 0;
    of = esi_cut_at(cuts, cut);
    if (trace >= of->traces)
        return 0;
    if (of->whole)
        return of->whole[trace];
    return of->pages[trace >> ESI_PAGE_LOG2][trace & (ESI_PAGE - 1)];
}

/* Copies the base of a cut to a vector of `traces` entries. */
void esi_cut_copy_base(const struct esi_cuts *cuts,
                       uint32_t cut,
                       uint32_t traces,
                       uint32_t *ret_base);

/* Copies a cut to the arena of the present era unless it is there already.  Returns 0
 * or -ENOMEM. */
int esi_cuts_carry(struct esi_cuts *cuts, uint32_t cut);

/* Begins a draft for `traces` traces from the base of a cut.  Returns 0 or -ENOMEM. */
int esi_cuts_begin(struct esi_cuts *cuts, uint32_t cut, uint32_t traces);

static inline uint32_t esi_cuts_draft(const struct esi_cuts *cuts, uint32_t trace)
{
    return cuts->draft.pages[trace >> ESI_PAGE_LOG2][trace & (ESI_PAGE - 1)];
}

/* Returns the number of entries that the draft does not share with the cut that it is
 * derived from. */
uint64_t esi_cuts_draft_entries(const struct esi_cuts *cuts);

/* Raises an entry of the draft to `value`. */
void esi_cuts_raise(struct esi_cuts *cuts, uint32_t trace, uint32_t value);

/* Makes a cut from the draft, which no trace has passed yet.  esi_cuts_accept()
 * completes it and cannot fail.  Returns 0 or -ENOMEM. */
int esi_cuts_prepare(struct esi_cuts *cuts, struct esi_cut *ret_cut);
/* Adds a prepared cut and returns its number. */
uint32_t esi_cuts_accept(struct esi_cuts *cuts, const struct esi_cut *cut);

uint64_t esi_cuts_bytes(const struct esi_cuts *cuts);
/* Returns the bytes that only drafts use. */
uint64_t esi_cuts_draft_bytes(const struct esi_cuts *cuts);

#endif
