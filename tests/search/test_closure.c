/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_closure.c - convex closures, compared with all events between two of the set. */
#include "config.h"

#include "monitors/search/thesis/closure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/search/truth/event_sets.h"
#include "tests/search/made_sets.h"
#include "tests/suites.h"

enum { ROUNDS = 78, SETS = 40, METHODS = 5 };

static const struct {
    const char *name;
    enum esi_closure_method method;
    bool has_table; /* of immediate successors */
} methods[METHODS] = {
    {"existing", ES_CLOSURE_EXISTING, true},
    {"existing, from the order", ES_CLOSURE_EXISTING, false},
    {"step", ES_CLOSURE_STEP, false},
    {"binary", ES_CLOSURE_BINARY, false},
    {"jump", ES_CLOSURE_JUMP, false},
};

/* A computation with everything needed to make closures. */
struct bench {
    const struct made_computation *made;
    struct es_order *order;
    struct esi_successors *successors;
    struct esi_closure_maker *makers[METHODS];
    struct esi_precedence precedence;
    bool *is_inside; /* the true closure, by number of event */
};

static void make_bench(struct bench *bench,
                       const struct made_computation *made,
                       unsigned round)
{
    struct es_set_sink sink;

    *bench = (struct bench){.made = made, .order = made_order(made, round)};
    bench->precedence.order = bench->order;
    assert_int_equal(esi_successors_create(&bench->successors), 0);
    sink = esi_successors_sink(bench->successors);
    assert_int_equal(made_computation_stream(made, NULL, &sink), 0);
    esi_successors_finish(bench->successors);
    for (unsigned i = 0; i < METHODS; i++)
        assert_int_equal(
            esi_closure_maker_create(bench->order, methods[i].method,
                                     methods[i].has_table ? bench->successors : NULL,
                                     &bench->makers[i]),
            0);
    bench->is_inside = malloc(made->count * sizeof *bench->is_inside);
    assert_non_null(bench->is_inside);
}

static void end_bench(struct bench *bench)
{
    for (unsigned i = 0; i < METHODS; i++)
        esi_closure_maker_destroy(bench->makers[i]);
    esi_successors_destroy(bench->successors);
    es_order_destroy(bench->order);
    free(bench->is_inside);
}

/* Marks the true closure: all z with x -> z -> y, and the set itself. */
static void find_truth(struct bench *bench, const struct made_set_of_events *set)
{
    for (uint32_t i = 0; i < bench->made->count; i++) {
        struct es_event_id event = bench->made->events[i].id;
        bool is_member = false, is_after = false, is_before = false;

        for (size_t j = 0; j < set->count; j++) {
            is_member |= esi_event_is(event, set->events[j]);
            is_after |= made_precedes(bench->made, set->events[j], event);
            is_before |= made_precedes(bench->made, event, set->events[j]);
        }
        bench->is_inside[i] = is_member || (is_after && is_before);
    }
}

static bool has(const struct esi_closure *closure, struct es_event_id event)
{
    const struct es_event_id *ends = closure->ends.events;

    for (size_t i = 0; i < closure->ends.count; i += 2)
        if (ends[i].trace == event.trace)
            return ends[i].index <= event.index && event.index <= ends[i + 1].index;
    return false;
}

/* Whether the ends are events of ascending traces and the events those of the truth. */
static bool is_true_closure(const struct bench *bench,
                            const struct esi_closure *closure)
{
    uint64_t size = 0;

    for (size_t i = 0; i < closure->ends.count; i += 2) {
        struct es_event_id front = closure->ends.events[i];
        struct es_event_id back = closure->ends.events[i + 1];

        if (front.trace != back.trace || front.index > back.index || front.index == 0 ||
            (i > 0 && closure->ends.events[i - 1].trace >= front.trace))
            return false;
    }
    for (uint32_t i = 0; i < bench->made->count; i++) {
        size += bench->is_inside[i];
        if (has(closure, bench->made->events[i].id) != bench->is_inside[i])
            return false;
    }
    return size == esi_closure_size(closure);
}

static void check_methods(struct bench *bench, const struct made_set_of_events *set)
{
    find_truth(bench, set);
    for (unsigned i = 0; i < METHODS; i++) {
        struct esi_closure closure = {.ends = {.count = 0}};

        assert_int_equal(esi_closure_make(bench->makers[i], &bench->precedence,
                                          set->events, set->count, &closure),
                         0);
        if (!is_true_closure(bench, &closure))
            fail_msg("%s: %s", methods[i].name, made_computation_name(bench->made));
        esi_closure_fini(&closure);
    }
}

