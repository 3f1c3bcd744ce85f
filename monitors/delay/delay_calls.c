/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay_calls.c - converts events to calls and their waits.
 *
 * The events that an event refers to are its prerequisites.  If the last of them
 * happened while the call was in progress, the call waited for it until then.  The
 * prerequisite of a nonblocking operation was awaited by the call that completes it.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/causality/waits.h"
#include "monitors/delay/delay_private.h"
#include "tuplespace/operation_table.h"

#define BUDGET_CALLS ((size_t)1 << 20) /* kept by all threads together */
enum {
    LEAST_WINDOW = 256,
    OUT_OF_ORDER = 8,       /* number of earlier calls that a message may have
                               overtaken */
    MEETINGS_OF_EVENT = 16, /* limit of partners for which meetings are recorded */
};

/* --- Threads ---------------------------------------------------------------------- */

/* Divides the budget among the threads. */
static void share_window(struct esi_delay *delay)
{
    size_t window = delay->config.window;

    while (window > LEAST_WINDOW && window * delay->thread_count > BUDGET_CALLS)
        window /= 2;
    if (delay->threads[0]->window == window) {
        delay->threads[delay->thread_count - 1]->window = window;
        return;
    }
    for (size_t i = 0; i < delay->thread_count; i++)
        delay->threads[i]->window = window;
}

static struct esi_delay_thread *add_thread(struct esi_delay *delay,
                                           const struct esi_run_process *process)
{
    struct esi_delay_thread *thread;

    if (ESI_ARRAY_RESERVE(delay->threads, delay->thread_capacity,
                          delay->thread_count + 1) < 0)
        return NULL;
    thread =
        esi_delay_thread_create((uint32_t)delay->thread_count, delay->config.window);
    if (!thread)
        return NULL;
    if (delay->config.series)
        thread->block_calls = &delay->block_calls;
    thread->rank = process->rank;
    thread->row = esi_delay_rank_row(delay, process->rank);
    if (thread->row == UINT32_MAX ||
        esi_texts_add(&delay->texts, process->host, strlen(process->host),
                      &thread->host) < 0 ||
        esi_path_begin(&delay->paths, thread) < 0) {
        esi_delay_thread_destroy(thread);
        return NULL;
    }
    delay->threads[delay->thread_count++] = thread;
    share_window(delay);
    return thread;
}

static struct esi_delay_thread *thread_of(struct esi_delay *delay,
                                          uint32_t trace,
                                          const struct esi_causal_call *call)
{
    if (ESI_ARRAY_RESERVE(delay->traces, delay->trace_capacity, (size_t)trace + 1) < 0)
        return NULL;
    while (delay->trace_count <= trace)
        delay->traces[delay->trace_count++] = NULL;
    if (!delay->traces[trace])
        delay->traces[trace] = add_thread(delay, call->thread->process);
    return delay->traces[trace];
}

/* --- Causes ----------------------------------------------------------------------- */

static struct esi_delay_cause cause_of(const struct esi_delay *delay,
                                       const struct esi_edge *edge)
{
    const struct esi_delay_thread *thread = esi_delay_thread_of(delay, edge->trace);

    return thread ? (struct esi_delay_cause){.thread = thread->number,
                                             .ns = edge->ns,
                                             .known = true}
                  : (struct esi_delay_cause){.known = false};
}

/* The latest of all that an event depends on. */
static struct esi_delay_cause last_cause(const struct esi_delay *delay,
                                         const struct es_set_event *event,
                                         const struct esi_causal_call *call)
{
    struct esi_delay_cause last = {.known = false};

    for (uint32_t i = 0; i < event->partner_count; i++) {
        struct esi_delay_cause cause = cause_of(delay, &call->edges[i]);

        if (cause.known && (!last.known || cause.ns > last.ns))
            last = cause;
    }
    return last;
}

static enum esi_delay_kind kind_of(const struct es_operation *operation)
{
    if (operation->op_class == ES_CLASS_RECEIVE)
        return ESI_DELAY_LATE_SENDER;
    if (operation->op_class == ES_CLASS_SEND)
        return ESI_DELAY_LATE_RECEIVER;
    switch ((enum es_order_kind)operation->order) {
    case ES_ORDER_ROOT_TO_ALL:
        return ESI_DELAY_ROOT_TO_ALL;
    case ES_ORDER_ALL_TO_ROOT:
        return ESI_DELAY_ALL_TO_ROOT;
    case ES_ORDER_PREFIX:
    case ES_ORDER_EXCLUSIVE_PREFIX:
    case ES_ORDER_NEIGHBOURS:
        return ESI_DELAY_PARTIAL;
    default:
        return operation->synchronizing ? ESI_DELAY_BARRIER : ESI_DELAY_ALL_TO_ALL;
    }
}

