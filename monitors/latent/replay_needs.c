/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * replay_needs.c - what each call depends on in other threads before it can end.
 *
 * A call begins when the previous one in its thread has ended.  A receive is posted at
 * its start, even if its tuple was written at completion.  The dependencies of a
 * nonblocking operation are those of its completion call: for receives and collective
 * operations, this is the call that ended at the same tick.  Which send a receive has
 * got, and which operations are members of one instance, is known from their matching
 * (causality.h).
 *
 * The completion of a nonblocking send is not recorded.  A call that completes as many
 * requests as are left completed all of them; a call that names a channel completed the
 * oldest send there.  Other sends are counted, and depend on nothing.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "monitors/latent/replay_private.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

/* Limit of the search for the request that a wait names. */
enum { SEARCHED_REQUESTS = 256 };

/* A request that may be open. */
struct replay_request {
    uint32_t node; /* of the call that made it */
    bool is_known; /* a send whose completion says something */
};

struct needs {
    struct esi_replay *replay;
    uint32_t *partners; /* by node: the message's other end; owned, as all */
    /* Of the thread that is looked at. */
    const struct esi_replay_thread *thread;
    const struct esi_replay_process *process;
    struct replay_request *requests; /* from the oldest on, which is at `oldest` */
    size_t oldest, request_count, request_capacity;
    size_t done; /* number of these that are complete, but not known which */
};

/* --- Nodes ------------------------------------------------------------------------ */

/* Without the large-count offset; 0 = not known. */
static uint16_t family_of(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation ? esi_operation_family(operation) : 0;
}

/* Calls that only create a persistent request have no class. */
static bool is_of_class(const struct es_tuple *tuple, enum es_class op_class)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation && operation->op_class == op_class && !operation->persistent;
}

static bool is_blocking(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation && !operation->nonblocking && !operation->posts &&
           !operation->persistent;
}

static const struct es_tuple *tuple_at(const struct needs *needs, uint32_t node)
{
    const struct esi_replay_thread *thread = esi_replay_thread_of(needs->replay, node);

    return &thread->ops[node - thread->base].tuple;
}

static bool is_second_half(const struct esi_replay_thread *thread, size_t position)
{
    const struct es_operation *operation =
        es_operation_find(thread->ops[position].tuple.operation);

    return position > 0 && operation && operation->combined &&
           operation->op_class == ES_CLASS_RECEIVE &&
           thread->ops[position - 1].tuple.start == thread->ops[position].tuple.start;
}

/* The node after which a call begins.  False: it may begin at any time.  Which thread
 * posted a receive that another one completed is not known. */
static bool find_beginning(const struct needs *needs, uint32_t node, uint32_t *ret_node)
{
    const struct esi_replay_thread *thread = esi_replay_thread_of(needs->replay, node);
    size_t position = node - thread->base;
    const struct es_tuple *tuple = &thread->ops[position].tuple;

    if (needs->replay->processes[thread->of->process->number].exchanging > 1 &&
        is_of_class(tuple, ES_CLASS_RECEIVE) && !is_blocking(tuple))
        return false;
    position -= is_second_half(thread, position);
    *ret_node = thread->base + (uint32_t)position - 1;
    return position > 0;
}

/* Records that `node` cannot end before the call of `awaited` has begun. */
static int add_need(struct needs *needs,
                    uint32_t node,
                    uint32_t awaited,
                    struct esi_replay_edge edge)
{
    edge.from = node;
    edge.awaited = awaited;
    return find_beginning(needs, awaited, &edge.to)
               ? esi_replay_graph_add(&needs->replay->graph, &edge)
               : 0;
}

static uint32_t node_of(const struct needs *needs, size_t position)
{
    return needs->thread->base + (uint32_t)position;
}

/* --- Collective operations -------------------------------------------------------- */

/* Makes the instance wait for this member to enter, and the end of `leaves` for the
 * instance. */
static int add_member(struct needs *needs,
                      const struct esi_replay_op *op,
                      const struct es_operation *operation,
                      const uint32_t *enters,
                      const uint32_t *leaves)
{
    struct esi_replay_edge edge = {.reason = ESI_REPLAY_MEMBER};
    uint32_t instance = (uint32_t)needs->replay->totals.calls + op->instance - 1;
    int result = 0;

    if (enters)
        result = add_need(needs, instance, *enters, edge);
    if (!leaves || result < 0)
        return result;
    edge.from = *leaves;
    edge.to = instance;
    edge.awaited = instance;
    /* A member must wait for all others if its result depends on them. */
    edge.hidden = !operation->synchronizing &&
                  (operation->order != ES_ORDER_ALL_TO_ALL || op->tuple.bytes == 0);
    if (!enters)
        edge.request = operation->code;
    return esi_replay_graph_add(&needs->replay->graph, &edge);
}

