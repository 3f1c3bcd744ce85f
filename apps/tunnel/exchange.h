/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Slices exchange border rows with their neighbours by messages. */
#ifndef APPS_TUNNEL_EXCHANGE_H
#define APPS_TUNNEL_EXCHANGE_H

#include "slice.h"

#include <mpi.h>

/* The distribution of slices: rank r has slices_per_rank slices, starting with r *
 * slices_per_rank. */
struct exchange_layout {
    MPI_Comm comm;
    int slice_count;
    int slices_per_rank;
};

/* The pending messages of one matrix of one slice. */
struct exchange {
    MPI_Request requests[4];
    int count;
};

/* Returns true if MPI supports the required tags. */
bool exchange_fits(const struct exchange_layout *layout, int matrices);

/*
 * Starts sending both border rows of the matrix and receiving those of the neighbours.
 * Slices of the same rank also exchange messages, so that threads need no other way to
 * wait.
 */
void exchange_start(struct exchange *exchange,
                    const struct exchange_layout *layout,
                    struct slice *slice,
                    int matrix);

/* Waits for the messages. Until it returns, the border rows must not change. */
void exchange_finish(struct exchange *exchange);

#endif
