/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The collective operations that order_truth calls. */
#ifndef ES_TESTS_ORDER_CALLS_H
#define ES_TESTS_ORDER_CALLS_H

#include <mpi.h>
#include <stdbool.h>

#include "order_schedule.h"

/* A collective operation that has begun. */
struct operation {
    const struct step *step;
    int entered; /* log line of its begin */
    int send[RANKS_MAX * RANKS_MAX];
    int receive[RANKS_MAX * RANKS_MAX];
    MPI_Comm duplicate;
};

/* Names of the operations in the recording. */
extern const char *const operation_names[COLLECTIVES][WAYS];

/* Makes the blocking call on `comm`, which has `count` members. */
void operation_call(struct operation *operation, MPI_Comm comm, int count, int root);
/* Makes the nonblocking call. */
void operation_begin(struct operation *operation,
                     MPI_Comm comm,
                     int count,
                     int root,
                     MPI_Request *request);
/* Creates a persistent request. Returns false if the MPI version has none. */
bool operation_prepare(struct operation *operation,
                       MPI_Comm comm,
                       int count,
                       int root,
                       MPI_Request *request);

#endif
