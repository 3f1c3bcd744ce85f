/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The calls of collective operations that order_truth makes. */
#ifndef ES_TESTS_ORDER_CALLS_H
#define ES_TESTS_ORDER_CALLS_H

#include <mpi.h>
#include <stdbool.h>

#include "order_schedule.h"

/* A collective operation under way. */
struct operation {
    const struct step *step;
    int entered; /* line of its begin */
    int send[RANKS_MAX * RANKS_MAX];
    int receive[RANKS_MAX * RANKS_MAX];
    MPI_Comm duplicate;
};

/* What is recorded of an operation is called so. */
extern const char *const operation_names[COLLECTIVES][WAYS];

/* The blocking call on `comm`, of `count` members. */
void operation_call(struct operation *operation, MPI_Comm comm, int count, int root);
/* The nonblocking one. */
void operation_begin(struct operation *operation,
                     MPI_Comm comm,
                     int count,
                     int root,
                     MPI_Request *request);
/* Makes a persistent request; false where MPI is too old for that. */
bool operation_prepare(struct operation *operation,
                       MPI_Comm comm,
                       int count,
                       int root,
                       MPI_Request *request);

#endif