static int add_collective(struct needs *needs,
                          const struct esi_replay_op *op,
                          uint32_t node)
{
    const struct es_operation *operation = es_operation_find(op->tuple.operation);
    uint32_t call = node_of(needs, op->completed_by - 1);

    if (operation->code == ES_OP_MPI_collective_post)
        return add_member(needs, op, operation, &node, NULL);
    if (!operation->nonblocking)
        return add_member(needs, op, operation, &node, op->tuple.stop ? &node : NULL);
    return op->completed_by > 0 ? add_member(needs, op, operation, NULL, &call) : 0;
}

/* --- First pass: what was matched ------------------------------------------------- */

static void enter_thread(struct needs *needs, const struct esi_replay_thread *thread)
{
    needs->thread = thread;
    needs->process = &needs->replay->processes[thread->of->process->number];
}

static void meet_send(struct needs *needs,
                      uint32_t node,
                      const struct es_event_id *sent)
{
    const struct esi_replay_thread *sender = &needs->replay->threads[sent->trace];
    uint32_t send = sender->base + sender->event_ops[sent->index - 1];

    needs->partners[node] = send;
    needs->partners[send] = node;
}

static int read_thread(struct needs *needs, const struct esi_replay_thread *thread)
{
    int result = 0;

    enter_thread(needs, thread);
    for (size_t i = 0; i < thread->count && result == 0; i++) {
        const struct esi_replay_op *op = &thread->ops[i];

        if (op->sent.index > 0)
            meet_send(needs, node_of(needs, i), &op->sent);
        if (op->instance > 0)
            result = add_collective(needs, op, node_of(needs, i));
    }
    return result;
}

/* --- Nonblocking sends ------------------------------------------------------------ */

static int complete_send(struct needs *needs,
                         const struct replay_request *request,
                         uint32_t call)
{
    const struct es_operation *operation =
        es_operation_find(tuple_at(needs, request->node)->operation);
    struct esi_replay_edge edge = {.request = esi_operation_family(operation),
                                   .reason = ESI_REPLAY_POST,
                                   .hidden = !operation->synchronizing};
    uint32_t partner = needs->partners[request->node];

    return request->is_known && partner != ESI_REPLAY_NOBODY
               ? add_need(needs, call, partner, edge)
               : 0;
}

static void clear_requests(struct needs *needs)
{
    needs->oldest = 0;
    needs->request_count = 0;
    needs->done = 0;
}

static int complete_all(struct needs *needs, uint32_t call)
{
    int result = 0;

    for (size_t i = needs->oldest; i < needs->request_count && result == 0; i++)
        result = complete_send(needs, &needs->requests[i], call);
    clear_requests(needs);
    return result;
}

/* Gives up matching the open requests with their completion calls. */
static void forget_requests(struct needs *needs)
{
    for (size_t i = needs->oldest; i < needs->request_count; i++)
        needs->replay->totals.unknown += needs->requests[i].is_known;
    clear_requests(needs);
}

/* Handles a call that completes this number of open requests. */
static int complete_some(struct needs *needs, uint32_t call, size_t count)
{
    size_t open = needs->request_count - needs->oldest;

    if (count == 0)
        return 0;
    if (needs->done + count == open)
        return complete_all(needs, call);
    if (needs->done + count > open)
        forget_requests(needs); /* null requests, or unknown ones */
    else
        needs->done += count;
    return 0;
}

static void remove_request(struct needs *needs, size_t index)
{
    struct replay_request *oldest = &needs->requests[needs->oldest];

    memmove(oldest + 1, oldest, (index - needs->oldest) * sizeof *oldest);
    needs->oldest++;
    if (needs->done > needs->request_count - needs->oldest)
        needs->done = needs->request_count - needs->oldest;
}

/* Whether a wait, which names a send's channel, may refer to this request. */
static bool is_meant(const struct needs *needs,
                     const struct replay_request *request,
                     const struct es_tuple *wait,
                     bool of_send)
{
    const struct es_tuple *tuple = tuple_at(needs, request->node);

    if (!of_send)
        return !is_of_class(tuple, ES_CLASS_SEND);
    return is_of_class(tuple, ES_CLASS_SEND) &&
           tuple->communicator == wait->communicator && tuple->peer == wait->peer &&
           tuple->tag == wait->tag;
}

