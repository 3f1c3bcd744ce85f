/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_tuples.c - creates runs from tuples. */
#include "config.h"

#include "tests/causality/made_tuples.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "eventspace/operation.h"

static void add_rank(struct made_tuples *made, int rank)
{
    struct esi_run_process process = {
        .host = "made", .rank = rank, .identity = (uint64_t)rank + 100};
    struct esi_run_reported world = {
        .key = {1, 2}, .name = "MPI_COMM_WORLD", .rank = rank, .size = made->ranks};

    assert_int_equal(esi_run_model_add_process(esi_causality_run(made->causality),
                                               &process, &made->processes[rank]),
                     0);
    made->elements[rank] = made_element(made, rank, 0);
    assert_int_equal(esi_run_model_set_communicator(esi_causality_run(made->causality),
                                                    made->processes[rank], 0, &world),
                     0);
}

void made_tuples_begin_with(struct made_tuples *made,
                            int ranks,
                            struct esi_causality_config config)
{
    *made = (struct made_tuples){.ranks = ranks, .next_bytes = 1};
    config.sink = made_stream_sink(&made->stream);
    assert_int_equal(esi_causality_create(&config, &made->causality), 0);
    for (int rank = 0; rank < ranks; rank++)
        add_rank(made, rank);
}

void made_tuples_begin(struct made_tuples *made, int ranks)
{
    made_tuples_begin_with(made, ranks,
                           (struct esi_causality_config){.attributes = true});
}

void made_tuples_end(struct made_tuples *made)
{
    esi_causality_destroy(made->causality);
    made_stream_fini(&made->stream);
}

uint32_t made_element(struct made_tuples *made, int rank, int thread)
{
    uint32_t element;

    assert_int_equal(esi_causality_add_element(made->causality, made->processes[rank],
                                               thread, &element),
                     0);
    return element;
}

uint32_t made_add_to(struct made_tuples *made,
                     uint32_t element,
                     const struct made_call *call)
{
    const struct es_operation *operation = es_operation_by_name(call->operation);
    struct esi_causal_tuple told = {.start_ns = call->start, .stop_ns = call->stop};

    assert_non_null(operation);
    told.tuple = (struct es_tuple){.operation = operation->code,
                                   .communicator = call->communicator,
                                   .start = call->start,
                                   .stop = call->stop,
                                   .peer = call->peer,
                                   .sequence = call->sequence,
                                   .tag = call->tag,
                                   .bytes = made->next_bytes++};
    if (call->any_source)
        told.tuple.operation |= ES_OPERATION_ANY_SOURCE;
    if (call->error != 0) {
        told.tuple.operation |= ES_OPERATION_FAILED;
        told.tuple.bytes = call->error;
    }
    assert_int_equal(esi_causality_add(made->causality, element, &told), 0);
    return told.tuple.bytes;
}

uint32_t made_add(struct made_tuples *made, int rank, const struct made_call *call)
{
    return made_add_to(made, made->elements[rank], call);
}

void made_advance(struct made_tuples *made)
{
    assert_int_equal(esi_causality_advance(made->causality), 0);
}

struct esi_causality_totals made_finish(struct made_tuples *made)
{
    struct esi_causality_totals totals;

    assert_int_equal(esi_causality_finish(made->causality), 0);
    esi_causality_totals(made->causality, &totals);
    assert_int_equal(totals.held, 0);
    assert_int_equal(totals.events, made->stream.count);
    return totals;
}
