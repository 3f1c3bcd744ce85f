/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Corrected times are consistent, in order, and within the allowed distance of the
 * clocks, in programs of random messages and collectives with known true times. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/events/time_repair.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { PROCESSES = 6, MOST = 2000 };

#define LATENCY UINT64_C(200)
#define ORIGIN UINT64_C(1000000000)

/* --- Programs ----------------------------------------------------------------- */

struct program {
    struct esi_timed items[MOST]; /* as the clocks show them, sorted by stop */
    size_t count;
    struct esi_timed given[MOST]; /* by index of the item */
    bool is_given[MOST];
    size_t given_count;
    uint64_t last_given_ns;
    bool out_of_order;
    int64_t offsets[PROCESSES];
    uint64_t errors[PROCESSES];
    uint64_t now[PROCESSES]; /* true */
    uint32_t sequence;
};

static uint64_t random_state;

static uint64_t pick(uint64_t below)
{
    return random_next(&random_state) % below;
}

static struct esi_timed *add(struct program *program,
                             uint32_t process,
                             uint64_t start_ns,
                             uint64_t stop_ns)
{
    struct esi_timed *item = &program->items[program->count++];

    assert_true(program->count <= MOST);
    *item = (struct esi_timed){
        .process = process,
        .start_ns = (uint64_t)((int64_t)start_ns + program->offsets[process]),
        .stop_ns = (uint64_t)((int64_t)stop_ns + program->offsets[process]),
        .error_ns = program->errors[process],
    };
    return item;
}

static struct esi_time_link message(uint32_t source,
                                    uint32_t destination,
                                    uint32_t sequence,
                                    unsigned ends)
{
    struct esi_time_link link = {.ends = ends, .members = 2, .befores = 1};

    link.key.kind = ESI_MESSAGE;
    link.key.source = (int32_t)source;
    link.key.destination = (int32_t)destination;
    link.key.sequence = sequence;
    return link;
}

static void send_message(struct program *program, uint32_t source, uint32_t destination)
{
    uint64_t sent = program->now[source] + 10 + pick(3000);
    uint64_t posted = program->now[destination] + pick(1000);
    uint64_t arrived = sent + LATENCY + pick(500);
    uint64_t stopped = (arrived > posted ? arrived : posted) + pick(50);
    uint32_t sequence = program->sequence++;
    /* Sometimes the receive was posted long before, as by nonblocking calls. */
    uint64_t entered = pick(4) ? posted : posted - pick(10000);

    program->now[source] = sent + 20 + pick(50);
    add(program, source, sent, program->now[source])->link =
        message(source, destination, sequence, ES_TIME_BEFORE);
    program->now[destination] = stopped;
    add(program, destination, entered < stopped ? entered : stopped, stopped)->link =
        message(source, destination, sequence, ES_TIME_AFTER);
}

/* Both ranks send and receive in one call. */
static void exchange(struct program *program, uint32_t x, uint32_t y)
{
    uint64_t start[2] = {program->now[x] + 1 + pick(2000),
                         program->now[y] + 1 + pick(2000)};
    uint32_t process[2] = {x, y};

    for (int i = 0; i < 2; i++) {
        uint64_t arrived = start[1 - i] + LATENCY + pick(500);
        uint64_t stop = (arrived > start[i] ? arrived : start[i]) + 1 + pick(50);
        uint32_t self = process[i];
        uint32_t other = process[1 - i];

        add(program, self, start[i], stop)->link =
            message(other, self, program->sequence + (uint32_t)(1 - i), ES_TIME_AFTER);
        add(program, self, start[i], stop)->link =
            message(self, other, program->sequence + (uint32_t)i, ES_TIME_BEFORE);
        program->now[self] = stop;
    }
    program->sequence += 2;
}

