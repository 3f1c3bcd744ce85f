/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_cut.c - base vectors in pages that cuts share. */
#include "config.h"

#include "monitors/order/epoch/epoch_cut.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const uint32_t empty_page[ESI_PAGE];

static uint32_t pages_of(uint32_t traces)
{
    return (uint32_t)(((uint64_t)traces + ESI_PAGE - 1) >> ESI_PAGE_LOG2);
}

/* --- Chunks ----------------------------------------------------------------------- */

static _Atomic(struct esi_cut_chunk *) *chunk_at(const struct esi_cuts *cuts,
                                                 uint32_t cut)
{
    return esi_segmented_at(&cuts->chunks, cut >> ESI_CHUNK_LOG2);
}

/* Copies a cut's chunk to the present era, or creates an empty one.  Readers may still
 * use the old chunk. */
static struct esi_cut_chunk *copy_chunk(struct esi_cuts *cuts, uint32_t cut)
{
    struct esi_cut_chunk *old =
        atomic_load_explicit(chunk_at(cuts, cut), memory_order_relaxed);
    struct esi_cut_chunk *made = esi_arena_take(&cuts->arena, sizeof *made);

    if (!made)
        return NULL;
    if (old)
        memcpy(made, old, sizeof *made);
    else
        memset(made, 0, sizeof *made);
    made->era = cuts->arena.era;
    return made;
}

static void put_chunk(struct esi_cuts *cuts, uint32_t cut, struct esi_cut_chunk *chunk)
{
    /* Pairs with esi_cut_at(). */
    atomic_store_explicit(chunk_at(cuts, cut), chunk, memory_order_release);
}

/* Makes room for a cut that is not published yet. */
static int reserve_cut(struct esi_cuts *cuts, uint32_t cut)
{
    struct esi_cut_chunk *chunk;

    if (esi_segmented_count(&cuts->chunks) == cut >> ESI_CHUNK_LOG2 &&
        !esi_segmented_extend(&cuts->chunks, 1, NULL))
        return -ENOMEM;
    chunk = atomic_load_explicit(chunk_at(cuts, cut), memory_order_relaxed);
    if (chunk && chunk->era == cuts->arena.era)
        return 0;
    chunk = copy_chunk(cuts, cut);
    if (!chunk)
        return -ENOMEM;
    put_chunk(cuts, cut, chunk);
    return 0;
}

void esi_cut_copy_base(const struct esi_cuts *cuts,
                       uint32_t cut,
                       uint32_t traces,
                       uint32_t *ret_base)
{
    const struct esi_cut *of = esi_cut_at(cuts, cut);
    uint32_t has = of->traces < traces ? of->traces : traces;

    for (uint32_t trace = 0; trace < has; trace += ESI_PAGE)
        memcpy(&ret_base[trace], of->pages[trace >> ESI_PAGE_LOG2],
               (has - trace < ESI_PAGE ? has - trace : ESI_PAGE) * sizeof *ret_base);
    memset(&ret_base[has], 0, (traces - has) * sizeof *ret_base);
}

int esi_cuts_carry(struct esi_cuts *cuts, uint32_t cut)
{
    const struct esi_cut *of = esi_cut_at(cuts, cut);
    uint32_t pages = pages_of(of->traces), traces = of->traces, *vector;
    struct esi_cut_chunk *chunk;
    const uint32_t **kept;

    if (of->era == cuts->arena.era)
        return 0;
    kept = esi_arena_take(&cuts->arena, (pages + 1) * sizeof *kept);
    vector = esi_arena_take(&cuts->arena, (traces + 1) * sizeof *vector);
    chunk = copy_chunk(cuts, cut);
    if (!kept || !vector || !chunk)
        return -ENOMEM;
    esi_cut_copy_base(cuts, cut, traces, vector);
    for (uint32_t i = 0; i < pages; i++)
        kept[i] = vector + (size_t)i * ESI_PAGE;
    chunk->cuts[cut & (ESI_CHUNK - 1)] = (struct esi_cut){
        .pages = kept, .whole = vector, .traces = traces, .era = cuts->arena.era};
    put_chunk(cuts, cut, chunk);
    return 0;
}

/* --- Creation and destruction ----------------------------------------------------- */

int esi_cuts_init(struct esi_cuts *cuts, size_t page_bytes)
{
    memset(cuts, 0, sizeof *cuts);
    esi_arena_use_pages(&cuts->arena, page_bytes);
    esi_segmented_init(&cuts->chunks, sizeof(_Atomic(struct esi_cut_chunk *)), 2);
    return reserve_cut(cuts, 0);
}

void esi_cuts_fini(struct esi_cuts *cuts)
{
    esi_segmented_fini(&cuts->chunks);
    esi_arena_fini(&cuts->arena);
    free(cuts->draft.pages);
    free(cuts->draft.own);
}

/* --- The draft -------------------------------------------------------------------- */

