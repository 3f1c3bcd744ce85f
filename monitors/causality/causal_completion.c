/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causal_completion.c - which call completes what another one has started. */
#include "config.h"

#include "monitors/causality/causal_completion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/causality/waits.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

/* Limit of a search among open requests. */
enum { SEARCHED = 256 };

/* The call that a thread is in, and its requests. */
struct completing {
    struct esi_matching *matching;
    struct esi_causal_thread *thread;
    struct esi_causal_call *call;
};

/* --- Open requests ---------------------------------------------------------------- */

static size_t count_posted(const struct esi_causal_thread *thread)
{
    return thread->posted_end - thread->posted_first;
}

/* The number of the call that has completed the request, for who receives its message
 * later. */
static void tell_receiver(const struct esi_causal_thread *thread,
                          const struct esi_posted *posted,
                          uint64_t call)
{
    const struct es_event_id id = {thread->trace, posted->as.index};

    if (posted->message && !posted->as.latest.operation)
        esi_message_completed(posted->message, &id, call);
}

static void forget_posted(struct completing *of)
{
    struct esi_causal_thread *thread = of->thread;

    for (size_t i = thread->posted_first; i < thread->posted_end; i++)
        tell_receiver(thread, &thread->posted[i], ESI_CALL_NOT_KNOWN);
    of->matching->posted -= count_posted(thread);
    thread->posted_first = thread->posted_end = 0;
    thread->posted_done = thread->posted_pairs = 0;
}

static int add_posted(struct completing *of, size_t max, uint32_t index)
{
    struct esi_causal_thread *thread = of->thread;
    const struct es_tuple *tuple = &of->call->told->tuple;
    struct esi_posted *posted = thread->posted;

    if (of->matching->posted >= max)
        forget_posted(of);
    if (thread->posted_first > count_posted(thread)) {
        memmove(posted, posted + thread->posted_first,
                count_posted(thread) * sizeof *posted);
        thread->posted_end -= thread->posted_first;
        thread->posted_first = 0;
    }
    if (ESI_ARRAY_RESERVE(thread->posted, thread->posted_capacity,
                          thread->posted_end + 1) < 0)
        return -ENOMEM;
    thread->posted[thread->posted_end++] =
        (struct esi_posted){.as = {.index = index,
                                   .operation = of->call->operation,
                                   .member = of->call->member},
                            .start = tuple->start,
                            .peer = tuple->peer,
                            .tag = tuple->tag,
                            .communicator = tuple->communicator};
    thread->posted_pairs += of->call->operation->combined;
    of->matching->posted++;
    return 0;
}

/* --- Completed requests ----------------------------------------------------------- */

/* Forgets what had ended before an operation of the thread began, if it is much: the
 * call that has completed it was told, or is not in the view. */
static void forget_completed(struct esi_causal_thread *thread, uint64_t begun_ns)
{
    size_t first = 0;

    while (first < thread->completed_count &&
           thread->completed[first].stop_ns < begun_ns)
        first++;
    if (first <= thread->completed_count / 2)
        return;
    thread->completed_count -= first;
    memmove(thread->completed, thread->completed + first,
            thread->completed_count * sizeof *thread->completed);
}

static int add_completed(struct esi_causal_thread *thread,
                         const struct esi_completed *completed)
{
    if (ESI_ARRAY_RESERVE(thread->completed, thread->completed_capacity,
                          thread->completed_count + 1) < 0)
        return -ENOMEM;
    thread->completed[thread->completed_count++] = *completed;
    return 0;
}

/* Adds an operation that has a tuple.  A receive from MPI_PROC_NULL may have ended at
 * once, before the call that completes it: until that is known, it is open. */
static int add_ended(struct completing *of,
                     size_t max,
                     const struct es_set_event *event)
{
    const struct esi_causal_call *call = of->call;
    const struct es_tuple *tuple = &call->told->tuple;
    struct esi_completed completed = {.index = event->id.index,
                                      .stop_ns = call->told->stop_ns,
                                      .operation = call->operation,
                                      .member = call->member};

    for (uint32_t i = 0; i < event->partner_count; i++)
        if (!completed.latest.operation || call->edges[i].ns > completed.latest.ns)
            completed.latest = call->edges[i];
    for (size_t i = of->thread->posted_end;
         call->operation->combined && i-- > of->thread->posted_first;) {
        struct esi_posted *posted = &of->thread->posted[i];

        if (posted->as.operation->combined && !posted->has_received &&
            posted->start == tuple->start) {
            posted->has_received = true;
            break;
        }
    }
    if (call->operation->op_class == ES_CLASS_RECEIVE && !call->operation->combined &&
        tuple->peer < 0 && es_tuple_error(tuple) == 0 &&
        add_posted(of, max, event->id.index) < 0)
        return -ENOMEM;
    if (of->thread->completed_count == of->thread->completed_capacity)
        forget_completed(of->thread, call->told->start_ns);
    return add_completed(of->thread, &completed);
}

