/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay_costs.c - charges waits to their causes.
 *
 * Since the two threads last met, the late one has spent some time that the waiting one
 * has not: computing before a call, in a call, or waiting for a cause that is already
 * known.  The wait is divided among these excesses in proportion.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/delay/delay_private.h"

enum {
    CAUSES_OF_WAIT = 16,
    PAIRS = 1 << 18, /* distinct pairs of ranks and lines */
    CALL_BITS = 40,  /* in a heap key; the remaining bits are the thread's */
};

/* --- Meetings --------------------------------------------------------------------- */

static struct esi_delay_meeting *find_meeting(const struct esi_delay *delay,
                                              uint32_t low,
                                              uint32_t high)
{
    ESI_HASH_FOREACH(slot, &delay->meeting_table,
                     esi_hash_u64((uint64_t)low << 32 | high)) {
        struct esi_delay_meeting *meeting =
            &delay->meetings[esi_hash_index(&delay->meeting_table, slot)];

        if (meeting->threads[0] == low && meeting->threads[1] == high)
            return meeting;
    }
    return NULL;
}

int esi_delay_meet(struct esi_delay *delay,
                   const struct esi_delay_thread *receiver,
                   uint64_t received_ns,
                   const struct esi_delay_cause *sent)
{
    bool to_high = sent->thread < receiver->number;
    uint32_t low = to_high ? sent->thread : receiver->number;
    uint32_t high = to_high ? receiver->number : sent->thread;
    struct esi_delay_meeting *meeting = find_meeting(delay, low, high);

    if (!meeting) {
        if (ESI_ARRAY_RESERVE(delay->meetings, delay->meeting_capacity,
                              delay->meeting_count + 1) < 0 ||
            esi_hash_reserve(&delay->meeting_table, delay->meeting_count + 1) < 0)
            return -ENOMEM;
        esi_hash_insert(&delay->meeting_table, esi_hash_u64((uint64_t)low << 32 | high),
                        delay->meeting_count);
        meeting = &delay->meetings[delay->meeting_count++];
        *meeting = (struct esi_delay_meeting){.threads = {low, high}};
    }
    if (sent->ns > meeting->to[to_high][0].sent_ns) {
        meeting->to[to_high][1] = meeting->to[to_high][0];
        meeting->to[to_high][0].sent_ns = sent->ns;
        meeting->to[to_high][0].received_ns = received_ns;
    }
    return 0;
}

static void take_later(uint64_t *last_ns, uint64_t ns, uint64_t until_ns)
{
    if (ns <= until_ns && ns > *last_ns)
        *last_ns = ns;
}

/* The last instance of a communicator's operations in which both took part. */
static void meet_in_collectives(const struct esi_delay_collective *one,
                                const struct esi_delay_collective *other,
                                uint64_t before_ns,
                                uint64_t *last_ns)
{
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 2; j++)
            if (one->instances[i] != 0 && one->instances[i] == other->instances[j])
                take_later(last_ns, one->ns[i], before_ns);
}

uint64_t esi_delay_last_meeting(const struct esi_delay *delay,
                                const struct esi_delay_thread *waiting,
                                uint64_t begin_ns,
                                const struct esi_delay_cause *cause)
{
    const struct esi_delay_thread *late = delay->threads[cause->thread];
    bool to_high = late->number < waiting->number; /* messages received by the
                                                      waiting thread */
    const struct esi_delay_meeting *meeting =
        find_meeting(delay, to_high ? late->number : waiting->number,
                     to_high ? waiting->number : late->number);
    uint64_t last_ns = 0;

    for (unsigned i = 0; meeting && i < 2; i++) {
        if (meeting->to[to_high][i].received_ns <= begin_ns)
            take_later(&last_ns, meeting->to[to_high][i].sent_ns, begin_ns);
        if (meeting->to[!to_high][i].received_ns <= cause->ns)
            take_later(&last_ns, meeting->to[!to_high][i].sent_ns, begin_ns);
    }
    for (unsigned i = 0; i < waiting->collective_count; i++)
        for (unsigned j = 0; j < late->collective_count; j++)
            if (waiting->collectives[i].trace == late->collectives[j].trace)
                meet_in_collectives(&waiting->collectives[i], &late->collectives[j],
                                    begin_ns, &last_ns);
    return last_ns;
}