/* Error bound of the difference of two threads' times. */
static uint64_t error_between(const struct esi_delay_thread *one,
                              const struct esi_delay_thread *other)
{
    return esi_wait_error(one->error_ns, other->error_ns, one->host == other->host);
}

/* --- Waits ------------------------------------------------------------------------ */

/* Records a wait for a cause; a call keeps its longest. */
static int take_wait(struct esi_delay *delay,
                     struct esi_delay_thread *thread,
                     struct esi_delay_call *call,
                     const struct esi_delay_cause *cause,
                     bool nonblocking)
{
    const struct esi_delay_thread *other = delay->threads[cause->thread];
    uint64_t error_ns = error_between(thread, other);
    uint64_t until_ns = cause->ns < call->end_ns ? cause->ns : call->end_ns;

    if (other == thread || call->charged)
        return 0;
    if (error_ns > delay->totals.worst_error_ns)
        delay->totals.worst_error_ns = error_ns;
    if (cause->ns <= call->begin_ns || until_ns <= call->until_ns)
        return 0;
    if (esi_wait_end(call->begin_ns, call->end_ns, cause->ns, error_ns) == 0) {
        delay->totals.doubtful++;
        return 0;
    }
    call->until_ns = until_ns;
    call->cause = *cause;
    call->nonblocking = nonblocking;
    call->since_ns = esi_delay_last_meeting(delay, thread, call->begin_ns, cause);
    return esi_delay_expect(delay, thread, call);
}

static void count_call(struct esi_delay *delay,
                       enum esi_delay_group group,
                       uint32_t row,
                       uint64_t number)
{
    esi_delay_row_times(delay, group, row)->calls++;
    esi_delay_row_block(delay, group, row, number, ESI_DELAY_CALLS, 1);
}

/* The last call if it is in progress at this time, otherwise a new one. */
static struct esi_delay_call *call_at(struct esi_delay *delay,
                                      struct esi_delay_thread *thread,
                                      const struct esi_causal_call *event)
{
    uint64_t begin_ns = event->told->start_ns;
    uint64_t end_ns = event->told->stop_ns;
    struct esi_delay_call *last = NULL;
    uint32_t place;

    if (thread->next > thread->first)
        last = esi_delay_thread_call(thread, thread->next - 1);
    if (last && last->number == event->number) {
        if (end_ns > last->end_ns)
            thread->last_ns = last->end_ns = end_ns;
        return last;
    }
    if (esi_delay_thread_is_full(thread)) {
        if (esi_path_keep(thread) < 0)
            return NULL;
        esi_delay_thread_forget(thread);
    }
    place = esi_delay_place_find(delay, event->operation, event->told->site);
    if (place == UINT32_MAX)
        return NULL;
    esi_delay_account(delay, thread);
    last = esi_delay_thread_add(thread, begin_ns, end_ns);
    if (!last)
        return NULL;
    last->number = event->number;
    last->place = place;
    last->communicator =
        esi_delay_communicator_row(delay, esi_causal_call_communicator_name(event));
    last->peer = event->told->tuple.peer;
    last->tag = event->told->tuple.tag;
    if (delay->config.series &&
        (thread->next - 1) / delay->block_calls >= ESI_DELAY_BLOCKS)
        esi_delay_widen_blocks(delay, 2 * delay->block_calls);
    delay->totals.calls++;
    esi_delay_row_times(delay, ESI_DELAY_BY_RANK, thread->row)->calls++;
    count_call(delay, ESI_DELAY_BY_LINE, delay->places[place].line, thread->next - 1);
    count_call(delay, ESI_DELAY_BY_OPERATION, delay->places[place].operation,
               thread->next - 1);
    if (delay->totals.begin_ns == 0 || last->from_ns < delay->totals.begin_ns)
        delay->totals.begin_ns = last->from_ns;
    if (last->communicator == UINT32_MAX)
        return NULL;
    esi_delay_row_times(delay, ESI_DELAY_BY_COMMUNICATOR, last->communicator)->calls++;
    return last;
}

