/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* check_store.c - compares all answers of a store with the truth. */
#include "config.h"

#include "tests/order/check_store.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/order/cluster/communications.h"

enum { READERS = 2, PAIRS = 24 }; /* asked after each event */

struct check {
    const struct esi_order_config *config;
    const struct made_computation *made;
    struct check_options options;
    struct es_order *order;
    struct es_set_sink sink;
    uint32_t *extension; /* NULL = in the order of creation */
    uint64_t draw;
    /* The first wrong answer of any thread. */
    atomic_bool has_failed;
    char failure[400];
};

/* --- Comparing -------------------------------------------------------------------- */

static bool is_right(const struct check *check, int64_t answer, int64_t truth)
{
    return answer == truth || (check->options.may_forget && answer == -ESTALE);
}

/* Returns whether the answer is right. */
static bool expect(struct check *check,
                   const char *question,
                   struct es_event_id a,
                   struct es_event_id b,
                   int64_t answer,
                   int64_t truth)
{
    if (is_right(check, answer, truth))
        return true;
    if (!atomic_exchange(&check->has_failed, true))
        snprintf(check->failure, sizeof check->failure,
                 "%s of %u:%u and %u:%u is %lld, said to be %lld "
                 "(store %s; %s; appending seed %llu)",
                 question, a.trace, a.index, b.trace, b.index, (long long)truth,
                 (long long)answer, check->config->store ? check->config->store : "",
                 made_computation_name(check->made),
                 check->extension ? (unsigned long long)check->options.seed : 0ULL);
    return false;
}

/* Fails in the thread of the test, as cmocka requires. */
static void fail_if_wrong(const struct check *check)
{
    if (atomic_load(&check->has_failed))
        fail_msg("%s", check->failure);
}

static enum es_relation true_relation(const struct made_computation *made,
                                      struct es_event_id a,
                                      struct es_event_id b)
{
    if (a.trace == b.trace && a.index == b.index)
        return ES_RELATION_EQUAL;
    if (made_precedes(made, a, b))
        return ES_RELATION_BEFORE;
    return made_precedes(made, b, a) ? ES_RELATION_AFTER : ES_RELATION_CONCURRENT;
}

static bool check_pair(struct check *check, struct es_event_id a, struct es_event_id b)
{
    return expect(check, "precedes", a, b, es_order_precedes(check->order, a, b),
                  made_precedes(check->made, a, b));
}

static bool check_relation(struct check *check,
                           struct es_event_id a,
                           struct es_event_id b)
{
    return expect(check, "relation", a, b, es_order_relation(check->order, a, b),
                  true_relation(check->made, a, b));
}

/* The concurrent events of a trace lie between its last predecessor and first
 * successor. */
static bool check_concurrent(struct check *check, struct es_event_id a, uint32_t trace)
{
    uint32_t count = es_order_count(check->order, trace);
    uint32_t beside = made_greatest_concurrent(check->made, a, trace, count);
    struct es_event_id on = {.trace = trace, .index = beside};
    uint32_t first = 0, last = 0;
    int answer = es_order_concurrent(check->order, a, trace, &first, &last);

    if (!expect(check, "concurrent", a, on, answer, beside > 0))
        return false;
    if (answer <= 0)
        return true;
    return expect(check, "first concurrent", a, on,
                  first || !check->options.may_forget ? (int64_t)first : -ESTALE,
                  made_greatest_predecessor(check->made, a, trace) + 1) &&
           expect(check, "last concurrent", a, on, last, beside);
}

/* Checks all appended events of a trace; only while no event is being appended. */
static bool check_trace(struct check *check, struct es_event_id a, uint32_t trace)
{
    uint32_t count = es_order_count(check->order, trace);
    struct es_event_id on = {.trace = trace, .index = 0};

    return expect(check, "greatest predecessor", a, on,
                  es_order_greatest_predecessor(check->order, a, trace),
                  made_greatest_predecessor(check->made, a, trace)) &&
           expect(check, "least successor", a, on,
                  es_order_least_successor(check->order, a, trace),
                  made_least_successor(check->made, a, trace, count)) &&
           expect(check, "greatest concurrent", a, on,
                  es_order_greatest_concurrent(check->order, a, trace),
                  made_greatest_concurrent(check->made, a, trace, count)) &&
           check_concurrent(check, a, trace);
}

