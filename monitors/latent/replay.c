/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* replay.c - the input of the replay, and the description of the cycles found. */
#include "config.h"

#include "monitors/latent/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "monitors/latent/replay_private.h"

/* --- Objects ---------------------------------------------------------------------- */

int esi_replay_create(struct esi_replay **ret_replay)
{
    struct esi_replay *replay = calloc(1, sizeof *replay);

    if (!replay)
        return -ENOMEM;
    esi_texts_init(&replay->names);
    *ret_replay = replay;
    return 0;
}

void esi_replay_destroy(struct esi_replay *replay)
{
    int saved_errno = errno;

    if (!replay)
        return;
    for (size_t i = 0; i < replay->thread_count; i++) {
        free(replay->threads[i].ops);
        free(replay->threads[i].event_ops);
    }
    for (size_t i = 0; i < replay->finding_count; i++)
        free(replay->findings[i].steps);
    free(replay->processes);
    free(replay->threads);
    free(replay->instances);
    esi_texts_fini(&replay->names);
    free(replay->findings);
    esi_replay_graph_fini(&replay->graph);
    free(replay);
    errno = saved_errno;
}

/* --- Filling ---------------------------------------------------------------------- */

static struct esi_replay_thread *thread_of(struct esi_replay *replay,
                                           uint32_t trace,
                                           const struct esi_run_thread *of)
{
    struct esi_replay_thread *thread;

    if (ESI_ARRAY_RESERVE(replay->threads, replay->thread_capacity, (size_t)trace + 1) <
        0)
        return NULL;
    while (replay->thread_count <= trace)
        replay->threads[replay->thread_count++] =
            (struct esi_replay_thread){.of = NULL};
    thread = &replay->threads[trace];
    thread->of = of;
    if (of->process->number >= replay->process_count)
        replay->process_count = (size_t)of->process->number + 1;
    return thread;
}

/* The neighbours of neighbourhood operations are not known here. */
static int number_instance(struct esi_replay *replay,
                           const struct esi_causal_call *call,
                           uint32_t *ret_instance)
{
    size_t number = call->instance;
    uint32_t *instance;

    *ret_instance = 0;
    if (number == 0 || call->operation->order == ES_ORDER_NEIGHBOURS ||
        call->member->communicator->size < 2)
        return 0;
    if (ESI_ARRAY_RESERVE(replay->instances, replay->instance_capacity, number + 1) < 0)
        return -ENOMEM;
    while (replay->instance_count <= number)
        replay->instances[replay->instance_count++] = 0;
    instance = &replay->instances[number];
    if (*instance == 0)
        *instance = (uint32_t)++replay->totals.collectives;
    *ret_instance = *instance;
    return 0;
}

static int add_op(struct esi_replay *replay,
                  struct esi_replay_thread *thread,
                  const struct esi_causal_call *call)
{
    const struct es_tuple *tuple = &call->told->tuple;
    struct esi_replay_op op = {.tuple = *tuple, .number = (uint32_t)thread->count};

    /* Nodes have 32 bits; behind the operations' come those of instances. */
    if (replay->totals.calls == UINT32_MAX / 2 ||
        number_instance(replay, call, &op.instance) < 0 ||
        ESI_ARRAY_RESERVE(thread->ops, thread->capacity, thread->count + 1) < 0)
        return -ENOMEM;
    thread->ops[thread->count++] = op;
    if (replay->totals.calls == 0 || tuple->start < replay->totals.begin)
        replay->totals.begin = tuple->start;
    replay->totals.calls++;
    return 0;
}

/* What failed has no effect on others.  A wait has completed requests, even so. */
static bool has_only_failed(const struct es_tuple *tuple)
{
    return es_tuple_error(tuple) != 0 && tuple->sequence == ES_SEQUENCE_UNKNOWN;
}

/* The number of the operation of an event, once it was added.  Who refers to the second
 * event of a tuple refers to what another call has started. */
