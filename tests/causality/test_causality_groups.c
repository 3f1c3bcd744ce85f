/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_causality_groups.c - the order of collective operations on intercommunicators,
 * and of those that move no data. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "tests/causality/made_tuples.h"
#include "tests/suites.h"

enum { RANKS = 5, LOW = 3 }; /* one group is ranks 0 to 2, the other 3 and 4 */

static bool is_low(int rank)
{
    return rank < LOW;
}

static void begin(struct made_tuples *made)
{
    static const int32_t low[] = {0, 1, 2}, high[] = {3, 4};

    made_tuples_begin(made, RANKS);
    for (int rank = 0; rank < RANKS; rank++) {
        struct esi_run_reported between = {.key = {5, 6},
                                           .name = "between",
                                           .rank = is_low(rank) ? rank : rank - LOW,
                                           .size = is_low(rank) ? LOW : RANKS - LOW,
                                           .remote_size =
                                               is_low(rank) ? RANKS - LOW : LOW,
                                           .world = is_low(rank) ? low : high,
                                           .remote_world = is_low(rank) ? high : low};

        assert_int_equal(
            esi_run_model_set_communicator(esi_causality_run(made->causality),
                                           made->processes[rank], 1, &between),
            0);
    }
}

/* Whether the exit of `to` names the enter of `from`. */
static bool names(const struct made_tuples *made,
                  const char *operation,
                  int to,
                  int from)
{
    char enter[64], leave[64], traces[2][16];
    const struct made_event *events[2];

    snprintf(enter, sizeof enter, "%s enter", operation);
    snprintf(leave, sizeof leave, "%s exit", operation);
    snprintf(traces[0], sizeof traces[0], "%d.0", to);
    snprintf(traces[1], sizeof traces[1], "%d.0", from);
    events[0] = made_stream_find(&made->stream, traces[0], leave);
    events[1] = made_stream_find(&made->stream, traces[1], enter);
    assert_non_null(events[0]);
    assert_non_null(events[1]);
    return made_event_names(&made->stream, events[0], events[1]);
}

/* Adds the tuples of all ranks, with the peers that the collector records: none in the
 * group of the root. */
static void all_call(struct made_tuples *made, const char *operation, int root)
{
    for (int i = 0; i < RANKS; i++) {
        int rank = (i + 2) % RANKS; /* begin within the first group */
        bool tells = root >= 0 && is_low(rank) != is_low(root);

        made_add(made, rank,
                 &(struct made_call){operation, 10, 50, .communicator = 1,
                                     .peer = !tells         ? ES_PEER_NONE
                                             : is_low(root) ? root
                                                            : root - LOW});
        made_advance(made);
    }
}

typedef bool wanted_fn(int to, int from, int root);

static void check(const char *operation, int root, wanted_fn *wanted)
{
    struct made_tuples made;

    begin(&made);
    all_call(&made, operation, root);
    assert_int_equal(made_finish(&made).collectives, 1);
    assert_false(esi_causality_is_incomplete(made.causality));
    assert_int_equal(made.stream.count, 2 * RANKS);
    for (int to = 0; to < RANKS; to++)
        for (int from = 0; from < RANKS; from++)
            assert_int_equal(names(&made, operation, to, from), wanted(to, from, root));
    made_tuples_end(&made);
}

static bool is_of_other_group(int to, int from, int root)
{
    (void)root;
    return is_low(to) != is_low(from);
}

static bool is_from_root(int to, int from, int root)
{
    return from == root && is_low(to) != is_low(root);
}

static bool is_to_root(int to, int from, int root)
{
    return to == root && is_low(from) != is_low(root);
}

static void groups_wait_for_each_other(void **state)
{
    (void)state;
    check("MPI_Barrier", -1, is_of_other_group);
    check("MPI_Allreduce", -1, is_of_other_group);
    check("MPI_Allgather", -1, is_of_other_group);
}

static void one_root_tells_the_other_group(void **state)
{
    (void)state;
    for (int root = 0; root < RANKS; root++) {
        check("MPI_Bcast", root, is_from_root);
        check("MPI_Scatter", root, is_from_root);
    }
}

static void one_root_hears_the_other_group(void **state)
{
    (void)state;
    for (int root = 0; root < RANKS; root++) {
        check("MPI_Reduce", root, is_to_root);
        check("MPI_Gather", root, is_to_root);
    }
}

/* A member of the root's group that is not the root leaves at once: others may wait for
 * its later messages. */
