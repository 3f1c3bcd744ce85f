/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Heat on a plate: a five-point stencil on a Cartesian grid of ranks. */
#include "options.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tag of a halo is the side of the receiver's block to which it belongs. */
enum side { NORTH, SOUTH, WEST, EAST, SIDES };

struct settings {
    long points; /* per side of the plate */
    long iterations;
    long norm_every;
};

/* The part of the plate that a rank computes, with a halo of one point. */
struct block {
    MPI_Comm grid;
    int ranks[2], place[2]; /* rows and columns of ranks */
    int neighbours[SIDES];
    long points;
    long first_row, rows, first_column, columns;
    long stride;
    double *now, *next;
    MPI_Datatype column;
};

/* The part of a side that belongs to one of several ranks. */
static long share_begin(long points, int place, int ranks)
{
    return points * place / ranks;
}

/* The initial temperature; no two points are equal, so that exchanged points are
 * detected. */
static double initial(const struct block *block, long row, long column)
{
    if (row < 0)
        return 100;
    if (row >= block->points || column < 0 || column >= block->points)
        return 0;
    return (double)((row * block->points + column) * 7919 % 104729) / 1000;
}

static double *point(const struct block *block, double *values, long row, long column)
{
    return &values[(row + 1) * block->stride + column + 1];
}

static int find_place(struct block *block, MPI_Comm comm)
{
    int size, rank;
    const int periods[2] = {0, 0};

    MPI_Comm_size(comm, &size);
    block->ranks[0] = block->ranks[1] = 0;
    MPI_Dims_create(size, 2, block->ranks);
    MPI_Cart_create(comm, 2, block->ranks, periods, 1, &block->grid);
    MPI_Comm_rank(block->grid, &rank);
    MPI_Cart_coords(block->grid, rank, 2, block->place);
    MPI_Cart_shift(block->grid, 0, 1, &block->neighbours[NORTH],
                   &block->neighbours[SOUTH]);
    MPI_Cart_shift(block->grid, 1, 1, &block->neighbours[WEST],
                   &block->neighbours[EAST]);
    return rank;
}

