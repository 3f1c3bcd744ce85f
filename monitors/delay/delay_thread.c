/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_thread.c - the last calls of a thread. */
#include "config.h"

#include "monitors/delay/delay_thread.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_CALLS = 16 };

struct esi_delay_thread *esi_delay_thread_create(uint32_t number, size_t window)
{
    struct esi_delay_thread *thread = calloc(1, sizeof *thread);

    if (!thread)
        return NULL;
    thread->number = number;
    thread->window = window;
    return thread;
}

void esi_delay_thread_destroy(struct esi_delay_thread *thread)
{
    if (!thread)
        return;
    while (thread->first < thread->next)
        esi_delay_thread_forget(thread);
    free(thread->calls);
    free(thread);
}

/* --- Calls ------------------------------------------------------------------------ */

void esi_delay_thread_forget(struct esi_delay_thread *thread)
{
    free(thread->calls[thread->first & thread->mask].causes);
    thread->first++;
}

/* Doubles the ring. */
static int grow_calls(struct esi_delay_thread *thread)
{
    size_t places = thread->calls ? 2 * (thread->mask + 1) : FIRST_CALLS;
    struct esi_delay_call *calls = calloc(places, sizeof *calls);

    if (!calls)
        return -ENOMEM;
    for (uint64_t i = thread->first; i < thread->next; i++)
        calls[i & (places - 1)] = thread->calls[i & thread->mask];
    free(thread->calls);
    thread->calls = calls;
    thread->mask = places - 1;
    return 0;
}

struct esi_delay_call *esi_delay_thread_add(struct esi_delay_thread *thread,
                                            uint64_t begin_ns,
                                            uint64_t end_ns)
{
    bool grows = !thread->calls || thread->next - thread->first > thread->mask;
    struct esi_delay_call *call;

    if (grows && grow_calls(thread) < 0)
        return NULL;
    if (thread->last_ns == 0)
        thread->last_ns = begin_ns; /* the time before is not known */
    if (begin_ns < thread->last_ns)
        begin_ns = thread->last_ns;
    call = &thread->calls[thread->next++ & thread->mask];
    *call = (struct esi_delay_call){
        .from_ns = thread->last_ns,
        .begin_ns = begin_ns,
        .end_ns = end_ns > begin_ns ? end_ns : begin_ns,
    };
    thread->last_ns = call->end_ns;
    return call;
}

void esi_delay_thread_skip(struct esi_delay_thread *thread, uint64_t until_ns)
{
    if (until_ns > thread->last_ns)
        thread->last_ns = until_ns;
}

uint64_t esi_delay_thread_find(const struct esi_delay_thread *thread, uint64_t ns)
{
    uint64_t low = thread->first;
    uint64_t high = thread->next;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (thread->calls[middle & thread->mask].end_ns > ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* --- Sums ------------------------------------------------------------------------- */

static uint64_t overlap_of(uint64_t a, uint64_t b, uint64_t begin, uint64_t end)
{
    uint64_t low = a > begin ? a : begin;
    uint64_t high = b < end ? b : end;

    return high > low ? high - low : 0;
}

static int sum_waits(const struct esi_delay_call *call,
                     uint64_t waited,
                     double sign,
                     struct esi_tally *tally)
{
    double part = (double)waited / (double)(call->until_ns - call->begin_ns);
    int result = 0;

    for (size_t i = 0; i < call->cause_count && result == 0; i++)
        result = esi_tally_add(tally, call->causes[i].key,
                               sign * part * call->causes[i].sum);
    return result;
}

static int sum_call(const struct esi_delay_call *call,
                    uint64_t begin_ns,
                    uint64_t end_ns,
                    double sign,
                    struct esi_tally *tally)
{
    uint64_t computed = overlap_of(call->from_ns, call->begin_ns, begin_ns, end_ns);
    uint64_t called = overlap_of(call->begin_ns, call->end_ns, begin_ns, end_ns);
    uint64_t waited = 0;
    int result = 0;

    if (call->until_ns > 0)
        waited = overlap_of(call->begin_ns, call->until_ns, begin_ns, end_ns);
    if (computed > 0)
        result = esi_tally_add(tally, esi_delay_computing(call->place),
                               sign * (double)computed);
    if (called > waited && result == 0)
        result = esi_tally_add(tally, esi_delay_calling(call->place),
                               sign * (double)(called - waited));
    if (waited > 0 && result == 0)
        result = sum_waits(call, waited, sign, tally);
    return result;
}

int esi_delay_thread_sum(const struct esi_delay_thread *thread,
                         uint64_t begin_ns,
                         uint64_t end_ns,
                         double sign,
                         struct esi_tally *tally)
{
    uint64_t number = esi_delay_thread_find(thread, begin_ns);
    const struct esi_delay_call *call;
    bool is_cut = thread->first > 0 && number == thread->first &&
                  esi_delay_thread_call(thread, number)->from_ns > begin_ns;

    for (; (call = esi_delay_thread_call(thread, number)); number++) {
        if (call->from_ns >= end_ns)
            break;
        if (sum_call(call, begin_ns, end_ns, sign, tally) < 0)
            return -ENOMEM;
    }
    return is_cut;
}
