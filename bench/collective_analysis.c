/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of the analysis of collective operations: synthetic calls of many operations
 * of few ranks, and of few operations of many ranks, pass through causality, analysis
 * and statistics as in the monitor.  The floor stores the same calls in an array of the
 * right size and finds the last to enter.
 *
 * The calls of a rank come in chunks, as if rings were read one after the other.
 */
#include "config.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "eventspace/operation.h"
#include "monitors/collectives/collective_statistics.h"

enum { MPI_ALLREDUCE_BYTES = 8, ROUNDS = 5 };

struct load {
    const char *name;
    int ranks;
    uint32_t instances;
    uint32_t chunk; /* operations of a rank that are read at once */
};

static const struct load loads[] = {
    {"few_ranks", 4, 1000000, 512},
    {"many_ranks", 1000, 1000, 100},
};

struct work {
    const struct load *load;
    struct esi_causal_tuple told;
    void *state; /* of the receiver of the tuples */
    void (*take)(void *state, int rank, const struct esi_causal_tuple *told);
    uint64_t most_bytes; /* of the heap */
};

/* Ranks are late at random, the same in each round. */
static uint64_t lateness(uint32_t instance, int rank)
{
    uint64_t mixed = ((uint64_t)instance << 20 | (unsigned)rank) + 1;

    mixed *= UINT64_C(0x9e3779b97f4a7c15);
    return (mixed >> 40) % 5000;
}

static void give_calls(struct work *work, int rank, uint32_t first, uint32_t end)
{
    struct esi_causal_tuple *told = &work->told;

    for (uint32_t i = first; i < end; i++) {
        uint64_t begin_ns = UINT64_C(1000000000) + (uint64_t)i * 20000;

        told->tuple.sequence = i;
        told->tuple.start = told->start_ns = begin_ns + lateness(i, rank);
        told->tuple.stop = told->stop_ns = begin_ns + 10000;
        work->take(work->state, rank, told);
    }
}

static uint64_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Passes all calls of a load.  Returns the time. */
static uint64_t run(struct work *work)
{
    const struct load *load = work->load;
    uint64_t before_bytes = heap_bytes();
    uint64_t begin_ns = esi_now_ns(CLOCK_MONOTONIC);

    for (uint32_t first = 0; first < load->instances; first += load->chunk) {
        uint32_t end = first + load->chunk;

        if (end > load->instances)
            end = load->instances;
        for (int rank = 0; rank < load->ranks; rank++) {
            give_calls(work, rank, first, end);
            /* Nothing is complete before the last rank's chunk: the number of open
             * operations is largest here. */
            if (rank == load->ranks - 2 &&
                heap_bytes() - before_bytes > work->most_bytes)
                work->most_bytes = heap_bytes() - before_bytes;
        }
    }
    return esi_now_ns(CLOCK_MONOTONIC) - begin_ns;
}

static struct work make_work(const struct load *load)
{
    return (struct work){
        .load = load,
        .told = {.tuple = {.operation = es_operation_by_name("MPI_Allreduce")->code,
                           .peer = ES_PEER_NONE,
                           .bytes = MPI_ALLREDUCE_BYTES},
                 .error_ns = 100}};
}

/* --- The floor -------------------------------------------------------------------- */

struct floor {
    struct esi_collective_arrival *arrivals; /* chunk times ranks */
    uint32_t *known;
    uint32_t chunk;
    int size;
    uint64_t sum;
};

static void floor_take(void *state, int rank, const struct esi_causal_tuple *told)
{
    struct floor *floor = state;
    uint32_t slot = told->tuple.sequence % floor->chunk;
    struct esi_collective_arrival *arrivals =
        &floor->arrivals[(size_t)slot * (size_t)floor->size];

    arrivals[rank].enter_ns = told->start_ns;
    arrivals[rank].exit_ns = told->stop_ns;
    if (++floor->known[slot] < (uint32_t)floor->size)
        return;
    uint64_t last_ns = 0;

    for (int i = 0; i < floor->size; i++)
        if (arrivals[i].enter_ns > last_ns)
            last_ns = arrivals[i].enter_ns;
    floor->sum += last_ns;
    floor->known[slot] = 0;
}