/* Uses the latest of the operations that the call has completed, if possible of those
 * that it certainly waited for. */
static int end_completed(struct esi_delay *delay,
                         struct esi_delay_thread *thread,
                         struct esi_delay_call *call,
                         const struct esi_causal_call *event)
{
    struct esi_delay_cause latest = {.known = false};
    const struct esi_completed *last = NULL;
    bool is_certain = false;

    for (size_t i = 0; i < event->completed_count; i++) {
        const struct esi_completed *one = &event->completed[i];
        struct esi_delay_cause cause = {.known = false};
        bool has_waited;

        if (one->latest.operation)
            cause = cause_of(delay, &one->latest);
        if (!cause.known || one->stop_ns < call->begin_ns)
            continue;
        has_waited =
            cause.thread != thread->number &&
            esi_wait_end(call->begin_ns, call->end_ns, cause.ns,
                         error_between(thread, delay->threads[cause.thread])) > 0;
        if (!last || has_waited > is_certain ||
            (has_waited == is_certain && cause.ns > latest.ns)) {
            last = one;
            latest = cause;
            is_certain = has_waited;
        }
    }
    if (!last)
        return 0;
    latest.kind = (uint8_t)kind_of(last->operation);
    call->communicator = esi_delay_communicator_row(
        delay, last->member ? last->member->communicator->name : NULL);
    return call->communicator == UINT32_MAX
               ? -ENOMEM
               : take_wait(delay, thread, call, &latest, true);
}

/* --- Messages --------------------------------------------------------------------- */

/* Detects an earlier receive that waited while this message had already arrived. */
static void find_wrong_order(struct esi_delay_thread *thread, uint64_t sent_ns)
{
    uint64_t number = thread->next;

    for (int i = 0; i < OUT_OF_ORDER && number > thread->first; i++) {
        struct esi_delay_call *call = esi_delay_thread_call(thread, --number);

        if (call->cause.kind == ESI_DELAY_LATE_SENDER && !call->charged &&
            sent_ns < call->begin_ns)
            call->cause.kind = ESI_DELAY_WRONG_ORDER;
    }
}

/* The call in which another thread was at a time; NULL if none. */
static struct esi_delay_call *call_during(const struct esi_delay_thread *thread,
                                          uint64_t ns)
{
    struct esi_delay_call *call =
        esi_delay_thread_call(thread, esi_delay_thread_find(thread, ns));

    return call && call->begin_ns < ns ? call : NULL;
}

/* Detects a sender that waited until the receive was posted, in the send or in the call
 * that completed it.  A call that comes later knows the receive itself. */
static int find_late_receiver(struct esi_delay *delay,
                              const struct esi_delay_thread *receiver,
                              const struct esi_causal_call *receive,
                              const struct esi_edge *sent)
{
    struct esi_delay_thread *sender = esi_delay_thread_of(delay, sent->trace);
    const struct esi_delay_cause cause = {.thread = receiver->number,
                                          .ns = receive->told->start_ns,
                                          .kind = ESI_DELAY_LATE_RECEIVER,
                                          .known = true};
    struct esi_delay_call *call;
    uint64_t until_ns;
    int result;

    if (!sender || sent->operation->buffered || sent->ns >= cause.ns)
        return 0;
    call = call_during(sender, cause.ns);
    if (!call ||
        (sent->done == ESI_CALL_NOT_KNOWN ? !delay->places[call->place].of->completes
                                          : call->number != sent->done))
        return 0;
    until_ns = call->until_ns;
    result = take_wait(delay, sender, call, &cause, sent->operation->posts);
    if (call->until_ns == until_ns || !sent->operation->posts)
        return result;
    call->communicator =
        esi_delay_communicator_row(delay, esi_causal_call_communicator_name(receive));
    return call->communicator == UINT32_MAX ? -ENOMEM : result;
}

/* A probe waited for the message of this receive. */
static int end_probe(struct esi_delay *delay,
                     struct esi_delay_thread *thread,
                     const struct esi_causal_call *event,
                     const struct esi_delay_cause *cause)
{
    struct esi_delay_call *probe =
        thread->probe > 0 ? esi_delay_thread_call(thread, thread->probe - 1) : NULL;

    if (!probe || probe->peer != event->told->tuple.peer ||
        probe->tag != event->told->tuple.tag)
        return 0;
    thread->probe = 0;
    return take_wait(delay, thread, probe, cause, false);
}

