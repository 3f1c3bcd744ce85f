/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Sorts the events of a thread's elements.
 *
 * The events of each element arrive in order, except for receives that were held back.
 * Events are appended and sorted at the end of a reading by a merge sort that starts
 * with the existing runs, about one per element.
 */
#include "config.h"

#include "monitors/causality/causal_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Order at one tick: operations that end precede operations that start, unless they
 * also started at this tick. */
enum { RANK_STOP, RANK_WHOLE, RANK_START, RANK_STOP_AT_ONCE };

/* Bound of the difference between the clocks of two hosts.  If it is too large, losses
 * are detected late, which costs memory; if it is too small, edges are missing. */
#define MARGIN_NS UINT64_C(50000000)

static bool is_before(const struct esi_placed *a, const struct esi_placed *b)
{
    return a->time != b->time ? a->time < b->time : a->rank < b->rank;
}

static uint8_t rank_of(const struct es_tuple *tuple, enum esi_role role)
{
    switch (role) {
    case ESI_ROLE_SEND:
    case ESI_ROLE_ENTER:
        return RANK_START;
    case ESI_ROLE_WHOLE:
        return RANK_WHOLE;
    default:
        return tuple->start == tuple->stop ? RANK_STOP_AT_ONCE : RANK_STOP;
    }
}

/* An operation under way has no stop. */
static bool is_at_start(const struct es_tuple *tuple, enum esi_role role)
{
    return role == ESI_ROLE_SEND || role == ESI_ROLE_ENTER ||
           (role == ESI_ROLE_WHOLE && tuple->stop == 0);
}

/* Makes room for one more event; reuses the room of emitted events. */
static int make_room(struct esi_causal_thread *thread)
{
    size_t count = thread->tail - thread->head;

    if (thread->tail < thread->room)
        return 0;
    if (thread->head <= thread->room / 2 &&
        ESI_ARRAY_RESERVE(thread->events, thread->room, thread->room + 1) < 0)
        return -ENOMEM;
    if (thread->head == 0)
        return 0;
    memmove(thread->events, thread->events + thread->head,
            count * sizeof *thread->events);
    thread->released -= thread->head;
    thread->tail = count;
    thread->head = 0;
    return 0;
}

int esi_thread_place(struct esi_item *item, enum esi_role role)
{
    struct esi_causal_thread *thread = item->element->thread;
    const struct esi_causal_tuple *told = &item->told;
    bool at_start = is_at_start(&told->tuple, role);
    struct esi_placed placed = {.time = at_start ? told->tuple.start : told->tuple.stop,
                                .item = item,
                                .rank = rank_of(&told->tuple, role),
                                .role = (uint8_t)role};

    if (make_room(thread) < 0)
        return -ENOMEM;
    if (thread->tail > thread->released &&
        is_before(&placed, &thread->events[thread->tail - 1]))
        thread->sorted = false;
    thread->events[thread->tail++] = placed;
    item->left++;
    if (placed.time > thread->newest) {
        thread->newest = placed.time;
        thread->newest_ns = at_start ? told->start_ns : told->stop_ns;
    }
    return 0;
}

/* --- Sorting ---------------------------------------------------------------------- */

static size_t run_end(const struct esi_placed *events, size_t at, size_t count)
{
    at++;
    while (at < count && !is_before(&events[at], &events[at - 1]))
        at++;
    return at;
}

static void merge_sorted(const struct esi_placed *from,
                         size_t middle,
                         size_t count,
                         struct esi_placed *to)
{
    size_t left = 0;
    size_t right = middle;

    for (size_t i = 0; i < count; i++) {
        bool take_right =
            left == middle || (right < count && is_before(&from[right], &from[left]));

        to[i] = take_right ? from[right++] : from[left++];
    }
}

/* Merges adjacent runs into `to`; returns the number of runs before. */
static size_t merge_runs(const struct esi_placed *from,
                         size_t count,
                         struct esi_placed *to)
{
    size_t runs = 0;