static void for_all_rounds(void (*check)(struct bench *, uint64_t *))
{
    uint64_t seed = random_seed();

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct made_computation *made = made_for_round(round, seed);
        uint64_t draw;
        struct bench bench;

        make_bench(&bench, made, round);
        draw = seed + round;
        for (unsigned i = 0; i < SETS; i++)
            check(&bench, &draw);
        assert_int_equal(bench.precedence.unknown, 0);
        end_bench(&bench);
        made_computation_destroy(made);
    }
}

/* --- Random sets ------------------------------------------------------------------ */

static void check_closure(struct bench *bench, uint64_t *draw)
{
    struct made_set_of_events set;

    made_set_draw(bench->made, draw, 8, &set);
    check_methods(bench, &set);
}

static void a_closure_has_all_events_between_two_of_its_set(void **state)
{
    (void)state;
    for_all_rounds(check_closure);
}

static struct made_set_of_events unite(const struct made_computation *made,
                                       const struct made_set_of_events *a,
                                       const struct made_set_of_events *b)
{
    struct made_set_of_events both = {.count = 0};

    for (uint32_t trace = 0; trace < made->traces; trace++)
        for (uint32_t index = 1; index <= made->counts[trace]; index++) {
            struct es_event_id event = {trace, index};
            bool is_there = false;

            for (size_t i = 0; i < a->count; i++)
                is_there |= esi_event_is(a->events[i], event);
            for (size_t i = 0; i < b->count; i++)
                is_there |= esi_event_is(b->events[i], event);
            if (is_there)
                both.events[both.count++] = event;
        }
    return both;
}

/* A third set is combined with the combination of two. */
static void check_combined(struct bench *bench, uint64_t *draw)
{
    struct made_set_of_events sets[3], both;

    for (unsigned i = 0; i < 3; i++)
        made_set_draw(bench->made, draw, 6, &sets[i]);
    for (unsigned i = 0; i < METHODS; i++) {
        struct esi_closure parts[3] = {{.ends = {.count = 0}}};
        struct esi_closure two = {.ends = {.count = 0}}, all = {.ends = {.count = 0}};
        struct esi_closure_maker *maker = bench->makers[i];

        for (unsigned j = 0; j < 3; j++)
            assert_int_equal(esi_closure_make(maker, &bench->precedence, sets[j].events,
                                              sets[j].count, &parts[j]),
                             0);
        assert_int_equal(
            esi_closure_combine(maker, &bench->precedence, &parts[0], &parts[1], &two),
            0);
        both = unite(bench->made, &sets[0], &sets[1]);
        find_truth(bench, &both);
        if (!is_true_closure(bench, &two))
            fail_msg("two, %s: %s", methods[i].name,
                     made_computation_name(bench->made));
        assert_int_equal(
            esi_closure_combine(maker, &bench->precedence, &two, &parts[2], &all), 0);
        both = unite(bench->made, &both, &sets[2]);
        find_truth(bench, &both);
        if (!is_true_closure(bench, &all))
            fail_msg("three, %s: %s", methods[i].name,
                     made_computation_name(bench->made));
        for (unsigned j = 0; j < 3; j++)
            esi_closure_fini(&parts[j]);
        esi_closure_fini(&two);
        esi_closure_fini(&all);
    }
}

static void combined_closures_are_the_closure_of_the_union(void **state)
{
    (void)state;
    for_all_rounds(check_combined);
}

/* Which of the four relations holds; it is always exactly one. */
static int relation_of(struct bench *bench,
                       const struct es_event_id *a,
                       size_t a_count,
                       const struct es_event_id *b,
                       size_t b_count)
{
    struct esi_precedence *precedence = &bench->precedence;

    if (esi_set_relation_holds(precedence, ES_OPERATOR_BEFORE, a, a_count, b, b_count))
        return 'b';
    if (esi_set_relation_holds(precedence, ES_OPERATOR_BEFORE, b, b_count, a, a_count))
        return 'a';
    return esi_set_relation_holds(precedence, ES_OPERATOR_CONCURRENT, a, a_count, b,
                                  b_count)
               ? 'c'
               : 'e';
}

