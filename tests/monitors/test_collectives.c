/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tests of the analysis of collective operations: cases by hand, and random runs
 * compared with a reference that examines every pair of ranks.
 */
#include "config.h"

#include "tests/monitors/made_collectives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/collectives/collective_statistics.h"
#include "monitors/collectives/size_class.h"
#include "tests/monitors/draw.h"
#include "tests/suites.h"
#include "tuplespace/operation_codes.h"

enum { RANKS = 7, INSTANCES = 400, SEEN = 1000 };

/* Copies of the instances passed to on_instance(). */
struct seen {
    struct esi_collective_instance instances[SEEN];
    struct esi_collective_arrival arrivals[SEEN][RANKS];
    int orders[SEEN][RANKS];
    size_t count;
};

static void keep(void *data, const struct esi_collective_instance *instance)
{
    struct seen *seen = data;

    assert_true(seen->count < SEEN && instance->size <= RANKS);
    memcpy(seen->arrivals[seen->count], instance->arrivals,
           (size_t)instance->size * sizeof *instance->arrivals);
    memcpy(seen->orders[seen->count], instance->order,
           (size_t)instance->known * sizeof *instance->order);
    seen->instances[seen->count] = *instance;
    seen->instances[seen->count].arrivals = seen->arrivals[seen->count];
    seen->instances[seen->count].order = seen->orders[seen->count];
    seen->count++;
}

static void begin(struct made_collectives *made,
                  struct seen *seen,
                  struct esi_causality_config matching)
{
    seen->count = 0;
    made_collectives_init(
        made, matching,
        (struct esi_collectives_config){.on_instance = keep, .data = seen});
}

static struct made_part part_of(uint16_t operation,
                                uint32_t instance,
                                int size,
                                int rank)
{
    return (struct made_part){.operation = operation,
                              .instance = instance,
                              .size = size,
                              .rank = rank,
                              .root = -1,
                              .bytes = 8};
}

/* --- Assembling instances ------------------------------------------------------- */

static void add(struct made_collectives *made,
                uint16_t operation,
                uint32_t instance,
                int rank,
                uint64_t enter_ns)
{
    struct made_part part = part_of(operation, instance, 3, rank);

    part.enter_ns = enter_ns;
    part.exit_ns = enter_ns + 1000;
    made_collectives_add(made, &part);
}

static void imbalance_is_that_of_the_work_before(void **state)
{
    static struct seen seen;
    struct made_collectives made;

    (void)state;
    begin(&made, &seen, (struct esi_causality_config){.held_max = 0});
    for (int rank = 0; rank < 3; rank++)
        add(&made, ES_OP_MPI_Barrier, 0, rank, 10000);
    for (int rank = 0; rank < 3; rank++)
        add(&made, ES_OP_MPI_Allreduce_c, 1, rank, 11000 + 100 * (uint64_t)(rank + 1));
    for (int rank = 0; rank < 3; rank++)
        add(&made, ES_OP_MPI_Barrier, 3, rank, 20000);
    assert_int_equal(seen.count, 3);
    assert_true(seen.instances[0].imbalance < 0);
    assert_true(seen.instances[1].imbalance > 0.4999 &&
                seen.instances[1].imbalance < 0.5001);
    assert_int_equal(seen.instances[1].arrivals[2].work_ns, 300);
    assert_int_equal(seen.instances[1].operation, ES_OP_MPI_Allreduce);
    assert_true(seen.instances[2].imbalance < 0); /* the last one is incomplete */
    made_collectives_fini(&made);
}

