/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random computations are read in random portions: the stream has their order, or part
 * of it if tuples are missing.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/causality/made_tuples.h"
#include "tests/causality/random_run.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { STEPS = 60, RUNS = 150, NS_PER_TICK = 100000 };

struct reading {
    struct random_run run;
    struct made_tuples made;
    const struct random_tuple **order; /* by time of publishing; owned */
    bool *lost;                        /* owned */
    uint32_t elements[RANDOM_PLACES][RANDOM_ELEMENTS];
    size_t *matches; /* event of the stream, by event of the run; owned */
    bool *late;      /* by event of the run; owned */
    struct made_relation truth;
    struct made_relation found;
};

static int by_publishing(const void *a, const void *b)
{
    const struct random_tuple *x = *(const struct random_tuple *const *)a;
    const struct random_tuple *y = *(const struct random_tuple *const *)b;

    if (x->publish != y->publish)
        return x->publish < y->publish ? -1 : 1;
    return x->tuple.bytes < y->tuple.bytes ? -1 : 1;
}

static void begin(struct reading *reading,
                  uint64_t seed,
                  bool holds_back,
                  struct esi_causality_config config)
{
    struct random_run *run = &reading->run;

    *reading = (struct reading){.matches = NULL};
    random_run_make(run, seed, STEPS, holds_back);
    config.attributes = true;
    made_tuples_begin_with(&reading->made, run->processes, config);
    for (int place = 0; place < run->processes * RANDOM_THREADS; place++)
        for (int i = 0; i < run->elements; i++)
            reading->elements[place][i] = made_element(
                &reading->made, place / RANDOM_THREADS, place % RANDOM_THREADS);
    reading->order = calloc(run->tuple_count + 1, sizeof(struct random_tuple *));
    reading->lost = calloc(run->tuple_count + 1, sizeof *reading->lost);
    assert_true(reading->order && reading->lost);
    for (size_t i = 0; i < run->tuple_count; i++)
        reading->order[i] = &run->tuples[i];
    qsort(reading->order, run->tuple_count, sizeof(struct random_tuple *),
          by_publishing);
}

static void end(struct reading *reading)
{
    random_run_fini(&reading->run);
    made_tuples_end(&reading->made);
    made_relation_fini(&reading->truth);
    made_relation_fini(&reading->found);
    free(reading->order);
    free(reading->lost);
    free(reading->matches);
    free(reading->late);
}

/* Marks random sequences of tuples of an element as lost.  Returns their number. */
static size_t lose(struct reading *reading)
{
    struct random_run *run = &reading->run;
    size_t count = 0;

    for (size_t i = 0; i < run->tuple_count; i++) {
        int length =
            random_int(&run->random, 20) == 0 ? 1 + random_int(&run->random, 5) : 0;

        for (size_t k = i; k < run->tuple_count && length > 0; k++)
            if (reading->order[k]->place == reading->order[i]->place &&
                reading->order[k]->element == reading->order[i]->element) {
                count += !reading->lost[k];
                reading->lost[k] = true;
                length--;
            }
    }
    return count;
}

/* Reads the tuples that an element got in (after, until]. */
static void read_element(struct reading *reading,
                         int place,
                         int element,
                         uint64_t after,
                         uint64_t until)
{
    uint32_t number = reading->elements[place][element];

    for (size_t i = 0; i < reading->run.tuple_count; i++) {
        const struct random_tuple *tuple = reading->order[i];
        struct esi_causal_tuple told = {.tuple = tuple->tuple,
                                        .start_ns = tuple->tuple.start * NS_PER_TICK,
                                        .stop_ns = tuple->tuple.stop * NS_PER_TICK};

        if (tuple->place != place || tuple->element != element ||
            tuple->publish <= after || tuple->publish > until)
            continue;
        if (reading->lost[i])
            esi_causality_lose(reading->made.causality, number, 1, 0);
        else
            assert_int_equal(esi_causality_add(reading->made.causality, number, &told),
                             0);
    }
}

/* Reads all tuples in several readings; in each, the elements are read at different
 * times. */
static void read_all(struct reading *reading)
{
    struct random_run *run = &reading->run;
    uint64_t read[RANDOM_PLACES][RANDOM_ELEMENTS] = {{0}};
    uint64_t time = 0;
    int places = run->processes * RANDOM_THREADS;
    int length = 1 + random_int(&run->random, 1000);
    uint64_t last = reading->order[run->tuple_count - 1]->publish;

    while (time <= last) {
        int first = random_int(&run->random, places);

        for (int i = 0; i < places * run->elements; i++) {
            int place = (first + i) % places;
            int element = i / places;
            uint64_t until = time + (uint64_t)random_int(&run->random, length);

            read_element(reading, place, element, read[place][element], until);
            if (until > read[place][element])
                read[place][element] = until;
        }
        time += (uint64_t)length;
        made_advance(&reading->made);
    }
    for (int i = 0; i < places * run->elements; i++)
        read_element(reading, i % places, i / places, read[i % places][i / places],
                     UINT64_MAX);
}

/* --- Comparing -------------------------------------------------------------------- */

