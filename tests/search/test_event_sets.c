/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_event_sets.c - relations of sets of events, compared with their definitions. */
#include "config.h"

#include "monitors/search/truth/event_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/search/made_sets.h"
#include "tests/suites.h"

enum { ROUNDS = 78, PAIRS = 120, SET_LIMIT = 6 };

/* The definitions of Nichols for two sets, evaluated separately. */
struct truth {
    bool overlaps;      /* 3.2 */
    bool has_before;    /* some x precedes some y */
    bool has_after;     /* the converse */
    bool is_before;     /* 3.7 */
    bool is_after;      /* 3.7, reversed */
    bool is_concurrent; /* 3.8 */
    bool is_entangled;  /* 3.5 */
};

static struct truth true_relation(const struct made_computation *made,
                                  const struct made_set_of_events *a,
                                  const struct made_set_of_events *b)
{
    struct truth truth = {.is_concurrent = true};

    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++) {
            bool is_same = esi_event_is(a->events[i], b->events[j]);
            bool xy = made_precedes(made, a->events[i], b->events[j]);
            bool yx = made_precedes(made, b->events[j], a->events[i]);

            truth.overlaps |= is_same;
            truth.has_before |= xy;
            truth.has_after |= yx;
            truth.is_concurrent &= !is_same && !xy && !yx;
        }
    truth.is_entangled = truth.overlaps || (truth.has_before && truth.has_after);
    truth.is_before = truth.has_before && !truth.is_entangled;
    truth.is_after = truth.has_after && !truth.is_entangled;
    return truth;
}

/* Number of traces of a set. */
static size_t locations(const struct made_set_of_events *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++)
        count += i == 0 || set->events[i].trace != set->events[i - 1].trace;
    return count;
}

/* Theorem 3.18 literally, with floors and ceilings (erratum 24). */
static bool theorem_3_18(const struct made_computation *made,
                         const struct made_set_of_events *a,
                         const struct made_set_of_events *b)
{
    bool is_before = false, is_after = false, is_equal = false;

    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++) {
            struct es_event_id x = a->events[i], y = b->events[j];
            bool x_floor = i == 0 || a->events[i - 1].trace != x.trace;
            bool x_ceil = i + 1 == a->count || a->events[i + 1].trace != x.trace;
            bool y_floor = j == 0 || b->events[j - 1].trace != y.trace;
            bool y_ceil = j + 1 == b->count || b->events[j + 1].trace != y.trace;

            is_before |= x_floor && y_ceil && made_precedes(made, x, y);
            is_after |= y_floor && x_ceil && made_precedes(made, y, x);
            is_equal |=
                esi_event_is(x, y) && ((x_floor && y_ceil) || (y_floor && x_ceil));
        }
    return (is_before && is_after) || is_equal;
}

struct check {
    const struct made_computation *made;
    struct esi_precedence precedence;
    uint64_t overlapped; /* to ensure that all relations occur */
    uint64_t crossed;
    uint64_t preceded;
    uint64_t concurrent;
};

/* Whether `op` has the true result, within the number of
 * comparisons of theorem 3.20. */
static bool is_told(struct check *check,
                    enum esi_pattern_operator op,
                    const struct made_set_of_events *a,
                    const struct made_set_of_events *b,
                    bool is_true)
{
    uint64_t before = check->precedence.comparisons;
    bool holds = esi_set_relation_holds(&check->precedence, op, a->events, a->count,
                                        b->events, b->count);

    return holds == is_true &&
           check->precedence.comparisons - before <= 2 * locations(a) * locations(b);
}

static void count_seen(struct check *check, struct truth truth)
{
    check->overlapped += truth.overlaps;
    check->crossed += truth.is_entangled && !truth.overlaps;
    check->preceded += truth.is_before;
    check->concurrent += truth.is_concurrent;
}

static bool is_pair_right(struct check *check,
                          const struct made_set_of_events *a,
                          const struct made_set_of_events *b)
{
    struct truth truth = true_relation(check->made, a, b);

    count_seen(check, truth);
    return is_told(check, ES_OPERATOR_BEFORE, a, b, truth.is_before) &&
           is_told(check, ES_OPERATOR_BEFORE, b, a, truth.is_after) &&
           is_told(check, ES_OPERATOR_CONCURRENT, a, b, truth.is_concurrent) &&
           is_told(check, ES_OPERATOR_ENTANGLED, a, b, truth.is_entangled) &&
           theorem_3_18(check->made, a, b) == truth.is_entangled &&
           truth.is_before + truth.is_after + truth.is_concurrent +
                   truth.is_entangled ==
               1;
}

