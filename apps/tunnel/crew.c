/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The threads of a rank; see crew.h. */
#include "crew.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* One thread and its slices. */
struct worker {
    struct crew *crew;
    pthread_t thread;
    int begin, end; /* range of its slices among the crew's */
};

/*
 * The threads work in rounds of some iterations. Between two waits at the barrier, only
 * the main thread accesses the slices, communicates with the other ranks, and sets the
 * length of the next round; a length of zero ends the work.
 */
struct crew {
    const struct tunnel *tunnel;
    struct exchange_layout layout;
    struct slice *slices;
    struct exchange *exchanges; /* by slice and matrix */
    struct gas_sum *counts;     /* by slice, at the end of a round */
    struct worker *workers;
    int threads;
    pthread_barrier_t barrier;
    long round;
    long step;
};

int crew_create(const struct tunnel *tunnel,
                const struct exchange_layout *layout,
                int threads,
                struct crew **ret_crew)
{
    int rank, error = -ENOMEM;
    int count = layout->slices_per_rank;
    struct crew *crew = calloc(1, sizeof *crew);

    if (!crew)
        return -ENOMEM;
    MPI_Comm_rank(layout->comm, &rank);
    crew->tunnel = tunnel;
    crew->layout = *layout;
    crew->threads = threads;
    crew->slices = calloc((size_t)count, sizeof *crew->slices);
    crew->counts = calloc((size_t)count, sizeof *crew->counts);
    crew->exchanges =
        calloc((size_t)count * (size_t)tunnel->matrices, sizeof *crew->exchanges);
    crew->workers = calloc((size_t)threads, sizeof *crew->workers);
    if (!crew->slices || !crew->counts || !crew->exchanges || !crew->workers)
        goto destroy_crew;
    for (int i = 0; i < count; i++) {
        error =
            slice_init(&crew->slices[i], tunnel, rank * count + i, layout->slice_count);
        if (error)
            goto destroy_crew;
    }
    *ret_crew = crew;
    return 0;

destroy_crew:
    crew_destroy(crew);
    return error;
}

void crew_destroy(struct crew *crew)
{
    if (!crew)
        return;
    for (int i = 0; crew->slices && i < crew->layout.slices_per_rank; i++)
        slice_fini(&crew->slices[i]);
    free(crew->slices);
    free(crew->counts);
    free(crew->exchanges);
    free(crew->workers);
    free(crew);
}

const struct slice *crew_slices(const struct crew *crew, int *ret_count)
{
    *ret_count = crew->layout.slices_per_rank;
    return crew->slices;
}

static struct exchange *exchange_of(struct crew *crew, int slice, int matrix)
{
    return &crew->exchanges[slice * crew->tunnel->matrices + matrix];
}

/* The border rows collide first, so that they are sent while the others collide. */
static void start_slice(struct crew *crew, int index, long step)
{
    struct slice *slice = &crew->slices[index];

    for (int matrix = 0; matrix < crew->tunnel->matrices; matrix++) {
        slice_collide_row(slice, matrix, 1, step);
        if (slice->rows > 1)
            slice_collide_row(slice, matrix, slice->rows, step);
        exchange_start(exchange_of(crew, index, matrix), &crew->layout, slice, matrix);
    }
}

static void finish_slice(struct crew *crew, int index, long step)
{
    struct slice *slice = &crew->slices[index];

    for (int matrix = 0; matrix < crew->tunnel->matrices; matrix++) {
        for (long row = 2; row < slice->rows; row++)
            slice_collide_row(slice, matrix, row, step);
        exchange_finish(exchange_of(crew, index, matrix));
        slice_move(slice, matrix);
        slice_blow(slice, matrix, step);
    }
}

/* A thread starts all its slices before it waits for any: this prevents a deadlock. */
static void work_round(struct worker *worker)
{
    struct crew *crew = worker->crew;

    for (long step = crew->step; step < crew->step + crew->round; step++) {
        for (int i = worker->begin; i < worker->end; i++)
            start_slice(crew, i, step);
        for (int i = worker->begin; i < worker->end; i++)
            finish_slice(crew, i, step);
    }
    for (int i = worker->begin; i < worker->end; i++)
        crew->counts[i] = slice_count(&crew->slices[i]);
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (;;) {
        pthread_barrier_wait(&worker->crew->barrier);
        if (worker->crew->round == 0)
            return NULL;
        work_round(worker);
        pthread_barrier_wait(&worker->crew->barrier);
    }
}

static void do_round(struct crew *crew, long length)
{
    crew->round = length;
    pthread_barrier_wait(&crew->barrier);
    if (length > 0) {
        work_round(&crew->workers[0]);
        pthread_barrier_wait(&crew->barrier);
        crew->step += length;
    }
}