static void check_relations(struct bench *bench, uint64_t *draw)
{
    struct made_set_of_events sets[2];
    struct esi_closure closures[2] = {{.ends = {.count = 0}}};
    int truth;

    for (unsigned i = 0; i < 2; i++) {
        made_set_draw(bench->made, draw, 5, &sets[i]);
        assert_int_equal(esi_closure_make(bench->makers[3], &bench->precedence,
                                          sets[i].events, sets[i].count, &closures[i]),
                         0);
    }
    truth = relation_of(bench, sets[0].events, sets[0].count, sets[1].events,
                        sets[1].count);
    assert_int_equal(relation_of(bench, closures[0].ends.events, closures[0].ends.count,
                                 sets[1].events, sets[1].count),
                     truth);
    assert_int_equal(relation_of(bench, closures[0].ends.events, closures[0].ends.count,
                                 closures[1].ends.events, closures[1].ends.count),
                     truth);
    for (unsigned i = 0; i < 2; i++)
        esi_closure_fini(&closures[i]);
}

/* Theorem 3.23 of Nichols. */
static void closures_have_the_relations_of_their_sets(void **state)
{
    (void)state;
    for_all_rounds(check_relations);
}

/* --- Small cases in which the printed algorithms fail ----------------------------- */

/* P: p1 send p2, Q: q1 recv q2 (p1 > q1), R: r1. */
static struct es_order *made_small(void)
{
    static const struct es_event_id p1 = {0, 1};
    struct esi_order_config config = {.store = NULL};
    struct es_order *order = NULL;

    assert_int_equal(esi_order_create(&config, NULL, &order), 0);
    for (unsigned trace = 0; trace < 3; trace++)
        assert_int_equal(es_order_add_trace(order), 0);
    assert_int_equal(es_order_append(order, 0, ES_EVENT_SEND, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 0, ES_EVENT_UNARY, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_RECEIVE, &p1, 1), 0);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_UNARY, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 2, ES_EVENT_UNARY, NULL, 0), 0);
    return order;
}

/* Compares the closure with expected ends, for all methods. */
static void expect_ends(const struct es_event_id *events,
                        size_t count,
                        const struct es_event_id *ends,
                        size_t end_count)
{
    struct es_order *order = made_small();
    struct esi_precedence precedence = {.order = order};

    for (unsigned i = 0; i < METHODS; i++) {
        struct esi_closure closure = {.ends = {.count = 0}};
        struct esi_closure_maker *maker = NULL;

        assert_int_equal(
            esi_closure_maker_create(order, methods[i].method, NULL, &maker), 0);
        assert_int_equal(esi_closure_make(maker, &precedence, events, count, &closure),
                         0);
        assert_int_equal(closure.ends.count, end_count);
        for (size_t j = 0; j < end_count; j++)
            assert_true(esi_event_is(closure.ends.events[j], ends[j]));
        esi_closure_fini(&closure);
        esi_closure_maker_destroy(maker);
    }
    es_order_destroy(order);
}

/* Algorithm 4.6 as printed has no back for it (erratum 25). */
static void a_single_event_is_its_own_closure(void **state)
{
    static const struct es_event_id set[] = {{1, 1}};
    static const struct es_event_id ends[] = {{1, 1}, {1, 1}};

    (void)state;
    expect_ends(set, 1, ends, 2);
}

/* Algorithm 4.7 as printed misses the receive's trace (erratum 26). */
static void a_send_and_its_receive_are_their_own_closure(void **state)
{
    static const struct es_event_id set[] = {{0, 1}, {1, 1}};
    static const struct es_event_id ends[] = {{0, 1}, {0, 1}, {1, 1}, {1, 1}};

    (void)state;
    expect_ends(set, 2, ends, 4);
}

/* Greatest predecessors that succeed no event are not in the closure: algorithms 4.8
 * and 4.9 must cut off what 4.6 leaves (errata 27 and 28). */
static void predecessors_of_the_set_are_not_in_its_closure(void **state)
{
    static const struct es_event_id set[] = {{0, 2}, {1, 2}, {2, 1}};
    static const struct es_event_id ends[] = {{0, 2}, {0, 2}, {1, 2},
                                              {1, 2}, {2, 1}, {2, 1}};

    (void)state;
    expect_ends(set, 3, ends, 6);
    expect_ends(set + 1, 2, ends + 2, 4);
}

/* The search starts again on each trace, with the back of that trace and the first of
 * the first events (erratum 28). */