/* All to all, from the root, or to the root. */
static void collective(struct program *program, unsigned kind)
{
    uint64_t enter[PROCESSES];
    uint64_t last = 0;
    uint32_t root = (uint32_t)pick(PROCESSES);

    for (uint32_t i = 0; i < PROCESSES; i++) {
        enter[i] = program->now[i] + 1 + pick(2000);
        last = enter[i] > last ? enter[i] : last;
    }
    for (uint32_t i = 0; i < PROCESSES; i++) {
        bool is_root = i == root;
        bool before = kind != 1 || is_root;
        bool after = kind == 0 || (kind == 1 && !is_root) || (kind == 2 && is_root);
        uint64_t from = kind == 1 ? enter[root] : last;
        uint64_t stop = (after && from > enter[i] ? from : enter[i]) + 1 + pick(100);
        struct esi_time_link link = {
            .ends = (before ? ES_TIME_BEFORE : 0) | (after ? ES_TIME_AFTER : 0),
            .members = PROCESSES,
            .befores = kind == 1 ? 1 : PROCESSES,
        };

        link.key.kind = ES_TIME_COLLECTIVE;
        link.key.sequence = program->sequence;
        add(program, i, enter[i], stop)->link = link;
        program->now[i] = stop;
    }
    program->sequence++;
}

static int compare(const void *x, const void *y)
{
    const struct esi_timed *a = x;
    const struct esi_timed *b = y;

    if (a->stop_ns != b->stop_ns)
        return a->stop_ns < b->stop_ns ? -1 : 1;
    return 0;
}

/* `error` limits the bounds of clocks; offsets are at most `part` percent of these. */
static struct program *make_program(unsigned seed, uint64_t error, uint64_t part)
{
    struct program *program = calloc(1, sizeof *program);

    assert_non_null(program);
    random_state = seed;
    for (int i = 0; i < PROCESSES; i++) {
        program->errors[i] = error / 2 + pick(error / 2 + 1);
        program->offsets[i] = (int64_t)pick(2 * program->errors[i] * part / 100 + 1) -
                              (int64_t)(program->errors[i] * part / 100);
        program->now[i] = ORIGIN + pick(5000);
    }
    while (program->count < MOST - 2 * PROCESSES) {
        uint32_t x = (uint32_t)pick(PROCESSES);
        uint32_t y = (x + 1 + (uint32_t)pick(PROCESSES - 1)) % PROCESSES;
        uint64_t what = pick(10);

        if (what == 0)
            collective(program, (unsigned)pick(3));
        else if (what < 3)
            exchange(program, x, y);
        else
            send_message(program, x, y);
    }
    qsort(program->items, program->count, sizeof program->items[0], compare);
    return program;
}

/* --- Running the repair -------------------------------------------------------- */

static int take(void *data, const struct esi_timed *timed, void *payload)
{
    struct program *program = data;
    size_t index;

    memcpy(&index, payload, sizeof index);
    assert_true(index < program->count);
    assert_false(program->is_given[index]);
    program->is_given[index] = true;
    program->given[index] = *timed;
    program->given_count++;
    program->out_of_order |= timed->stop_ns < program->last_given_ns;
    program->last_given_ns = timed->stop_ns;
    return 0;
}

static struct esi_time_repair_config config_for(struct program *program,
                                                enum esi_repair_mode mode)
{
    return (struct esi_time_repair_config){
        .mode = mode,
        .latency_ns = LATENCY,
        .window_ns = UINT64_MAX,
        .payload_bytes = sizeof(size_t),
        .sorted = true,
        .give = take,
        .data = program,
    };
}

static struct esi_time_repair_totals run(struct program *program,
                                         const struct esi_time_repair_config *config)
{
    struct esi_time_repair_totals totals;
    struct esi_time_repair *repair;

    assert_int_equal(esi_time_repair_create(config, &repair), 0);
    for (size_t i = 0; i < program->count; i++)
        assert_int_equal(esi_time_repair_add(repair, &program->items[i], &i), 0);
    assert_int_equal(esi_time_repair_finish(repair), 0);
    assert_int_equal(program->given_count, program->count);
    esi_time_repair_totals(repair, &totals);
    esi_time_repair_destroy(repair);
    return totals;
}

