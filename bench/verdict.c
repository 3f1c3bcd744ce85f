/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * verdict.c - the cost of one analysis of a run's state: bench/verdict [THREADS].
 *
 * Facts of a synthetic run are analysed, with and without deadlocks: a ring of
 * receives, a barrier with a missing rank, and receives from any source, with a ledger
 * of a few channels and instances per rank.  Prints `figure: NAME VALUE UNIT`, for the
 * given number of threads and for a tenth of it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "monitors/verdict/verdict.h"

enum { THREADS = 100000, LOOKS = 5, CHANNELS = 4, INSTANCES = 4 };

struct bench_ledger {
    struct esi_ledger_channel channels[CHANNELS];
    struct esi_ledger_instance instances[INSTANCES];
    struct esi_ledger ledger;
};

struct bench_run {
    size_t count;
    struct esi_thread_state *threads;
    struct bench_ledger *ledgers;
    struct esi_facts facts;
    struct esi_run_model model;
};

struct bench_case {
    const char *name;
    const char *operation;
    bool ring; /* each waits for the next; otherwise for any or all */
    bool free; /* the last one computes */
};

static const struct bench_case cases[] = {
    {"ring", "MPI_Recv", true, false},
    {"chain", "MPI_Recv", true, true},
    {"barrier", "MPI_Barrier", false, true},
    {"any_source", "MPI_Recv", false, false},
};

static const uint64_t world[2] = {1, 2};

static void *allocate(size_t count, size_t size)
{
    void *items = calloc(count, size);

    if (!items) {
        fprintf(stderr, "verdict: no memory\n");
        exit(1);
    }
    return items;
}

static void fill_ledger(struct bench_run *run, size_t rank)
{
    struct bench_ledger *made = &run->ledgers[rank];
    int neighbours[2] = {(int)((rank + 1) % run->count),
                         (int)((rank + run->count - 1) % run->count)};

    for (int i = 0; i < CHANNELS; i++)
        made->channels[i] = (struct esi_ledger_channel){
            .received = i & 1, .peer = neighbours[i / 2], .tag = 7, .count = 10};
    for (uint32_t i = 0; i < INSTANCES; i++)
        made->instances[i] = (struct esi_ledger_instance){
            .operation = es_operation_by_name("MPI_Barrier")->code,
            .instance = i,
            .root = ES_PEER_NONE};
    made->ledger = (struct esi_ledger){.channels = made->channels,
                                       .channel_count = CHANNELS,
                                       .instances = made->instances,
                                       .instance_count = INSTANCES};
}

static void make_run(struct bench_run *run, size_t count)
{
    int32_t *ranks = allocate(count, sizeof *ranks);
    struct esi_run_reported told = {
        .key = {world[0], world[1]}, .size = (int)count, .world = ranks};

    *run = (struct bench_run){.count = count,
                              .threads = allocate(count, sizeof *run->threads),
                              .ledgers = allocate(count, sizeof *run->ledgers)};
    for (size_t i = 0; i < count; i++) {
        run->threads[i] = (struct esi_thread_state){
            .host = "host", .pid = (int)i + 1, .rank = (int)i, .unchanged = 1};
        fill_ledger(run, i);
    }
    if (esi_facts_set_threads(&run->facts, run->threads, count) < 0)
        exit(1);
    run->facts.now_ns = 100;
    run->facts.model = &run->model;
    for (size_t i = 0; i < count; i++)
        ranks[i] = (int32_t)i;
    for (size_t i = 0; i < count; i++) {
        struct esi_fact_process *process = &run->facts.processes[i];
        struct esi_run_process *participant;

        told.rank = (int)i;
        if (esi_run_model_add_process(&run->model,
                                      &(struct esi_run_process){.rank = (int)i},
                                      &participant) < 0 ||
            esi_run_model_set_communicator(&run->model, participant, 0, &told) < 0)
            exit(1);
        process->participant = participant;
        process->still = true;
        process->schedule = ESI_SCHEDULE_RAN;
        process->ledger = &run->ledgers[i].ledger;
    }
    free(ranks);
}

static void set_case(struct bench_run *run, const struct bench_case *what)
{
    const struct es_operation *operation = es_operation_by_name(what->operation);
    bool collects = operation->op_class == ES_CLASS_COLLECTIVE;

    for (size_t i = 0; i < run->count; i++) {
        struct esi_thread_state *thread = &run->threads[i];
        bool computes = what->free && i + 1 == run->count;

        thread->verdict = computes ? ES_VERDICT_COMPUTING : ES_VERDICT_STALLED;
        thread->open =
            (struct esi_activity){.present = !computes,
                                  .operation = operation->code,
                                  .peer = collects     ? ES_PEER_NONE
                                          : what->ring ? (int)((i + 1) % run->count)
                                                       : ES_PEER_ANY,
                                  .tag = 7,
                                  .sequence = collects     ? INSTANCES
                                              : what->ring ? 10
                                                           : ES_SEQUENCE_UNKNOWN,
                                  .has_communicator = true,
                                  .key = {world[0], world[1]},
                                  .start_ns = 1};
    }
}

/* Processor time, because others may use the machine. */
static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The fastest of several analyses. */
static double measure_look(struct bench_run *run, size_t *ret_verdicts)
{
    double best = 0;

    for (int i = 0; i < LOOKS; i++) {
        struct esi_diagnosis diagnosis;
        double begin = now_ms(), span;

        if (esi_diagnosis_make(&run->facts, NULL, &diagnosis) < 0)
            exit(1);
        span = now_ms() - begin;
        best = i == 0 || span < best ? span : best;
        *ret_verdicts = diagnosis.count;
        esi_diagnosis_fini(&diagnosis);
    }
    return best;
}

static void free_run(struct bench_run *run)
{
    esi_facts_fini(&run->facts);
    esi_run_model_fini(&run->model);
    free(run->threads);
    free(run->ledgers);
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : THREADS;
    size_t counts[2] = {most / 10, most};

    if (most < 20) {
        fprintf(stderr, "usage: verdict [THREADS, at least 20]\n");
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        struct bench_run run;

        make_run(&run, counts[i]);
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            size_t verdicts;

            set_case(&run, &cases[j]);
            double span = measure_look(&run, &verdicts);
            printf("figure: verdict_%s_%zu %.1f ms\n", cases[j].name, counts[i], span);
            printf("%s: %zu threads, %zu verdicts\n", cases[j].name, counts[i],
                   verdicts);
        }
        free_run(&run);
    }
    return 0;
}