static void a_part_that_was_lost_is_given_up_with_patience(void **state)
{
    static struct seen seen;
    struct made_collectives made;

    (void)state;
    begin(&made, &seen, (struct esi_causality_config){.patience_ns = 5000});
    add(&made, ES_OP_MPI_Barrier, 7, 2, 500);
    add(&made, ES_OP_MPI_Barrier, 8, 0, 1000);
    add(&made, ES_OP_MPI_Barrier, 8, 1, 1000);
    made_collectives_pass(&made, 200000);
    assert_int_equal(seen.count, 1); /* rank 2 may still compute */
    assert_int_equal(seen.instances[0].instance, 7);
    /* Before the others' first. */
    assert_int_equal(made_collectives_totals(&made).beginnings, 1);
    add(&made, ES_OP_MPI_Barrier, 9, 2, 3000);
    made_collectives_pass(&made, 200000);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.instances[1].instance, 8);
    assert_int_equal(seen.instances[1].known, 2);
    assert_int_equal(seen.instances[1].culprit, -1);
    assert_int_equal(made_collectives_totals(&made).incomplete, 1);
    assert_int_equal(made_collectives_totals(&made).beginnings, 1);
    add(&made, ES_OP_MPI_Barrier, 8, 2, 1000);
    assert_int_equal(made_collectives_totals(&made).late, 1);
    made_collectives_pass(&made, 4000 + UINT64_C(60) * 5000 - 1);
    assert_int_equal(seen.count, 2);
    made_collectives_pass(&made, 4000 + UINT64_C(60) * 5000);
    assert_int_equal(seen.count, 3);
    assert_int_equal(made_collectives_totals(&made).held, 0);
    made_collectives_fini(&made);
}

static void patience_counts_from_the_newest_part(void **state)
{
    static struct seen seen;
    struct made_collectives made;

    (void)state;
    begin(&made, &seen, (struct esi_causality_config){.patience_ns = 5000});
    add(&made, ES_OP_MPI_Barrier, 8, 0, 900);
    add(&made, ES_OP_MPI_Barrier, 8, 1, 1000);
    add(&made, ES_OP_MPI_Barrier, 9, 2, 3000);
    made_collectives_pass(&made, 6999);
    assert_int_equal(seen.count, 0);
    made_collectives_pass(&made, 7000);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.instances[0].instance, 8);
    made_collectives_fini(&made);
}

static void too_many_push_the_oldest_out(void **state)
{
    static struct seen seen;
    struct made_collectives made;

    (void)state;
    begin(&made, &seen, (struct esi_causality_config){.held_max = 4});
    for (uint32_t i = 0; i < 10; i++)
        add(&made, ES_OP_MPI_Barrier, i, 1, 1000 + i);
    assert_int_equal(made_collectives_totals(&made).held, 4);
    assert_int_equal(made_collectives_totals(&made).crowded, 6);
    assert_int_equal(seen.instances[5].instance, 5);
    assert_int_equal(esi_causality_finish(made.causality), 0);
    assert_int_equal(seen.count, 10);
    assert_int_equal(made_collectives_totals(&made).incomplete, 10);
    assert_int_equal(made_collectives_totals(&made).beginnings, 0);
    made_collectives_fini(&made);
}

/* Trees may be reported before, between or after the calls, by any rank. */
static void trees_are_told_apart(void **state)
{
    static struct seen seen;
    struct made_collectives made;
    struct made_part tree = part_of(ES_OP_tree_contribute, 1, 3, 0);

    (void)state;
    begin(&made, &seen, (struct esi_causality_config){.patience_ns = 1000});
    tree.enter_ns = tree.exit_ns = 1;
    tree.version = 7;
    made_collectives_add(&made, &tree);
    for (uint32_t i = 0; i < 4; i++) {
        add(&made, ES_OP_MPI_Barrier, i, 0, 1000 + i);
        add(&made, ES_OP_MPI_Barrier, i, 1, 1000 + i);
        tree.instance = 2;
        tree.version = 8;
        if (i == 2)
            made_collectives_add(&made, &tree);
        add(&made, ES_OP_MPI_Barrier, i, 2, 1000 + i);
    }
    tree.instance = 3;
    made_collectives_add(&made, &tree);
    assert_int_equal(seen.count, 4);
    assert_false(seen.instances[0].tree || seen.instances[3].tree);
    assert_true(seen.instances[1].tree && seen.instances[1].version == 7);
    assert_true(seen.instances[2].tree && seen.instances[2].version == 8);
    /* A tree whose operation has no calls is no instance. */
    tree.instance = 9;
    made_collectives_add(&made, &tree);
    assert_int_equal(made_collectives_totals(&made).held, 1);
    assert_int_equal(esi_causality_finish(made.causality), 0);
    assert_int_equal(made_collectives_totals(&made).held, 0);
    assert_int_equal(made_collectives_totals(&made).incomplete, 0);
    assert_int_equal(seen.count, 4);
    made_collectives_fini(&made);
}

