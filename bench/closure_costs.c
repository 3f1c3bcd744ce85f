/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* closure_costs.c - measures convex closures of random sets of events. */
#include "config.h"

#include "bench/closure_costs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/now.h"

/* --- Random sets ------------------------------------------------------------------ */

/* xorshift64*, Vigna. */
static uint64_t draw(uint64_t *seed, uint64_t limit)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (*seed * UINT64_C(2685821657736338717) >> 11) % limit;
}

static uint64_t count_events(const struct es_order *order)
{
    uint64_t count = 0;

    for (uint32_t trace = 0; trace < es_order_traces(order); trace++)
        count += es_order_count(order, trace);
    return count;
}

/* The event with this number, counted trace by trace. */
static struct es_event_id event_at(const struct es_order *order, uint64_t number)
{
    uint32_t trace = 0;

    while (number >= es_order_count(order, trace))
        number -= es_order_count(order, trace++);
    return (struct es_event_id){trace, (uint32_t)number + 1};
}

static int compare(const void *a, const void *b)
{
    const struct es_event_id *x = a, *y = b;

    if (x->trace != y->trace)
        return x->trace < y->trace ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool has(const struct es_event_id *events,
                size_t count,
                struct es_event_id event)
{
    for (size_t i = 0; i < count; i++)
        if (compare(&events[i], &event) == 0)
            return true;
    return false;
}

static void draw_set(const struct es_order *order,
                     uint64_t total,
                     size_t size,
                     uint64_t *seed,
                     struct es_event_id *events)
{
    for (size_t i = 0; i < size;) {
        struct es_event_id event = event_at(order, draw(seed, total));

        if (!has(events, i, event))
            events[i++] = event;
    }
    qsort(events, size, sizeof *events, compare);
}

int closure_sets_draw(const struct es_order *order,
                      size_t count,
                      uint32_t least,
                      uint32_t most,
                      uint64_t *seed,
                      struct closure_sets *ret_sets)
{
    uint64_t total = count_events(order);
    struct closure_sets sets = {
        .count = count,
        .begins = calloc(count + 1, sizeof *sets.begins),
        .events = calloc(count, most * sizeof *sets.events),
    };

    if (total < most || !sets.begins || !sets.events) {
        closure_sets_fini(&sets);
        return total < most ? -EINVAL : -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        size_t size = least + draw(seed, most - least + 1);

        draw_set(order, total, size, seed, &sets.events[sets.begins[i]]);
        sets.begins[i + 1] = sets.begins[i] + size;
    }
    *ret_sets = sets;
    return 0;
}

void closure_sets_fini(struct closure_sets *sets)
{
    free(sets->begins);
    free(sets->events);
    *sets = (struct closure_sets){.count = 0};
}

/* --- Runs ------------------------------------------------------------------------- */

static void note_run(struct closure_costs *costs, unsigned run, uint64_t begin_ns)
{
    double ms = (double)(esi_now_ns(CLOCK_MONOTONIC) - begin_ns) / 1e6;

    if (run == 0 || ms < costs->min_ms)
        costs->min_ms = ms;
    if (run == 0 || ms > costs->max_ms)
        costs->max_ms = ms;
    costs->average_ms += (ms - costs->average_ms) / (run + 1);
}

/* Stores the comparisons and events of the last run; all runs have the same. */
static void note_counts(struct closure_costs *costs,
                        const struct esi_precedence *precedence,
                        uint64_t events)
{
    costs->comparisons = precedence->comparisons;
    costs->events = events;
}

static int make_set(struct esi_closure_maker *maker,
                    struct esi_precedence *precedence,
                    const struct closure_sets *sets,
                    size_t number,
                    struct esi_closure *closure)
{
    size_t begin = sets->begins[number];

    return esi_closure_make(maker, precedence, &sets->events[begin],
                            sets->begins[number + 1] - begin, closure);
}

int closure_costs_make(const struct es_order *order,
                       const struct esi_successors *successors,
                       enum esi_closure_method method,
                       const struct closure_sets *sets,
                       unsigned runs,
                       struct closure_costs *ret_costs)
{
    struct closure_costs costs = {.comparisons = 0};
    struct esi_closure closure = {.ends = {.count = 0}};
    struct esi_closure_maker *maker = NULL;
    int result = esi_closure_maker_create(order, method, successors, &maker);

    for (unsigned run = 0; run < runs && result == 0; run++) {
        struct esi_precedence precedence = {.order = order};
        uint64_t begin_ns = esi_now_ns(CLOCK_MONOTONIC), events = 0;

        for (size_t i = 0; i < sets->count && result == 0; i++) {
            result = make_set(maker, &precedence, sets, i, &closure);
            events += esi_closure_size(&closure);
        }
        note_run(&costs, run, begin_ns);
        note_counts(&costs, &precedence, events);
    }
    esi_closure_fini(&closure);
    esi_closure_maker_destroy(maker);
    if (result == 0)
        *ret_costs = costs;
    return result;
}

/* --- Combining -------------------------------------------------------------------- */

/* The data required to compute one closure of two. */
struct pairing {
    struct esi_closure_maker *maker;
    bool is_combining;
    struct esi_closure *closures; /* of the sets */
    struct es_event_id *ends;     /* room for those of two */
    struct esi_closure closure;
};

static int make_from_ends(struct pairing *pairing,
                          struct esi_precedence *precedence,
                          const struct esi_closure *a,
                          const struct esi_closure *b)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < a->ends.count; i++)
        pairing->ends[count++] = a->ends.events[i];
    for (size_t i = 0; i < b->ends.count; i++)
        pairing->ends[count++] = b->ends.events[i];
    qsort(pairing->ends, count, sizeof *pairing->ends, compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare(&pairing->ends[i], &pairing->ends[kept - 1]) != 0)
            pairing->ends[kept++] = pairing->ends[i];
    return esi_closure_make(pairing->maker, precedence, pairing->ends, kept,
                            &pairing->closure);
}

