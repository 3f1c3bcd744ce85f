/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A wind tunnel: a lattice gas flows round an obstacle, in slices distributed over all
 * ranks. */
#include "apps/options.h"
#include "calibrate.h"
#include "crew.h"
#include "picture.h"
#include "tunnel.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MIN = 16, ROWS_MAX = 1 << 20, EXIT_USAGE = 2 };

/* The command line. */
struct settings {
    const char *size, *obstacle, *density, *expect;
    long scale, rows, matrices, slices, threads, seed;
    double exchange_ms;
    struct crew_plan plan;
    bool verify;
};

/* The paper's small and medium tunnels are 1/8 and 1/2 as long and wide as large. */
struct size {
    const char *name;
    long divisor;
};

static const struct size sizes[] = {{"small", 8}, {"medium", 2}, {"large", 1}};

static void reject(const char *what, const char *found, const char *expected)
{
    fprintf(stderr, "windtunnel: --%s: '%s' is not %s\n", what, found, expected);
    exit(EXIT_USAGE);
}

static void set_rows(struct settings *settings)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(sizes[i].name, settings->size) == 0) {
            if (settings->rows == 0)
                settings->rows = settings->scale / sizes[i].divisor;
            return;
        }
    reject("size", settings->size, "small, medium or large");
}

static void read_command_line(int argc, char **argv, struct settings *settings)
{
    const struct option_row rows[] = {
        {"size", OPTION_TEXT, &settings->size, "small, medium or large", 0, 0},
        {"scale", OPTION_NUMBER, &settings->scale,
         "rows of a large tunnel; medium has 1/2, small 1/8", 8 * ROWS_MIN, ROWS_MAX},
        {"rows", OPTION_NUMBER, &settings->rows,
         "rows of the tunnel whatever its size; columns are twice as many", ROWS_MIN,
         ROWS_MAX},
        {"exchange-ms", OPTION_SECONDS, &settings->exchange_ms,
         "measure how many rows make an iteration take X milliseconds", 0, 0},
        {"iterations", OPTION_NUMBER, &settings->plan.iterations,
         "iterations, each with one exchange of border rows", 0, 1L << 40},
        {"seconds", OPTION_SECONDS, &settings->plan.seconds,
         "stop after about X seconds; 0 = only by iterations", 0, 0},
        {"until", OPTION_TEXT, &settings->plan.until,
         "stop at the first check that finds the file TEXT", 0, 0},
        {"check-every", OPTION_NUMBER, &settings->plan.check_every,
         "iterations between two checks of the balance", 1, 1L << 40},
        {"pause-ms", OPTION_SECONDS, &settings->plan.pause_ms,
         "rest for X milliseconds at each check, while the others wait", 0, 0},
        {"matrices", OPTION_NUMBER, &settings->matrices, "independent tunnels", 1, 255},
        {"threads", OPTION_NUMBER, &settings->threads, "threads per rank", 1, 1024},
        {"slices", OPTION_NUMBER, &settings->slices,
         "slices per rank; 0 = one per thread", 0, 65536},
        {"seed", OPTION_NUMBER, &settings->seed, "of all random choices", 0, 1L << 62},
        {"obstacle", OPTION_TEXT, &settings->obstacle, "disc, plate or none", 0, 0},
        {"density", OPTION_TEXT, &settings->density,
         "write the density to this file, as a graymap (PGM)", 0, 0},
        {"expect", OPTION_TEXT, &settings->expect,
         "fail unless the hash of the result is this one", 0, 0},
        {"verify", OPTION_FLAG, &settings->verify,
         "run again on rank 0 as one slice, and compare", 0, 0},
        {0},
    };
    int first = options_parse(
        argc, argv, "[OPTION]...",
        "A lattice gas in a wind tunnel. The result does not depend on the number of\n"
        "ranks, slices and threads.",
        rows);

    options_no_arguments(argc, argv, first);
    set_rows(settings);
    if (settings->slices == 0)
        settings->slices = settings->threads;
    if (tunnel_find_obstacle(settings->obstacle) < 0)
        reject("obstacle", settings->obstacle, "disc, plate or none");
}