static int meet_partners(struct esi_delay *delay,
                         const struct esi_delay_thread *thread,
                         const struct es_set_event *event,
                         const struct esi_causal_call *call)
{
    uint32_t count = event->partner_count;
    int result = 0;

    if (count > MEETINGS_OF_EVENT)
        count = MEETINGS_OF_EVENT;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct esi_delay_cause cause = cause_of(delay, &call->edges[i]);

        if (cause.known && cause.thread != thread->number)
            result = esi_delay_meet(delay, thread, call->told->stop_ns, &cause);
    }
    return result;
}

static int take_message(struct esi_delay *delay,
                        struct esi_delay_thread *thread,
                        const struct es_set_event *event,
                        const struct esi_causal_call *receive)
{
    struct esi_delay_cause cause = last_cause(delay, event, receive);
    int result = 0;

    cause.kind = (uint8_t)kind_of(receive->operation);
    if (cause.known) {
        find_wrong_order(thread, cause.ns);
        result = end_probe(delay, thread, receive, &cause);
    }
    for (uint32_t i = 0; i < event->partner_count && result == 0; i++)
        result = find_late_receiver(delay, thread, receive, &receive->edges[i]);
    if (result < 0)
        return result;
    return cause.known && !receive->operation->nonblocking
               ? take_wait(delay, thread,
                           esi_delay_thread_call(thread, thread->next - 1), &cause,
                           false)
               : 0;
}

static int take_receive(struct esi_delay *delay,
                        struct esi_delay_thread *thread,
                        const struct es_set_event *event,
                        const struct esi_causal_call *receive)
{
    struct esi_delay_call *call = NULL;
    struct esi_delay_cause cause;
    int result;

    if (!receive->operation->nonblocking) {
        call = call_at(delay, thread, receive);
        if (!call)
            return -ENOMEM;
    }
    if (receive->operation->op_class == ES_CLASS_ONE_SIDED) {
        cause = last_cause(delay, event, receive);
        cause.kind = ESI_DELAY_LATE_COMPLETE;
        if (receive->operation->rma == ES_RMA_COMPLETE ||
            receive->operation->rma == ES_RMA_START)
            cause.kind = ESI_DELAY_LATE_POST;
        result =
            cause.known && call ? take_wait(delay, thread, call, &cause, false) : 0;
    } else {
        result = take_message(delay, thread, event, receive);
    }
    return result < 0 ? result : meet_partners(delay, thread, event, receive);
}

/* --- Collective operations -------------------------------------------------------- */

/* Records that all members have met in an all-to-all operation. */
static void meet_all(struct esi_delay_thread *thread,
                     const struct es_event_id *release,
                     uint64_t ns)
{
    struct esi_delay_collective *place = NULL;

    for (unsigned i = 0; i < thread->collective_count && !place; i++)
        if (thread->collectives[i].trace == release->trace)
            place = &thread->collectives[i];
    if (!place && thread->collective_count < ESI_DELAY_COLLECTIVES)
        place = &thread->collectives[thread->collective_count++];
    if (!place)
        place = &thread->collectives[thread->collective_next++ % ESI_DELAY_COLLECTIVES];
    if (place->trace != release->trace)
        *place = (struct esi_delay_collective){.trace = release->trace};
    place->instances[1] = place->instances[0];
    place->ns[1] = place->ns[0];
    place->instances[0] = release->index;
    place->ns[0] = ns;
}

static int take_exit(struct esi_delay *delay,
                     struct esi_delay_thread *thread,
                     const struct es_set_event *event,
                     const struct esi_causal_call *exit)
{
    struct esi_delay_cause cause = last_cause(delay, event, exit);
    struct esi_delay_call *call;
    int result = 0;

    cause.kind = (uint8_t)kind_of(exit->operation);
    if (!exit->operation->nonblocking) {
        call = call_at(delay, thread, exit);
        if (!call)
            return -ENOMEM;
        if (cause.known)
            result = take_wait(delay, thread, call, &cause, false);
    }
    if (exit->all && cause.known)
        meet_all(thread, &event->partners[0], cause.ns);
    else if (result == 0)
        result = meet_partners(delay, thread, event, exit);
    return result;
}

