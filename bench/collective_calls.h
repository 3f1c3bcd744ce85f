/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A table of the collective operations that trees can perform.  Each can be called like
 * a program does, so that preloaded libraries see it, or directly in the MPI library.
 */
#ifndef ES_BENCH_COLLECTIVE_CALLS_H
#define ES_BENCH_COLLECTIVE_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct routines {
    int (*barrier)(MPI_Comm);
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*gather)(const void *,
                  int,
                  MPI_Datatype,
                  void *,
                  int,
                  MPI_Datatype,
                  int,
                  MPI_Comm);
    int (*scatter)(const void *,
                   int,
                   MPI_Datatype,
                   void *,
                   int,
                   MPI_Datatype,
                   int,
                   MPI_Comm);
    int (*allgather)(const void *,
                     int,
                     MPI_Datatype,
                     void *,
                     int,
                     MPI_Datatype,
                     MPI_Comm);
};

/* The routines that a program gets by name. */
void routines_by_name(struct routines *ret_routines);
/* The routines of the MPI library, bypassing preloaded libraries.  Exits if they are
 * not found. */
void routines_of_library(struct routines *ret_routines);

/* One call: `count` doubles, in gathers and scatters per rank; the root is 0. */
struct call {
    const struct routines *routines;
    MPI_Comm comm;
    int count;
    const double *in; /* room for `count` doubles of all ranks, like `out` */
    double *out;
};

struct operation {
    const char *name;
    void (*run)(const struct call *call);
    bool has_data; /* false for the barrier */
};

enum { OPERATION_COUNT = 7 };

extern const struct operation operations[OPERATION_COUNT];

#endif
