/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * replay_needs.c - what each call depends on in other threads before it can end.
 *
 * A call begins when the previous one in its thread has ended.  A receive is posted at
 * its start, even if its tuple was written at completion.  The dependencies of a
 * nonblocking operation are those of the call that completed it.  Which call that was,
 * which send a receive has got, and which operations are members of one instance, is
 * known from the stream (causality.h).  Sends whose completion is not known are
 * counted, and depend on nothing.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "eventspace/operation.h"
#include "monitors/latent/replay_private.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

struct needs {
    struct esi_replay *replay;
    uint32_t *partners; /* by node: the message's other end; owned, as all */
    /* Of the thread that is looked at. */
    const struct esi_replay_thread *thread;
    const struct esi_replay_process *process;
};

/* --- Nodes ------------------------------------------------------------------------ */

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

/* --- Second pass: dependencies ---------------------------------------------------- */

/* Whether the send completes at the latest when its receive is posted. */
static bool needs_post(const struct needs *needs, const struct es_operation *operation)
{
    return !operation->buffered &&
           operation->code != ES_OP_MPI_Start_partitioned_send &&
           (operation->code != ES_OP_MPI_Start_send || !needs->process->buffers);
}

/* Who needs the send: the receive, or the call that completed it. */
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

/* Who needs the receive: the send, or the call that completed it.  If threads complete
 * each other's requests, that is not known. */
static int need_post(struct needs *needs, const struct esi_replay_op *op, uint32_t node)
{
    const struct es_operation *operation = es_operation_find(op->tuple.operation);
    struct esi_replay_edge edge = {.reason = ESI_REPLAY_POST,
                                   .hidden = !operation->synchronizing};
    uint32_t call = node;

    if (!needs_post(needs, operation) || op->tuple.peer < 0 || !op->tuple.stop)
        return 0;
    if (operation->posts) {
        if (needs->process->exchanging > 1)
            return 0;
        if (op->completed_by == 0) {
            needs->replay->totals.unknown++;
            return 0;
        }
        edge.request = esi_operation_family(operation);
        call = node_of(needs, op->completed_by - 1);
    }
    return needs->partners[node] == ESI_REPLAY_NOBODY
               ? 0
               : add_need(needs, call, needs->partners[node], edge);
}

static int need_thread(struct needs *needs, const struct esi_replay_thread *thread)
{
    int result = 0;

    enter_thread(needs, thread);
    for (size_t i = 0; i < thread->count && result == 0; i++) {
        const struct esi_replay_op *op = &thread->ops[i];

        if (is_of_class(&op->tuple, ES_CLASS_RECEIVE))
            result = need_send(needs, op, node_of(needs, i));
        else if (is_of_class(&op->tuple, ES_CLASS_SEND))
            result = need_post(needs, op, node_of(needs, i));
    }
    return result;
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
    return result;
}