/* --- Locks ------------------------------------------------------------------------ */

static struct esi_delay_window *window_of(struct esi_delay *delay,
                                          const struct esi_causal_call *call)
{
    const struct es_tuple *tuple = &call->told->tuple;
    const struct esi_run_communicator *communicator =
        esi_causal_call_communicator(call);
    uint64_t hash =
        esi_hash_mix(esi_hash_mix((uintptr_t)communicator, (uint32_t)tuple->tag),
                     (uint32_t)tuple->peer);
    struct esi_delay_window *window;

    ESI_HASH_FOREACH(slot, &delay->window_table, hash) {
        window = &delay->windows[esi_hash_index(&delay->window_table, slot)];
        if (window->communicator == communicator && window->number == tuple->tag &&
            window->target == tuple->peer)
            return window;
    }
    if (ESI_ARRAY_RESERVE(delay->windows, delay->window_capacity,
                          delay->window_count + 1) < 0 ||
        esi_hash_reserve(&delay->window_table, delay->window_count + 1) < 0)
        return NULL;
    esi_hash_insert(&delay->window_table, hash, delay->window_count);
    window = &delay->windows[delay->window_count++];
    *window = (struct esi_delay_window){
        .communicator = communicator, .number = tuple->tag, .target = tuple->peer};
    return window;
}

/* Finds the last unlock by another thread during the call. */
static int take_lock_wait(struct esi_delay *delay,
                          struct esi_delay_thread *thread,
                          struct esi_delay_call *call,
                          const struct esi_delay_window *window)
{
    struct esi_delay_cause cause = {.kind = ESI_DELAY_LOCK};

    for (unsigned i = 0; i < ESI_DELAY_UNLOCKS; i++) {
        const struct esi_delay_unlock *unlock = &window->unlocks[i];

        if (unlock->end_ns > call->begin_ns && unlock->end_ns <= call->end_ns &&
            unlock->thread != thread->number && unlock->end_ns > cause.ns) {
            cause.thread = unlock->thread;
            cause.ns = unlock->end_ns;
            cause.known = true;
        }
    }
    return cause.known ? take_wait(delay, thread, call, &cause, false) : 0;
}

/* Finds calls of others that this unlock may have ended. */
static int take_unlock(struct esi_delay *delay,
                       const struct esi_delay_thread *thread,
                       uint64_t end_ns,
                       struct esi_delay_window *window)
{
    const struct esi_delay_cause cause = {
        .thread = thread->number, .ns = end_ns, .kind = ESI_DELAY_LOCK, .known = true};
    int result = 0;

    for (unsigned i = 0; i < ESI_DELAY_UNLOCKS && result == 0; i++) {
        const struct esi_delay_locking *locking = &window->lockings[i];
        struct esi_delay_call *call = NULL;

        if (locking->call > 0)
            call = esi_delay_thread_call(delay->threads[locking->thread],
                                         locking->call - 1);
        if (call && end_ns > call->begin_ns && end_ns <= call->end_ns)
            result =
                take_wait(delay, delay->threads[locking->thread], call, &cause, false);
    }
    window->unlocks[window->next_unlock++ % ESI_DELAY_UNLOCKS] =
        (struct esi_delay_unlock){.thread = thread->number, .end_ns = end_ns};
    return result;
}

static int take_lock(struct esi_delay *delay,
                     struct esi_delay_thread *thread,
                     struct esi_delay_call *call,
                     const struct esi_causal_call *event)
{
    struct esi_delay_window *window = window_of(delay, event);
    int result;

    if (!window)
        return -ENOMEM;
    result = take_lock_wait(delay, thread, call, window);
    window->lockings[window->next_locking++ % ESI_DELAY_UNLOCKS] =
        (struct esi_delay_locking){.thread = thread->number, .call = thread->next};
    if (result == 0 && event->operation->rma == ES_RMA_UNLOCK)
        result = take_unlock(delay, thread, call->end_ns, window);
    return result;
}

/* --- Events ----------------------------------------------------------------------- */