static uint32_t op_of_event(const struct esi_replay_thread *thread,
                            const struct esi_causal_call *call)
{
    size_t number = thread->count;

    if (!call->operation || has_only_failed(&call->told->tuple) ||
        (call->again && call->number > 0))
        return ESI_REPLAY_NOBODY;
    while (number-- > 0)
        if (memcmp(&thread->ops[number].tuple, &call->told->tuple,
                   sizeof call->told->tuple) == 0)
            return (uint32_t)number;
    return ESI_REPLAY_NOBODY;
}

static void complete_ops(struct esi_replay_thread *thread,
                         const struct esi_causal_call *call)
{
    if (has_only_failed(&call->told->tuple) || !call->operation->completes)
        return;
    for (size_t i = 0; i < call->completed_count; i++) {
        uint32_t number = thread->event_ops[call->completed[i].index - 1];

        if (number != ESI_REPLAY_NOBODY && !call->completed[i].unsure)
            thread->ops[number].completed_by =
                thread->ops[thread->count - 1].number + 1;
    }
}

static int take_event(void *data,
                      const struct es_set_event *event,
                      const struct esi_causal_call *call)
{
    struct esi_replay *replay = data;
    struct esi_replay_thread *thread;
    int result = 0;

    if (!call)
        return 0; /* the operations say which instance they are of */
    thread = thread_of(replay, event->id.trace, call->thread);
    if (!thread || ESI_ARRAY_RESERVE(thread->event_ops, thread->event_capacity,
                                     thread->event_count + 1) < 0)
        return -ENOMEM;
    if (!call->again && call->operation && !has_only_failed(&call->told->tuple))
        result = add_op(replay, thread, call);
    thread->event_ops[thread->event_count++] = op_of_event(thread, call);
    if (result == 0 && call->completed_count > 0)
        complete_ops(thread, call);
    if (result == 0 && call->role == ESI_ROLE_RECEIVE && event->partner_count > 0 &&
        call->operation->op_class == ES_CLASS_RECEIVE) {
        thread->ops[thread->count - 1].sent = event->partners[0];
        replay->totals.messages++;
    }
    return result;
}

struct esi_causal_listener esi_replay_listener(struct esi_replay *replay)
{
    return (struct esi_causal_listener){.told = take_event, .data = replay};
}

/* --- Describing ------------------------------------------------------------------- */

const struct esi_replay_thread *esi_replay_thread_of(const struct esi_replay *replay,
                                                     uint32_t node)
{
    size_t low = 0;
    size_t high = replay->thread_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (replay->threads[middle].base <= node)
            low = middle;
        else
            high = middle;
    }
    return &replay->threads[low];
}

static int describe_call(struct esi_replay *replay,
                         uint32_t node,
                         struct esi_replay_call *ret_call)
{
    const struct esi_replay_thread *thread = esi_replay_thread_of(replay, node);
    const struct es_tuple *tuple = &thread->ops[node - thread->base].tuple;
    const struct esi_run_member *member =
        esi_run_member(thread->of->process, tuple->communicator);
    const char *name = member ? member->communicator->name : "";
    uint32_t number;

    if (esi_texts_add(&replay->names, name, strlen(name), &number) < 0)
        return -ENOMEM;
    *ret_call = (struct esi_replay_call){
        .rank = thread->of->process->rank,
        .thread = thread->of->thread,
        .number = node - thread->base + 1,
        .start = tuple->start,
        .operation = tuple->operation,
        .peer = tuple->peer,
        .tag = tuple->tag,
        .communicator = esi_texts_at(&replay->names, number),
    };
    return 0;
}

static bool is_instance(const struct esi_replay *replay, uint32_t node)
{
    return node >= replay->totals.calls;
}

/* Two edges through an instance are one step: its member waits for another one. */
static int describe_steps(struct esi_replay *replay,
                          const uint32_t *numbers,
                          size_t count,
                          struct esi_replay_finding *finding)
{
    const struct esi_replay_edge *edges = replay->graph.edges;
    size_t first = is_instance(replay, edges[numbers[0]].from);

