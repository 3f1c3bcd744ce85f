/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_cut.h - cuts: what an event that many traces run together in knows of all
 * traces, stored once for everybody who knows that event.
 *
 * Cut c has an event x(c) and a base vector: base(c, p) is the index of the last event
 * of p that is x(c) or precedes it.  Cuts are numbered so that x(1) precedes x(2) and
 * so on; cut 0 is the beginning, whose base is 0 everywhere.  A vector is made of
 * pages; those that a cut did not change are those of the cut before.
 *
 * Cuts lie in the arena of the era in which they were made, or last carried on: see
 * epoch_memory.h.
 *
 *   call                      may run together with
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
    const uint32_t *whole; /* all pages, where they lie side by side; else NULL */
    uint32_t traces;       /* entries of the vector; later traces have 0 */
    uint32_t era;          /* of the arena that it lies in */
};

enum { ESI_CHUNK_LOG2 = 6, ESI_CHUNK = 1 << ESI_CHUNK_LOG2 };

/* Cuts whose numbers follow each other. */
struct esi_cut_chunk {
    uint32_t era;
    struct esi_cut cuts[ESI_CHUNK];
};

/* Caller's memory; its fields are private.  The draft is the cut to be. */
struct esi_cuts {
    struct esi_segmented chunks; /* _Atomic(struct esi_cut_chunk *) */
    uint32_t last;               /* the last cut's number */
    struct esi_epoch_arena arena;
    struct {
        uint32_t of;            /* the cut that it goes out from */
        uint32_t traces;        /* entries */
        size_t room;            /* pages */
        const uint32_t **pages; /* those of the cut before, or own ones: */
        uint32_t *own;          /* page i at i * ESI_PAGE */
    } draft;
};

/* With memory in pages, in chunks of so many bytes, unless that is 0.  0 or -ENOMEM;
 * then it is good for esi_cuts_fini(). */
int esi_cuts_init(struct esi_cuts *cuts, size_t page_bytes);
void esi_cuts_fini(struct esi_cuts *cuts);

/* The last cut's number; for the writer. */
static inline uint32_t esi_cuts_last(const struct esi_cuts *cuts)
{
    return cuts->last;
}

static inline const struct esi_cut *esi_cut_at(const struct esi_cuts *cuts,
                                               uint32_t cut)
{
    _Atomic(struct esi_cut_chunk *) *chunk =
        esi_segmented_at(&cuts->chunks, cut >> ESI_CHUNK_LOG2);

    /* Pairs with the release of whoever carried it on. */
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

/* The base of a cut as a vector of so many traces. */
void esi_cut_copy_base(const struct esi_cuts *cuts,
                       uint32_t cut,
                       uint32_t traces,
                       uint32_t *ret_base);

/* Copies a cut to the arena of the present era, unless it is there.  0 or -ENOMEM. */
int esi_cuts_carry(struct esi_cuts *cuts, uint32_t cut);

/* Begins a draft for so many traces with the base of a cut.  0 or -ENOMEM. */
int esi_cuts_begin(struct esi_cuts *cuts, uint32_t cut, uint32_t traces);

static inline uint32_t esi_cuts_draft(const struct esi_cuts *cuts, uint32_t trace)
{
    return cuts->draft.pages[trace >> ESI_PAGE_LOG2][trace & (ESI_PAGE - 1)];
}

/* Entries of the draft that it does not share with the cut that it goes out from. */
uint64_t esi_cuts_draft_entries(const struct esi_cuts *cuts);

/* Raises an entry of the draft. */
void esi_cuts_raise(struct esi_cuts *cuts, uint32_t trace, uint32_t value);

/* The draft as a cut that nobody has passed yet; it becomes one by
 * esi_cuts_accept(), which cannot fail.  0 or -ENOMEM. */
int esi_cuts_prepare(struct esi_cuts *cuts, struct esi_cut *ret_cut);
/* Returns its number. */
uint32_t esi_cuts_accept(struct esi_cuts *cuts, const struct esi_cut *cut);

uint64_t esi_cuts_bytes(const struct esi_cuts *cuts);
/* Of what is only for drafts. */
uint64_t esi_cuts_draft_bytes(const struct esi_cuts *cuts);

#endif