/* Completes the oldest request that a wait may refer to. */
static int complete_named(struct needs *needs, uint32_t call, bool of_send)
{
    const struct es_tuple *wait = tuple_at(needs, call);
    size_t end = needs->request_count - needs->oldest > SEARCHED_REQUESTS
                     ? needs->oldest + SEARCHED_REQUESTS
                     : needs->request_count;

    for (size_t i = needs->oldest; i < end; i++) {
        struct replay_request request = needs->requests[i];

        if (!is_meant(needs, &request, wait, of_send))
            continue;
        remove_request(needs, i);
        return complete_send(needs, &request, call);
    }
    return 0;
}

/* Handles a wait for one request. */
static int complete_one(struct needs *needs, uint32_t node)
{
    uint32_t code = tuple_at(needs, node)->sequence;
    const struct es_operation *awaited =
        code <= UINT16_MAX ? es_operation_find((uint16_t)code) : NULL;

    switch (awaited ? (enum es_class)awaited->op_class : ES_CLASS_NONE) {
    case ES_CLASS_SEND:
        return complete_named(needs, node, true);
    case ES_CLASS_ONE_SIDED:
    case ES_CLASS_IO:
    case ES_CLASS_OTHER:
        return complete_named(needs, node, false);
    default:
        return 0;
    }
}

/* Handles a completion call that also completed `others` other requests. */
static int complete_by(struct needs *needs, uint32_t node, uint32_t others)
{
    const struct es_tuple *tuple = tuple_at(needs, node);
    size_t count = tuple->bytes > others ? tuple->bytes - others : 0;

    switch (family_of(tuple)) {
    case ES_OP_MPI_Wait:
        return others > 0 ? 0 : complete_one(needs, node);
    case ES_OP_MPI_Test:
        return complete_some(needs, node, others == 0);
    case ES_OP_MPI_Waitall:
        return count == 1 && others == 0 ? complete_one(needs, node)
                                         : complete_some(needs, node, count);
    case ES_OP_MPI_Testall:
        return complete_some(needs, node, count);
    default: /* any, some: at least one */
        return complete_some(needs, node, others == 0 && count > 0);
    }
}

/* Whether the send completes at the latest when its receive is posted. */
static bool needs_post(const struct needs *needs, const struct es_operation *operation)
{
    return operation->op_class == ES_CLASS_SEND && !operation->buffered &&
           operation->code != ES_OP_MPI_Start_partitioned_send &&
           (operation->code != ES_OP_MPI_Start_send || !needs->process->buffers);
}

static int open_request(struct needs *needs, uint32_t node, bool is_known)
{
    if (ESI_ARRAY_RESERVE(needs->requests, needs->request_capacity,
                          needs->request_count + 1) < 0)
        return -ENOMEM;
    needs->requests[needs->request_count++] =
        (struct replay_request){.node = node, .is_known = is_known};
    return 0;
}

/* --- Second pass: dependencies ---------------------------------------------------- */

static int need_send(struct needs *needs, const struct esi_replay_op *op, uint32_t node)
{
    struct esi_replay_edge edge = {.reason = ESI_REPLAY_SEND};
    uint32_t call = node;

    if (needs->partners[node] == ESI_REPLAY_NOBODY)
        return 0;
    if (!is_blocking(&op->tuple)) {
        if (op->completed_by == 0)
            return 0;
        edge.request = es_tuple_operation(&op->tuple);
        call = node_of(needs, op->completed_by - 1);
    }
    return add_need(needs, call, needs->partners[node], edge);
}

static int need_of(struct needs *needs, const struct esi_replay_op *op, uint32_t node)
{
    const struct es_tuple *tuple = &op->tuple;
    const struct es_operation *operation = es_operation_find(tuple->operation);
    struct esi_replay_edge edge = {.reason = ESI_REPLAY_POST};

    if (is_of_class(tuple, ES_CLASS_RECEIVE))
        return need_send(needs, op, node);
    if (!is_of_class(tuple, ES_CLASS_SEND) || !is_blocking(tuple) ||
        operation->buffered || !tuple->stop ||
        needs->partners[node] == ESI_REPLAY_NOBODY)
        return 0;
    edge.hidden = !operation->synchronizing;
    return add_need(needs, node, needs->partners[node], edge);
}

