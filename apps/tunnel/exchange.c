/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The exchange of border rows; see exchange.h. */
#include "exchange.h"

enum direction { TO_NORTH, TO_SOUTH, DIRECTIONS };

/* A tag per receiving slice, matrix and direction: every border has its own channel. */
static int tag_of(int receiver, int matrix, int matrices, enum direction direction)
{
    return (receiver * matrices + matrix) * DIRECTIONS + (int)direction;
}

bool exchange_fits(const struct exchange_layout *layout, int matrices)
{
    int *limit, found;
    long long tags = (long long)layout->slice_count * matrices * DIRECTIONS;

    MPI_Comm_get_attr(layout->comm, MPI_TAG_UB, (void *)&limit, &found);
    return found && tags - 1 <= *limit;
}

/* The rows exchanged between this slice and one neighbour, one in each direction. */
struct border {
    int neighbour;
    uint8_t *own_row, *their_row;
    enum direction out, in;
};

static void start_border(struct exchange *exchange,
                         const struct exchange_layout *layout,
                         const struct slice *slice,
                         int matrix,
                         const struct border *border)
{
    int columns = (int)slice->tunnel->columns;
    int matrices = slice->tunnel->matrices;
    int rank = border->neighbour / layout->slices_per_rank;

    if (border->neighbour < 0 || border->neighbour >= layout->slice_count)
        return;
    MPI_Irecv(border->their_row, columns, MPI_BYTE, rank,
              tag_of(slice->index, matrix, matrices, border->in), layout->comm,
              &exchange->requests[exchange->count++]);
    MPI_Isend(border->own_row, columns, MPI_BYTE, rank,
              tag_of(border->neighbour, matrix, matrices, border->out), layout->comm,
              &exchange->requests[exchange->count++]);
}

void exchange_start(struct exchange *exchange,
                    const struct exchange_layout *layout,
                    struct slice *slice,
                    int matrix)
{
    const struct border north = {slice->index - 1, slice_row(slice, matrix, 1),
                                 slice_row(slice, matrix, 0), TO_NORTH, TO_SOUTH};
    const struct border south = {
        slice->index + 1, slice_row(slice, matrix, slice->rows),
        slice_row(slice, matrix, slice->rows + 1), TO_SOUTH, TO_NORTH};

    exchange->count = 0;
    start_border(exchange, layout, slice, matrix, &north);
    start_border(exchange, layout, slice, matrix, &south);
}

void exchange_finish(struct exchange *exchange)
{
    MPI_Status statuses[4];

    if (exchange->count > 0)
        MPI_Waitall(exchange->count, exchange->requests, statuses);
}