/* --- Shares ----------------------------------------------------------------------- */

static bool is_activity(uint64_t key)
{
    return key <= UINT32_MAX;
}

/* The late thread may have waited for an activity of the waiting one, or vice versa:
 * both were delayed by it, so neither has an excess of it. */
static void cancel_both(struct esi_delay *delay, uint32_t late, uint32_t waiting)
{
    for (size_t i = 0; i < delay->excess.count; i++) {
        struct esi_tally_item *cause = &delay->excess.items[i];
        uint32_t of = (uint32_t)(cause->key >> 32) - 1;
        /* If it was an excess of the thread that did it. */
        double sign = of == late ? 1 : -1;
        struct esi_tally_item *activity;
        double both;

        if (is_activity(cause->key) || (of != late && of != waiting) ||
            sign * cause->sum >= 0)
            continue;
        activity = esi_tally_find(&delay->excess, (uint32_t)cause->key);
        if (!activity || sign * activity->sum <= 0)
            continue;
        both = sign * activity->sum < -sign * cause->sum ? sign * activity->sum
                                                         : -sign * cause->sum;
        activity->sum -= sign * both;
        cause->sum += sign * both;
    }
}

/* Finds the excess activities of the late thread.  Returns their sum, or -ENOMEM. */
static double find_excess(struct esi_delay *delay,
                          const struct esi_delay_thread *thread,
                          const struct esi_delay_call *call)
{
    const struct esi_delay_thread *late = delay->threads[call->cause.thread];
    double sum = 0;
    int cut;

    esi_tally_clear(&delay->excess);
    cut = esi_delay_thread_sum(late, call->since_ns, call->cause.ns, 1, &delay->excess);
    if (cut < 0 || esi_delay_thread_sum(thread, call->since_ns, call->begin_ns, -1,
                                        &delay->excess) < 0)
        return -ENOMEM;
    delay->totals.truncated += (uint64_t)cut;
    cancel_both(delay, late->number, thread->number);
    for (size_t i = 0; i < delay->excess.count; i++)
        if (delay->excess.items[i].sum > 0)
            sum += delay->excess.items[i].sum;
    return sum;
}

/* The activity of the late thread at, or just before, this time. */
static uint64_t nearest_activity(const struct esi_delay_thread *late, uint64_t ns)
{
    const struct esi_delay_call *call =
        esi_delay_thread_call(late, esi_delay_thread_find(late, ns > 0 ? ns - 1 : 0));

    if (!call)
        return ESI_DELAY_ELSEWHERE;
    return esi_delay_cause_key(late->number, ns > call->begin_ns
                                                 ? esi_delay_calling(call->place)
                                                 : esi_delay_computing(call->place));
}

/* Fills delay->causes, which add up to the wait.  Returns 0 or -ENOMEM. */
static int share_wait(struct esi_delay *delay,
                      const struct esi_delay_thread *thread,
                      const struct esi_delay_call *call)
{
    const struct esi_delay_thread *late = delay->threads[call->cause.thread];
    double wait = (double)(call->until_ns - call->begin_ns);
    double sum = find_excess(delay, thread, call);
    int result = sum < 0 ? -ENOMEM : 0;

    esi_tally_clear(&delay->causes);
    if (sum <= 0 && result == 0)
        return esi_tally_add(&delay->causes, nearest_activity(late, call->cause.ns),
                             wait);
    for (size_t i = 0; i < delay->excess.count && result == 0; i++) {
        const struct esi_tally_item *item = &delay->excess.items[i];
        double part = item->sum > 0 ? wait * item->sum / sum : 0;
        uint64_t key = item->key;

        if (part <= 0)
            continue;
        if (is_activity(key))
            key = esi_delay_cause_key(late->number, (uint32_t)key);
        result = esi_tally_add(&delay->causes, key, part);
    }
    return result;
}

