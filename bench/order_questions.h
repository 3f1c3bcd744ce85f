/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_questions.h - pairs of events for queries of an order, the same for all
 * stores. */
#ifndef ES_BENCH_ORDER_QUESTIONS_H
#define ES_BENCH_ORDER_QUESTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "monitors/order/order.h"

enum order_question_kind {
    ORDER_QUESTION_RANDOM,   /* any two events */
    ORDER_QUESTION_NEAR,     /* on neighbouring traces, at about the same time */
    ORDER_QUESTION_ACROSS,   /* on any two traces, at about the same time */
    ORDER_QUESTION_GREATEST, /* greatest predecessor of any event on any trace */
    ORDER_QUESTION_KINDS
};

const char *order_question_name(enum order_question_kind kind);

struct order_questions {
    size_t count;
    struct es_event_id *pairs; /* [kind][count][2] */
};

/* `counts`: number of events of each trace.  Returns 0 or -ENOMEM. */
int order_questions_make(struct order_questions *ret_questions,
                         size_t count,
                         const uint32_t *counts,
                         uint32_t traces,
                         uint64_t seed);
void order_questions_free(struct order_questions *questions);

struct order_answers {
    double ns[ORDER_QUESTION_KINDS];      /* per question */
    uint64_t mixed[ORDER_QUESTION_KINDS]; /* alike for all stores */
    uint64_t stale;  /* answers that the event was forgotten by the store */
    int64_t failure; /* another answer that is a negative errno; 0 if none */
};

/* Asks all questions; the times are the best of several rounds. */
void order_questions_ask(const struct order_questions *questions,
                         const struct es_order *order,
                         struct order_answers *ret_answers);

#endif
