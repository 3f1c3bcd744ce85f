/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of advice on a run: it is based on the calls of the ranks in trees, and
 * compares only operations that are comparable. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/advice/collectives_advice.h"
#include "tests/suites.h"

enum { SIZE = 4, HOP_NS = 50000 };
#define BEGIN_NS UINT64_C(1800000000000000000)

struct scene {
    struct esi_tree_plan plan; /* no hosts */
    struct esi_collectives_advice *advice;
    struct esi_run_process *processes[SIZE];
    uint32_t elements[SIZE];
    uint32_t instance;
};

static int begin(void **state)
{
    static struct scene scene;
    struct esi_collectives_advice_config config = {.plan = &scene.plan};

    scene = (struct scene){.instance = 0};
    assert_int_equal(esi_collectives_advice_create(&config, &scene.advice), 0);
    for (int i = 0; i < SIZE; i++) {
        struct esi_causality *messages = esi_collectives_advice_messages(scene.advice);
        struct esi_run_model *run = esi_causality_run(messages);
        struct esi_run_process process = {.host = "here", .rank = i};
        struct esi_run_reported world = {
            .key = {1, 2}, .rank = i, .size = SIZE, .world = (int32_t[]){0, 1, 2, 3}};

        assert_int_equal(esi_run_model_add_process(run, &process, &scene.processes[i]),
                         0);
        assert_int_equal(
            esi_run_model_set_communicator(run, scene.processes[i], 0, &world), 0);
        assert_int_equal(esi_causality_add_element(messages, scene.processes[i], 0,
                                                   &scene.elements[i]),
                         0);
    }
    *state = &scene;
    return 0;
}

static int end(void **state)
{
    esi_collectives_advice_destroy(((struct scene *)*state)->advice);
    return 0;
}

static uint16_t code_of(const char *name)
{
    assert_non_null(es_operation_by_name(name));
    return es_operation_by_name(name)->code;
}

/* Adds one end of an edge of an allreduce of 8 bytes. */
static void add_end(struct scene *scene,
                    const char *what,
                    int rank,
                    int peer,
                    uint64_t from_ns,
                    uint64_t to_ns)
{
    struct esi_causal_tuple tuple = {
        .tuple = {.operation = code_of(what),
                  .start = BEGIN_NS + from_ns,
                  .stop = BEGIN_NS + to_ns,
                  .peer = peer,
                  .tag = code_of("MPI_Allreduce"),
                  .bytes = 8,
                  .sequence = scene->instance},
        .start_ns = BEGIN_NS + from_ns,
        .stop_ns = BEGIN_NS + to_ns,
        .error_ns = 1000000,
    };

    assert_int_equal(esi_collectives_advice_add_tuple(scene->advice,
                                                      scene->processes[rank],
                                                      scene->elements[rank], &tuple),
                     0);
}

/* Adds messages up a chain. Each takes one hop; its receiver waits for 1 ms. */
static void go_up(struct scene *scene)
{
    uint64_t at_ns = (uint64_t)scene->instance * 10000000;

    scene->instance++;
    for (int rank = SIZE - 1; rank > 0; rank--) {
        bool is_leaf = rank == SIZE - 1;

        /* The contribution of an inner rank is not a message. */
        add_end(scene, "tree contribute", rank, rank - 1, is_leaf ? at_ns : at_ns - 5,
                at_ns + 100);
        if (!is_leaf)
            add_end(scene, "tree departure up", rank, rank - 1, at_ns, at_ns + 100);
        add_end(scene, "tree arrival up", rank - 1, rank, at_ns - 1000000,
                at_ns + HOP_NS);
        at_ns += HOP_NS;
    }
}