static void init_block(struct block *block, MPI_Comm comm, long points)
{
    find_place(block, comm);
    block->points = points;
    block->first_row = share_begin(points, block->place[0], block->ranks[0]);
    block->rows =
        share_begin(points, block->place[0] + 1, block->ranks[0]) - block->first_row;
    block->first_column = share_begin(points, block->place[1], block->ranks[1]);
    block->columns =
        share_begin(points, block->place[1] + 1, block->ranks[1]) - block->first_column;
    block->stride = block->columns + 2;

    size_t count = (size_t)(block->rows + 2) * (size_t)block->stride;
    block->now = calloc(count, sizeof *block->now);
    block->next = calloc(count, sizeof *block->next);
    if (!block->now || !block->next) {
        fprintf(stderr, "stencil2d: no memory for %zu points\n", count);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (long row = -1; row <= block->rows; row++)
        for (long column = -1; column <= block->columns; column++)
            *point(block, block->now, row, column) =
                initial(block, block->first_row + row, block->first_column + column);
    memcpy(block->next, block->now, count * sizeof *block->next);
    MPI_Type_vector((int)block->rows, 1, (int)block->stride, MPI_DOUBLE,
                    &block->column);
    MPI_Type_commit(&block->column);
}

static void fini_block(struct block *block)
{
    MPI_Type_free(&block->column);
    MPI_Comm_free(&block->grid);
    free(block->now);
    free(block->next);
}

/* Eight requests; neighbours beyond the plate are MPI_PROC_NULL. */
static void start_halo(const struct block *block, MPI_Request *requests)
{
    static const enum side opposite[SIDES] = {SOUTH, NORTH, EAST, WEST};
    const long last_row = block->rows - 1, last_column = block->columns - 1;
    double *const inner[SIDES] = {
        point(block, block->now, 0, 0), point(block, block->now, last_row, 0),
        point(block, block->now, 0, 0), point(block, block->now, 0, last_column)};
    double *const outer[SIDES] = {
        point(block, block->now, -1, 0), point(block, block->now, block->rows, 0),
        point(block, block->now, 0, -1), point(block, block->now, 0, block->columns)};

    for (int side = 0; side < SIDES; side++) {
        int is_row = side == NORTH || side == SOUTH;
        int count = is_row ? (int)block->columns : 1;
        MPI_Datatype type = is_row ? MPI_DOUBLE : block->column;
        MPI_Irecv(outer[side], count, type, block->neighbours[side], side, block->grid,
                  &requests[side]);
        MPI_Isend(inner[side], count, type, block->neighbours[side],
                  (int)opposite[side], block->grid, &requests[SIDES + side]);
    }
}

static void update_row(const struct block *block, long row, long begin, long end)
{
    const double *here = point(block, block->now, row, 0);
    const double *north = here - block->stride, *south = here + block->stride;
    double *next = point(block, block->next, row, 0);

    for (long column = begin; column < end; column++)
        next[column] = 0.25 * ((north[column] + south[column]) +
                               (here[column - 1] + here[column + 1]));
}

/* The inner points need no halo and are computed while the messages are under way. */
static void iterate(struct block *block)
{
    MPI_Request requests[2 * SIDES];
    MPI_Status statuses[2 * SIDES];
    long last_row = block->rows - 1, last_column = block->columns - 1;

    start_halo(block, requests);
    for (long row = 1; row < last_row; row++)
        update_row(block, row, 1, last_column);
    MPI_Waitall(2 * SIDES, requests, statuses);
    update_row(block, 0, 0, block->columns);
    for (long row = 1; row < last_row; row++) {
        update_row(block, row, 0, 1);
        update_row(block, row, last_column, block->columns);
    }
    update_row(block, last_row, 0, block->columns);

    double *swapped = block->now;
    block->now = block->next;
    block->next = swapped;
}

static double largest_change(const struct block *block)
{
    double largest = 0, all;

    for (long row = 0; row < block->rows; row++)
        for (long column = 0; column < block->columns; column++) {
            double change = *point(block, block->now, row, column) -
                            *point(block, block->next, row, column);
            change = change < 0 ? -change : change;
            largest = change > largest ? change : largest;
        }
    MPI_Allreduce(&largest, &all, 1, MPI_DOUBLE, MPI_MAX, block->grid);
    return all;
}

static double solve(struct block *block, const struct settings *settings)
{
    double change = 0;

    for (long i = 1; i <= settings->iterations; i++) {
        iterate(block);
        if (i % settings->norm_every == 0 || i == settings->iterations)
            change = largest_change(block);
    }
    return change;
}

/* Compares this block with the same part of a plate computed by one rank. */
static long count_differences(const struct block *block, const struct block *alone)
{
    long differences = 0;

    for (long row = 0; row < block->rows; row++)
        for (long column = 0; column < block->columns; column++)
            differences += *point(block, block->now, row, column) !=
                           *point(alone, alone->now, block->first_row + row,
                                  block->first_column + column);
    return differences;
}

/* Rank 0 computes the whole plate alone; all ranks compare. Returns the number of
 * differences. */
static long check(const struct block *block, const struct settings *settings)
{
    struct block alone;
    long differences, all;
    int rank;

    init_block(&alone, MPI_COMM_SELF, settings->points);
    MPI_Comm_rank(block->grid, &rank);
    if (rank == 0)
        solve(&alone, settings);
    MPI_Bcast(alone.now, (int)((alone.rows + 2) * alone.stride), MPI_DOUBLE, 0,
              block->grid);
    differences = count_differences(block, &alone);
    MPI_Allreduce(&differences, &all, 1, MPI_LONG, MPI_SUM, block->grid);
    fini_block(&alone);
    return all;
}

static void check_size(const struct settings *settings)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (settings->points >= 2L * size)
        return;
    fprintf(stderr, "stencil2d: %ld points are too few for %d ranks\n",
            settings->points, size);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    struct settings settings = {.points = 400, .iterations = 500, .norm_every = 50};
    struct block block;
    int rank;
    const struct option_row rows[] = {
        {"points", OPTION_NUMBER, &settings.points, "points per side", 2, 20000},
        {"iterations", OPTION_NUMBER, &settings.iterations, "iterations", 0, 1L << 40},
        {"norm-every", OPTION_NUMBER, &settings.norm_every,
         "iterations between two collective norms", 1, 1L << 40},
        {0},
    };

    int first =
        options_parse(argc, argv, "[OPTION]...",
                      "Solves for the temperature on a plate, and compares with "
                      "one rank's result.",
                      rows);
    options_no_arguments(argc, argv, first);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_size(&settings);
    init_block(&block, MPI_COMM_WORLD, settings.points);
    double start = MPI_Wtime();
    double change = solve(&block, &settings);
    double seconds = MPI_Wtime() - start;
    long differences = check(&block, &settings);
    if (rank == 0) {
        printf("stencil2d: %ld iterations on %d x %d ranks in %.3f s, last change %g\n",
               settings.iterations, block.ranks[0], block.ranks[1], seconds, change);
        if (differences)
            fprintf(stderr,
                    "stencil2d: %ld points differ from the result of one rank\n",
                    differences);
    }
    fini_block(&block);
    MPI_Finalize();
    return differences ? EXIT_FAILURE : EXIT_SUCCESS;
}
