/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * make_segments - makes a run as observed processes would, without MPI.
 *
 * usage: make_segments RUN RANKS TUPLES [live]
 * Forks a process per rank, which makes a segment with the elements "point-to-point"
 * and "collective" and writes so many tuples into each.  With `live` the processes stay
 * until they are killed; else rank 0 ends without finalizing and the others finalize.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "base/host.h"
#include "eventspace/operation.h"
#include "tuplespace/segment.h"

enum { THRESHOLD = 100 };

static void fail(const char *what, int code)
{
    fprintf(stderr, "make_segments: %s: %s\n", what, strerror(-code));
    exit(2);
}

static void fill_element(struct es_segment *segment,
                         int rank,
                         const char *collector,
                         uint32_t classes,
                         int tuples)
{
    char name[64];
    struct esi_writer writer;
    struct esi_element_config config = {
        .kind = ES_ELEMENT_TRACE,
        .name = name,
        .collector = collector,
        .rank = rank,
        .classes = classes,
        .peer = ES_PEER_NONE,
        .communicator = ES_COMMUNICATOR_NONE,
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = THRESHOLD,
        .enabled = true,
    };

    snprintf(name, sizeof name, "%d.0/%s", rank, collector);
    int code = esi_segment_add_element(segment, &config, &writer);
    if (code < 0)
        fail("element", code);
    for (int i = 0; i < tuples; i++) {
        struct es_tuple tuple = {
            .stop = (uint64_t)i + 2,
            .start = (uint64_t)i + 1,
            .operation = es_operation_by_name("MPI_Send")->code,
            .communicator = ES_COMMUNICATOR_NONE,
            .peer = 0,
        };
        esi_writer_write(&writer, &tuple);
        esi_writer_count_poll(&writer);
    }
}

static void observe(const char *run, int rank, int ranks, int tuples)
{
    struct esi_segment_config config;
    struct es_segment *segment;
    struct es_error error = {.text = ""};
    char host[ES_HOST_NAME_BYTES];

    esi_segment_config_init(&config);
    config.run = run;
    config.host = esi_host_name(host);
    config.program = program_invocation_short_name;
    config.rank = rank;
    config.size = ranks;
    int code = esi_segment_create(&config, &error, &segment);
    if (code < 0)
        fail(error.text[0] ? error.text : run, code);
    fill_element(segment, rank, "point-to-point", 1u << ES_CLASS_SEND, tuples);
    fill_element(segment, rank, "collective", 1u << ES_CLASS_COLLECTIVE, tuples);
    if (rank > 0)
        esi_segment_set_state(segment, ES_SEGMENT_FINALIZED);
    esi_segment_close(segment);
}

/* A rank: a process of its own.  Says so when its segment is there. */
static void be_rank(const char *run,
                    int rank,
                    int ranks,
                    int tuples,
                    int live,
                    int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    observe(run, rank, ranks, tuples);
    if (write(ready, "", 1) != 1)
        _exit(2);
    close(ready);
    while (live)
        pause();
    _exit(0);
}

static void await_ranks(int input, int ranks)
{
    char byte;

    for (int i = 0; i < ranks; i++)
        if (read(input, &byte, 1) != 1)
            fail("a rank failed", -EPIPE);
}

int main(int argc, char **argv)
{
    int ends[2], failures = 0, status;

    if (argc < 4 || pipe(ends) != 0) {
        fprintf(stderr, "usage: make_segments RUN RANKS TUPLES [live]\n");
        return 2;
    }
    int ranks = atoi(argv[2]), tuples = atoi(argv[3]);
    for (int rank = 0; rank < ranks; rank++) {
        pid_t child = fork();
        if (child == 0)
            be_rank(argv[1], rank, ranks, tuples, argc > 4, ends[1]);
        if (child < 0)
            fail("fork", -errno);
    }
    close(ends[1]);
    await_ranks(ends[0], ranks);
    puts("ready");
    fflush(stdout);
    while (wait(&status) > 0)
        failures += status != 0;
    return failures > 0;
}
