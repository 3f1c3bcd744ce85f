/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_questions.c - creates pairs of events, and measures the time of the answers. */
#include "config.h"

#include "bench/order_questions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/now.h"
#include "bench/order_load.h"

enum { ROUNDS = 3 };

const char *order_question_name(enum order_question_kind kind)
{
    static const char *const names[] = {"random", "near", "across", "greatest"};

    return names[kind];
}

static uint64_t draw_below(uint64_t *state, uint64_t limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 11) % limit;
}

/* Any event; index 0 if the trace has none. */
static struct es_event_id any_event(const uint32_t *counts,
                                    uint32_t traces,
                                    uint64_t *state)
{
    struct es_event_id id = {.trace = (uint32_t)draw_below(state, traces)};

    if (counts[id.trace] > 0)
        id.index = 1 + (uint32_t)draw_below(state, counts[id.trace]);
    return id;
}

/* An event of a trace with the same relative position as another, plus or minus 16. */
static struct es_event_id event_beside(const uint32_t *counts,
                                       uint32_t trace,
                                       struct es_event_id other,
                                       uint64_t *state)
{
    int64_t count = counts[trace], index;

    index = (int64_t)((double)other.index / counts[other.trace] * (double)count) +
            (int64_t)draw_below(state, 33) - 16;
    if (index > count)
        index = count;
    if (index < 1)
        index = count > 0;
    return (struct es_event_id){.trace = trace, .index = (uint32_t)index};
}

/* Returns true if both exist. */
static bool make_pair(struct es_event_id *pair,
                      enum order_question_kind kind,
                      const uint32_t *counts,
                      uint32_t traces,
                      uint64_t *state)
{
    uint32_t trace;

    pair[0] = any_event(counts, traces, state);
    if (pair[0].index == 0)
        return false;
    trace = (uint32_t)draw_below(state, traces);
    if (kind == ORDER_QUESTION_NEAR)
        trace = pair[0].trace / ORDER_LOAD_NEAR * ORDER_LOAD_NEAR +
                (uint32_t)draw_below(state, ORDER_LOAD_NEAR);
    if (kind == ORDER_QUESTION_NEAR && trace >= traces)
        return false;
    if (kind == ORDER_QUESTION_NEAR || kind == ORDER_QUESTION_ACROSS)
        pair[1] = event_beside(counts, trace, pair[0], state);
    else
        pair[1] = any_event(counts, traces, state);
    return pair[1].index > 0 && pair[1].trace != pair[0].trace;
}

int order_questions_make(struct order_questions *ret_questions,
                         size_t count,
                         const uint32_t *counts,
                         uint32_t traces,
                         uint64_t seed)
{
    struct es_event_id *pairs = calloc(count * ORDER_QUESTION_KINDS * 2, sizeof *pairs);
    uint64_t state = seed * UINT64_C(2654435761) + 1;

    if (!pairs)
        return -ENOMEM;
    for (size_t i = 0; i < count * ORDER_QUESTION_KINDS; i++)
        while (!make_pair(&pairs[2 * i], (enum order_question_kind)(i / count), counts,
                          traces, &state))
            continue;
    *ret_questions = (struct order_questions){.count = count, .pairs = pairs};
    return 0;
}

void order_questions_free(struct order_questions *questions)
{
    free(questions->pairs);
    questions->pairs = NULL;
}

static int64_t ask(const struct es_order *order,
                   enum order_question_kind kind,
                   const struct es_event_id *pair)
{
    if (kind == ORDER_QUESTION_GREATEST)
        return es_order_greatest_predecessor(order, pair[0], pair[1].trace);
    return es_order_precedes(order, pair[0], pair[1]);
}

void order_questions_ask(const struct order_questions *questions,
                         const struct es_order *order,
                         struct order_answers *ret_answers)
{
    *ret_answers = (struct order_answers){.failure = 0};
    for (int round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < ORDER_QUESTION_KINDS; kind++) {
            const struct es_event_id *pairs =
                &questions->pairs[2 * questions->count * (size_t)kind];
            uint64_t begin_ns = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID), mixed = 0;
            double ns;

            for (size_t i = 0; i < questions->count; i++) {
                int64_t answer =
                    ask(order, (enum order_question_kind)kind, &pairs[2 * i]);

                if (answer == -ESTALE)
                    ret_answers->stale++;
                else if (answer < 0)
                    ret_answers->failure = answer;
                mixed = mixed * 31 + (uint64_t)answer;
            }
            ns = (double)(esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns) /
                 (double)questions->count;
            if (round == 0 || ns < ret_answers->ns[kind])
                ret_answers->ns[kind] = ns;
            ret_answers->mixed[kind] = mixed;
        }
}