/* Adds an operation that took `hops` hops after all ranks had entered. */
static void add_instance(struct scene *scene,
                         const char *name,
                         bool tree,
                         uint32_t version,
                         double hops)
{
    struct esi_collective_arrival arrivals[SIZE];
    struct esi_collective_instance instance = {
        .key = {1, 2},
        .communicator = "a[1]",
        .operation = code_of(name),
        .tree = tree,
        .version = version,
        .size = SIZE,
        .known = SIZE,
        .root = -1,
        .bytes = 8,
        .arrivals = arrivals,
        .first_enter_ns = BEGIN_NS,
        .tree_ns = (uint64_t)(hops * HOP_NS),
        .error_ns = 100,
    };

    for (int i = 0; i < SIZE; i++)
        arrivals[i] = (struct esi_collective_arrival){
            .known = true, .world_rank = i, .enter_ns = BEGIN_NS};
    assert_int_equal(esi_collectives_advice_add(scene->advice, &instance), 0);
}

static struct esi_tree_advice propose(struct scene *scene,
                                      const char *in_force,
                                      uint32_t version)
{
    struct esi_tree_rule rule;
    struct esi_tree_advice advice;

    assert_int_equal(esi_tree_rule_parse_short(in_force, NULL, &rule), 0);
    assert_int_equal(
        esi_causality_finish(esi_collectives_advice_messages(scene->advice)), 0);
    assert_int_equal(
        esi_collectives_advice_propose(scene->advice, 0, &rule, version, &advice), 0);
    esi_tree_rule_fini(&rule);
    return advice;
}

static const char chain[] = "explicit:0-1,1-2,2-3";

static void a_chain_is_better_flat(void **state)
{
    struct scene *scene = *state;
    struct esi_tree_advice advice;

    for (int i = 0; i < 40; i++) {
        go_up(scene);
        add_instance(scene, "MPI_Allreduce", true, 1, 6.6);
    }
    advice = propose(scene, chain, 1);
    assert_int_equal(advice.verdict, ES_ADVICE_BETTER);
    assert_int_equal(advice.basis, ES_ADVICE_SCALED);
    assert_int_equal(advice.rule.shape, ES_TREE_LINEAR);
    assert_true(advice.scale > 1 && advice.scale < 1.2);
    assert_true(fabs(advice.then_ns / HOP_NS - 2.2) < 0.2);
    /* Special characters of a name are escaped in a pattern. */
    assert_string_equal(advice.rule.communicator, "a\\[1]");
    /* Nothing has been seen of version 2 or of the library. */
    assert_int_equal(propose(scene, chain, 2).verdict, ES_ADVICE_UNKNOWN);
    assert_int_equal(propose(scene, "library", 0).verdict, ES_ADVICE_UNKNOWN);
}

static void far_off_is_not_believed(void **state)
{
    struct scene *scene = *state;
    struct esi_tree_advice advice;

    for (int i = 0; i < 40; i++) {
        go_up(scene);
        add_instance(scene, "MPI_Allreduce", true, 1, 600);
    }
    advice = propose(scene, chain, 1);
    assert_int_equal(advice.verdict, ES_ADVICE_UNSURE);
    assert_non_null(strstr(advice.reason, "something other than messages dominates"));
}

static void the_library_is_only_what_it_was(void **state)
{
    struct scene *scene = *state;
    const struct esi_tree_advisor *advisor =
        esi_collectives_advice_advisor(scene->advice);
    struct esi_tree_advice advice;
    struct esi_advised_past past;

    for (int i = 0; i < 40; i++)
        add_instance(scene, "MPI_Allreduce", false, 0, 1.5);
    /* Without messages there is no advice on trees. */
    assert_int_equal(propose(scene, "library", 0).verdict, ES_ADVICE_UNKNOWN);
    for (int i = 0; i < 40; i++) {
        go_up(scene);
        add_instance(scene, "MPI_Allreduce", true, 3, 6.6);
    }
    advice = propose(scene, chain, 3);
    assert_int_equal(advice.verdict, ES_ADVICE_BETTER);
    assert_int_equal(advice.basis, ES_ADVICE_MEASURED);
    assert_int_equal(advice.rule.shape, ES_TREE_LIBRARY);
    assert_true(fabs(advice.gain_ns / HOP_NS - 5.1) < 0.01);
    assert_non_null(strstr(advice.reason, "40 operations that were observed with it"));
    assert_int_equal(esi_tree_advisor_past(advisor, 0, true, 3, &past), 0);
    assert_int_equal(past.count, 40);
    assert_true(fabs(past.mean_ns / HOP_NS - 6.6) < 0.01);
    assert_true(esi_tree_advisor_past(advisor, 0, true, 4, &past) < 0);
    /* For trees the times are only computed; the reason says so. */
    for (int i = 0; i < 40; i++)
        add_instance(scene, "MPI_Allreduce", false, 0, 20);
    advice = propose(scene, "library", 0);
    assert_int_equal(advice.verdict, ES_ADVICE_BETTER);
    assert_int_equal(advice.basis, ES_ADVICE_UNSCALED);
    assert_non_null(strstr(advice.reason, "prediction only"));
}