    for (size_t i = first; i < count + first; i++) {
        const struct esi_replay_edge *edge = &edges[numbers[i % count]];
        const struct esi_replay_edge *end = edge;
        struct esi_replay_step *step = &finding->steps[finding->step_count++];

        if (is_instance(replay, edge->to))
            end = &edges[numbers[++i % count]];
        if (describe_call(replay, edge->from, &step->call) < 0 ||
            describe_call(replay, end->awaited, &step->awaited) < 0)
            return -ENOMEM;
        step->request = edge->request;
        step->reason = edge->reason;
        step->hidden = edge->hidden;
    }
    return 0;
}

/* Independent of the start of a cycle: the sum of its steps. */
static uint64_t sign_steps(const struct esi_replay_step *steps, size_t count)
{
    uint64_t signature = count;

    for (size_t i = 0; i < count; i++) {
        const struct esi_replay_call *call = &steps[i].call;
        uint64_t hash = esi_hash_mix((uint64_t)(uint32_t)call->rank, call->operation);

        hash = esi_hash_mix(hash, (uint64_t)(uint32_t)call->thread);
        hash = esi_hash_mix(hash,
                            (uint64_t)(uint32_t)call->peer << 32 | (uint32_t)call->tag);
        hash = esi_hash_mix_text(hash, call->communicator);
        signature += esi_hash_mix(hash, steps[i].awaited.operation);
    }
    return signature;
}

/* Starts with the earliest step, so that the result is deterministic. */
static void turn_steps(struct esi_replay_step *steps, size_t count)
{
    size_t first = 0;

    for (size_t i = 1; i < count; i++)
        if (steps[i].call.rank < steps[first].call.rank ||
            (steps[i].call.rank == steps[first].call.rank &&
             steps[i].call.start < steps[first].call.start))
            first = i;
    for (; first > 0; first--) {
        struct esi_replay_step step = steps[0];

        memmove(steps, steps + 1, (count - 1) * sizeof *steps);
        steps[count - 1] = step;
    }
}

static bool is_known_finding(struct esi_replay *replay,
                             const struct esi_replay_finding *finding)
{
    for (size_t i = 0; i < replay->finding_count; i++) {
        struct esi_replay_finding *known = &replay->findings[i];

        if (known->signature != finding->signature ||
            known->step_count != finding->step_count)
            continue;
        known->times++;
        if (finding->steps[0].call.start < known->steps[0].call.start)
            memcpy(known->steps, finding->steps,
                   known->step_count * sizeof *known->steps);
        return true;
    }
    return false;
}

static int keep_finding(struct esi_replay *replay, struct esi_replay_finding *finding)
{
    if (is_known_finding(replay, finding) ||
        replay->finding_count == ESI_REPLAY_FINDINGS) {
        free(finding->steps);
        return 0;
    }
    if (ESI_ARRAY_RESERVE(replay->findings, replay->finding_capacity,
                          replay->finding_count + 1) < 0) {
        free(finding->steps);
        return -ENOMEM;
    }
    replay->findings[replay->finding_count++] = *finding;
    return 0;
}

static int on_cycle(void *data, const uint32_t *edges, size_t count)
{
    struct esi_replay *replay = data;
    struct esi_replay_finding finding = {.steps = calloc(count, sizeof *finding.steps),
                                         .times = 1};

    if (!finding.steps)
        return -ENOMEM;
    if (describe_steps(replay, edges, count, &finding) < 0) {
        free(finding.steps);
        return -ENOMEM;
    }
    turn_steps(finding.steps, finding.step_count);
    finding.signature = sign_steps(finding.steps, finding.step_count);
    return keep_finding(replay, &finding);
}