static int combine_all(struct pairing *pairing,
                       struct esi_precedence *precedence,
                       size_t pairs,
                       uint64_t *ret_events)
{
    int result = 0;

    *ret_events = 0;
    for (size_t i = 0; i < pairs && result == 0; i++) {
        const struct esi_closure *a = &pairing->closures[2 * i], *b = a + 1;

        result = pairing->is_combining ? esi_closure_combine(pairing->maker, precedence,
                                                             a, b, &pairing->closure)
                                       : make_from_ends(pairing, precedence, a, b);
        *ret_events += esi_closure_size(&pairing->closure);
    }
    return result;
}

static int begin_pairing(const struct es_order *order,
                         const struct closure_sets *sets,
                         struct pairing *pairing)
{
    struct esi_precedence precedence = {.order = order};
    int result =
        esi_closure_maker_create(order, ES_CLOSURE_BINARY, NULL, &pairing->maker);

    pairing->closures = calloc(sets->count, sizeof *pairing->closures);
    pairing->ends =
        calloc(4 * (size_t)es_order_traces(order) + 1, sizeof *pairing->ends);
    if (result == 0 && (!pairing->closures || !pairing->ends))
        result = -ENOMEM;
    for (size_t i = 0; i < sets->count && result == 0; i++)
        result = make_set(pairing->maker, &precedence, sets, i, &pairing->closures[i]);
    return result;
}

static void end_pairing(const struct closure_sets *sets, struct pairing *pairing)
{
    for (size_t i = 0; pairing->closures && i < sets->count; i++)
        esi_closure_fini(&pairing->closures[i]);
    free(pairing->closures);
    free(pairing->ends);
    esi_closure_fini(&pairing->closure);
    esi_closure_maker_destroy(pairing->maker);
}

int closure_costs_combine(const struct es_order *order,
                          bool is_combining,
                          const struct closure_sets *sets,
                          unsigned runs,
                          struct closure_costs *ret_costs)
{
    struct closure_costs costs = {.comparisons = 0};
    struct pairing pairing = {.is_combining = is_combining};
    int result = begin_pairing(order, sets, &pairing);

    for (unsigned run = 0; run < runs && result == 0; run++) {
        struct esi_precedence precedence = {.order = order};
        uint64_t begin_ns = esi_now_ns(CLOCK_MONOTONIC), events;

        result = combine_all(&pairing, &precedence, sets->count / 2, &events);
        note_run(&costs, run, begin_ns);
        note_counts(&costs, &precedence, events);
    }
    end_pairing(sets, &pairing);
    if (result == 0)
        *ret_costs = costs;
    return result;
}