static void each_trace_is_searched_from_its_back_to_its_front(void **state)
{
    static const struct es_event_id set[] = {{0, 1}, {1, 2}, {2, 1}};
    static const struct es_event_id ends[] = {{0, 1}, {0, 1}, {1, 1},
                                              {1, 2}, {2, 1}, {2, 1}};

    (void)state;
    expect_ends(set, 3, ends, 6);
}

static void the_closure_of_nothing_is_empty(void **state)
{
    (void)state;
    expect_ends(NULL, 0, NULL, 0);
}

/* --- Costs ------------------------------------------------------------------------ */

/* Two traces with 2,000 events each: q1 receives from p1, p2 from q2000. */
static struct es_order *made_long(uint32_t length)
{
    struct es_event_id send = {0, 1};
    struct esi_order_config config = {.store = NULL};
    struct es_order *order = NULL;

    assert_int_equal(esi_order_create(&config, NULL, &order), 0);
    for (unsigned trace = 0; trace < 2; trace++)
        assert_int_equal(es_order_add_trace(order), 0);
    assert_int_equal(es_order_append(order, 0, ES_EVENT_SEND, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_RECEIVE, &send, 1), 0);
    for (uint32_t i = 2; i < length; i++)
        assert_int_equal(es_order_append(order, 1, ES_EVENT_UNARY, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_SEND, NULL, 0), 0);
    send = (struct es_event_id){1, length};
    assert_int_equal(es_order_append(order, 0, ES_EVENT_RECEIVE, &send, 1), 0);
    return order;
}

static uint64_t comparisons_of(const struct es_order *order,
                               enum esi_closure_method method,
                               const struct es_event_id *events,
                               size_t count,
                               uint64_t size)
{
    struct esi_precedence precedence = {.order = order};
    struct esi_closure closure = {.ends = {.count = 0}};
    struct esi_closure_maker *maker = NULL;

    assert_int_equal(esi_closure_maker_create(order, method, NULL, &maker), 0);
    assert_int_equal(esi_closure_make(maker, &precedence, events, count, &closure), 0);
    assert_int_equal(esi_closure_size(&closure), size);
    esi_closure_fini(&closure);
    esi_closure_maker_destroy(maker);
    return precedence.comparisons;
}

static void searches_that_jump_take_logarithmically_many_comparisons(void **state)
{
    enum { LENGTH = 2000 };
    static const struct es_event_id ends[] = {{0, 1}, {0, 2}};
    static const struct es_event_id with_last[] = {{0, 1}, {0, 2}, {1, LENGTH}};
    struct es_order *order = made_long(LENGTH);

    (void)state;
    assert_true(comparisons_of(order, ES_CLOSURE_STEP, ends, 2, LENGTH + 2) >= LENGTH);
    assert_true(comparisons_of(order, ES_CLOSURE_BINARY, ends, 2, LENGTH + 2) <= 24);
    assert_true(comparisons_of(order, ES_CLOSURE_JUMP, ends, 2, LENGTH + 2) <= 48);
    assert_true(comparisons_of(order, ES_CLOSURE_EXISTING, ends, 2, LENGTH + 2) <= 24);
    assert_true(comparisons_of(order, ES_CLOSURE_BINARY, with_last, 3, LENGTH + 2) <=
                36);
    es_order_destroy(order);
}

/* The second improvement of section 4.4: the search starts at an event of the
 * set on the same trace. */
static void what_a_first_event_has_behind_it_is_not_looked_at(void **state)
{
    enum { LENGTH = 2000 };
    static const struct es_event_id set[] = {{0, 1}, {0, 2}, {1, 2}};
    struct es_order *order = made_long(LENGTH);

    (void)state;
    assert_true(comparisons_of(order, ES_CLOSURE_STEP, set, 3, LENGTH + 2) <= 16);
    es_order_destroy(order);
}

SUITE(test_closure)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closure_has_all_events_between_two_of_its_set),
        cmocka_unit_test(combined_closures_are_the_closure_of_the_union),
        cmocka_unit_test(closures_have_the_relations_of_their_sets),
        cmocka_unit_test(a_single_event_is_its_own_closure),
        cmocka_unit_test(a_send_and_its_receive_are_their_own_closure),
        cmocka_unit_test(predecessors_of_the_set_are_not_in_its_closure),
        cmocka_unit_test(each_trace_is_searched_from_its_back_to_its_front),
        cmocka_unit_test(the_closure_of_nothing_is_empty),
        cmocka_unit_test(searches_that_jump_take_logarithmically_many_comparisons),
        cmocka_unit_test(what_a_first_event_has_behind_it_is_not_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