static void check_all(struct check *check)
{
    const struct made_computation *made = check->made;

    for (uint32_t i = 0; i < made->count; i++) {
        struct es_event_id a = made->events[i].id;

        for (uint32_t j = 0; j < made->count; j++)
            if (!check_pair(check, a, made->events[j].id) ||
                !check_relation(check, a, made->events[j].id))
                return;
        for (uint32_t trace = 0; trace < made->traces; trace++)
            if (!check_trace(check, a, trace))
                return;
    }
}

/* --- Appending -------------------------------------------------------------------- */

static uint32_t number_at(const struct check *check, uint32_t at)
{
    return check->extension ? check->extension[at] : at;
}

/* A random one of the first `count` events that were appended. */
static struct es_event_id any_event(struct check *check, uint32_t count)
{
    uint32_t at = random_below(&check->draw, count);

    return check->made->events[number_at(check, at)].id;
}

static void check_meanwhile(struct check *check, uint32_t count)
{
    struct es_event_id last = check->made->events[number_at(check, count - 1)].id;

    for (unsigned i = 0; i < PAIRS; i++) {
        struct es_event_id a = any_event(check, count), b = any_event(check, count);

        if (!check_pair(check, a, b) || !check_relation(check, a, last) ||
            !check_relation(check, last, a))
            return;
    }
    check_trace(check, any_event(check, count),
                random_below(&check->draw, es_order_traces(check->order)));
    check_trace(check, last, random_below(&check->draw, es_order_traces(check->order)));
}

static void add_traces(struct check *check, uint32_t count)
{
    for (uint32_t trace = es_order_traces(check->order); trace < count; trace++)
        assert_int_equal(check->sink.trace(check->sink.data, trace, "P"), 0);
}

/* Appends all events; asks after each one if `asks`. */
static void append_all(struct check *check, bool asks)
{
    const struct made_computation *made = check->made;
    bool is_late = random_percent(&check->draw, 50);

    for (uint32_t i = 0; i < made->count && !atomic_load(&check->has_failed); i++) {
        const struct made_event *event = &made->events[number_at(check, i)];

        add_traces(check, is_late ? event->id.trace + 1 : made->traces);
        /* The other half of a sync comes next, so its trace is added, too. */
        if (event->kind == ES_EVENT_SYNC)
            add_traces(check, event->partners[0].trace + 1);
        assert_int_equal(made_computation_give(made, number_at(check, i), &check->sink),
                         0);
        if (asks && es_order_count(check->order, event->id.trace) == event->id.index)
            check_meanwhile(check, i + 1);
    }
    add_traces(check, made->traces);
    assert_int_equal(es_order_sink_end(check->order), 0);
}

static void begin_check(struct check *check)
{
    struct es_error error = {{0}, 0, 0, {0}};

    if (esi_order_create(check->config, &error, &check->order) < 0)
        fail_msg("%s", error.text);
    check->sink = es_order_sink(check->order);
    check->draw = check->options.seed;
    if (!check->options.is_canonical)
        check->extension = made_computation_extension(check->made, check->options.seed);
}

static void end_check(struct check *check)
{
    es_order_destroy(check->order);
    free(check->extension);
    fail_if_wrong(check);
}

static struct check make_check(const struct esi_order_config *config,
                               const struct made_computation *made,
                               const struct check_options *options)
{
    struct check check = {.config = config, .made = made};

    check.options =
        options ? *options : (struct check_options){.seed = made->config.seed + 1};
    return check;
}

static void check_statistics(struct check *check)
{
    struct esi_order_statistics statistics;

    esi_order_statistics(check->order, &statistics);
    expect(check, "number of events", (struct es_event_id){0}, (struct es_event_id){0},
           (int64_t)statistics.events, check->made->count);
    expect(check, "number of traces", (struct es_event_id){0}, (struct es_event_id){0},
           statistics.traces, check->made->traces);
}

void check_store(const struct esi_order_config *config,
                 const struct made_computation *made,
                 const struct check_options *options)
{
    struct check check = make_check(config, made, options);

    begin_check(&check);
    append_all(&check, true);
    if (!atomic_load(&check.has_failed))
        check_all(&check);
    check_statistics(&check);
    end_check(&check);
}

struct es_order *check_store_fill(const struct esi_order_config *config,
                                  const struct made_computation *made)
{
    struct check check =
        make_check(config, made, &(struct check_options){.is_canonical = true});

    begin_check(&check);
    append_all(&check, false);
    return check.order;
}