/* The long history of one rank is read after that of the others: late reports of trees
 * must not open instances again. */
static void late_news_of_trees_begins_nothing(void **state)
{
    enum { COUNT = 5000 };
    struct made_collectives made;
    struct made_part tree = part_of(ES_OP_tree_contribute, 0, 3, 0);

    (void)state;
    made_collectives_init(&made, (struct esi_causality_config){.patience_ns = 1000},
                          (struct esi_collectives_config){.on_instance = NULL});
    for (uint32_t i = 0; i < COUNT; i++)
        for (int rank = 0; rank < 3; rank++)
            add(&made, ES_OP_MPI_Barrier, i, rank, 1000 + i);
    tree.enter_ns = tree.exit_ns = 1;
    for (tree.instance = 0; tree.instance < COUNT; tree.instance++)
        made_collectives_add(&made, &tree);
    assert_int_equal(made_collectives_totals(&made).collectives, COUNT);
    assert_int_equal(made_collectives_totals(&made).held, 0);
    made_collectives_fini(&made);
}

static void nonsense_is_counted(void **state)
{
    static struct seen seen;
    struct made_collectives made;
    struct made_part part = part_of(ES_OP_MPI_Bcast, 1, 3, 0);
    struct esi_causality_totals totals;

    (void)state;
    begin(&made, &seen, (struct esi_causality_config){.held_max = 0});
    part.enter_ns = 10;
    part.exit_ns = 20;
    part.root = 1;
    made_collectives_add(&made, &part);
    made_collectives_add(&made, &part);
    assert_int_equal(made_collectives_totals(&made).duplicates, 1);
    part.rank = 1;
    part.operation = ES_OP_MPI_Scatter;
    made_collectives_add(&made, &part);
    assert_int_equal(made_collectives_totals(&made).mismatched, 1);
    part.operation = ES_OP_MPI_Bcast;
    part.root = 2;
    made_collectives_add(&made, &part);
    assert_int_equal(made_collectives_totals(&made).mismatched, 2);
    part.root = 3;
    made_collectives_add(&made, &part);
    assert_int_equal(made_collectives_totals(&made).invalid, 1);
    part.root = 1;
    part.rank = 3; /* it is no member */
    made_collectives_add(&made, &part);
    assert_int_equal(made_collectives_totals(&made).unplaced, 1);
    part.rank = 1;
    part.exit_ns = 9;
    made_collectives_add(&made, &part);
    assert_int_equal(made_collectives_totals(&made).invalid, 2);
    part.exit_ns = 20;
    part.enter_ns = 0;
    made_collectives_add(&made, &part);
    assert_int_equal(made_collectives_totals(&made).invalid, 3);
    part.enter_ns = 10;
    part.operation = 4000; /* there is none */
    made_collectives_add(&made, &part);
    assert_int_equal(made_collectives_totals(&made).invalid, 4);
    part.operation = ES_OP_MPI_Send; /* not a collective */
    made_collectives_add(&made, &part);
    assert_int_equal(esi_causality_finish(made.causality), 0);
    totals = made_collectives_totals(&made);
    assert_int_equal(totals.invalid, 4);
    assert_int_equal(totals.mismatched, 2);
    assert_int_equal(totals.duplicates, 1);
    assert_int_equal(totals.unplaced, 1);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.instances[0].known, 1);
    made_collectives_fini(&made);
}

static void numbers_go_on_past_the_greatest(void **state)
{
    static struct seen seen;
    struct made_collectives made;

    (void)state;
    begin(&made, &seen, (struct esi_causality_config){.patience_ns = 1});
    for (uint32_t i = 0; i <= 300; i++)
        for (int rank = 0; rank < 3; rank++)
            if (UINT32_MAX - 150 + i != ES_SEQUENCE_UNKNOWN)
                add(&made, ES_OP_MPI_Barrier, UINT32_MAX - 150 + i, rank,
                    1000 + (uint64_t)i);
    made_collectives_pass(&made, UINT64_C(1) << 60);
    assert_int_equal(made_collectives_totals(&made).collectives, 300);
    assert_int_equal(made_collectives_totals(&made).beginnings, 0);
    made_collectives_fini(&made);
}

