/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_edges.c - makes operations on collective trees as one rank records them, and
 * computes the expected results in a simple way. */
#include "config.h"

#include "tests/wrappers/made_edges.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "eventspace/operation.h"
#include "tests/random.h"
#include "tests/wrappers/source.h"

/* An edge tuple that an operation has not recorded yet. */
struct made_step {
    int element;
    struct es_tuple tuple; /* times are set when it is recorded */
};

struct made_plan {
    struct made_instance *instance;
    struct made_step steps[2 * MADE_CHILDREN + 4];
    size_t count;
    size_t done;
};

static const struct {
    const char *blocking;
    const char *nonblocking;
    bool up;
    bool down;
} kinds[] = {
    {"MPI_Barrier", "MPI_Ibarrier", true, true},
    {"MPI_Allreduce", "MPI_Iallreduce", true, true},
    {"MPI_Bcast", "MPI_Ibcast", false, true},
    {"MPI_Reduce", "MPI_Ireduce", true, false},
    {"MPI_Gather", "MPI_Igather", true, false},
};

static void add_step(struct made_plan *plan, int element, uint16_t code, int peer)
{
    plan->steps[plan->count++] =
        (struct made_step){.element = element,
                           .tuple = {.operation = code,
                                     .communicator = plan->instance->communicator,
                                     .sequence = plan->instance->sequence,
                                     .peer = peer}};
}

static void plan_instance(struct made_plan *plan, bool blocking, uint64_t *random)
{
    size_t kind = random_next(random) % (sizeof kinds / sizeof *kinds);
    int parent = random_next(random) % 3 ? 90 : -1;
    int children = (int)(random_next(random) % (MADE_CHILDREN + 1));
    const struct es_operation *operation =
        es_operation_by_name(blocking ? kinds[kind].blocking : kinds[kind].nonblocking);
    int tag = operation->code + 65536 * (int)(random_next(random) % 3);

    plan->count = plan->done = 0;
    plan->instance->children = children;
    if (kinds[kind].up || parent < 0)
        add_step(plan, MADE_CONTRIBUTE, ESI_NODE_CONTRIBUTE, parent);
    for (int i = 0; i < children && kinds[kind].up; i++)
        add_step(plan, MADE_ARRIVAL, ESI_NODE_ARRIVAL_UP, 10 + i);
    if (kinds[kind].up && parent >= 0 && children > 0)
        add_step(plan, MADE_DEPARTURE, ESI_NODE_DEPARTURE_UP, parent);
    if (kinds[kind].down && parent >= 0)
        add_step(plan, MADE_ARRIVAL, ESI_NODE_ARRIVAL_DOWN, parent);
    for (int i = 0; i < children && kinds[kind].down; i++)
        add_step(plan, MADE_DEPARTURE, ESI_NODE_DEPARTURE_DOWN, 10 + i);
    for (size_t i = 0; i < plan->count; i++)
        plan->steps[i].tuple.tag = tag;
    add_step(plan, MADE_COLLECTIVE, operation->code, -1);
}

/* --- Expected results ------------------------------------------------------------- */

static const struct es_tuple *last_of(const struct made_plan *plan, uint16_t code)
{
    const struct es_tuple *found = NULL;

    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].tuple.operation == code)
            found = &plan->steps[i].tuple;
    return found;
}

static const struct es_tuple *first_of(const struct made_plan *plan, uint16_t code)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].tuple.operation == code)
            return &plan->steps[i].tuple;
    return NULL;
}

/* Computes the results of an operation from its steps, which are
 * recorded in order of time. */
static void expect(struct made_plan *plan)
{
    const struct es_tuple *own = last_of(plan, ESI_NODE_CONTRIBUTE);
    const struct es_tuple *last = last_of(plan, ESI_NODE_ARRIVAL_UP);
    const struct es_tuple *up = last_of(plan, ESI_NODE_DEPARTURE_UP);
    const struct es_tuple *down = last_of(plan, ESI_NODE_ARRIVAL_DOWN);
    const struct es_tuple *served = last_of(plan, ESI_NODE_DEPARTURE_DOWN);
    struct made_instance *instance = plan->instance;
    struct es_tuple *results = instance->results;
    struct es_tuple empty = plan->steps[0].tuple;

    instance->result_count = 0;
    if (instance->children == 0)
        return;
    if (last) {
        empty.operation = ESI_NODE_UP;
        results[0] = empty;
        results[0].start = first_of(plan, ESI_NODE_ARRIVAL_UP)->stop;
        results[0].stop = last->stop;
        results[0].peer = last->peer;
        results[0].bytes = (uint32_t)(last->stop - own->stop);
        instance->result_count++;
    }
    if (served || up) {
        struct es_tuple *result = &results[instance->result_count++];

        empty.operation = ESI_NODE_DOWN;
        *result = empty;
        if (up)
            result->bytes = (uint32_t)(up->stop - last->stop);
        result->peer = served ? served->peer : -1;
        result->stop = served ? served->stop : up->stop;
        result->start = !served ? up->stop
                        : down  ? down->stop
                                : first_of(plan, ESI_NODE_DEPARTURE_DOWN)->start;
    }
}

/* --- Recording -------------------------------------------------------------------- */

static void record(struct made_edges *made,
                   struct made_plan *plan,
                   uint64_t *now,
                   uint64_t *random)
{
    struct made_step *step = &plan->steps[plan->done++];

    step->tuple.start = *now;
    *now += 1 + random_next(random) % 50;
    step->tuple.stop = *now;
    made->order[made->published++] = step->element;
    made->tuples[step->element][made->counts[step->element]++] = step->tuple;
    if (plan->done == plan->count)
        expect(plan);
}

void made_edges_make(struct made_edges *made,
                     size_t instances,
                     size_t overlap,
                     uint64_t *random)
{
    static struct made_plan plans[16];
    size_t open = 0;
    uint32_t sequences[MADE_COMMUNICATORS] = {0};
    uint64_t now = UINT64_C(1000000000);

    assert(overlap <= sizeof plans / sizeof *plans && instances <= MADE_INSTANCES);
    memset(made, 0, sizeof *made);
    while (made->instance_count < instances || open) {
        size_t chosen;

        if (open < overlap && made->instance_count < instances) {
            struct made_instance *instance = &made->instances[made->instance_count++];

            instance->communicator =
                (uint16_t)(random_next(random) % MADE_COMMUNICATORS);
            instance->sequence = sequences[instance->communicator]++;
            plans[open].instance = instance;
            plan_instance(&plans[open++], overlap == 1, random);
        }
        chosen = random_next(random) % open;
        record(made, &plans[chosen], &now, random);
        if (plans[chosen].done == plans[chosen].count)
            plans[chosen] = plans[--open];
    }
}

struct made_instance *made_edges_find(struct made_edges *made,
                                      const struct es_tuple *tuple)
{
    for (size_t i = 0; i < made->instance_count; i++)
        if (made->instances[i].communicator == tuple->communicator &&
            made->instances[i].sequence == tuple->sequence)
            return &made->instances[i];
    return NULL;
}