/* Counts violations by brute force: every pair of ends of one key. */
static size_t violations(const struct program *program, const struct esi_timed *times)
{
    size_t found = 0;

    for (size_t i = 0; i < program->count; i++) {
        const struct esi_time_link *before = &program->items[i].link;

        if (!(before->ends & ES_TIME_BEFORE))
            continue;
        for (size_t j = 0; j < program->count; j++) {
            const struct esi_time_link *after = &program->items[j].link;
            uint64_t gap = before->key.kind == ESI_MESSAGE ? LATENCY : 0;

            if ((after->ends & ES_TIME_AFTER) &&
                memcmp(&before->key, &after->key, sizeof before->key) == 0)
                found += times[j].stop_ns < times[i].start_ns + gap;
        }
    }
    return found;
}

static void assert_order_is_kept(const struct program *program)
{
    for (size_t i = 0; i < program->count; i++) {
        for (size_t j = 0; j < program->count; j++) {
            const struct esi_timed *x = &program->items[i];
            const struct esi_timed *y = &program->items[j];

            if (x->process != y->process)
                continue;
            if (x->stop_ns < y->stop_ns)
                assert_true(program->given[i].stop_ns <= program->given[j].stop_ns);
            if (x->stop_ns < y->start_ns)
                assert_true(program->given[i].stop_ns <= program->given[j].start_ns);
            if (x->start_ns < y->start_ns)
                assert_true(program->given[i].start_ns <= program->given[j].start_ns);
        }
        assert_true(program->given[i].start_ns <= program->given[i].stop_ns);
    }
}

static void what_is_impossible_becomes_possible(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct program *program = make_program(seed, 2000, 100);
        struct esi_time_repair_config config = config_for(program, ES_REPAIR_BOUND);
        struct esi_time_repair_totals totals = run(program, &config);
        uint64_t largest_ns = 0;
        uint64_t moved = 0;

        assert_true(violations(program, program->items) > 0);
        assert_int_equal(violations(program, program->given), 0);
        assert_order_is_kept(program);
        assert_false(program->out_of_order);
        for (size_t i = 0; i < program->count; i++) {
            const struct esi_timed *was = &program->items[i];
            uint64_t stop_by = program->given[i].stop_ns - was->stop_ns;
            uint64_t start_by = program->given[i].start_ns - was->start_ns;

            assert_true(stop_by <= was->error_ns + 2000);
            assert_true(start_by <= was->error_ns + 2000);
            largest_ns = stop_by > largest_ns ? stop_by : largest_ns;
            largest_ns = start_by > largest_ns ? start_by : largest_ns;
            moved += stop_by || start_by;
        }
        assert_int_equal(totals.operations, program->count);
        assert_int_equal(totals.moved, moved);
        assert_int_equal(totals.largest_ns, largest_ns);
        assert_int_equal(totals.beyond, 0);
        assert_int_equal(totals.unmatched, 0);
        assert_int_equal(totals.disordered, 0);
        assert_true(totals.repaired > 0);
        free(program);
    }
}

static void right_clocks_are_left_alone(void **state)
{
    static const enum esi_repair_mode modes[] = {ES_REPAIR_BOUND, ES_REPAIR_LOGICAL};

    (void)state;
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct program *program = make_program(seed, 2000, 0);
        struct esi_time_repair_config config = config_for(program, modes[seed % 2]);
        struct esi_time_repair_totals totals = run(program, &config);

        assert_int_equal(totals.repaired, 0);
        assert_int_equal(totals.moved, 0);
        assert_int_equal(totals.largest_ns, 0);
        assert_true(totals.checked > MOST / 4);
        for (size_t i = 0; i < program->count; i++) {
            assert_int_equal(program->given[i].start_ns, program->items[i].start_ns);
            assert_int_equal(program->given[i].stop_ns, program->items[i].stop_ns);
        }
        free(program);
    }
}