/* --- Random runs against a reference ---------------------------------------------- */

static const uint16_t operations[] = {
    ES_OP_MPI_Barrier,   ES_OP_MPI_Allreduce,        ES_OP_MPI_Bcast,
    ES_OP_MPI_Scatter_c, ES_OP_MPI_Reduce,           ES_OP_MPI_Gatherv,
    ES_OP_MPI_Scan,      ES_OP_MPI_Exscan,           ES_OP_MPI_Alltoallv,
    ES_OP_MPI_Ibarrier,  ES_OP_MPI_Neighbor_alltoall};

struct truth {
    struct made_part calls[RANKS];
    bool lost[RANKS];
    bool complete;
};

/* Whether rank `a` of an operation needs data of `b`. */
static bool needs(const struct made_part *call, int a, int b)
{
    switch (call->operation) {
    case ES_OP_MPI_Barrier:
    case ES_OP_MPI_Allreduce:
    case ES_OP_MPI_Alltoallv:
    case ES_OP_MPI_Ibarrier:
        return a != b;
    case ES_OP_MPI_Bcast:
    case ES_OP_MPI_Scatter_c:
        return a != b && b == call->root;
    case ES_OP_MPI_Reduce:
    case ES_OP_MPI_Gatherv:
        return a != b && a == call->root;
    case ES_OP_MPI_Scan:
    case ES_OP_MPI_Exscan:
        return b < a;
    default:
        return false;
    }
}

static bool has_root(uint16_t operation)
{
    return operation == ES_OP_MPI_Bcast || operation == ES_OP_MPI_Scatter_c ||
           operation == ES_OP_MPI_Reduce || operation == ES_OP_MPI_Gatherv;
}

/* Draws an operation; each exit comes after everything that it needs. */
static void draw_truth(struct truth *truth, uint32_t number, int size)
{
    uint16_t operation = operations[draw_below(sizeof operations / sizeof *operations)];
    int root = has_root(operation) ? (int)draw_below((uint64_t)size) : -1;

    for (int rank = 0; rank < size; rank++) {
        struct made_part *call = &truth->calls[rank];

        *call = part_of(operation, number, size, rank);
        call->root = root;
        call->enter_ns = UINT64_C(1000000) * number + 1 + draw_below(500000);
        call->exit_ns = call->enter_ns;
        truth->lost[rank] = false;
    }
    for (int a = 0; a < size; a++) {
        for (int b = 0; b < size; b++)
            if (needs(&truth->calls[a], a, b) &&
                truth->calls[b].enter_ns > truth->calls[a].exit_ns)
                truth->calls[a].exit_ns = truth->calls[b].enter_ns;
        truth->calls[a].exit_ns += draw_below(1000);
    }
    truth->complete = true;
}

static void check_instance(const struct esi_collective_instance *instance,
                           const struct truth *truth)
{
    uint64_t lost_ns = 0;
    uint64_t debt_ns = 0;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;

    for (int a = 0; a < instance->size; a++) {
        const struct made_part *call = &truth->calls[a];
        uint64_t wait_ns = 0;

        for (int b = 0; b < instance->size; b++)
            if (needs(call, a, b) && call->operation != ES_OP_MPI_Ibarrier &&
                truth->calls[b].enter_ns > call->enter_ns &&
                truth->calls[b].enter_ns - call->enter_ns > wait_ns)
                wait_ns = truth->calls[b].enter_ns - call->enter_ns;
        assert_int_equal(instance->arrivals[a].wait_ns, wait_ns);
        assert_int_equal(instance->arrivals[a].enter_ns, call->enter_ns);
        lost_ns += wait_ns;
        debt_ns += instance->arrivals[a].debt_ns;
        least = call->enter_ns < least ? call->enter_ns : least;
        most = call->enter_ns > most ? call->enter_ns : most;
        if (a > 0)
            assert_true(instance->arrivals[instance->order[a - 1]].enter_ns <=
                        instance->arrivals[instance->order[a]].enter_ns);
    }
    assert_int_equal(instance->lost_ns, lost_ns);
    assert_true(debt_ns <= lost_ns);
    assert_int_equal(instance->spread_ns, most - least);
    assert_int_equal(instance->impossible, 0);
    assert_int_equal(instance->repaired, 0);
    if (instance->culprit >= 0)
        for (int a = 0; a < instance->size; a++)
            assert_true(instance->arrivals[a].debt_ns <=
                        instance->arrivals[instance->culprit].debt_ns);
}