/* Adds a request that has no tuple, unless it is of a message with MPI_PROC_NULL; if
 * unsure, only if the call may have waited for its receive. */
static int add_complete(const struct completing *of,
                        const struct esi_posted *posted,
                        bool is_unsure)
{
    enum es_class op_class = (enum es_class)posted->as.operation->op_class;
    struct esi_completed completed = posted->as;

    if ((posted->peer < 0 &&
         (op_class == ES_CLASS_SEND || op_class == ES_CLASS_RECEIVE)) ||
        (is_unsure && (!completed.latest.operation ||
                       completed.latest.ns <= of->call->told->start_ns)))
        return 0;
    completed.stop_ns = of->call->told->stop_ns;
    completed.unsure = is_unsure;
    return add_completed(of->thread, &completed);
}

/* Completes one request, which is known. */
static int complete_one(struct completing *of, size_t index)
{
    struct esi_causal_thread *thread = of->thread;
    struct esi_posted *first = &thread->posted[thread->posted_first];
    const struct esi_posted posted = thread->posted[index];

    tell_receiver(thread, &posted, of->call->number);
    memmove(first + 1, first, (index - thread->posted_first) * sizeof *first);
    thread->posted_first++;
    thread->posted_pairs -= posted.as.operation->combined;
    of->matching->posted--;
    if (thread->posted_done > count_posted(thread) - thread->posted_pairs)
        thread->posted_done = count_posted(thread) - thread->posted_pairs;
    return add_complete(of, &posted, false);
}

/* Completes the open requests that operations with a tuple stand for: the other halves
 * of pairs, and receives without a message, unless they ended before this call. */
static int complete_halves(struct completing *of, size_t first, size_t end)
{
    struct esi_causal_thread *thread = of->thread;
    int result = 0;

    for (size_t i = thread->posted_first;
         i < thread->posted_end && thread->posted_pairs > 0 && result == 0; i++)
        if (thread->posted[i].has_received)
            result = complete_one(of, i);
    for (size_t i = first; i < end && result == 0; i++) {
        const struct esi_completed *ended = &thread->completed[i];
        const struct esi_posted *posted =
            ended->latest.operation ? NULL
                                    : esi_thread_find_posted(thread, ended->index);

        if (posted)
            result = complete_one(of, (size_t)(posted - thread->posted));
    }
    return result;
}

/* Completes all open requests that have no tuple; if unsure, each of them may be. */
static int complete_all(struct completing *of, bool is_unsure)
{
    struct esi_causal_thread *thread = of->thread;
    size_t kept = thread->posted_first;
    int result = 0;

    for (size_t i = thread->posted_first; i < thread->posted_end && result == 0; i++) {
        const struct esi_posted *posted = &thread->posted[i];

        if (posted->as.operation->combined) {
            thread->posted[kept++] = *posted;
            continue;
        }
        tell_receiver(thread, posted,
                      is_unsure || posted->is_doubtful ? ESI_CALL_NOT_KNOWN
                                                       : of->call->number);
        result = add_complete(of, posted, is_unsure);
    }
    of->matching->posted -= thread->posted_end - kept;
    thread->posted_end = kept;
    thread->posted_done = 0;
    return result;
}

/* Completes some requests, it is not known which. */
static int doubt_all(struct completing *of, size_t least)
{
    struct esi_causal_thread *thread = of->thread;
    int result = 0;

    for (size_t i = thread->posted_end;
         i-- > thread->posted_first && !thread->posted[i].is_doubtful;) {
        tell_receiver(thread, &thread->posted[i], ESI_CALL_NOT_KNOWN);
        thread->posted[i].is_doubtful = true;
    }
    for (size_t i = 0; i < SEARCHED && i < count_posted(thread) && result == 0; i++) {
        const struct esi_posted *posted = &thread->posted[thread->posted_first + i];

        if (!posted->as.operation->combined)
            result = add_complete(of, posted, true);
    }
    thread->posted_done += least;
    return result;
}

/* At least and at most so many requests that have no tuple are complete. */
static int complete_some(struct completing *of, size_t least, size_t most)
{
    const struct esi_causal_thread *thread = of->thread;
    size_t open = count_posted(thread) - thread->posted_pairs - thread->posted_done;

    if (most == 0)
        return 0;
    if (least == open || most >= open)
        return complete_all(of, least != open);
    return doubt_all(of, least);
}

/* Whether a wait for one request means this one.  A receive from MPI_PROC_NULL that has
 * ended at once is not named. */