static void nonblocking_operations_are_left_out(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 40; i++)
        add_instance(scene, "MPI_Iallreduce", true, 1, 6);
    assert_int_equal(
        esi_tree_advisor_count(esi_collectives_advice_advisor(scene->advice)), 0);
}

static void round_trips_bound_what_clocks_leave_open(void **state)
{
    struct esi_link_costs *costs;
    struct esi_link_cost cost;

    (void)state;
    assert_int_equal(esi_link_costs_create(&costs), 0);
    for (int i = 0; i < 40; i++)
        esi_link_costs_add_awaited(costs, ES_LINK_WIDE, 8, 1000, 5000);
    esi_link_costs_add_round_trip(costs, ES_LINK_WIDE, 8000);
    cost = esi_link_costs_get(costs, ES_LINK_WIDE);
    assert_true(fabs(cost.latency_ns + 2 * cost.overhead_ns - 4000) < 1);
    esi_link_costs_add_round_trip(costs, ES_LINK_CLUSTER, 8000);
    for (int i = 0; i < 40; i++)
        esi_link_costs_add_awaited(costs, ES_LINK_CLUSTER, 8, 9000, 100);
    cost = esi_link_costs_get(costs, ES_LINK_CLUSTER);
    assert_true(fabs(cost.latency_ns + 2 * cost.overhead_ns - 8900) < 1);
    esi_link_costs_destroy(costs);
}

static void a_proposal_is_shown(void **state)
{
    struct esi_collectives_proposal proposal = {
        .group = {.communicator = "world",
                  .operation = 1u << ES_TREE_ALLREDUCE,
                  .min_bytes = 8,
                  .max_bytes = 15},
        .advice = {.verdict = ES_ADVICE_BETTER,
                   .now_ns = 20000,
                   .then_ns = 5000,
                   .gain_ns = 15000,
                   .gain = 0.75,
                   .samples = 32,
                   .reason = "so it is"},
        .in_force = "kary:2",
        .then = "linear",
        .command = "do it",
    };
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    (void)state;
    assert_non_null(stream);
    esi_collectives_advice_print_text(&proposal, stream);
    esi_collectives_advice_print_json(&proposal, stream);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(strstr(
        text, "better: allreduce on world of 8 to 15 bytes: linear would take 5.00 us "
              "instead of 20.0 us with kary:2: 15.0 us less each (75 %)\n    so it "
              "is\n    do it\n"));
    assert_non_null(strstr(text, "\"type\":\"advice\""));
    assert_non_null(strstr(text, "\"basis\":\"scaled\""));
    free(text);
}

SUITE(test_collectives_advice)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_chain_is_better_flat, begin, end),
        cmocka_unit_test_setup_teardown(far_off_is_not_believed, begin, end),
        cmocka_unit_test_setup_teardown(the_library_is_only_what_it_was, begin, end),
        cmocka_unit_test_setup_teardown(nonblocking_operations_are_left_out, begin,
                                        end),
        cmocka_unit_test(round_trips_bound_what_clocks_leave_open),
        cmocka_unit_test(a_proposal_is_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