static void shuffle(struct made_part *calls, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = draw_below(i);
        struct made_part call = calls[i - 1];

        calls[i - 1] = calls[other];
        calls[other] = call;
    }
}

/* Draws the calls of a run: some are lost, some doubled, and the order is random. */
static size_t draw_run(struct truth *truths, int size, struct made_part *calls)
{
    size_t count = 0;

    for (uint32_t i = 0; i < INSTANCES; i++) {
        draw_truth(&truths[i], i, size);
        for (int rank = 0; rank < size; rank++) {
            if (draw_below(100) == 0) {
                truths[i].lost[rank] = true;
                truths[i].complete = false;
                continue;
            }
            calls[count++] = truths[i].calls[rank];
            if (draw_below(50) == 0)
                calls[count++] = truths[i].calls[rank];
        }
    }
    shuffle(calls, count);
    return count;
}

static void random_runs_are_as_in_the_reference(void **state)
{
    static struct seen seen;
    static struct truth truths[INSTANCES];
    static struct made_part calls[INSTANCES * RANKS * 2];

    (void)state;
    for (int size = 1; size <= RANKS; size++) {
        struct made_collectives made;
        size_t count = draw_run(truths, size, calls);
        size_t complete = 0;
        size_t wanted = 0;

        begin(&made, &seen, (struct esi_causality_config){.held_max = 0});
        for (size_t i = 0; i < count; i++)
            made_collectives_add(&made, &calls[i]);
        assert_int_equal(esi_causality_finish(made.causality), 0);
        for (size_t i = 0; i < seen.count; i++) {
            const struct esi_collective_instance *instance = &seen.instances[i];

            if (instance->known < instance->size)
                continue;
            complete++;
            assert_true(truths[instance->instance].complete);
            check_instance(instance, &truths[instance->instance]);
        }
        for (size_t i = 0; i < INSTANCES; i++)
            wanted += truths[i].complete;
        assert_int_equal(complete, wanted);
        assert_int_equal(made_collectives_totals(&made).collectives, wanted);
        assert_int_equal(made_collectives_totals(&made).invalid, 0);
        made_collectives_fini(&made);
    }
}

/* --- Statistics ------------------------------------------------------------------- */

static void enter(void *data, const struct esi_collective_instance *instance)
{
    assert_int_equal(esi_collective_statistics_add(data, instance), 0);
}

static struct esi_collective_statistics *statistics_of(const struct made_part *calls,
                                                       size_t count)
{
    struct esi_collective_statistics *statistics = NULL;
    struct made_collectives made;

    assert_int_equal(esi_collective_statistics_create(&statistics), 0);
    made_collectives_init(
        &made, (struct esi_causality_config){.held_max = 0},
        (struct esi_collectives_config){.on_instance = enter, .data = statistics});
    for (size_t i = 0; i < count; i++)
        made_collectives_add(&made, &calls[i]);
    assert_int_equal(esi_causality_finish(made.causality), 0);
    made_collectives_fini(&made);
    return statistics;
}

static const struct esi_collective_group *group_of(
    const struct esi_collective_statistics *statistics,
    const struct esi_collective_group *like)
{
    for (size_t i = 0; i < esi_collective_statistics_count(statistics); i++) {
        const struct esi_collective_group *group =
            esi_collective_statistics_at(statistics, i);

        if (group->operation == like->operation && group->key[0] == like->key[0])
            return group;
    }
    return NULL;
}