static bool is_meant(const struct esi_posted *posted,
                     const struct es_tuple *wait,
                     const struct es_operation *awaited)
{
    enum es_class op_class = (enum es_class)posted->as.operation->op_class;

    if (posted->as.operation->combined)
        return false;
    if (!awaited)
        return op_class == ES_CLASS_RECEIVE;
    if (awaited->op_class != ES_CLASS_SEND)
        return op_class != ES_CLASS_SEND && op_class != ES_CLASS_RECEIVE;
    return op_class == ES_CLASS_SEND && posted->communicator == wait->communicator &&
           posted->peer == wait->peer && posted->tag == wait->tag;
}

/* Completes the request that a wait for one means.  Returns whether it did, or
 * -ENOMEM. */
static int complete_meant(struct completing *of)
{
    const struct es_tuple *wait = &of->call->told->tuple;
    const struct es_operation *awaited =
        wait->sequence <= UINT16_MAX ? es_operation_find((uint16_t)wait->sequence)
                                     : NULL;
    const struct esi_causal_thread *thread = of->thread;

    /* Others have a tuple; if it is missing, it is not collected. */
    if (awaited && (awaited->nonblocking || awaited->combined))
        return 0;
    for (size_t i = 0; i < SEARCHED && i < count_posted(thread); i++)
        if (is_meant(&thread->posted[thread->posted_first + i], wait, awaited))
            return complete_one(of, thread->posted_first + i) < 0 ? -ENOMEM : 1;
    return 0;
}

/* Completes requests by a call that has also completed `others`, which have tuples. */
static int complete_posted(struct completing *of, size_t others)
{
    const struct es_operation *operation = of->call->operation;
    const struct es_tuple *tuple = &of->call->told->tuple;
    uint16_t family = esi_operation_family(operation);
    size_t count = es_tuple_bytes(tuple);
    size_t rest = count > others ? count - others : 0;
    bool is_named = tuple->sequence != ES_SEQUENCE_UNKNOWN;
    int result;

    if (es_tuple_error(tuple) != 0)
        return complete_some(of, 0, SIZE_MAX);
    if (rest == 0)
        return 0;
    if (operation->waits && !operation->any && count == 1) {
        result = complete_meant(of);
        if (result != 0 || is_named)
            return result < 0 ? result : 0;
    }
    if (operation->waits && !is_named)
        return complete_some(of, 0, SIZE_MAX);
    if (!operation->any)
        return complete_some(of, rest, rest);
    return complete_some(of, others == 0,
                         family == ES_OP_MPI_Waitsome || family == ES_OP_MPI_Testsome
                             ? rest
                             : others == 0);
}

/* --- Following -------------------------------------------------------------------- */

/* The operations that the call has completed come before its event, and end with it. */
static int take_completed(struct completing *of)
{
    struct esi_causal_thread *thread = of->thread;
    struct esi_causal_call *call = of->call;
    size_t end = thread->completed_count, first = end;
    int result = 0;

    while (first > 0 && thread->completed[first - 1].stop_ns >= call->told->start_ns)
        first--;
    if (call->operation->completes && count_posted(thread) > 0) {
        result = complete_halves(of, first, end);
        if (result == 0)
            result = complete_posted(of, end - first);
    }
    if (thread->completed_count > 0)
        call->completed = thread->completed + first;
    call->completed_count = thread->completed_count - first;
    thread->completed_count = 0;
    return result;
}

/* Whether the call takes a request away from those that will be completed. */
static bool takes_request(const struct esi_causal_call *call)
{
    uint16_t family = esi_operation_family(call->operation);
    uint32_t code = call->told->tuple.sequence;
    const struct es_operation *of;

    if (family != ES_OP_MPI_Cancel || code > UINT16_MAX)
        return family == ES_OP_MPI_Request_free;
    of = es_operation_find((uint16_t)code);
    return of && of->op_class == ES_CLASS_SEND;
}

int esi_completion_follow(struct esi_matching *matching,
                          size_t max,
                          const struct esi_item *item,
                          const struct es_set_event *event,
                          struct esi_causal_call *call)
{
    struct completing of = {matching, item->element->thread, call};
    const struct es_operation *operation = call->operation;
    bool is_at_stop = call->told->tuple.stop != 0 && call->role != ESI_ROLE_SEND &&
                      call->role != ESI_ROLE_ENTER;

    if (call->lost > 0 && !call->again && count_posted(of.thread) > 0)
        forget_posted(&of);
    if (!operation)
        return 0;
    if (operation->posts && !call->again && es_tuple_error(&call->told->tuple) == 0)
        return add_posted(&of, max, event->id.index);
    if (!is_at_stop)
        return 0;
    if (call->number == 0) /* a call that only creates a request is complete itself */
        return operation->persistent &&
                       call->told->tuple.sequence == ES_SEQUENCE_UNKNOWN
                   ? 0
                   : add_ended(&of, max, event);
    if (call->role != ESI_ROLE_WHOLE || !esi_wait_is_for_others(operation))
        return 0;
    if (count_posted(of.thread) > 0 && takes_request(call))
        forget_posted(&of);
    return take_completed(&of);
}
