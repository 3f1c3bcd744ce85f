/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Slices give their border rows to their neighbours, by messages. */
#ifndef APPS_TUNNEL_EXCHANGE_H
#define APPS_TUNNEL_EXCHANGE_H

#include "slice.h"

#include <mpi.h>

/* Who holds which slices; rank r holds slices_per_rank of them from r * that on. */
struct exchange_layout {
    MPI_Comm comm;
    int slice_count;
    int slices_per_rank;
};

/* The messages under way for one matrix of one slice. */
struct exchange {
    MPI_Request requests[4];
    int count;
};

/* Whether the tags needed are within what MPI offers. */
bool exchange_fits(const struct exchange_layout *layout, int matrices);

/*
 * Starts to send both border rows of the matrix and to receive the neighbours'. Slices
 * of one rank exchange by messages as well, so a thread needs no other way to wait.
 */
void exchange_start(struct exchange *exchange,
                    const struct exchange_layout *layout,
                    struct slice *slice,
                    int matrix);

/* Until then the border rows must stay as they are. */
void exchange_finish(struct exchange *exchange);

#endif