/* The merged statistics of two halves are equal to those of the whole. */
static void merged_statistics_are_those_of_the_whole(void **state)
{
    static struct truth truths[INSTANCES];
    static struct made_part calls[INSTANCES * RANKS * 2];
    size_t count = 0;
    size_t half = 0;

    (void)state;
    for (uint32_t i = 0; i < INSTANCES; i++) {
        draw_truth(&truths[i], i, 5);
        for (int rank = 0; rank < 5; rank++)
            calls[count++] = truths[i].calls[rank];
        half = i == INSTANCES / 3 ? count : half;
    }
    struct esi_collective_statistics *whole = statistics_of(calls, count);
    struct esi_collective_statistics *sum = statistics_of(calls, half);
    struct esi_collective_statistics *rest = statistics_of(calls + half, count - half);

    assert_int_equal(esi_collective_statistics_merge(sum, rest), 0);
    assert_int_equal(esi_collective_statistics_count(sum),
                     sizeof operations / sizeof *operations);
    for (size_t i = 0; i < esi_collective_statistics_count(whole); i++) {
        const struct esi_collective_group *wanted =
            esi_collective_statistics_at(whole, i);
        const struct esi_collective_group *found = group_of(sum, wanted);

        assert_non_null(found);
        assert_string_equal(found->communicator, "world");
        assert_int_equal(found->complete, wanted->complete);
        assert_int_equal(found->judged, wanted->judged);
        assert_int_equal(found->lost.sum, wanted->lost.sum);
        assert_int_equal(found->spread.greatest, wanted->spread.greatest);
        assert_int_equal(found->first_ns, wanted->first_ns);
        assert_int_equal(found->last_ns, wanted->last_ns);
        for (int rank = 0; rank < 5; rank++) {
            assert_int_equal(found->ranks[rank].last, wanted->ranks[rank].last);
            assert_int_equal(found->ranks[rank].debt_ns, wanted->ranks[rank].debt_ns);
            assert_int_equal(found->ranks[rank].wait_ns, wanted->ranks[rank].wait_ns);
            assert_int_equal(found->ranks[rank].lead_ns, wanted->ranks[rank].lead_ns);
            assert_int_equal(found->ranks[rank].world_rank, 100 + rank);
        }
    }
    esi_collective_statistics_destroy(whole);
    esi_collective_statistics_destroy(sum);
    esi_collective_statistics_destroy(rest);
}

/* Rank 2 is late at one line in three of four operations, and otherwise at changing
 * lines, which are more than the statistics have room for.  The costliest line must be
 * found, in merged statistics, too. */
static void the_line_that_costs_most_is_found(void **state)
{
    enum { OPERATIONS = 64 };
    static const char *const sites[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static struct made_part calls[OPERATIONS * 3];
    struct esi_collective_statistics *whole, *rest;
    struct esi_collective_line worst;
    const struct esi_collective_rank *ranks;
    uint64_t debt_ns = 0;

    (void)state;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        for (int rank = 0; rank < 3; rank++) {
            struct made_part *call = &calls[3 * i + (uint32_t)rank];

            *call = part_of(ES_OP_MPI_Barrier, i, 3, rank);
            call->enter_ns = 10000 * (i + 1) + (rank == 2 ? 1000 : 0);
            call->exit_ns = call->enter_ns + 2000;
            call->site = rank < 2     ? "elsewhere"
                         : i % 4 != 0 ? "late"
                                      : sites[i / 4 % 8];
        }
        debt_ns += i % 4 != 0 ? 2000 : 0;
    }
    whole = statistics_of(calls, OPERATIONS * 3);
    ranks = esi_collective_statistics_at(whole, 0)->ranks;
    worst = esi_collective_rank_worst(&ranks[2]);
    assert_string_equal(worst.site, "late");
    assert_int_equal(worst.debt_ns, debt_ns);
    assert_null(esi_collective_rank_worst(&ranks[0]).site);
    rest = statistics_of(calls, OPERATIONS * 3);
    assert_int_equal(esi_collective_statistics_merge(whole, rest), 0);
    ranks = esi_collective_statistics_at(whole, 0)->ranks;
    worst = esi_collective_rank_worst(&ranks[2]);
    assert_string_equal(worst.site, "late");
    assert_int_equal(worst.debt_ns, 2 * debt_ns);
    esi_collective_statistics_destroy(whole);
    esi_collective_statistics_destroy(rest);
}

