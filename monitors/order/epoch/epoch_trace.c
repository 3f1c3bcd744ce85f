/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_trace.c - the segments of a trace, in runs, and its open log. */
#include "config.h"

#include "monitors/order/epoch/epoch_trace.h"

#include <errno.h>
#include <string.h>

static void run_add(struct esi_run *run, const struct esi_segment *segment);

/* === Runs of segments ============================================================= */

enum { FIRST_SEGMENTS = 4 };

/* --- Queries ---------------------------------------------------------------------- */

/* Returns the segment of a run that contains an event, which is not before the run. */
static uint32_t run_find(const struct esi_run *run, uint32_t own)
{
    /* Pairs with the release store in run_add(). */
    uint32_t count = atomic_load_explicit(&run->count, memory_order_acquire);
    const struct esi_segment *segments = run->segments;
    uint32_t low = 0, high = count - 1, step = 1, guess;
    uint32_t span = segments[high].first - run->first;

    /* Epochs tend to have similar sizes: start near the interpolated position. */
    guess = own - run->first < span
                ? (uint32_t)((uint64_t)high * (own - run->first) / span)
                : high;
    if (segments[guess].first <= own) {
        for (low = guess; high - low >= step; step *= 2) {
            if (segments[low + step].first > own) {
                high = low + step - 1;
                break;
            }
            low += step;
        }
    } else {
        for (high = guess - 1; high - low >= step; step *= 2) {
            if (segments[high - step].first <= own) {
                low = high - step;
                break;
            }
            high -= step;
        }
    }
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        if (segments[middle].first <= own)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

struct esi_run_place esi_run_find(const struct esi_run *newest, uint32_t own)
{
    const struct esi_run *run = newest;

    /* A run that begins after the event has an older run, since the event is in one. */
    while (run->first > own)
        run = run->jump_first > own ? run->jump : run->older;
    return (struct esi_run_place){run, run_find(run, own)};
}

bool esi_run_back(struct esi_run_place *place, uint32_t forgotten)
{
    const struct esi_segment *segment = esi_run_segment(place);
    struct esi_run_place before = {place->run, place->at};

    if (segment->first - 1 <= forgotten)
        return false;
    if (before.at > 0) {
        before.at--;
    } else {
        before.run = place->run->older;
        before.at = atomic_load_explicit(&before.run->count, memory_order_acquire) - 1;
    }
    if (esi_run_segment(&before)->cut != segment->cut)
        return false;
    *place = before;
    return true;
}

/* --- Adding ----------------------------------------------------------------------- */

static struct esi_run *make_run(uint32_t room, struct esi_epoch_arena *arena)
{
    struct esi_run *run =
        esi_arena_take(arena, sizeof *run + room * sizeof run->segments[0]);

    if (run)
        *run = (struct esi_run){.era = arena->era, .room = room};
    return run;
}

/* Sets the jump so that two consecutive jumps of equal length are followed by one of
 * their sum (E. W. Myers, An applicative random-access stack, 1983). */
static void link_run(struct esi_run *run,
                     const struct esi_run *older,
                     uint32_t forgotten)
{
    const struct esi_run *jump = older->jump;

    run->older = run->jump = older;
    run->jump_first = older->first;
    run->jump_depth = older->depth;
    run->depth = older->depth + 1;
    if (older->jump_first <= forgotten ||
        older->depth - jump->depth != jump->depth - jump->jump_depth || !jump->jump)
        return;
    run->jump = jump->jump;
    run->jump_first = jump->jump_first;
    run->jump_depth = jump->jump_depth;
}

/* Copies a run with twice the room; readers of the old run find the same segments
 * there. */
static struct esi_run *grow_run(const struct esi_run *run,
                                struct esi_epoch_arena *arena)
{
    struct esi_run *larger = make_run(run->room * 2, arena);
    uint32_t count;

    if (!larger)
        return NULL;
    larger->older = run->older;
    larger->jump = run->jump;
    larger->jump_first = run->jump_first;
    larger->jump_depth = run->jump_depth;
    larger->depth = run->depth;
    larger->first = run->first;
    count = atomic_load_explicit(&run->count, memory_order_relaxed);
    memcpy(larger->segments, run->segments, count * sizeof larger->segments[0]);
    atomic_store_explicit(&larger->count, count, memory_order_relaxed);
    return larger;
}

/* Returns a run with room for another segment, possibly `newest` itself; `first` is the
 * first event of the segment.  NULL means -ENOMEM. */
static struct esi_run *run_reserve(struct esi_run *newest,
                                   uint32_t first,
                                   uint32_t forgotten,
                                   struct esi_epoch_arena *arena)
{
    struct esi_run *run;

    if (newest && newest->era == arena->era)
        return atomic_load_explicit(&newest->count, memory_order_relaxed) < newest->room
                   ? newest
                   : grow_run(newest, arena);
    run = make_run(FIRST_SEGMENTS, arena);
    if (!run)
        return NULL;
    run->first = first;
    if (newest)
        link_run(run, newest, forgotten);
    return run;
}

/* Appends a segment; there must be room. */
static void run_add(struct esi_run *run, const struct esi_segment *segment)
{
    uint32_t count = atomic_load_explicit(&run->count, memory_order_relaxed);

    run->segments[count] = *segment;
    /* A reader that sees the count also sees the segment. */
    atomic_store_explicit(&run->count, count + 1, memory_order_release);
}

/* === Traces ======================================================================= */

/* --- Queries ---------------------------------------------------------------------- */

/* Searches a segment and the earlier ones with the same cut, like esi_block_find(); 0 =
 * nothing. */
static uint32_t find_in_segments(const struct esi_epoch_trace *trace,
                                 const struct esi_cuts *cuts,
                                 struct esi_run_place at,
                                 uint32_t own,
                                 uint32_t of,
                                 uint32_t enough)
{
    uint32_t forgotten = esi_trace_forgotten(trace);

    for (;;) {
        const struct esi_segment *segment = esi_run_segment(&at);
        struct esi_block_place place = {cuts, segment->cut, segment->first};
        int64_t found = segment->block
                            ? esi_block_find(segment->block, &place, own, of, enough)
                            : 0;

        if (found == ESI_BLOCK_NOWHERE)
            return 0;
        if (found || !esi_run_back(&at, forgotten))
            return (uint32_t)found;
        own = segment->first - 1;
    }
}

/* What the cut of an event knows of a trace, and what its log knows beyond that; 0 =
 * nothing, or the cut knows enough. */
struct knowledge {
    uint32_t base, learnt;
};

static struct knowledge known_sealed(const struct esi_epoch_trace *trace,
                                     const struct esi_cuts *cuts,
                                     uint32_t own,
                                     uint32_t of,
                                     uint32_t enough)
{
    struct esi_run_place at = esi_trace_segment(trace, own);
    struct knowledge known = {.base =
                                  esi_cut_base(cuts, esi_run_segment(&at)->cut, of)};

    if (known.base < enough)
        known.learnt = find_in_segments(trace, cuts, at, own, of, enough);
    return known;
}

/* Searches the open log; returns false if it was emptied meanwhile. */
static bool known_open(const struct esi_epoch_trace *trace,
                       const struct esi_cuts *cuts,
                       uint32_t own,
                       uint32_t of,
                       uint32_t enough,
                       struct knowledge *ret_known)
{
    /* Pairs with the release stores in begin_log(). */
    uint32_t turn = atomic_load_explicit(&trace->turn, memory_order_acquire);
    uint32_t cut = atomic_load_explicit(&trace->cut, memory_order_acquire);
    uint32_t continues = atomic_load_explicit(&trace->continues, memory_order_acquire);
    uint32_t sealed = atomic_load_explicit(&trace->sealed, memory_order_acquire);
    uint32_t base = esi_cut_base(cuts, cut, of), found = 0;

    if (base < enough)
        found = esi_log_find(&trace->log, own, of);
    /* Ordered after the loads above, which are all acquire loads. */
    if ((turn & 1) || own <= sealed ||
        atomic_load_explicit(&trace->turn, memory_order_relaxed) != turn)
        return false;
    if (base < enough && !found && continues && sealed > esi_trace_forgotten(trace))
        found = find_in_segments(trace, cuts, esi_trace_segment(trace, sealed), sealed,
                                 of, enough);
    *ret_known = (struct knowledge){.base = base, .learnt = found};
    return true;
}

static struct knowledge known_at(const struct esi_epoch_trace *trace,
                                 const struct esi_cuts *cuts,
                                 uint32_t own,
                                 uint32_t of,
                                 uint32_t enough)
{
    struct knowledge known;

    for (;;) {
        /* Pairs with the release store in add_segment(): the segment is visible. */
        if (own <= atomic_load_explicit(&trace->sealed, memory_order_acquire))
            return known_sealed(trace, cuts, own, of, enough);
        if (known_open(trace, cuts, own, of, enough, &known))
            return known;
    }
}

uint32_t esi_trace_known(const struct esi_epoch_trace *trace,
                         const struct esi_cuts *cuts,
                         uint32_t own,
                         uint32_t of,
                         uint32_t enough)
{
    struct knowledge known = known_at(trace, cuts, own, of, enough);

    return known.learnt ? known.learnt : known.base;
}

uint32_t esi_trace_learnt(const struct esi_epoch_trace *trace,
                          const struct esi_cuts *cuts,
                          uint32_t own,
                          uint32_t of)
{
    return known_at(trace, cuts, own, of, ESI_EXACTLY).learnt;
}

/* --- Sealing ---------------------------------------------------------------------- */

/* Also keeps what a segment refers to as long as the segment. */
static int reserve_segment(struct esi_epoch_trace *trace,
                           struct esi_cuts *cuts,
                           struct esi_epoch_arena *arena)
{
    uint32_t sealed = esi_trace_sealed(trace), forgotten = esi_trace_forgotten(trace);
    struct esi_run *newest = atomic_load_explicit(&trace->run, memory_order_relaxed);
    struct esi_run *run;

    /* The newest run may have been freed. */
    run = run_reserve(sealed > forgotten ? newest : NULL, sealed + 1, forgotten, arena);
    if (!run || esi_cuts_carry(cuts, esi_trace_cut(trace)) < 0)
        return -ENOMEM;
    trace->next_run = run;
    return 0;
}

int esi_trace_prepare(struct esi_epoch_trace *trace,
                      struct esi_cuts *cuts,
                      struct esi_epoch_arena *arena,
                      const unsigned char **ret_block)
{
    struct esi_block_place place = {cuts, esi_trace_cut(trace),
                                    esi_trace_sealed(trace) + 1};

    *ret_block = NULL;
    if (trace->count == esi_trace_sealed(trace))
        return 0;
    if (reserve_segment(trace, cuts, arena) < 0)
        return -ENOMEM;
    return esi_block_pack(&trace->log, trace->count, &place, arena, ret_block);
}

/* Makes a segment of the open log's events up to `last`. */
static void add_segment(struct esi_epoch_trace *trace,
                        const unsigned char *block,
                        uint32_t last)
{
    struct esi_segment segment = {.first = esi_trace_sealed(trace) + 1,
                                  .cut = esi_trace_cut(trace),
                                  .block = block};

    run_add(trace->next_run, &segment);
    /* Pairs with the acquire load of readers, which never see a run without
     * segments. */
    atomic_store_explicit(&trace->run, trace->next_run, memory_order_release);
    /* From here on, readers use the segment. */
    atomic_store_explicit(&trace->sealed, last, memory_order_release);
}

/* Continues the log after a cut, without its first heads. */
static void begin_log(struct esi_epoch_trace *trace, uint32_t heads, uint32_t cut)
{
    uint32_t turn = atomic_load_explicit(&trace->turn, memory_order_relaxed);
    bool continues = cut == esi_trace_cut(trace);

    atomic_store_explicit(&trace->turn, turn + 1, memory_order_relaxed);
    /* A reader that acquires one of these or a store of the log sees the odd turn. */
    esi_log_drop(&trace->log, heads);
    atomic_store_explicit(&trace->cut, cut, memory_order_release);
    atomic_store_explicit(&trace->continues, continues, memory_order_release);
    atomic_store_explicit(&trace->turn, turn + 2, memory_order_release);
}

void esi_trace_seal(struct esi_epoch_trace *trace,
                    const unsigned char *block,
                    uint32_t cut)
{
    if (trace->count > esi_trace_sealed(trace))
        add_segment(trace, block, trace->count);
    begin_log(trace, atomic_load_explicit(&trace->log.head_count, memory_order_relaxed),
              cut);
}

/* Returns the number of heads with about seven eighths of the entries, such that the
 * next head belongs to another event; 0 if there is none. */
static uint32_t older_heads(const struct esi_log *log)
{
    uint32_t heads = atomic_load_explicit(&log->head_count, memory_order_relaxed);
    uint32_t most = log->entry_count - log->entry_count / 8 - 1;

    while (heads > 0 && (uint32_t)esi_log_head(log, heads - 1) > most)
        heads--;
    while (heads > 0 &&
           esi_log_head(log, heads) >> 32 == esi_log_head(log, heads - 1) >> 32)
        heads--;
    return heads;
}

void esi_trace_forget(struct esi_epoch_trace *trace, struct esi_words *words)
{
    uint32_t heads = atomic_load_explicit(&trace->log.head_count, memory_order_relaxed);

    begin_log(trace, heads, 0);
    atomic_store_explicit(&trace->continues, 0, memory_order_release);
    esi_log_fit(&trace->log, words, &trace->turn);
    esi_table_fini(&trace->known);
    trace->is_table_gone = false; /* it would be empty */
}

/* Finds the last sealed part, if the epoch of the log began before it. */
static void find_part_before(const struct esi_epoch_trace *trace,
                             struct esi_cuts *cuts,
                             uint32_t era,
                             struct esi_steps_part *part)
{
    const struct esi_segment *before;
    struct esi_run_place at;

    if (!atomic_load_explicit(&trace->continues, memory_order_relaxed) ||
        part->last <= esi_trace_forgotten(trace))
        return;
    at = esi_trace_segment(trace, part->last);
    before = esi_run_segment(&at);
    part->before = before->block;
    part->is_before_near = at.run->era == era;
    part->before_place = (struct esi_block_place){cuts, before->cut, before->first};
}

/* Packs and seals the first heads of the log as steps; later heads must belong to other
 * events. */
static int seal_heads(struct esi_epoch_trace *trace,
                      uint32_t heads,
                      struct esi_cuts *cuts,
                      uint32_t traces,
                      struct esi_sorting *sorting,
                      struct esi_epoch_arena *arena)
{
    uint32_t count = atomic_load_explicit(&trace->log.head_count, memory_order_relaxed);
    uint32_t sealed = esi_trace_sealed(trace), last = trace->count;
    struct esi_steps_part part = {
        .log = &trace->log,
        .heads = heads,
        .place = {cuts, esi_trace_cut(trace), sealed + 1},
        .last = sealed,
        .traces = traces,
    };
    const unsigned char *block;
    int code;

    if (heads == 0)
        return 0;
    find_part_before(trace, cuts, arena->era, &part);
    if (reserve_segment(trace, cuts, arena) < 0)
        return -ENOMEM;
    code = esi_steps_pack(&part, sorting, arena, &block);
    if (code < 0)
        return code;
    trace->part_count += !esi_steps_is_more(block);
    if (part.heads < count)
        last = (uint32_t)(esi_log_head(&trace->log, part.heads) >> 32) - 1;
    add_segment(trace, block, last);
    begin_log(trace, part.heads, esi_trace_cut(trace));
    return 0;
}

int esi_trace_seal_part(struct esi_epoch_trace *trace,
                        struct esi_cuts *cuts,
                        uint32_t traces,
                        struct esi_sorting *sorting,
                        struct esi_epoch_arena *arena)
{
    return seal_heads(trace, older_heads(&trace->log), cuts, traces, sorting, arena);
}

int esi_trace_seal_all(struct esi_epoch_trace *trace,
                       struct esi_cuts *cuts,
                       uint32_t traces,
                       struct esi_sorting *sorting,
                       struct esi_epoch_arena *arena)
{
    uint32_t heads = atomic_load_explicit(&trace->log.head_count, memory_order_relaxed);

    /* A sync also writes a head for the next event. */
    while (heads > 0 && esi_log_head(&trace->log, heads - 1) >> 32 > trace->count)
        heads--;
    return seal_heads(trace, heads, cuts, traces, sorting, arena);
}
