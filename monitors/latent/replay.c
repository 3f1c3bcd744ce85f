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

int esi_replay_create(const struct esi_run_model *run, struct esi_replay **ret_replay)
{
    struct esi_replay *replay = calloc(1, sizeof *replay);

    if (!replay)
        return -ENOMEM;
    replay->processes = calloc(run->process_count + 1, sizeof *replay->processes);
    replay->threads = calloc(run->thread_count + 1, sizeof *replay->threads);
    if (!replay->processes || !replay->threads) {
        esi_replay_destroy(replay);
        return -ENOMEM;
    }
    for (size_t i = 0; i < run->thread_count; i++)
        replay->threads[i].of = run->threads[i];
    replay->thread_count = run->thread_count;
    *ret_replay = replay;
    return 0;
}

void esi_replay_destroy(struct esi_replay *replay)
{
    int saved_errno = errno;

    if (!replay)
        return;
    for (size_t i = 0; i < replay->thread_count; i++)
        free(replay->threads[i].tuples);
    for (size_t i = 0; i < replay->finding_count; i++)
        free(replay->findings[i].steps);
    free(replay->processes);
    free(replay->threads);
    free(replay->findings);
    esi_replay_graph_fini(&replay->graph);
    free(replay);
    errno = saved_errno;
}

/* --- Filling ---------------------------------------------------------------------- */

int esi_replay_add(struct esi_replay *replay,
                   const struct esi_run_thread *thread,
                   const struct es_tuple *tuple)
{
    struct esi_replay_thread *owner = &replay->threads[thread->number];

    /* What failed has no effect on others.  A wait has completed requests, even so. */
    if (es_tuple_error(tuple) != 0 && tuple->sequence == ES_SEQUENCE_UNKNOWN)
        return 0;
    /* Nodes have 32 bits; behind the tuples' come those of collective instances. */
    if (replay->totals.calls == UINT32_MAX / 2 ||
        ESI_ARRAY_RESERVE(owner->tuples, owner->capacity, owner->count + 1) < 0)
        return -ENOMEM;
    owner->tuples[owner->count++] = *tuple;
    if (replay->totals.calls == 0 || tuple->start < replay->totals.begin)
        replay->totals.begin = tuple->start;
    replay->totals.calls++;
    return 0;
}

void esi_replay_lose(struct esi_replay *replay, uint64_t lost)
{
    replay->totals.lost += lost;
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

static void describe_call(const struct esi_replay *replay,
                          uint32_t node,
                          struct esi_replay_call *ret_call)
{
    const struct esi_replay_thread *thread = esi_replay_thread_of(replay, node);
    const struct es_tuple *tuple = &thread->tuples[node - thread->base];
    const struct esi_run_member *member =
        esi_run_member(thread->of->process, tuple->communicator);

    *ret_call = (struct esi_replay_call){
        .rank = thread->of->process->rank,
        .thread = thread->of->thread,
        .number = node - thread->base + 1,
        .start = tuple->start,
        .operation = tuple->operation,
        .peer = tuple->peer,
        .tag = tuple->tag,
        .communicator = member ? member->communicator->name : "",
    };
}

static bool is_instance(const struct esi_replay *replay, uint32_t node)
{
    return node >= replay->totals.calls;
}

/* Two edges through an instance are one step: its member waits for another one. */
static size_t describe_steps(const struct esi_replay *replay,
                             const uint32_t *numbers,
                             size_t count,
                             struct esi_replay_step *steps)
{
    const struct esi_replay_edge *edges = replay->graph.edges;
    size_t first = is_instance(replay, edges[numbers[0]].from);
    size_t step_count = 0;

    for (size_t i = first; i < count + first; i++) {
        const struct esi_replay_edge *edge = &edges[numbers[i % count]];
        const struct esi_replay_edge *end = edge;

        if (is_instance(replay, edge->to))
            end = &edges[numbers[++i % count]];
        describe_call(replay, edge->from, &steps[step_count].call);
        describe_call(replay, end->awaited, &steps[step_count].awaited);
        steps[step_count].request = edge->request;
        steps[step_count].reason = edge->reason;
        steps[step_count].hidden = edge->hidden;
        step_count++;
    }
    return step_count;
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
    finding.step_count = describe_steps(replay, edges, count, finding.steps);
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
static int compare_tuples(const void *left, const void *right)
{
    const struct es_tuple *a = left;
    const struct es_tuple *b = right;
    uint16_t a_code = es_tuple_operation(a);
    uint16_t b_code = es_tuple_operation(b);

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a_code != b_code)
        return a_code < b_code ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static void sort_threads(struct esi_replay *replay)
{
    uint32_t base = 0;

    for (size_t i = 0; i < replay->thread_count; i++) {
        struct esi_replay_thread *thread = &replay->threads[i];

        if (thread->count > 0)
            qsort(thread->tuples, thread->count, sizeof *thread->tuples,
                  compare_tuples);
        thread->base = base;
        base += (uint32_t)thread->count;
    }
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

int esi_replay_finish(struct esi_replay *replay)
{
    uint8_t *begins = NULL;
    int result;

    sort_threads(replay);
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
