/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* sequences.c - the communication steps of threads. */
#include "config.h"

#include "monitors/compare/sequences.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tuplespace/operation_table.h"

void esi_sequences_init(struct esi_sequences *sequences)
{
    *sequences = (struct esi_sequences){.count = 0};
    esi_texts_init(&sequences->texts);
}

void esi_sequences_fini(struct esi_sequences *sequences)
{
    for (size_t i = 0; i < sequences->count; i++)
        free(sequences->threads[i].steps);
    free(sequences->threads);
    esi_texts_fini(&sequences->texts);
}

/* --- Taking ----------------------------------------------------------------------- */

static struct esi_sequence *sequence_at(struct esi_sequences *sequences,
                                        uint32_t trace,
                                        const struct esi_causal_call *call)
{
    if (ESI_ARRAY_RESERVE(sequences->threads, sequences->capacity, (size_t)trace + 1) <
        0)
        return NULL;
    while (sequences->count <= trace)
        sequences->threads[sequences->count++] = (struct esi_sequence){.rank = INT_MIN};
    sequences->threads[trace].rank = call->thread->process->rank;
    sequences->threads[trace].thread = call->thread->thread;
    return &sequences->threads[trace];
}

/* NULL if out of memory. */
static const char *keep_text(struct esi_sequences *sequences, const char *text)
{
    uint32_t number;

    if (!text)
        text = "";
    return esi_texts_add(&sequences->texts, text, strlen(text), &number) < 0
               ? NULL
               : esi_texts_at(&sequences->texts, number);
}

/* Each operation counts once, with one of its events. */
static bool is_step(const struct esi_causal_call *call)
{
    if (!call->operation)
        return false;
    switch (call->role) {
    case ESI_ROLE_SEND:
    case ESI_ROLE_RECEIVE:
        return call->operation->op_class == ES_CLASS_SEND ||
               call->operation->op_class == ES_CLASS_RECEIVE;
    case ESI_ROLE_ENTER:
        return call->posted || !call->operation->nonblocking;
    default:
        return false;
    }
}

int esi_sequences_told(void *data,
                       const struct es_set_event *event,
                       const struct esi_causal_call *call)
{
    struct esi_sequences *sequences = data;
    struct esi_sequence *sequence;
    struct esi_sequence_step step = {.given = ++sequences->given};

    if (!call || !is_step(call))
        return 0;
    sequence = sequence_at(sequences, event->id.trace, call);
    if (!sequence ||
        ESI_ARRAY_RESERVE(sequence->steps, sequence->capacity, sequence->count + 1) < 0)
        return -ENOMEM;
    step.start_ns = call->told->start_ns;
    step.operation = esi_operation_family(call->operation);
    step.any = call->told->tuple.operation & ES_OPERATION_ANY_SOURCE;
    step.peer = call->told->tuple.peer;
    if (call->role != ESI_ROLE_ENTER)
        step.tag = call->told->tuple.tag;
    step.communicator = keep_text(sequences, esi_causal_call_communicator_name(call));
    step.site = keep_text(sequences, call->told->site);
    if (!step.communicator || !step.site)
        return -ENOMEM;
    sequence->steps[sequence->count++] = step;
    return 0;
}

/* Operations started by one call are sorted by code and peer. */
static int compare_steps(const void *left, const void *right)
{
    const struct esi_sequence_step *a = left;
    const struct esi_sequence_step *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->given < b->given ? -1 : a->given > b->given;
}

void esi_sequences_sort(struct esi_sequences *sequences)
{
    for (size_t i = 0; i < sequences->count; i++)
        if (sequences->threads[i].count > 0)
            qsort(sequences->threads[i].steps, sequences->threads[i].count,
                  sizeof *sequences->threads[i].steps, compare_steps);
}

/* --- Comparing -------------------------------------------------------------------- */

static bool is_same_step(const struct esi_sequence_step *a,
                         const struct esi_sequence_step *b)
{
    return a->operation == b->operation && a->any == b->any && a->peer == b->peer &&
           a->tag == b->tag && strcmp(a->communicator, b->communicator) == 0;
}

static const struct esi_sequence *find_thread(const struct esi_sequences *sequences,
                                              const struct esi_sequence *like)
{
    for (size_t i = 0; i < sequences->count; i++)
        if (sequences->threads[i].rank == like->rank &&
            sequences->threads[i].thread == like->thread)
            return &sequences->threads[i];
    return NULL;
}

/* Compares one thread; returns the number of equal steps. */
static size_t compare_threads(const struct esi_sequence *a,
                              const struct esi_sequence *b,
                              struct esi_sequence_difference *ret_difference)
{
    size_t b_count = b ? b->count : 0;
    size_t alike = 0;

    while (alike < a->count && alike < b_count &&
           is_same_step(&a->steps[alike], &b->steps[alike]))
        alike++;
    *ret_difference = (struct esi_sequence_difference){
        .rank = a->rank,
        .thread = a->thread,
        .number = alike + 1,
        .a = alike < a->count ? &a->steps[alike] : NULL,
        .b = alike < b_count ? &b->steps[alike] : NULL,
    };
    return alike;
}

/* By position in the run; if the run has ended there, by that in the other one. */
static bool is_earlier(const struct esi_sequence_difference *one,
                       const struct esi_sequence_difference *other)
{
    if (one->a && other->a)
        return one->a->given < other->a->given;
    if (one->a || other->a)
        return one->a != NULL;
    return one->b->given < other->b->given;
}

bool esi_sequences_compare(const struct esi_sequences *a,
                           const struct esi_sequences *b,
                           struct esi_sequence_difference *ret_difference,
                           uint64_t *ret_count)
{
    bool found = false;

    *ret_count = 0;
    for (size_t i = 0; i < a->count + b->count; i++) {
        bool is_of_b = i >= a->count;
        const struct esi_sequence *thread =
            is_of_b ? &b->threads[i - a->count] : &a->threads[i];
        struct esi_sequence none = {.rank = thread->rank, .thread = thread->thread};
        struct esi_sequence_difference difference;

        if (thread->rank == INT_MIN || (is_of_b && find_thread(a, thread)))
            continue;
        if (is_of_b)
            (void)compare_threads(&none, thread, &difference);
        else
            *ret_count += compare_threads(thread, find_thread(b, thread), &difference);
        if ((difference.a || difference.b) &&
            (!found || is_earlier(&difference, ret_difference))) {
            *ret_difference = difference;
            found = true;
        }
    }
    return found;
}