    for (size_t at = 0; at < count; runs++) {
        size_t middle = run_end(from, at, count);
        size_t end = middle < count ? run_end(from, middle, count) : middle;

        merge_sorted(from + at, middle - at, end - at, to + at);
        runs += end > middle;
        at = end;
    }
    return runs;
}

/* Stable: events of one element with equal ticks keep their order. */
static int sort_placed(struct esi_placed *events, size_t count)
{
    struct esi_placed *other = malloc(count * sizeof *other);
    struct esi_placed *from = events;
    struct esi_placed *to = other;
    size_t runs;

    if (!other)
        return -ENOMEM;
    do {
        struct esi_placed *swap = from;

        runs = merge_runs(from, count, to);
        from = to;
        to = swap;
    } while (runs > 2);
    if (from != events)
        memcpy(events, from, count * sizeof *events);
    free(other);
    return 0;
}

/* Returns the index of the first sorted event after `limit`. */
static size_t find_end(const struct esi_causal_thread *thread, uint64_t limit)
{
    size_t low = thread->released;
    size_t high = thread->tail;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (thread->events[middle].time <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int esi_thread_release(struct esi_causal_thread *thread, uint64_t limit)
{
    size_t end;

    if (thread->released == thread->tail)
        return 0;
    if (!thread->sorted && sort_placed(thread->events + thread->released,
                                       thread->tail - thread->released) < 0)
        return -ENOMEM;
    thread->sorted = true;
    end = find_end(thread, limit);
    if (end == thread->released)
        return 0;
    thread->released = end;
    if (thread->events[end - 1].time > thread->passed)
        thread->passed = thread->events[end - 1].time;
    return 0;
}

/* --- Waiting ---------------------------------------------------------------------- */

struct esi_posted *esi_thread_find_posted(const struct esi_causal_thread *thread,
                                          uint32_t index)
{
    size_t low = thread->posted_first, high = thread->posted_end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (thread->posted[middle].as.index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < thread->posted_end && thread->posted[low].as.index == index
               ? &thread->posted[low]
               : NULL;
}

void esi_thread_make_runnable(struct esi_matching *matching,
                              struct esi_causal_thread *thread)
{
    if (thread->runnable)
        return;
    thread->runnable = true;
    thread->next_runnable = matching->runnable;
    matching->runnable = thread;
}

void esi_thread_wait(struct esi_causal_thread *thread, struct esi_waiters *waiters)
{
    if (thread->waits_in == waiters)
        return;
    esi_thread_leave(thread);
    thread->waits_in = waiters;
    thread->next_waiter = waiters->first;
    waiters->first = thread;
}

void esi_thread_leave(struct esi_causal_thread *thread)
{
    struct esi_causal_thread **at;

    if (!thread->waits_in)
        return;
    at = &thread->waits_in->first;
    while (*at != thread)
        at = &(*at)->next_waiter;
    *at = thread->next_waiter;
    thread->waits_in = NULL;
}

void esi_waiters_wake(struct esi_matching *matching, struct esi_waiters *waiters)
{
    while (waiters->first) {
        struct esi_causal_thread *thread = waiters->first;

        esi_thread_leave(thread);
        esi_thread_make_runnable(matching, thread);
    }
}

/* --- Waiting for members ---------------------------------------------------------- */

bool esi_thread_has_passed(const struct esi_matching *matching,
                           const struct esi_run_communicator *communicator,
                           uint32_t slot,
                           uint64_t ns)
{
    const struct esi_run_process *process = esi_run_slot_process(communicator, slot);
    uint64_t bound = ns + MARGIN_NS;
    uint64_t patience = matching->patience_ns;

    if (matching->finished)
        return true;
    /* Members without new tuples are waited for only for a limited time. */
    if (matching->settled_ns > patience && matching->settled_ns - patience > bound)
        return true;
    if (!process || !process->threads)
        return false;
    if (process->ended)
        return true;
    for (const struct esi_run_thread *thread = process->threads; thread;
         thread = thread->sibling)
        if (matching->threads[thread->number]->settled_ns <= bound)
            return false;
    return true;
}