/* The call of MPI_Cancel has the operation that it cancels. */
static bool cancels_send(const struct es_tuple *tuple)
{
    const struct es_operation *of = tuple->sequence <= UINT16_MAX
                                        ? es_operation_find((uint16_t)tuple->sequence)
                                        : NULL;

    return family_of(tuple) == ES_OP_MPI_Cancel && of && of->op_class == ES_CLASS_SEND;
}

/* Matches sends with completion calls in call order, once the other completions are
 * known. */
static int follow_requests(struct needs *needs)
{
    const struct esi_replay_thread *thread = needs->thread;
    int result = 0;

    clear_requests(needs);
    for (size_t i = 0; i < thread->count && result == 0; i++) {
        const struct es_operation *operation =
            es_operation_find(thread->ops[i].tuple.operation);
        uint16_t family = family_of(&thread->ops[i].tuple);
        uint32_t node = node_of(needs, i);

        if (operation->completes && thread->ops[i].tuple.stop)
            result = complete_by(needs, node, thread->ops[i].completes);
        else if (operation->posts && !operation->combined)
            result = open_request(needs, node, needs_post(needs, operation));
        else if (family == ES_OP_MPI_Request_free ||
                 cancels_send(&thread->ops[i].tuple))
            forget_requests(needs);
    }
    forget_requests(needs);
    return result;
}

static int need_thread(struct needs *needs, const struct esi_replay_thread *thread)
{
    int result = 0;

    enter_thread(needs, thread);
    for (size_t i = 0; i < thread->count && result == 0; i++)
        result = need_of(needs, &thread->ops[i], node_of(needs, i));
    /* If threads complete each other's requests, counting is not possible. */
    return result < 0 || needs->process->exchanging > 1 ? result
                                                        : follow_requests(needs);
}

/* --- All -------------------------------------------------------------------------- */

static void look_at_thread(struct esi_replay_process *process,
                           const struct esi_replay_thread *thread)
{
    bool exchanges = false;

    for (size_t i = 0; i < thread->count; i++) {
        const struct es_tuple *tuple = &thread->ops[i].tuple;
        const struct es_operation *operation = es_operation_find(tuple->operation);

        if (!operation)
            continue;
        exchanges |= is_of_class(tuple, ES_CLASS_SEND) ||
                     is_of_class(tuple, ES_CLASS_RECEIVE) || operation->completes;
        process->buffers |= operation->buffered && operation->persistent;
    }
    process->exchanging += exchanges;
}

/* Instances start no thread and follow no node. */
static int begin_nodes(const struct esi_replay *replay, uint8_t **ret_begins)
{
    size_t count = replay->totals.calls + replay->totals.collectives;
    uint8_t *begins = calloc(count + 1, 1);

    if (!begins)
        return -ENOMEM;
    for (size_t i = 0; i < replay->thread_count; i++)
        if (replay->threads[i].count > 0)
            begins[replay->threads[i].base] = 1;
    for (size_t i = replay->totals.calls; i < count; i++)
        begins[i] = 1;
    *ret_begins = begins;
    return 0;
}

static int find_all(struct needs *needs)
{
    struct esi_replay *replay = needs->replay;
    int result = 0;

    needs->partners = malloc((replay->totals.calls + 1) * sizeof *needs->partners);
    if (!needs->partners)
        return -ENOMEM;
    for (size_t i = 0; i < replay->totals.calls; i++)
        needs->partners[i] = ESI_REPLAY_NOBODY;
    for (size_t i = 0; i < replay->thread_count && result == 0; i++)
        if (replay->threads[i].of)
            result = read_thread(needs, &replay->threads[i]);
    for (size_t i = 0; i < replay->thread_count && result == 0; i++)
        if (replay->threads[i].of)
            result = need_thread(needs, &replay->threads[i]);
    return result;
}

int esi_replay_find_needs(struct esi_replay *replay, uint8_t **ret_begins)
{
    struct needs needs = {.replay = replay};
    int result;

    replay->processes = calloc(replay->process_count + 1, sizeof *replay->processes);
    if (!replay->processes)
        return -ENOMEM;
    for (size_t i = 0; i < replay->thread_count; i++)
        if (replay->threads[i].of)
            look_at_thread(&replay->processes[replay->threads[i].of->process->number],
                           &replay->threads[i]);
    result = find_all(&needs);
    if (result == 0)
        result = begin_nodes(replay, ret_begins);
    replay->graph.node_count = replay->totals.calls + replay->totals.collectives;
    replay->graph.begins = result == 0 ? *ret_begins : NULL;
    free(needs.partners);
    free(needs.requests);
    return result;
}
