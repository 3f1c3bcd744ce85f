/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The shared memory used by a rank with the default plan, without MPI.
 *
 *   segment_memory [ELEMENTS]...
 *
 * Creates segments with 2, 16 and 1,948 elements (or the given numbers) like the
 * collector, writes tuples into all, and asks the kernel for the sizes of the files.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "eventspace/run.h"
#include "tuplespace/plan/plan.h"
#include "tuplespace/segment.h"

static void fail(const char *what, int rc, const struct es_error *error)
{
    fprintf(stderr, "segment_memory: %s: %s\n", what,
            error->text[0] != '\0' ? error->text : strerror(-rc));
    exit(2);
}

/* Adds an element of the plan's next collector: each thread gets one of each. */
static void add_element(struct es_segment *segment,
                        const struct es_plan *plan,
                        int index)
{
    static const struct es_error none;
    const struct esi_collector_plan *collector =
        &plan->collectors[(size_t)index % plan->count];
    int thread = index / (int)plan->count;
    struct es_tuple tuple = {.stop = 2, .operation = 1, .start = 1};
    struct esi_element_config config = {.kind = ES_ELEMENT_TRACE,
                                        .collector = collector->name,
                                        .thread = thread,
                                        .classes = collector->classes,
                                        .peer = ES_PEER_NONE,
                                        .communicator = ES_COMMUNICATOR_NONE,
                                        .tuple_bytes = sizeof(struct es_tuple),
                                        .threshold = collector->threshold,
                                        .enabled = true};
    struct esi_writer writer;
    char name[64];
    int rc;

    snprintf(name, sizeof name, "0.%d/%s", thread, collector->name);
    config.name = name;
    rc = esi_segment_add_element(segment, &config, &writer);
    if (rc != 0)
        fail("element", rc, &none);
    for (uint32_t i = 0; i < 2 * collector->threshold; i++)
        esi_writer_write(&writer, &tuple);
}

/* Adds the world, and the process's own communicator. */
static void add_communicators(struct es_segment *segment)
{
    int32_t world[] = {0, 1};
    struct esi_communicator_config config = {.parent = ES_COMMUNICATOR_NONE,
                                             .name = "MPI_COMM_WORLD",
                                             .group = world,
                                             .group_size = 2};
    uint16_t index;

    esi_segment_add_communicator(segment, &config, &index);
    config.name = "MPI_COMM_SELF";
    config.group_size = 1;
    esi_segment_add_communicator(segment, &config, &index);
}

static uint64_t allocated_bytes(const char *run)
{
    struct es_error error = {.text = ""};
    struct es_segment_info info;
    struct es_run *opened;
    int rc = es_run_open(run, &error, &opened);

    if (rc != 0)
        fail("run", rc, &error);
    es_segment_view_info(es_run_segment(opened, 0), &info);
    es_run_close(opened);
    if (info.elements_shrunk > 0 || info.elements_refused > 0)
        printf("shared memory is short: %u elements shrunk, %u refused\n",
               info.elements_shrunk, info.elements_refused);
    return info.segment_bytes;
}

static uint64_t measure(const struct es_plan *plan, int elements)
{
    struct es_error error = {.text = ""};
    char host[ES_HOST_NAME_BYTES];
    struct esi_segment_config config;
    struct es_segment *segment;
    uint64_t bytes;
    char run[32];
    int rc;

    snprintf(run, sizeof run, "bench-memory-%d", (int)getpid());
    esi_segment_config_init(&config);
    config.run = run;
    config.host = esi_host_name(host);
    config.calibrate_ns = 0;
    if ((uint32_t)elements > config.max_elements)
        config.max_elements = (uint32_t)elements;
    rc = esi_segment_create(&config, &error, &segment);
    if (rc != 0)
        fail("segment", rc, &error);
    add_communicators(segment);
    for (int i = 0; i < elements; i++)
        add_element(segment, plan, i);
    bytes = allocated_bytes(run);
    esi_segment_destroy(segment);
    return bytes;
}

static void show(const struct es_plan *plan, int elements)
{
    uint64_t bytes = measure(plan, elements);

    printf("%8d %14llu %14.0f\n", elements, (unsigned long long)bytes,
           (double)bytes / elements);
    printf("figure: segment.memory.%d %llu bytes\n", elements,
           (unsigned long long)bytes);
}

int main(int argc, char **argv)
{
    static const int defaults[] = {2, 16, 1948};
    struct es_plan plan;

    if (esi_plan_default(&plan) != 0)
        return 2;
    printf("threshold %u tuples of %zu bytes\n", plan.collectors[0].threshold,
           sizeof(struct es_tuple));
    printf("elements bytes per rank  bytes/element\n");
    for (size_t i = 0; argc <= 1 && i < sizeof defaults / sizeof defaults[0]; i++)
        show(&plan, defaults[i]);
    for (int i = 1; i < argc; i++) {
        int elements = atoi(argv[i]);

        if (elements < 1 || elements > 1000000) {
            fprintf(stderr, "usage: segment_memory [ELEMENTS]..., 1 to 1000000 each\n");
            return 2;
        }
        show(&plan, elements);
    }
    esi_plan_fini(&plan);
    return 0;
}