static void clocks_worse_than_their_bounds_are_counted_and_left(void **state)
{
    struct program *program = make_program(3, 2000, 100);
    struct esi_time_repair_config config = config_for(program, ES_REPAIR_BOUND);
    struct esi_time_repair_totals totals;
    size_t left;

    (void)state;
    for (size_t i = 0; i < program->count; i++)
        program->items[i].error_ns = 50;
    totals = run(program, &config);
    left = violations(program, program->given);
    assert_true(totals.beyond > 0);
    assert_true(left >= totals.beyond);
    assert_true(totals.largest_ns <= 100);
    assert_order_is_kept(program);
    free(program);
}

static void a_logical_clock_repairs_whatever_the_bounds(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct program *program = make_program(seed, 2000, 100);
        struct esi_time_repair_config config = config_for(program, ES_REPAIR_LOGICAL);
        struct esi_time_repair_totals totals;

        for (size_t i = 0; i < program->count; i++)
            program->items[i].error_ns = 50;
        totals = run(program, &config);
        assert_true(totals.beyond > 0);
        assert_int_equal(violations(program, program->given), 0);
        assert_order_is_kept(program);
        assert_false(program->out_of_order);
        free(program);
    }
}

/* A send at 1,000,000 whose receive seems to stop 10,000 earlier, and later operations
 * of the receiver, each of 1,000. */
static struct program *one_early_receive(void)
{
    struct program *program = calloc(1, sizeof *program);

    assert_non_null(program);
    for (int i = 0; i < PROCESSES; i++)
        program->errors[i] = 20000;
    add(program, 1, 980000, 990000)->link = message(0, 1, 0, ES_TIME_AFTER);
    for (uint64_t start_ns = 991000; start_ns < 2500000; start_ns += 2000)
        add(program, 1, start_ns, start_ns + 1000);
    add(program, 0, 1000000, 1000100)->link = message(0, 1, 0, ES_TIME_BEFORE);
    qsort(program->items, program->count, sizeof program->items[0], compare);
    return program;
}

static uint64_t shift_at(const struct program *program, uint64_t stop_ns)
{
    for (size_t i = 0; i < program->count; i++)
        if (program->items[i].process == 1 && program->items[i].stop_ns == stop_ns)
            return program->given[i].stop_ns - stop_ns;
    fail();
    return 0;
}

static void within_the_bound_the_clock_stands_until_it_is_caught_up(void **state)
{
    struct program *program = one_early_receive();
    struct esi_time_repair_config config = config_for(program, ES_REPAIR_BOUND);
    struct esi_time_repair_totals totals = run(program, &config);

    (void)state;
    assert_int_equal(totals.repaired, 1);
    assert_int_equal(totals.largest_ns, 10000 + LATENCY);
    assert_int_equal(shift_at(program, 990000), 10000 + LATENCY);
    assert_int_equal(shift_at(program, 992000), 8000 + LATENCY);
    assert_int_equal(shift_at(program, 1002000), 0);
    free(program);
}

static void a_logical_clock_keeps_spans_and_comes_back(void **state)
{
    struct program *program = one_early_receive();
    struct esi_time_repair_config config = config_for(program, ES_REPAIR_LOGICAL);
    struct esi_time_repair_totals totals = run(program, &config);
    uint64_t before = UINT64_MAX;

    (void)state;
    assert_int_equal(totals.repaired, 1);
    assert_int_equal(shift_at(program, 990000), 10000 + LATENCY);
    for (size_t i = 0; i < program->count; i++) {
        const struct esi_timed *given = &program->given[i];
        uint64_t shift = given->stop_ns - program->items[i].stop_ns;

        if (given->process != 1 || given->stop_ns == 1000000 + LATENCY)
            continue;
        assert_true(shift <= before);
        before = shift;
        /* A span shrinks by at most 1 %, and by 1 for rounding. */
        assert_in_range(given->stop_ns - given->start_ns, 989, 1000);
    }
    assert_int_equal(shift_at(program, 1000000), 10000 + LATENCY - 100);
    assert_int_equal(shift_at(program, 2100000), 0);
    free(program);
}