static uint64_t run_floor(const struct load *load)
{
    struct work work = make_work(load);
    size_t cells = (size_t)load->chunk * (size_t)load->ranks;
    struct floor floor = {.arrivals = calloc(cells, sizeof *floor.arrivals),
                          .known = calloc(load->chunk, sizeof *floor.known),
                          .chunk = load->chunk,
                          .size = load->ranks};
    uint64_t took_ns;

    if (!floor.arrivals || !floor.known)
        abort();
    work.state = &floor;
    work.take = floor_take;
    took_ns = run(&work);
    if (floor.sum == 0)
        abort();
    free(floor.arrivals);
    free(floor.known);
    return took_ns;
}

/* --- The analysis ----------------------------------------------------------------- */

static void enter(void *data, const struct esi_collective_instance *instance)
{
    if (esi_collective_statistics_add(data, instance) < 0)
        abort();
}

/* The ranks are the first elements, in their order. */
static void analysis_take(void *state, int rank, const struct esi_causal_tuple *told)
{
    if (esi_causality_add(state, (uint32_t)rank, told) < 0)
        abort();
}

static void add_ranks(struct esi_causality *causality, int ranks)
{
    struct esi_run_model *run = esi_causality_run(causality);

    for (int rank = 0; rank < ranks; rank++) {
        const struct esi_run_process process = {.host = "made", .rank = rank};
        const struct esi_run_reported world = {
            .key = {1, 2}, .name = "MPI_COMM_WORLD", .rank = rank, .size = ranks};
        struct esi_run_process *added;
        uint32_t element;

        if (esi_run_model_add_process(run, &process, &added) < 0 ||
            esi_causality_add_element(causality, added, 0, &element) < 0 ||
            esi_run_model_set_communicator(run, added, 0, &world) < 0)
            abort();
    }
}

static uint64_t run_analysis(const struct load *load, uint64_t *ret_bytes)
{
    struct work work = make_work(load);
    struct esi_collective_statistics *statistics;
    struct esi_collectives_config config = {.on_instance = enter};
    struct esi_causality_config matching = {.only_instances = true, .held_max = 262144};
    struct esi_collectives *analysis;
    struct esi_causality *causality;
    struct esi_causality_totals totals;
    uint64_t took_ns;

    if (esi_collective_statistics_create(&statistics) < 0)
        abort();
    config.data = statistics;
    if (esi_collectives_create(&config, &analysis) < 0)
        abort();
    matching.listener = esi_collectives_listener(analysis);
    if (esi_causality_create(&matching, &causality) < 0)
        abort();
    add_ranks(causality, load->ranks);
    work.state = causality;
    work.take = analysis_take;
    took_ns = run(&work);
    esi_causality_totals(causality, &totals);
    if (totals.collectives != load->instances || totals.held != 0)
        abort();
    *ret_bytes = work.most_bytes;
    esi_causality_destroy(causality);
    esi_collectives_destroy(analysis);
    esi_collective_statistics_destroy(statistics);
    return took_ns;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

static void measure(const struct load *load)
{
    double calls = (double)load->instances * load->ranks;
    double ns[ROUNDS], ratios[ROUNDS];
    uint64_t bytes = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double floor_ns = (double)run_floor(load);

        ns[round] = (double)run_analysis(load, &bytes);
        ratios[round] = ns[round] / floor_ns;
    }
    double middle_ns = median(ns);

    printf("figure: collective_analysis_%s_rate %.0f operations/s\n", load->name,
           load->instances / middle_ns * 1e9);
    printf("figure: collective_analysis_%s_call %.1f ns\n", load->name,
           middle_ns / calls);
    printf("figure: collective_analysis_%s_to_floor %.2f ratio\n", load->name,
           median(ratios));
    printf("figure: collective_analysis_%s_memory %.0f bytes\n", load->name,
           (double)bytes);
}

int main(void)
{
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        measure(&loads[i]);
    return EXIT_SUCCESS;
}
