/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The same MPI routines in several variants, in one process, so that variants can be
 * compared in immediate succession; other comparisons are useless on a noisy machine.
 *
 *   direct        the MPI library itself
 *   pass-through  our wrappers, empty
 *   floor         two clock reads and a 36-byte store with release around the call
 *   collected     the interposer
 */
#ifndef ES_BENCH_VARIANTS_H
#define ES_BENCH_VARIANTS_H

#include <mpi.h>

enum variant_kind { DIRECT, PASS_THROUGH, FLOOR, COLLECTED, VARIANT_COUNT };

struct variant {
    const char *name;
    int (*init)(int *, char ***);
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*waitall)(int, MPI_Request *, MPI_Status *);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*test)(MPI_Request *, int *, MPI_Status *);
    int (*iprobe)(int, int, MPI_Comm, int *, MPI_Status *);
};

/* Loads all variants; `directory` contains libeventspace-mpi.so and libpassthrough.so.
 * Exits on failure. */
void variants_load(const char *directory, struct variant variants[VARIANT_COUNT]);

/* Reads the clock, in ticks. */
unsigned long long bench_ticks(void);
/* Nanoseconds per tick. */
double bench_tick_ns(void);

/* The median of `count` values, which are sorted in place. */
double bench_median(double *values, int count);

#endif
