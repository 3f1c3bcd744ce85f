/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * collective_judge.c - who waited for whom in one collective operation.
 *
 * The kind of operation determines which enter the exit of a member depends on: the
 * last of all, the root's, or the last of the lower ranks.  The time that a member
 * spent in the operation before that enter is lost, and is the debt of the rank that
 * entered then.
 */
#include "config.h"

#include "monitors/collectives/collective_judge.h"

#include <stdlib.h>

#include "monitors/causality/waits.h"
#include "tuplespace/operation_table.h"

struct judgement {
    const struct esi_collective_traits *traits;
    struct esi_collective_instance *instance;
    struct esi_collective_arrival *arrivals;
    const int *order;
    bool binding; /* no exit can precede the enter that it depends on */
};

bool esi_collective_traits(uint16_t operation, struct esi_collective_traits *ret_traits)
{
    const struct es_operation *found = es_operation_find(operation);

    if (!found || found->op_class != ES_CLASS_COLLECTIVE)
        return false;
    *ret_traits = (struct esi_collective_traits){
        .family = esi_operation_family(found),
        .order = (enum es_order_kind)found->order,
        .nonblocking = found->nonblocking,
        .vector = found->counts != ES_COUNTS_ALIKE,
        .synchronizing = found->synchronizing,
    };
    return true;
}

/* --- Order ----------------------------------------------------------------------- */

enum { FEW = 16 }; /* fewer are sorted faster by insertion */

static bool is_earlier(const struct esi_collective_arrival *arrivals, int a, int b)
{
    if (arrivals[a].enter_ns != arrivals[b].enter_ns)
        return arrivals[a].enter_ns < arrivals[b].enter_ns;
    return a < b;
}

/* For qsort_r(): compares ranks by enter time. */
static int compare_arrivals(const void *left, const void *right, void *data)
{
    return is_earlier(data, *(const int *)left, *(const int *)right) ? -1 : 1;
}

/* Inserts a rank into the sorted ones. */
static void insert_arrival(const struct esi_collective_arrival *arrivals,
                           int *order,
                           int count,
                           int rank)
{
    for (; count > 0 && is_earlier(arrivals, rank, order[count - 1]); count--)
        order[count] = order[count - 1];
    order[count] = rank;
}

/* Fills `order` and returns the number of known members. */
static int sort_arrivals(struct esi_collective_arrival *arrivals, int size, int *order)
{
    int count = 0;

    for (int rank = 0; rank < size; rank++) {
        if (!arrivals[rank].known)
            continue;
        if (size <= FEW)
            insert_arrival(arrivals, order, count, rank);
        else
            order[count] = rank;
        count++;
    }
    if (size > FEW)
        qsort_r(order, (size_t)count, sizeof *order, compare_arrivals, arrivals);
    return count;
}

/* Computes the spans that are valid for any operation, even an incomplete one. */
static void measure_spans(struct esi_collective_instance *instance)
{
    const struct esi_collective_arrival *arrivals = instance->arrivals;
    const int *order = instance->order;
    uint64_t first_exit_ns = UINT64_MAX;

    instance->last = order[instance->known - 1];
    instance->first_enter_ns = arrivals[order[0]].enter_ns;
    instance->last_enter_ns = arrivals[instance->last].enter_ns;
    instance->last_exit_ns = 0;
    instance->late = 0;
    for (int i = 0; i < instance->known; i++) {
        const struct esi_collective_arrival *arrival = &arrivals[order[i]];

        if (arrival->exit_ns > instance->last_exit_ns)
            instance->last_exit_ns = arrival->exit_ns;
        if (arrival->exit_ns < first_exit_ns)
            first_exit_ns = arrival->exit_ns;
        instance->late +=
            instance->last_enter_ns - arrival->enter_ns <= instance->error_ns;
    }
    instance->spread_ns = instance->last_enter_ns - instance->first_enter_ns;
    instance->lead_ns = 0;
    if (instance->known > 1)
        instance->lead_ns =
            instance->last_enter_ns - arrivals[order[instance->known - 2]].enter_ns;
    instance->time_ns = instance->last_exit_ns - instance->first_enter_ns;
    instance->tree_ns = instance->last_exit_ns - instance->last_enter_ns;
    instance->departure_ns = instance->last_exit_ns - first_exit_ns;
}