/* A rank that is always late is reported with its cost. */
static void the_late_rank_is_found(void **state)
{
    static struct made_part calls[INSTANCES * 4];
    struct esi_collective_statistics *statistics;
    const struct esi_collective_group *group;
    size_t count = 0;

    (void)state;
    for (uint32_t i = 0; i < INSTANCES; i++)
        for (int rank = 0; rank < 4; rank++) {
            struct made_part *call = &calls[count++];

            *call = part_of(ES_OP_MPI_Allreduce, i, 4, rank);
            call->enter_ns =
                UINT64_C(100000) * (i + 1) + (rank == 3 ? 5000 : 0) + (uint64_t)rank;
            call->exit_ns = UINT64_C(100000) * (i + 1) + 6000;
        }
    statistics = statistics_of(calls, count);
    assert_int_equal(esi_collective_statistics_count(statistics), 1);
    group = esi_collective_statistics_at(statistics, 0);
    assert_int_equal(group->ranks[3].last, INSTANCES);
    assert_int_equal(group->ranks[3].blamed, INSTANCES);
    assert_int_equal(group->ranks[3].debt_ns, INSTANCES * (5003 + 5002 + 5001));
    assert_int_equal(group->ranks[3].lead_ns, INSTANCES * 5001);
    assert_int_equal(group->ranks[0].wait_ns, INSTANCES * 5003);
    assert_int_equal(group->lost.sum, group->ranks[3].debt_ns);
    assert_int_equal(group->tree.least, 997);
    assert_int_equal(group->imbalance.count, INSTANCES - 1);
    esi_collective_statistics_destroy(statistics);
}

static void sizes_stand_apart_by_powers_of_eight(void **state)
{
    static const struct {
        uint32_t bytes;
        unsigned size_class;
        uint64_t least, most;
    } rows[] = {
        {0, 1, 0, 0},
        {1, 2, 1, 7},
        {7, 2, 1, 7},
        {8, 3, 8, 63},
        {63, 3, 8, 63},
        {64, 4, 64, 511},
        {UINT32_MAX, 12, UINT64_C(1) << 30, (UINT64_C(1) << 33) - 1},
    };
    struct esi_collective_statistics *statistics;
    struct esi_collectives_config config = {.by_size = true, .on_instance = enter};
    struct made_collectives made;

    (void)state;
    assert_int_equal(esi_collective_statistics_create(&statistics), 0);
    config.data = statistics;
    made_collectives_init(&made, (struct esi_causality_config){.held_max = 0}, config);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int rank = 0; rank < 2; rank++) {
            struct made_part call = part_of(ES_OP_MPI_Allreduce, i, 2, rank);

            call.bytes = rank == 0 ? rows[i].bytes : 0;
            call.enter_ns = call.exit_ns = 1000;
            assert_int_equal(esi_size_class_of(rows[i].bytes), rows[i].size_class);
            assert_int_equal(esi_size_class_least(rows[i].size_class), rows[i].least);
            assert_int_equal(esi_size_class_most(rows[i].size_class), rows[i].most);
            made_collectives_add(&made, &call);
        }
    made_collectives_fini(&made);
    assert_int_equal(esi_collective_statistics_count(statistics), 5);
    assert_int_equal(esi_collective_statistics_at(statistics, 1)->size_class, 2);
    assert_int_equal(esi_collective_statistics_at(statistics, 1)->complete, 2);
    esi_collective_statistics_destroy(statistics);
}

SUITE(test_collectives)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imbalance_is_that_of_the_work_before),
        cmocka_unit_test(a_part_that_was_lost_is_given_up_with_patience),
        cmocka_unit_test(patience_counts_from_the_newest_part),
        cmocka_unit_test(too_many_push_the_oldest_out),
        cmocka_unit_test(trees_are_told_apart),
        cmocka_unit_test(late_news_of_trees_begins_nothing),
        cmocka_unit_test(nonsense_is_counted),
        cmocka_unit_test(numbers_go_on_past_the_greatest),
        cmocka_unit_test(random_runs_are_as_in_the_reference),
        cmocka_unit_test(merged_statistics_are_those_of_the_whole),
        cmocka_unit_test(the_line_that_costs_most_is_found),
        cmocka_unit_test(the_late_rank_is_found),
        cmocka_unit_test(sizes_stand_apart_by_powers_of_eight),
    };

    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