static void check_round(struct check *check, unsigned round, uint64_t seed)
{
    struct made_computation *made = made_for_round(round, seed);
    struct es_order *order = made_order(made, round);
    uint64_t draw;

    check->made = made;
    check->precedence.order = order;
    draw = seed + round;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        struct made_set_of_events a, b;

        made_set_draw(made, &draw, SET_LIMIT, &a);
        made_set_draw(made, &draw, SET_LIMIT, &b);
        if (!is_pair_right(check, &a, &b))
            fail_msg("pair %u of %s", pair, made_computation_name(made));
    }
    assert_int_equal(check->precedence.unknown, 0);
    es_order_destroy(order);
    made_computation_destroy(made);
}

/* Also checks theorem 3.9: exactly one of the four holds. */
static void relations_are_those_of_the_definitions(void **state)
{
    struct check check = {.made = NULL};
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++)
        check_round(&check, round, seed);
    assert_true(check.overlapped > 0 && check.crossed > 0 && check.preceded > 0 &&
                check.concurrent > 0);
}

/* P: p1 p2 p3 p4, Q: q1. */
static struct es_order *two_traces(void)
{
    struct esi_order_config config = {.store = NULL};
    struct es_order *order = NULL;

    assert_int_equal(esi_order_create(&config, NULL, &order), 0);
    for (unsigned trace = 0; trace < 2; trace++)
        assert_int_equal(es_order_add_trace(order), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(es_order_append(order, 0, ES_EVENT_UNARY, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_UNARY, NULL, 0), 0);
    return order;
}

static void sets_that_share_an_event_in_the_middle_are_entangled(void **state)
{
    static const struct es_event_id a[] = {{0, 2}, {0, 3}, {0, 4}};
    static const struct es_event_id b[] = {{0, 1}, {0, 3}, {1, 1}};
    static const struct es_event_id c[] = {{0, 1}, {0, 2}, {0, 3}};
    struct es_order *order = two_traces();
    struct esi_precedence precedence = {.order = order};

    (void)state;
    assert_true(esi_set_relation_holds(&precedence, ES_OPERATOR_ENTANGLED, a, 3, b, 3));
    assert_true(esi_set_relation_holds(&precedence, ES_OPERATOR_ENTANGLED, b, 3, c, 3));
    es_order_destroy(order);
}

static void an_empty_set_is_concurrent_with_everything(void **state)
{
    static const struct es_event_id a[] = {{0, 2}};
    struct es_order *order = two_traces();
    struct esi_precedence precedence = {.order = order};

    (void)state;
    assert_true(
        esi_set_relation_holds(&precedence, ES_OPERATOR_CONCURRENT, a, 1, NULL, 0));
    assert_true(
        esi_set_relation_holds(&precedence, ES_OPERATOR_CONCURRENT, NULL, 0, a, 1));
    assert_true(
        esi_set_relation_holds(&precedence, ES_OPERATOR_CONCURRENT, NULL, 0, NULL, 0));
    assert_false(
        esi_set_relation_holds(&precedence, ES_OPERATOR_BEFORE, NULL, 0, a, 1));
    assert_false(
        esi_set_relation_holds(&precedence, ES_OPERATOR_ENTANGLED, NULL, 0, a, 1));
    assert_int_equal(precedence.comparisons, 0);
    es_order_destroy(order);
}

static void single_events_take_as_few_comparisons_as_the_operator_needs(void **state)
{
    static const struct es_event_id p[] = {{0, 2}}, q[] = {{1, 1}};
    struct es_order *order = two_traces();
    struct esi_precedence precedence = {.order = order};

    (void)state;
    assert_false(esi_set_relation_holds(&precedence, ES_OPERATOR_BEFORE, p, 1, q, 1));
    assert_int_equal(precedence.comparisons, 1);
    assert_true(
        esi_set_relation_holds(&precedence, ES_OPERATOR_CONCURRENT, p, 1, q, 1));
    assert_int_equal(precedence.comparisons, 3);
    assert_false(
        esi_set_relation_holds(&precedence, ES_OPERATOR_ENTANGLED, p, 1, q, 1));
    assert_true(esi_set_relation_holds(&precedence, ES_OPERATOR_ENTANGLED, q, 1, q, 1));
    assert_int_equal(precedence.comparisons, 3);
    es_order_destroy(order);
}

SUITE(test_event_sets)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relations_are_those_of_the_definitions),
        cmocka_unit_test(sets_that_share_an_event_in_the_middle_are_entangled),
        cmocka_unit_test(an_empty_set_is_concurrent_with_everything),
        cmocka_unit_test(single_events_take_as_few_comparisons_as_the_operator_needs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