static struct gas_sum sum_over_ranks(const struct crew *crew, struct gas_sum own)
{
    int64_t mine[3] = {own.particles, own.east, own.north}, all[3];

    MPI_Allreduce(mine, all, 3, MPI_INT64_T, MPI_SUM, crew->layout.comm);
    return (struct gas_sum){all[0], all[1], all[2]};
}

static struct gas_sum count_tunnel(const struct crew *crew)
{
    struct gas_sum own = {0};

    for (int i = 0; i < crew->layout.slices_per_rank; i++)
        gas_add(&own, &crew->counts[i]);
    return sum_over_ranks(crew, own);
}

/* The current contents of the tunnel, minus the initial contents, minus the balance
 * since. */
static void check_balance(const struct crew *crew, struct crew_result *result)
{
    struct gas_sum balance = {0};

    for (int i = 0; i < crew->layout.slices_per_rank; i++)
        gas_add(&balance, &crew->slices[i].balance);
    balance = sum_over_ranks(crew, balance);
    result->end = count_tunnel(crew);
    result->error = result->end;
    gas_subtract(&result->error, &result->start);
    gas_subtract(&result->error, &balance);
}

static bool is_zero(const struct gas_sum *sum)
{
    return sum->particles == 0 && sum->east == 0 && sum->north == 0;
}

static void crew_pause(double ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1e3)};

    left.tv_nsec = (long)((ms - 1e3 * (double)left.tv_sec) * 1e6);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* Rank 0 determines the number of iterations of the next round, by its own clock and
 * files; 0 ends the work. */
static long next_round(const struct crew *crew,
                       const struct crew_plan *plan,
                       double elapsed)
{
    long length = plan->iterations - crew->step;

    if (length > plan->check_every)
        length = plan->check_every;
    if (plan->seconds > 0 && crew->step == 0 && length > 1)
        length = 1; /* Measures the time of an iteration. */
    if (plan->seconds > 0 && crew->step > 0) {
        double fitting = (plan->seconds - elapsed) * (double)crew->step / elapsed;
        if (fitting < (double)length)
            length = fitting > 0 ? (long)fitting + 1 : 0;
    }
    if (plan->until && access(plan->until, F_OK) == 0)
        length = 0;
    if (plan->pause_ms > 0 && crew->step > 0 && length > 0)
        crew_pause(plan->pause_ms);
    MPI_Bcast(&length, 1, MPI_LONG, 0, crew->layout.comm);
    return length;
}

static void run_rounds(struct crew *crew,
                       const struct crew_plan *plan,
                       struct crew_result *result)
{
    double start = MPI_Wtime();

    for (;;) {
        long length = next_round(crew, plan, MPI_Wtime() - start);
        if (length == 0)
            break;
        do_round(crew, length);
        check_balance(crew, result);
        if (!is_zero(&result->error))
            break;
    }
    do_round(crew, 0);
    result->seconds = MPI_Wtime() - start;
    result->iterations = crew->step;
}

static void hash_tunnel(const struct crew *crew, struct crew_result *result)
{
    uint64_t hash = 0;

    for (int i = 0; i < crew->layout.slices_per_rank; i++)
        hash ^= slice_hash(&crew->slices[i]);
    MPI_Allreduce(&hash, &result->hash, 1, MPI_UINT64_T, MPI_BXOR, crew->layout.comm);
}

/* Assigns an equal number of slices to each thread; the main thread is the first. */
static int start_workers(struct crew *crew)
{
    for (int i = 0; i < crew->threads; i++) {
        struct worker *worker = &crew->workers[i];
        worker->crew = crew;
        worker->begin = crew->layout.slices_per_rank * i / crew->threads;
        worker->end = crew->layout.slices_per_rank * (i + 1) / crew->threads;
        int error = i ? pthread_create(&worker->thread, NULL, work, worker) : 0;
        if (error)
            return -error;
    }
    return 0;
}

int crew_run(struct crew *crew,
             const struct crew_plan *plan,
             struct crew_result *ret_result)
{
    struct crew_result result = {0};

    for (int i = 0; i < crew->layout.slices_per_rank; i++)
        crew->counts[i] = slice_count(&crew->slices[i]);
    result.start = result.end = count_tunnel(crew);
    int error = -pthread_barrier_init(&crew->barrier, NULL, (unsigned)crew->threads);
    if (!error)
        error = start_workers(crew);
    if (error) /* Threads may wait at the barrier: the caller must abort. */
        return error;

    run_rounds(crew, plan, &result);
    for (int i = 1; i < crew->threads; i++)
        pthread_join(crew->workers[i].thread, NULL);
    pthread_barrier_destroy(&crew->barrier);
    hash_tunnel(crew, &result);
    *ret_result = result;
    return 0;
}
