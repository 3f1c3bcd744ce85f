/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The collective operations that trees are built for, as a table; each can be called as
 * a program does, which whatever is preloaded takes note of, or in the MPI library
 * itself.
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

/* What a program that calls them by name gets. */
void routines_by_name(struct routines *ret_routines);
/* The MPI library's, past all that is preloaded.  Ends the program if it cannot find
 * them. */
void routines_of_library(struct routines *ret_routines);

/* One call: `count` doubles, of each rank in gathers and scatters; the root is 0. */
struct call {
    const struct routines *routines;
    MPI_Comm comm;
    int count;
    const double *in; /* room for `count` of all ranks, as `out` */
    double *out;
};

struct operation {
    const char *name;
    void (*run)(const struct call *call);
    bool has_data; /* all but the barrier */
};

enum { OPERATION_COUNT = 7 };

extern const struct operation operations[OPERATION_COUNT];

#endif