/* --- Waits ----------------------------------------------------------------------- */

/* `rank` depended on an enter at `needed_ns`: returns the time it lost waiting. */
static uint64_t wait_for(struct judgement *judgement, int rank, uint64_t needed_ns)
{
    struct esi_collective_instance *instance = judgement->instance;
    struct esi_collective_arrival *arrival = &judgement->arrivals[rank];
    uint64_t until_ns = esi_wait_end(arrival->enter_ns, arrival->exit_ns, needed_ns,
                                     instance->error_ns);

    if (arrival->exit_ns < needed_ns) {
        /* Beyond the error it did not wait for that enter; if it had to, the clocks are
         * wrong. */
        if (needed_ns - arrival->exit_ns > instance->error_ns)
            instance->impossible += judgement->binding;
        else
            instance->repaired += judgement->binding;
    }
    if (until_ns == 0)
        return 0;
    arrival->wait_ns = until_ns - arrival->enter_ns;
    instance->lost_ns += arrival->wait_ns;
    return arrival->wait_ns;
}

/* Divides a debt among the last `count` of the order, except `except`. */
static void share_debt(struct judgement *judgement,
                       uint64_t debt_ns,
                       int count,
                       int except)
{
    const struct esi_collective_instance *instance = judgement->instance;
    uint64_t left = (uint64_t)count;

    for (int i = instance->known - 1; i >= 0 && left > 0; i--) {
        uint64_t part_ns = debt_ns / left;

        if (judgement->order[i] == except)
            continue;
        judgement->arrivals[judgement->order[i]].debt_ns += part_ns;
        debt_ns -= part_ns;
        left--;
    }
}

static void judge_all_to_all(struct judgement *judgement)
{
    struct esi_collective_instance *instance = judgement->instance;

    for (int rank = 0; rank < instance->size; rank++)
        wait_for(judgement, rank, instance->last_enter_ns);
    share_debt(judgement, instance->lost_ns, instance->late, -1);
}

static void judge_root_to_all(struct judgement *judgement)
{
    struct esi_collective_instance *instance = judgement->instance;
    struct esi_collective_arrival *root = &judgement->arrivals[instance->root];

    for (int rank = 0; rank < instance->size; rank++)
        if (rank != instance->root)
            wait_for(judgement, rank, root->enter_ns);
    root->debt_ns = instance->lost_ns;
}

/* The root waits for the last of the others. */
static void judge_all_to_root(struct judgement *judgement)
{
    struct esi_collective_instance *instance = judgement->instance;
    uint64_t last_ns = 0;
    int late = 0;

    for (int i = instance->known - 1; i >= 0; i--) {
        int rank = judgement->order[i];
        uint64_t enter_ns = judgement->arrivals[rank].enter_ns;

        if (rank == instance->root)
            continue;
        if (last_ns == 0)
            last_ns = enter_ns;
        late += last_ns - enter_ns <= instance->error_ns;
    }
    if (late == 0)
        return;
    share_debt(judgement, wait_for(judgement, instance->root, last_ns), late,
               instance->root);
}

/* Each waits for the last of those with lower ranks.  If two of these are too close to
 * tell which was the last, nobody is blamed. */
