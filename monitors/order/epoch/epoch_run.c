/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_run.c - a list of arrays of segments: see epoch_run.h. */
#include "config.h"

#include "monitors/order/epoch/epoch_run.h"

#include <string.h>

enum { FIRST_SEGMENTS = 4 };

/* --- Finding ---------------------------------------------------------------------- */

/* The segment of a run in which an event is that is not before it. */
static uint32_t find(const struct esi_run *run, uint32_t own)
{
    /* Pairs with esi_run_add(). */
    uint32_t count = atomic_load_explicit(&run->count, memory_order_acquire);
    const struct esi_segment *segments = run->segments;
    uint32_t low = 0, high = count - 1, step = 1, guess;
    uint32_t span = segments[high].first - run->first;

    /* Epochs tend to be of a size: look near where it would be then. */
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

    /* A run that begins after the event is after a run of the event, which is there. */
    while (run->first > own)
        run = run->jump_first > own ? run->jump : run->older;
    return (struct esi_run_place){run, find(run, own)};
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

static struct esi_run *make_run(uint32_t room, struct esi_arena *arena)
{
    struct esi_run *run =
        esi_arena_take(arena, sizeof *run + room * sizeof run->segments[0]);

    if (run)
        *run = (struct esi_run){.era = arena->era, .room = room};
    return run;
}

/* Jumps so that a jump and the one before it, of one length, are followed by one of
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

/* The same with twice the room; readers of the old one find the same there. */
static struct esi_run *grow_run(const struct esi_run *run, struct esi_arena *arena)
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

struct esi_run *esi_run_reserve(struct esi_run *newest,
                                uint32_t first,
                                uint32_t forgotten,
                                struct esi_arena *arena)
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

void esi_run_add(struct esi_run *run, const struct esi_segment *segment)
{
    uint32_t count = atomic_load_explicit(&run->count, memory_order_relaxed);

    run->segments[count] = *segment;
    /* Whoever sees the count sees the segment. */
    atomic_store_explicit(&run->count, count + 1, memory_order_release);
}