void check_store_widely(const struct esi_order_config *config,
                        unsigned rounds,
                        uint32_t events,
                        const struct check_options *options)
{
    uint64_t seed = random_seed();

    for (unsigned round = 0; round < rounds; round++) {
        uint64_t draw;
        struct made_config how = {.shape = (enum made_shape)(round % MADE_SHAPES),
                                  .seed = seed + round};
        struct check_options mine = options ? *options : (struct check_options){0};
        struct made_computation *made;

        draw = how.seed;
        how.traces = 2 + random_below(&draw, 23);
        how.events = 10 + random_below(&draw, events > 10 ? events - 9 : 1);
        how.is_sparse = random_percent(&draw, 30);
        how.is_lossy = random_percent(&draw, 20);
        mine.seed = how.seed;
        mine.is_canonical = mine.is_canonical || random_percent(&draw, 25);
        made = made_computation_create(&how);
        check_store(config, made, &mine);
        made_computation_destroy(made);
    }
}

/* --- Concurrent readers ----------------------------------------------------------- */

struct reader {
    pthread_t thread;
    struct check *check;
    uint64_t draw;
    atomic_bool *is_over;
    uint64_t asked;
};

/* A random event that the order has published; index 0 if there is none. */
static struct es_event_id published(struct reader *reader)
{
    const struct es_order *order = reader->check->order;
    uint32_t traces = es_order_traces(order), count;
    struct es_event_id id = {0};

    if (traces == 0)
        return id;
    id.trace = random_below(&reader->draw, traces);
    count = es_order_count(order, id.trace);
    if (count > 0)
        id.index = random_percent(&reader->draw, 30)
                       ? count
                       : 1 + random_below(&reader->draw, count);
    return id;
}

/* The event found depends on how many there are, but its relation does not. */
static void check_found(struct check *check, struct es_event_id a, uint32_t trace)
{
    int64_t after = es_order_least_successor(check->order, a, trace);
    int64_t beside = es_order_greatest_concurrent(check->order, a, trace);
    struct es_event_id found = {.trace = trace};

    expect(check, "least successor", a, found, after < 0 ? after : 0, 0);
    expect(check, "greatest concurrent", a, found, beside < 0 ? beside : 0, 0);
    found.index = (uint32_t)after;
    if (after > 0)
        expect(check, "relation with its successor", a, found,
               true_relation(check->made, a, found), ES_RELATION_BEFORE);
    found.index = (uint32_t)beside;
    if (beside > 0)
        expect(check, "relation with its concurrent", a, found,
               true_relation(check->made, a, found), ES_RELATION_CONCURRENT);
}

static void ask_once(struct reader *reader)
{
    struct check *check = reader->check;
    struct es_event_id a = published(reader), b = published(reader);
    struct esi_order_statistics statistics;

    if (a.index == 0 || b.index == 0)
        return;
    check_pair(check, a, b);
    check_relation(check, a, b);
    expect(check, "greatest predecessor", a, b,
           es_order_greatest_predecessor(check->order, a, b.trace),
           made_greatest_predecessor(check->made, a, b.trace));
    check_found(check, a, b.trace);
    esi_order_statistics(check->order, &statistics);
    reader->asked++;
}

static void *read_on(void *data)
{
    struct reader *reader = data;

    while (!atomic_load(reader->is_over) && !atomic_load(&reader->check->has_failed))
        ask_once(reader);
    /* These also run if the writer has ended before this thread began. */
    for (int i = 0; i < 100; i++)
        ask_once(reader);
    return NULL;
}

void check_store_threads(const struct esi_order_config *config,
                         const struct made_computation *made,
                         const struct check_options *options)
{
    struct check check = make_check(config, made, options);
    struct reader readers[READERS];
    atomic_bool is_over = false;

    begin_check(&check);
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.check = &check, .is_over = &is_over};
        readers[i].draw = check.options.seed + 7 + (uint64_t)i;
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_on, &readers[i]),
                         0);
    }
    append_all(&check, false);
    atomic_store(&is_over, true);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        if (!atomic_load(&check.has_failed))
            assert_true(readers[i].asked > 0);
    }
    if (!atomic_load(&check.has_failed))
        check_all(&check);
    end_check(&check);
}

struct esi_communications *check_store_communications(
    const struct made_computation *made)
{
    struct esi_communications *counts;
    struct es_set_sink sink;

    assert_int_equal(esi_communications_create(&counts), 0);
    sink = esi_communications_sink(counts);
    assert_int_equal(made_computation_stream(made, NULL, &sink), 0);
    return counts;
}