static int compare_findings(const void *left, const void *right)
{
    const struct esi_replay_finding *a = left;
    const struct esi_replay_finding *b = right;

    if (a->step_count != b->step_count)
        return a->step_count < b->step_count ? -1 : 1;
    if (a->steps[0].call.start != b->steps[0].call.start)
        return a->steps[0].call.start < b->steps[0].call.start ? -1 : 1;
    return a->signature < b->signature ? -1 : a->signature > b->signature;
}

/* --- Replaying -------------------------------------------------------------------- */

/* By start; a call precedes what it posted or received. */
static int compare_ops(const void *left, const void *right)
{
    const struct es_tuple *a = &((const struct esi_replay_op *)left)->tuple;
    const struct es_tuple *b = &((const struct esi_replay_op *)right)->tuple;
    uint16_t a_code = es_tuple_operation(a);
    uint16_t b_code = es_tuple_operation(b);

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a_code != b_code)
        return a_code < b_code ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static int sort_thread(struct esi_replay_thread *thread)
{
    uint32_t *positions = malloc((thread->count + 1) * sizeof *positions);

    if (!positions)
        return -ENOMEM;
    qsort(thread->ops, thread->count, sizeof *thread->ops, compare_ops);
    for (size_t i = 0; i < thread->count; i++)
        positions[thread->ops[i].number] = (uint32_t)i;
    for (size_t i = 0; i < thread->event_count; i++)
        if (thread->event_ops[i] != ESI_REPLAY_NOBODY)
            thread->event_ops[i] = positions[thread->event_ops[i]];
    for (size_t i = 0; i < thread->count; i++)
        if (thread->ops[i].completed_by > 0)
            thread->ops[i].completed_by =
                positions[thread->ops[i].completed_by - 1] + 1;
    free(positions);
    return 0;
}

static int sort_threads(struct esi_replay *replay)
{
    uint32_t base = 0;
    int result = 0;

    for (size_t i = 0; i < replay->thread_count && result == 0; i++) {
        struct esi_replay_thread *thread = &replay->threads[i];

        thread->base = base;
        base += (uint32_t)thread->count;
        if (thread->count > 0)
            result = sort_thread(thread);
    }
    return result;
}

static int search_cycles(struct esi_replay *replay)
{
    int64_t found;

    if (esi_replay_graph_sort(&replay->graph) < 0)
        return -ENOMEM;
    found = esi_replay_graph_cycles(&replay->graph, on_cycle, replay);
    if (found < 0)
        return (int)found;
    replay->totals.cycles = (uint64_t)found;
    if (replay->finding_count > 0)
        qsort(replay->findings, replay->finding_count, sizeof *replay->findings,
              compare_findings);
    return 0;
}

int esi_replay_finish(struct esi_replay *replay,
                      const struct esi_causality_totals *totals)
{
    uint8_t *begins = NULL;
    int result = sort_threads(replay);

    replay->totals.lost = totals->lost;
    replay->totals.unmatched = totals->unmatched_sends + totals->unmatched_receives;
    replay->totals.unnumbered = totals->unnumbered;
    replay->totals.unplaced = totals->unplaced;
    if (result == 0)
        result = esi_replay_find_needs(replay, &begins);
    if (result == 0)
        result = search_cycles(replay);
    free(begins);
    esi_replay_graph_fini(&replay->graph);
    return result;
}

/* --- What is found ---------------------------------------------------------------- */

size_t esi_replay_finding_count(const struct esi_replay *replay)
{
    return replay->finding_count;
}

const struct esi_replay_finding *esi_replay_finding(const struct esi_replay *replay,
                                                    size_t index)
{
    return &replay->findings[index];
}

void esi_replay_totals(const struct esi_replay *replay,
                       struct esi_replay_totals *ret_totals)
{
    *ret_totals = replay->totals;
}

bool esi_replay_is_incomplete(const struct esi_replay *replay)
{
    const struct esi_replay_totals *totals = &replay->totals;

    return totals->lost || totals->unmatched || totals->unknown || totals->unnumbered ||
           totals->unplaced;
}