static int take_whole(struct esi_delay *delay,
                      struct esi_delay_thread *thread,
                      const struct esi_causal_call *event)
{
    const struct es_operation *operation = event->operation;
    struct esi_delay_call *call;

    if (operation->nonblocking || event->told->tuple.stop == 0)
        return 0;
    call = call_at(delay, thread, event);
    if (!call)
        return -ENOMEM;
    if (operation->probe)
        thread->probe = thread->next;
    if (operation->rma >= ES_RMA_LOCK && event->told->tuple.peer >= 0)
        return take_lock(delay, thread, call, event);
    if (esi_wait_is_for_others(operation))
        return end_completed(delay, thread, call, event);
    return 0;
}

/* A send, or the enter of a collective operation, which others may depend on. */
static int take_begin(struct esi_delay *delay,
                      struct esi_delay_thread *thread,
                      const struct esi_causal_call *begin)
{
    struct esi_causal_call call = *begin;
    struct esi_causal_tuple entered;

    if (begin->role == ESI_ROLE_ENTER) { /* its exit has the end */
        entered = *begin->told;
        entered.stop_ns = entered.start_ns;
        call.told = &entered;
    }
    return !begin->posted && !begin->operation->nonblocking &&
                   !call_at(delay, thread, &call)
               ? -ENOMEM
               : 0;
}

static int take_event(struct esi_delay *delay,
                      struct esi_delay_thread *thread,
                      const struct es_set_event *event,
                      const struct esi_causal_call *call)
{
    switch (call->role) {
    case ESI_ROLE_SEND:
    case ESI_ROLE_ENTER:
        return take_begin(delay, thread, call);
    case ESI_ROLE_RECEIVE:
        return take_receive(delay, thread, event, call);
    case ESI_ROLE_EXIT:
        return take_exit(delay, thread, event, call);
    default:
        return take_whole(delay, thread, call);
    }
}

/* Whether an operation that is under way waits for other ranks. */
static bool is_waiting(const struct es_operation *operation)
{
    switch ((enum es_class)operation->op_class) {
    case ES_CLASS_SEND:
    case ES_CLASS_RECEIVE:
    case ES_CLASS_COLLECTIVE:
    case ES_CLASS_COMMUNICATOR:
    case ES_CLASS_COMPLETION:
    case ES_CLASS_ONE_SIDED:
        return !operation->nonblocking && !operation->persistent && !operation->poll;
    default:
        return false;
    }
}

static bool is_open_wait(const struct esi_causal_call *call)
{
    const struct esi_causal_tuple *told = call->told;

    return told->tuple.stop == 0 && told->until_ns > told->start_ns && !call->posted &&
           is_waiting(call->operation);
}

/* An operation under way lasts until now, or the end of its process. */
static int take_open(struct esi_delay *delay,
                     struct esi_delay_thread *thread,
                     const struct esi_causal_call *open)
{
    const struct esi_causal_tuple *told = open->told;
    struct esi_causal_tuple tuple = *told;
    struct esi_causal_call call = *open;
    struct esi_delay_call *last;

    if (!is_open_wait(open))
        return 0;
    tuple.stop_ns = told->until_ns;
    call.told = &tuple;
    last = call_at(delay, thread, &call);
    if (!last)
        return -ENOMEM;
    if (!last->charged && last->end_ns > last->begin_ns)
        esi_delay_wait_on(delay, thread);
    return 0;
}

/* Leaves out what happened in gaps: shortens the operation's time in `tuple`.  Returns
 * false if nothing is left. */
static bool leave_out_gaps(const struct esi_delay *delay,
                           struct esi_delay_thread *thread,
                           struct esi_causal_tuple *tuple)
{
    bool is_open = tuple->tuple.stop == 0;
    uint64_t seen_ns =
        esi_gaps_end_before(&delay->gaps, is_open ? tuple->start_ns : tuple->stop_ns);

    if (seen_ns <= tuple->start_ns)
        seen_ns = 0;
    /* A gap between two calls is no computing. */
    esi_delay_thread_skip(
        thread, esi_gaps_end_before(&delay->gaps, seen_ns ? seen_ns : tuple->start_ns));
    if (!is_open && seen_ns >= tuple->stop_ns)
        return false;
    if (seen_ns > 0)
        tuple->start_ns = seen_ns;
    return true;
}

int esi_delay_gap(void *data, uint32_t trace, const struct esi_gap *gap)
{
    struct esi_delay *delay = data;

    (void)trace;
    return esi_gaps_add(&delay->gaps, gap->begin_ns, gap->end_ns);
}