static int compare_causes(const void *left, const void *right)
{
    const struct esi_tally_item *a = left;
    const struct esi_tally_item *b = right;

    if (a->sum != b->sum)
        return a->sum > b->sum ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Stores the largest causes in the call, for waits that depend on this one. */
static int keep_causes(const struct esi_delay *delay, struct esi_delay_call *call)
{
    size_t count = delay->causes.count;
    struct esi_tally_item *items = malloc(count * sizeof *items);
    double rest = 0;

    if (!items)
        return -ENOMEM;
    memcpy(items, delay->causes.items, count * sizeof *items);
    if (count > CAUSES_OF_WAIT) {
        qsort(items, count, sizeof *items, compare_causes);
        for (size_t i = CAUSES_OF_WAIT - 1; i < count; i++)
            rest += items[i].sum;
        count = CAUSES_OF_WAIT;
        items[count - 1] =
            (struct esi_tally_item){.key = ESI_DELAY_ELSEWHERE, .sum = rest};
    }
    call->causes = items;
    call->cause_count = (uint16_t)count;
    return 0;
}

/* --- Charging --------------------------------------------------------------------- */

static bool is_collective(const struct esi_delay_call *call)
{
    return call->cause.kind >= ESI_DELAY_BARRIER &&
           call->cause.kind <= ESI_DELAY_PARTIAL;
}

static int charge_cause(struct esi_delay *delay,
                        const struct esi_delay_thread *thread,
                        uint64_t number,
                        const struct esi_delay_call *call,
                        const struct esi_tally_item *cause)
{
    uint32_t activity = (uint32_t)cause->key;
    uint32_t causing = (uint32_t)(cause->key >> 32) - 1;
    const struct esi_delay_place *place;
    const struct esi_delay_thread *of;
    struct esi_delay_times *line;
    bool direct = causing == call->cause.thread;
    uint64_t waiting;

    if (cause->key == ESI_DELAY_ELSEWHERE) {
        delay->totals.elsewhere += cause->sum;
        delay->totals.indirect += cause->sum;
        return 0;
    }
    of = delay->threads[causing];
    place = &delay->places[activity / 2];
    esi_delay_row_times(delay, ESI_DELAY_BY_RANK, of->row)->caused += cause->sum;
    line = esi_delay_row_times(delay, ESI_DELAY_BY_LINE, place->line);
    line->caused += cause->sum;
    esi_delay_row_block(delay, ESI_DELAY_BY_RANK, of->row, number, ESI_DELAY_CAUSED,
                        cause->sum);
    esi_delay_row_block(delay, ESI_DELAY_BY_LINE, place->line, number, ESI_DELAY_CAUSED,
                        cause->sum);
    if (activity % 2 == 0)
        line->caused_computing += cause->sum;
    else
        esi_delay_row_times(delay, ESI_DELAY_BY_OPERATION, place->operation)->caused +=
            cause->sum;
    if (direct) {
        esi_delay_row_times(delay, ESI_DELAY_BY_RANK, of->row)->direct += cause->sum;
        line->direct += cause->sum;
        delay->totals.direct += cause->sum;
    } else {
        delay->totals.indirect += cause->sum;
    }
    waiting = delay->pairs.count < PAIRS ? thread->row : ESI_DELAY_OTHERS;
    if (is_collective(call) && delay->blames.count < PAIRS &&
        esi_tally_add(&delay->blames,
                      esi_delay_pair_key(delay->threads[call->cause.thread]->row,
                                         of->row, activity),
                      cause->sum) < 0)
        return -ENOMEM;
    return esi_tally_add(&delay->pairs, esi_delay_pair_key(waiting, of->row, activity),
                         cause->sum);
}

static void sum_wait(struct esi_delay *delay,
                     struct esi_delay_thread *thread,
                     uint64_t number,
                     const struct esi_delay_call *call)
{
    const struct esi_delay_place *place = &delay->places[call->place];
    const uint32_t rows[ESI_DELAY_GROUPS] = {
        [ESI_DELAY_BY_RANK] = thread->row,
        [ESI_DELAY_BY_OPERATION] = place->operation,
        [ESI_DELAY_BY_COMMUNICATOR] = call->communicator,
        [ESI_DELAY_BY_LINE] = place->line,
        [ESI_DELAY_BY_KIND] = call->cause.kind,
    };
    double wait = (double)(call->until_ns - call->begin_ns);

    esi_delay_account(delay, thread);
    for (int group = 0; group < ESI_DELAY_GROUPS; group++) {
        struct esi_delay_times *times =
            esi_delay_row_times(delay, (enum esi_delay_group)group, rows[group]);

        times->waited += wait;
        times->called -= wait;
        esi_delay_row_block(delay, (enum esi_delay_group)group, rows[group], number,
                            ESI_DELAY_WAITED, wait);
        esi_delay_row_block(delay, (enum esi_delay_group)group, rows[group], number,
                            ESI_DELAY_CALLED, -wait);
        times->nonblocking += call->nonblocking ? wait : 0;
        times->polling += place->of->poll ? wait : 0;
    }
    esi_delay_row_times(delay, ESI_DELAY_BY_KIND, call->cause.kind)->calls++;
    delay->totals.waits++;
    delay->totals.waited += wait;
}

void esi_delay_wait_on(struct esi_delay *delay, struct esi_delay_thread *thread)
{
    struct esi_delay_call *call = esi_delay_thread_call(thread, thread->next - 1);
    uint64_t waited_ns = call->end_ns - call->begin_ns;

    call->until_ns = call->end_ns;
    call->cause = (struct esi_delay_cause){.kind = ESI_DELAY_OPEN};
    call->charged = true;
    sum_wait(delay, thread, thread->next - 1, call);
    delay->totals.open++;
    delay->totals.open_waited += (double)waited_ns;
    if (waited_ns > delay->totals.open_ns)
        delay->totals.open_ns = waited_ns;
}

static int charge_wait(struct esi_delay *delay,
                       struct esi_delay_thread *thread,
                       uint64_t number,
                       struct esi_delay_call *call)
{
    int result = share_wait(delay, thread, call);

    call->charged = true;
    sum_wait(delay, thread, number, call);
    for (size_t i = 0; i < delay->causes.count && result == 0; i++)
        result = charge_cause(delay, thread, number, call, &delay->causes.items[i]);
    if (result == 0)
        result = keep_causes(delay, call);
    if (result == 0)
        result = esi_path_leave(&delay->paths, thread, call->begin_ns, call->until_ns,
                                delay->threads[call->cause.thread], call->cause.ns);
    return result < 0
               ? result
               : esi_path_join(&delay->paths, delay->threads, delay->thread_count);
}

/* A call whose wait became longer is in the heap twice: the later entry counts. */
static int charge_first(struct esi_delay *delay)
{
    struct esi_heap_entry first = esi_heap_top(&delay->waits);
    struct esi_delay_thread *thread = delay->threads[first.item >> CALL_BITS];
    uint64_t number = first.item & ((UINT64_C(1) << CALL_BITS) - 1);
    struct esi_delay_call *call = esi_delay_thread_call(thread, number);

    esi_heap_pop(&delay->waits);
    if (!call) {
        delay->totals.forgotten++;
        return 0;
    }
    return call->until_ns == first.key && !call->charged
               ? charge_wait(delay, thread, number, call)
               : 0;
}

int esi_delay_expect(struct esi_delay *delay,
                     struct esi_delay_thread *thread,
                     struct esi_delay_call *call)
{
    uint64_t place = (uint64_t)(call - thread->calls);
    uint64_t number = thread->first + ((place - thread->first) & thread->mask);

    if (esi_heap_reserve(&delay->waits, delay->waits.count + 1) < 0)
        return -ENOMEM;
    esi_heap_push(&delay->waits, call->until_ns,
                  (uint64_t)thread->number << CALL_BITS | number);
    return delay->waits.count > delay->config.lag ? charge_first(delay) : 0;
}

int esi_delay_settle(struct esi_delay *delay)
{
    int result = 0;

    while (delay->waits.count > 0 && result == 0)
        result = charge_first(delay);
    for (size_t i = 0; i < delay->thread_count; i++)
        esi_delay_account(delay, delay->threads[i]);
    return result;
}