static void who_only_stands_by_holds_up_nobody(void **state)
{
    struct made_tuples made;

    (void)state;
    begin(&made);
    made_add(&made, 0,
             &(struct made_call){"MPI_Reduce", 10, 20, .peer = ES_PEER_NONE,
                                 .communicator = 1});
    made_add(&made, 0, &(struct made_call){"MPI_Send", 30, 40, .peer = 4});
    made_add(&made, 4, &(struct made_call){"MPI_Recv", 5, 50, .peer = 0});
    made_add(&made, 4,
             &(struct made_call){"MPI_Reduce", 60, 90, .peer = 1, .communicator = 1});
    made_add(&made, 3,
             &(struct made_call){"MPI_Reduce", 60, 90, .peer = 1, .communicator = 1});
    for (int rank = 1; rank < LOW; rank++)
        made_add(&made, rank,
                 &(struct made_call){"MPI_Reduce", 10, 95, .peer = ES_PEER_NONE,
                                     .communicator = 1});
    assert_int_equal(made_finish(&made).messages, 1);
    assert_false(esi_causality_is_incomplete(made.causality));
    made_tuples_end(&made);
}

/* --- Without data ----------------------------------------------------------------- */

static void add_empty(struct made_tuples *made, int rank, const char *operation)
{
    struct esi_causal_tuple told = {
        .tuple = {.operation = es_operation_by_name(operation)->code,
                  .start = 10,
                  .stop = 50,
                  .peer = operation[4] == 'B' ? 0 : ES_PEER_NONE},
        .start_ns = 10,
        .stop_ns = 50};

    assert_int_equal(esi_causality_add(made->causality, made->elements[rank], &told),
                     0);
}

static bool is_ordered(const char *operation)
{
    struct made_tuples made;
    struct made_relation relation;
    const struct made_event *enter;
    const struct made_event *leave;
    char types[2][48];
    bool ordered;

    made_tuples_begin(&made, 2);
    add_empty(&made, 0, operation);
    add_empty(&made, 1, operation);
    assert_int_equal(made_finish(&made).collectives, 1);
    assert_false(esi_causality_is_incomplete(made.causality));
    snprintf(types[0], sizeof types[0], "%s enter", operation);
    snprintf(types[1], sizeof types[1], "%s exit", operation);
    enter = made_stream_find(&made.stream, "0.0", types[0]);
    leave = made_stream_find(&made.stream, "1.0", types[1]);
    assert_true(enter && leave);
    made_stream_relate(&made.stream, &relation);
    ordered = made_relation_has(&relation, (size_t)(enter - made.stream.events),
                                (size_t)(leave - made.stream.events));
    made_relation_fini(&relation);
    made_tuples_end(&made);
    return ordered;
}

static void who_gets_nothing_waits_for_nobody(void **state)
{
    static const char *const unordered[] = {"MPI_Bcast", "MPI_Allreduce", "MPI_Scan",
                                            "MPI_Allgatherv", "MPI_Iallreduce"};
    static const char *const ordered[] = {"MPI_Barrier", "MPI_Alltoallw",
                                          "MPI_Alltoallv", "MPI_Comm_dup"};

    (void)state;
    for (size_t i = 0; i < sizeof unordered / sizeof *unordered; i++)
        assert_false(is_ordered(unordered[i]));
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++)
        assert_true(is_ordered(ordered[i]));
}

/* MPI allows this: rank 1 enters only after a message that rank 0 sent after it
 * left. */
static void leaving_early_is_no_circle(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    add_empty(&made, 0, "MPI_Allreduce");
    made_add(&made, 0, &(struct made_call){"MPI_Send", 60, 70, .peer = 1});
    made_add(&made, 1, &(struct made_call){"MPI_Recv", 5, 9, .peer = 0});
    add_empty(&made, 1, "MPI_Allreduce");
    assert_int_equal(made_finish(&made).messages, 1);
    assert_false(esi_causality_is_incomplete(made.causality));
    made_tuples_end(&made);
}

SUITE(test_causality_groups)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_wait_for_each_other),
        cmocka_unit_test(one_root_tells_the_other_group),
        cmocka_unit_test(one_root_hears_the_other_group),
        cmocka_unit_test(who_only_stands_by_holds_up_nobody),
        cmocka_unit_test(who_gets_nothing_waits_for_nobody),
        cmocka_unit_test(leaving_early_is_no_circle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