static void sum_pending(struct esi_delay *delay,
                        const struct esi_delay_pending *wait,
                        int sign)
{
    for (int group = 0; group < ESI_DELAY_GROUPS; group++) {
        struct esi_delay_times *times =
            esi_delay_row_times(delay, (enum esi_delay_group)group, wait->rows[group]);

        times->calls += (uint64_t)sign;
        times->waited += sign * wait->ns;
        times->pending += sign * wait->ns;
    }
    delay->totals.calls += (uint64_t)sign;
    delay->totals.waits += (uint64_t)sign;
    delay->totals.waited += sign * wait->ns;
    delay->totals.open += (size_t)sign;
    delay->totals.open_waited += sign * wait->ns;
}

static int add_pending(struct esi_delay *delay, const struct esi_delay_pending *wait)
{
    if (ESI_ARRAY_RESERVE(delay->pending, delay->pending_capacity,
                          delay->pending_count + 1) < 0)
        return -ENOMEM;
    delay->pending[delay->pending_count++] = *wait;
    sum_pending(delay, wait, 1);
    if (wait->ns > (double)delay->totals.open_ns)
        delay->totals.open_ns = (uint64_t)wait->ns;
    return 0;
}

static void drop_pending(struct esi_delay *delay)
{
    while (delay->pending_count > 0)
        sum_pending(delay, &delay->pending[--delay->pending_count], -1);
    delay->totals.open_ns = 0;
    delay->pending_ns = 0;
}

int esi_delay_open(void *data, uint32_t trace, const struct esi_causal_call *call)
{
    struct esi_delay *delay = data;
    struct esi_delay_pending wait = {.rows[ESI_DELAY_BY_KIND] = ESI_DELAY_OPEN};
    const struct esi_delay_thread *thread;
    uint64_t begin_ns, seen_ns;
    uint32_t place;

    if (!call) {
        drop_pending(delay);
        return 0;
    }
    if (!call->operation || !is_open_wait(call))
        return 0;
    begin_ns = call->told->start_ns;
    seen_ns = esi_gaps_end_before(&delay->gaps, begin_ns);
    begin_ns = seen_ns > begin_ns ? seen_ns : begin_ns;
    if (begin_ns >= call->told->until_ns)
        return 0;
    thread = thread_of(delay, trace, call);
    place = esi_delay_place_find(delay, call->operation, call->told->site);
    if (!thread || place == UINT32_MAX)
        return -ENOMEM;
    wait.rows[ESI_DELAY_BY_RANK] = thread->row;
    wait.rows[ESI_DELAY_BY_OPERATION] = delay->places[place].operation;
    wait.rows[ESI_DELAY_BY_LINE] = delay->places[place].line;
    wait.rows[ESI_DELAY_BY_COMMUNICATOR] =
        esi_delay_communicator_row(delay, esi_causal_call_communicator_name(call));
    if (wait.rows[ESI_DELAY_BY_COMMUNICATOR] == UINT32_MAX)
        return -ENOMEM;
    wait.ns = (double)(call->told->until_ns - begin_ns);
    if (call->told->until_ns > delay->pending_ns)
        delay->pending_ns = call->told->until_ns;
    return add_pending(delay, &wait);
}

int esi_delay_told(void *data,
                   const struct es_set_event *event,
                   const struct esi_causal_call *call)
{
    struct esi_delay *delay = data;
    struct esi_delay_thread *thread;
    struct esi_causal_tuple seen;
    struct esi_causal_call part;
    int result;

    delay->totals.events++;
    if (!call)
        return 0; /* a junction */
    thread = thread_of(delay, event->id.trace, call);
    if (!thread)
        return -ENOMEM;
    if (!call->operation)
        return 0;
    thread->error_ns = call->told->error_ns;
    if (delay->gaps.count > 0) {
        seen = *call->told;
        part = *call;
        part.told = &seen;
        call = &part;
        if (!leave_out_gaps(delay, thread, &seen))
            return 0;
    }
    result = take_event(delay, thread, event, call);
    if (result == 0)
        result = take_open(delay, thread, call);
    if (thread->last_ns > delay->totals.end_ns)
        delay->totals.end_ns = thread->last_ns;
    return result;
}