static bool is_second(const struct made_event *event, const struct random_event *of)
{
    size_t length = strlen(event->type);

    if (length > 5 && strcmp(event->type + length - 5, " exit") == 0)
        return true;
    if (length > 6 && strcmp(event->type + length - 6, " enter") == 0)
        return false;
    return of->second; /* the tuple has only one event */
}

/* Returns the event of the stream for an event of the run, or SIZE_MAX. */
static size_t find_match(const struct reading *reading,
                         const struct random_event *event)
{
    const struct made_stream *stream = &reading->made.stream;

    for (size_t i = 0; i < stream->count; i++)
        if ((stream->events[i].bytes == (int64_t)event->tuple ||
             (event->other != 0 && stream->events[i].bytes == (int64_t)event->other)) &&
            is_second(&stream->events[i], event) == event->second)
            return i;
    return SIZE_MAX;
}

/* Whether an event of the run comes after a later one of its thread in the stream. */
static bool is_late(const struct reading *reading, size_t at)
{
    const struct random_run *run = &reading->run;

    for (size_t i = 0; i < run->event_count; i++)
        if (run->events[i].place == run->events[at].place &&
            run->events[i].time > run->events[at].time &&
            reading->matches[i] < reading->matches[at])
            return true;
    return false;
}

static void match(struct reading *reading)
{
    const struct random_run *run = &reading->run;

    reading->matches = calloc(run->event_count + 1, sizeof *reading->matches);
    reading->late = calloc(run->event_count + 1, sizeof *reading->late);
    assert_true(reading->matches && reading->late);
    for (size_t i = 0; i < run->event_count; i++)
        reading->matches[i] = find_match(reading, &run->events[i]);
    for (size_t i = 0; i < run->event_count; i++)
        reading->late[i] = reading->matches[i] != SIZE_MAX && is_late(reading, i);
    random_run_relate(run, &reading->truth);
    made_stream_relate(&reading->made.stream, &reading->found);
}

/* Compares all pairs: the order that was found is true, and with `all` it is complete.
 * Without `all`, a synchronous send may come before its receive, although they are one
 * unit. */
static void compare(const struct reading *reading, bool all, uint64_t seed)
{
    const struct random_run *run = &reading->run;

    for (size_t a = 0; a < run->event_count; a++)
        for (size_t b = 0; b < run->event_count; b++) {
            size_t x = reading->matches[a];
            size_t y = reading->matches[b];
            bool is_true = made_relation_has(&reading->truth, a, b);
            bool is_one = run->events[a].unit == run->events[b].unit;
            bool is_found;

            if (all)
                assert_true(x != SIZE_MAX && y != SIZE_MAX);
            if (x == SIZE_MAX || y == SIZE_MAX)
                continue;
            is_found = made_relation_has(&reading->found, x, y);
            if ((is_found && !is_true && !reading->late[b] && (all || !is_one)) ||
                (all && is_true && !is_found))
                fail_msg("seed %llu: %s (tuple %u) and %s (tuple %u): %s",
                         (unsigned long long)seed, reading->made.stream.events[x].type,
                         run->events[a].tuple, reading->made.stream.events[y].type,
                         run->events[b].tuple, is_true ? "not found" : "not true");
        }
}

static void the_order_is_found(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        struct reading reading;
        struct esi_causality_totals totals;

        begin(&reading, seed + i, false, (struct esi_causality_config){.held_max = 0});
        read_all(&reading);
        totals = made_finish(&reading.made);
        match(&reading);
        assert_int_equal(totals.late, 0);
        assert_int_equal(totals.incomplete, 0);
        assert_int_equal(totals.unmatched_receives, 0);
        assert_int_equal(totals.unmatched_sends, reading.run.pending_count);
        compare(&reading, true, seed + i);
        end(&reading);
    }
}

static void what_is_held_back_loses_only_order(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        struct reading reading;

        begin(&reading, seed + i, true, (struct esi_causality_config){.held_max = 0});
        read_all(&reading);
        assert_int_equal(made_finish(&reading.made).unmatched_receives, 0);
        match(&reading);
        compare(&reading, false, seed + i);
        end(&reading);
    }
}

static void what_is_lost_loses_only_order(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        struct reading reading;
        size_t lost;

        begin(&reading, seed + i, i % 2,
              (struct esi_causality_config){.patience_ns = i % 3 ? 0 : 1000000000});
        lost = lose(&reading);
        read_all(&reading);
        assert_int_equal(made_finish(&reading.made).lost, lost);
        match(&reading);
        compare(&reading, false, seed + i);
        end(&reading);
    }
}

static void little_room_loses_only_order(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        struct reading reading;

        begin(&reading, seed + i, i % 2,
              (struct esi_causality_config){.held_max = 8 + i % 40});
        if (i % 3 == 0)
            lose(&reading);
        read_all(&reading);
        made_finish(&reading.made);
        match(&reading);
        compare(&reading, false, seed + i);
        end(&reading);
    }
}

SUITE(test_causality_random)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_found),
        cmocka_unit_test(what_is_held_back_loses_only_order),
        cmocka_unit_test(what_is_lost_loses_only_order),
        cmocka_unit_test(little_room_loses_only_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
