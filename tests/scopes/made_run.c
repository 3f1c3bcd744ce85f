/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_run.c - makes runs for tests out of real segments. */
#include "config.h"

#include "tests/scopes/made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

void made_run_begin(struct made_run *run)
{
    static int count;

    *run = (struct made_run){.clock = es_clock_kind()};
    snprintf(run->name, sizeof run->name, "test-%d-%d", (int)getpid(), count++);
}

void made_run_end(struct made_run *run)
{
    for (size_t i = 0; i < run->segment_count; i++)
        esi_segment_destroy(run->segments[i]);
    run->segment_count = 0;
}

struct es_segment *made_run_add_rank_on(struct made_run *run,
                                        const char *host,
                                        int rank,
                                        int size)
{
    struct esi_segment_config config;
    struct esi_communicator_config world = {.key = {1, 2},
                                            .rank = rank,
                                            .parent = ES_COMMUNICATOR_NONE,
                                            .name = "MPI_COMM_WORLD"};
    int32_t group[64];
    uint16_t index;
    struct es_segment *segment;

    assert_true(run->segment_count < MADE_SEGMENTS && size <= 64);
    esi_segment_config_init(&config);
    config.run = run->name;
    config.host = host;
    config.program = "made";
    config.job = "4711";
    config.launcher = "made by hand";
    config.rank = rank;
    config.size = size;
    assert_int_equal(esi_segment_create(&config, NULL, &segment), 0);
    run->segments[run->segment_count++] = segment;
    for (int i = 0; i < size; i++)
        group[i] = i;
    world.group = group;
    world.group_size = size;
    assert_int_equal(esi_segment_add_communicator(segment, &world, &index), 0);
    assert_int_equal(index, 0);
    return segment;
}

struct es_segment *made_run_add_rank(struct made_run *run, int rank, int size)
{
    return made_run_add_rank_on(run, "made", rank, size);
}

struct esi_writer *made_run_add_element(struct made_run *run,
                                        struct es_segment *segment,
                                        int rank,
                                        int thread,
                                        const char *collector,
                                        uint32_t classes,
                                        uint32_t threshold)
{
    struct made_element *element = &run->elements[run->element_count++];
    struct esi_element_config config = {
        .kind = ES_ELEMENT_TRACE,
        .collector = collector,
        .rank = rank,
        .thread = thread,
        .classes = classes,
        .peer = ES_PEER_NONE,
        .communicator = ES_COMMUNICATOR_NONE,
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = threshold,
        .enabled = true,
    };
    char name[64];

    assert_true(run->element_count <= MADE_ELEMENTS);
    snprintf(name, sizeof name, "%d.%d/%s", rank, thread, collector);
    config.name = name;
    element->segment = segment;
    assert_int_equal(esi_segment_add_element(segment, &config, &element->writer), 0);
    return &element->writer;
}

struct es_tuple made_tuple(const char *operation, uint64_t start, uint64_t stop)
{
    const struct es_operation *found = es_operation_by_name(operation);

    assert_non_null(found);
    return (struct es_tuple){.stop = stop,
                             .operation = found->code,
                             .communicator = 0,
                             .start = start,
                             .sequence = ES_SEQUENCE_UNKNOWN,
                             .peer = ES_PEER_NONE};
}

uint64_t made_ticks(const struct made_run *run, uint64_t ago_ns)
{
    const struct es_clock *clock = &esi_segment_layout(run->segments[0])->clock;
    double ticks = (double)ago_ns * (double)clock->frequency_hz / 1e9;

    return es_clock_ticks_of(run->clock) - (uint64_t)ticks;
}