static void give_up(const char *reason)
{
    fprintf(stderr, "windtunnel: %s\n", reason);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* MPI_THREAD_MULTIPLE has a cost, so it is only requested if needed. */
static void start_mpi(int *argc, char ***argv, const struct settings *settings)
{
    int provided;
    int wanted = settings->threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;

    MPI_Init_thread(argc, argv, wanted, &provided);
    if (provided < wanted)
        give_up("this MPI does not offer MPI_THREAD_MULTIPLE");
}

static void set_up(const struct settings *settings,
                   struct tunnel *tunnel,
                   struct exchange_layout *layout)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *layout = (struct exchange_layout){.comm = MPI_COMM_WORLD,
                                       .slice_count = size * (int)settings->slices,
                                       .slices_per_rank = (int)settings->slices};
    *tunnel = (struct tunnel){
        .rows = settings->rows,
        .matrices = (int)settings->matrices,
        .seed = (uint64_t)settings->seed,
        .obstacle = (enum tunnel_obstacle)tunnel_find_obstacle(settings->obstacle),
    };
    if (gas_init(&tunnel->gas) != 0)
        give_up("a collision rule does not conserve particles and momentum");
    if (settings->exchange_ms > 0) {
        tunnel->rows = calibrate_rows(tunnel, layout, (int)settings->threads,
                                      settings->exchange_ms);
        if (tunnel->rows < ROWS_MIN)
            tunnel->rows = ROWS_MIN;
    }
    tunnel->columns = 2 * tunnel->rows;
    if (tunnel->rows < layout->slice_count)
        give_up("there are fewer rows than slices");
    if (!exchange_fits(layout, tunnel->matrices))
        give_up("this MPI has too few tags for so many slices and matrices");
}

static struct crew *run(const struct tunnel *tunnel,
                        const struct exchange_layout *layout,
                        int threads,
                        const struct crew_plan *plan,
                        struct crew_result *result)
{
    struct crew *crew = NULL;

    if (crew_create(tunnel, layout, threads, &crew) != 0)
        give_up("there is too little memory for the matrices");
    if (crew_run(crew, plan, result) != 0)
        give_up("a thread cannot be started");
    return crew;
}

/* Repeats the run in one slice with one thread on rank 0; returns whether the results
 * agree. */
static bool verify(const struct tunnel *tunnel,
                   const struct crew_plan *plan,
                   const struct crew_result *result)
{
    const struct exchange_layout alone = {MPI_COMM_SELF, 1, 1};
    const struct crew_plan again = {.iterations = result->iterations,
                                    .check_every = plan->check_every};
    struct crew_result serial;

    crew_destroy(run(tunnel, &alone, 1, &again, &serial));
    if (serial.hash != result->hash)
        fprintf(stderr, "windtunnel: one slice alone comes to hash %016" PRIx64 "\n",
                serial.hash);
    return serial.hash == result->hash;
}

static bool check(const struct settings *settings,
                  const struct tunnel *tunnel,
                  const struct crew_result *result)
{
    const struct gas_sum *error = &result->error;
    bool right = true;

    if (error->particles || error->east || error->north) {
        fprintf(stderr,
                "windtunnel: after %ld iterations the balance is wrong by %" PRId64
                " particles, momentum %" PRId64 " east, %" PRId64 " north\n",
                result->iterations, error->particles, error->east, error->north);
        right = false;
    }
    if (settings->expect && strtoull(settings->expect, NULL, 16) != result->hash) {
        fprintf(stderr, "windtunnel: the hash is not %s\n", settings->expect);
        right = false;
    }
    if (settings->verify && !verify(tunnel, &settings->plan, result))
        right = false;
    return right;
}

static void print_result(const struct settings *settings,
                         const struct tunnel *tunnel,
                         const struct exchange_layout *layout,
                         const struct crew_result *result)
{
    double rate =
        result->seconds > 0 ? (double)result->iterations / result->seconds : 0;
    double cells = (double)tunnel->rows * (double)tunnel->columns * tunnel->matrices;

    printf("windtunnel: %d matrices of %ld x %ld, %d slices, %ld threads per rank\n",
           tunnel->matrices, tunnel->columns, tunnel->rows, layout->slice_count,
           settings->threads);
    printf("particles: %" PRId64 " at first, %" PRId64 " at the end\n",
           result->start.particles, result->end.particles);
    printf("momentum: %" PRId64 " east, %" PRId64 " north\n", result->end.east,
           result->end.north);
    printf("iterations: %ld in %.3f s\n", result->iterations, result->seconds);
    printf("iterations per second: %.2f (%.1f million cells per second)\n", rate,
           rate * cells / 1e6);
    printf("hash: %016" PRIx64 "\n", result->hash);
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .size = "small",
        .obstacle = "disc",
        .scale = 5632,
        .matrices = 8,
        .threads = 1,
        .seed = 1,
        .plan = {.iterations = 200, .check_every = 50},
    };
    struct tunnel tunnel;
    struct exchange_layout layout;
    struct crew_result result;
    int rank, right = 1;

    read_command_line(argc, argv, &settings);
    start_mpi(&argc, &argv, &settings);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    set_up(&settings, &tunnel, &layout);
    struct crew *crew =
        run(&tunnel, &layout, (int)settings.threads, &settings.plan, &result);

    if (rank == 0) {
        print_result(&settings, &tunnel, &layout, &result);
        right = check(&settings, &tunnel, &result);
    }
    if (settings.density) {
        int error = picture_write(settings.density, &tunnel, &layout, crew);
        if (error && rank == 0)
            fprintf(stderr, "windtunnel: %s: %s\n", settings.density, strerror(-error));
        right = right && !error;
    }
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    crew_destroy(crew);
    MPI_Finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
