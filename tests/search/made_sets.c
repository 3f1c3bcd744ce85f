/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_sets.c - random sets of events of a made computation. */
#include "config.h"

#include "tests/search/made_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct made_computation *made_for_round(unsigned round, uint64_t seed)
{
    struct made_config config = {.shape = (enum made_shape)(round % MADE_SHAPES),
                                 .seed = seed + round,
                                 .traces = 4 + round % 7,
                                 .events = 60 + round % 5 * 20,
                                 .is_sparse = round / MADE_SHAPES % 2 == 1,
                                 .is_lossy = round / MADE_SHAPES % 3 == 1};

    return made_computation_create(&config);
}

struct es_order *made_order(const struct made_computation *made, unsigned round)
{
    static const char *const stores[] = {"dense", "epoch", "cluster"};
    struct esi_order_config config = {.store = stores[round % 3]};
    struct es_order *order = NULL;
    struct es_set_sink sink;

    assert_int_equal(esi_order_create(&config, NULL, &order), 0);
    sink = es_order_sink(order);
    assert_int_equal(made_computation_stream(made, NULL, &sink), 0);
    assert_int_equal(es_order_sink_end(order), 0);
    return order;
}

static int compare(const void *a, const void *b)
{
    const struct es_event_id *x = a, *y = b;

    if (x->trace != y->trace)
        return x->trace < y->trace ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The events of a set are adjacent in the order of creation, or random. */
void made_set_draw(const struct made_computation *made,
                   uint64_t *draw,
                   uint32_t limit,
                   struct made_set_of_events *ret_set)
{
    uint32_t size = 1 + random_below(draw, limit);
    uint32_t window = random_percent(draw, 60) ? 1 + size * 2 : made->count;
    uint32_t begin;
    size_t kept = 0;

    if (window > made->count)
        window = made->count;
    begin = random_below(draw, made->count - window + 1);
    for (uint32_t i = 0; i < size; i++)
        ret_set->events[i] = made->events[begin + random_below(draw, window)].id;
    qsort(ret_set->events, size, sizeof *ret_set->events, compare);
    for (uint32_t i = 0; i < size; i++)
        if (i == 0 || compare(&ret_set->events[i], &ret_set->events[i - 1]) != 0)
            ret_set->events[kept++] = ret_set->events[i];
    ret_set->count = kept;
}