static void judge_prefix(struct judgement *judgement)
{
    struct esi_collective_instance *instance = judgement->instance;
    const struct esi_collective_arrival *arrivals = judgement->arrivals;
    uint64_t next_ns = 0; /* enter of the second to last */
    int last = 0;

    for (int rank = 1; rank < instance->size; rank++) {
        uint64_t lost_ns = wait_for(judgement, rank, arrivals[last].enter_ns);

        if (rank == 1 || arrivals[last].enter_ns - next_ns > instance->error_ns)
            judgement->arrivals[last].debt_ns += lost_ns;
        if (arrivals[rank].enter_ns > arrivals[last].enter_ns) {
            next_ns = arrivals[last].enter_ns;
            last = rank;
        } else if (arrivals[rank].enter_ns > next_ns) {
            next_ns = arrivals[rank].enter_ns;
        }
    }
}

static void forget_waits(struct judgement *judgement)
{
    for (int rank = 0; rank < judgement->instance->size; rank++) {
        judgement->arrivals[rank].wait_ns = 0;
        judgement->arrivals[rank].debt_ns = 0;
    }
    judgement->instance->lost_ns = 0;
}

/* The rank with the largest debt, if it is unique. */
static int find_culprit(const struct esi_collective_instance *instance)
{
    const struct esi_collective_arrival *arrivals = instance->arrivals;
    uint64_t most_ns = 0;
    bool shared = false;
    int culprit = -1;

    for (int rank = 0; rank < instance->size; rank++) {
        uint64_t debt_ns = arrivals[rank].debt_ns;

        /* Parts of one debt differ by the remainder of the division. */
        if (debt_ns > most_ns) {
            shared = culprit >= 0 && debt_ns - most_ns <= 1;
            culprit = rank;
            most_ns = debt_ns;
        } else if (culprit >= 0 && most_ns - debt_ns <= 1) {
            shared = true;
        }
    }
    return shared ? -1 : culprit;
}

static bool has_root(const struct esi_collective_instance *instance)
{
    return instance->root >= 0 && instance->root < instance->size;
}

/* Returns false if it is not known what this kind of operation waits for. */
static bool judge_waits(struct judgement *judgement)
{
    struct esi_collective_instance *instance = judgement->instance;

    switch (judgement->traits->order) {
    case ES_ORDER_ALL_TO_ALL:
        judge_all_to_all(judgement);
        return true;
    case ES_ORDER_ROOT_TO_ALL:
        if (!has_root(instance))
            return false;
        judge_root_to_all(judgement);
        return true;
    case ES_ORDER_ALL_TO_ROOT:
        if (!has_root(instance))
            return false;
        judge_all_to_root(judgement);
        return true;
    case ES_ORDER_PREFIX:
    case ES_ORDER_EXCLUSIVE_PREFIX:
        judge_prefix(judgement);
        return true;
    default:
        return false;
    }
}

void esi_collective_judge(const struct esi_collective_traits *traits,
                          bool moves,
                          struct esi_collective_arrival *arrivals,
                          int *order,
                          struct esi_collective_instance *instance)
{
    struct judgement judgement = {.traits = traits,
                                  .instance = instance,
                                  .arrivals = arrivals,
                                  .order = order,
                                  .binding = (traits->synchronizing || moves) &&
                                             !traits->vector};

    instance->arrivals = arrivals;
    instance->order = order;
    instance->known = sort_arrivals(arrivals, instance->size, order);
    instance->lost_ns = 0;
    instance->repaired = 0;
    instance->impossible = 0;
    instance->culprit = -1;
    measure_spans(instance);
    instance->waits_known = false;
    if (instance->known < instance->size)
        return;
    if (traits->order == ES_ORDER_ROOT_TO_ALL && has_root(instance))
        instance->tree_ns = instance->last_exit_ns - arrivals[instance->root].enter_ns;
    instance->waits_known = judge_waits(&judgement) && !traits->nonblocking;
    /* Impossible times are reported for all members; then no loss is. */
    if (!instance->waits_known || instance->impossible > 0)
        forget_waits(&judgement);
    if (instance->impossible > 0)
        instance->waits_known = false;
    instance->culprit = find_culprit(instance);
}