static void what_finds_no_partner_is_given_up_after_the_window(void **state)
{
    struct program *program = make_program(5, 2000, 100);
    struct esi_time_repair_config config = config_for(program, ES_REPAIR_BOUND);
    struct esi_time_repair_totals totals;
    size_t receives = 0;

    (void)state;
    for (size_t i = 0; i < program->count; i++) {
        struct esi_time_link *link = &program->items[i].link;

        if (link->key.kind == ESI_MESSAGE && link->ends == ES_TIME_BEFORE)
            *link = (struct esi_time_link){.ends = 0};
        receives += link->key.kind == ESI_MESSAGE;
    }
    config.window_ns = 3000;
    config.max_open = 64;
    totals = run(program, &config);
    assert_true(totals.unmatched >= receives);
    assert_int_equal(totals.beyond, 0);
    assert_order_is_kept(program);
    free(program);
}

static void little_room_costs_repairs_but_nothing_else(void **state)
{
    (void)state;
    for (size_t room = 1; room <= 64; room *= 4) {
        struct program *program = make_program((unsigned)room, 2000, 100);
        struct esi_time_repair_config config = config_for(program, ES_REPAIR_BOUND);
        size_t before = violations(program, program->items);

        config.max_held = room;
        config.max_open = room;
        run(program, &config);
        assert_true(violations(program, program->given) <= before);
        assert_order_is_kept(program);
        free(program);
    }
}

static void settling_gives_what_is_old_enough(void **state)
{
    struct program *program = calloc(1, sizeof *program);
    struct esi_time_repair_config config = config_for(program, ES_REPAIR_BOUND);
    struct esi_time_repair *repair;
    size_t index = 0;

    (void)state;
    assert_non_null(program);
    add(program, 0, 1000, 2000)->link = message(1, 0, 0, ES_TIME_AFTER);
    assert_int_equal(esi_time_repair_create(&config, &repair), 0);
    assert_int_equal(esi_time_repair_add(repair, &program->items[0], &index), 0);
    assert_int_equal(program->given_count, 0);
    assert_int_equal(esi_time_repair_expire(repair, 1999), 0);
    assert_int_equal(program->given_count, 0);
    assert_int_equal(esi_time_repair_expire(repair, 2000), 0);
    assert_int_equal(program->given_count, 1);
    esi_time_repair_destroy(repair);
    free(program);
}

/* Without links no operation depends on another process: each is delivered at once. */
static void without_matches_nothing_waits(void **state)
{
    struct program *program = calloc(1, sizeof *program);
    struct esi_time_repair_config config = config_for(program, ES_REPAIR_BOUND);
    struct esi_time_repair *repair;

    (void)state;
    assert_non_null(program);
    config.sorted = false;
    assert_int_equal(esi_time_repair_create(&config, &repair), 0);
    for (size_t i = 0; i < 1000; i++) {
        add(program, (uint32_t)pick(PROCESSES), 1000 - i, 2000 - i);
        assert_int_equal(esi_time_repair_add(repair, &program->items[i], &i), 0);
        assert_int_equal(program->given_count, i + 1);
        assert_int_equal(program->given[i].stop_ns, 2000 - i);
    }
    program->items[0].start_ns = program->items[0].stop_ns + 1;
    assert_int_equal(esi_time_repair_add(repair, &program->items[0], &(size_t){0}),
                     -EINVAL);
    esi_time_repair_destroy(repair);
    free(program);
}

SUITE(test_time_repair)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_impossible_becomes_possible),
        cmocka_unit_test(right_clocks_are_left_alone),
        cmocka_unit_test(clocks_worse_than_their_bounds_are_counted_and_left),
        cmocka_unit_test(a_logical_clock_repairs_whatever_the_bounds),
        cmocka_unit_test(within_the_bound_the_clock_stands_until_it_is_caught_up),
        cmocka_unit_test(a_logical_clock_keeps_spans_and_comes_back),
        cmocka_unit_test(what_finds_no_partner_is_given_up_after_the_window),
        cmocka_unit_test(little_room_costs_repairs_but_nothing_else),
        cmocka_unit_test(settling_gives_what_is_old_enough),
        cmocka_unit_test(without_matches_nothing_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