int esi_cuts_begin(struct esi_cuts *cuts, uint32_t cut, uint32_t traces)
{
    const struct esi_cut *of;
    uint32_t whole, pages = pages_of(traces);
    int code = esi_array_grow_pair(&cuts->draft.pages, sizeof *cuts->draft.pages,
                                   &cuts->draft.own, ESI_PAGE * sizeof *cuts->draft.own,
                                   &cuts->draft.room, pages);

    /* Shared pages must be in this era. */
    if (code >= 0)
        code = esi_cuts_carry(cuts, cut);
    if (code < 0)
        return code;
    of = esi_cut_at(cuts, cut);
    whole = of->traces >> ESI_PAGE_LOG2;
    cuts->draft.of = cut;
    cuts->draft.traces = traces;
    for (uint32_t i = 0; i < pages; i++)
        cuts->draft.pages[i] = i < whole ? of->pages[i] : empty_page;
    /* Its last page ends at its number of traces. */
    for (uint32_t trace = whole << ESI_PAGE_LOG2; trace < of->traces; trace++)
        esi_cuts_raise(cuts, trace, esi_cut_base(cuts, cut, trace));
    return 0;
}

void esi_cuts_raise(struct esi_cuts *cuts, uint32_t trace, uint32_t value)
{
    uint32_t page = trace >> ESI_PAGE_LOG2;
    uint32_t *own = cuts->draft.own + (size_t)page * ESI_PAGE;

    if (value <= esi_cuts_draft(cuts, trace))
        return;
    if (cuts->draft.pages[page] != own) {
        memcpy(own, cuts->draft.pages[page], ESI_PAGE * sizeof *own);
        cuts->draft.pages[page] = own;
    }
    own[trace & (ESI_PAGE - 1)] = value;
}

/* Returns the number of entries that a page needs. */
static uint32_t page_entries(const struct esi_cuts *cuts, uint32_t page)
{
    uint32_t left = cuts->draft.traces - (page << ESI_PAGE_LOG2);

    return left < ESI_PAGE ? left : ESI_PAGE;
}

static bool is_own(const struct esi_cuts *cuts, uint32_t page)
{
    return cuts->draft.pages[page] == cuts->draft.own + (size_t)page * ESI_PAGE;
}

uint64_t esi_cuts_draft_entries(const struct esi_cuts *cuts)
{
    uint64_t entries = 0;

    for (uint32_t i = 0; i < pages_of(cuts->draft.traces); i++)
        if (is_own(cuts, i))
            entries += page_entries(cuts, i);
    return entries;
}

/* Copies the draft's own pages to `kept`, contiguously. */
static int keep_pages(struct esi_cuts *cuts, const uint32_t **kept)
{
    uint64_t entries = esi_cuts_draft_entries(cuts);
    uint32_t *next = esi_arena_take(&cuts->arena, entries * sizeof *next);

    if (!next)
        return -ENOMEM;
    for (uint32_t i = 0; i < pages_of(cuts->draft.traces); i++) {
        kept[i] = cuts->draft.pages[i];
        if (!is_own(cuts, i))
            continue;
        memcpy(next, kept[i], page_entries(cuts, i) * sizeof *next);
        kept[i] = next;
        next += page_entries(cuts, i);
    }
    return 0;
}

int esi_cuts_prepare(struct esi_cuts *cuts, struct esi_cut *ret_cut)
{
    uint32_t pages = pages_of(cuts->draft.traces);
    const uint32_t **kept = esi_arena_take(&cuts->arena, pages * sizeof *kept);
    bool is_whole = esi_cuts_draft_entries(cuts) == cuts->draft.traces;

    if (!kept || reserve_cut(cuts, cuts->last + 1) < 0)
        return -ENOMEM;
    if (keep_pages(cuts, kept) < 0)
        return -ENOMEM;
    *ret_cut = (struct esi_cut){.pages = kept,
                                .whole = is_whole ? kept[0] : NULL,
                                .traces = cuts->draft.traces,
                                .era = cuts->arena.era};
    return 0;
}

uint32_t esi_cuts_accept(struct esi_cuts *cuts, const struct esi_cut *cut)
{
    uint32_t number = ++cuts->last;
    struct esi_cut_chunk *chunk =
        atomic_load_explicit(chunk_at(cuts, number), memory_order_relaxed);

    chunk->cuts[number & (ESI_CHUNK - 1)] = *cut;
    return number;
}

uint64_t esi_cuts_bytes(const struct esi_cuts *cuts)
{
    return esi_segmented_bytes(&cuts->chunks) + esi_arena_bytes(&cuts->arena);
}

uint64_t esi_cuts_draft_bytes(const struct esi_cuts *cuts)
{
    return cuts->draft.room *
           (sizeof *cuts->draft.pages + ESI_PAGE * sizeof *cuts->draft.own);
}
