/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Datatypes, operations and buffers for tests of collective trees.
 *
 * A buffer has a guard on both sides and a pattern in all gaps. Comparing its whole
 * memory shows whether anything was written outside the type map.
 */
#ifndef ES_TESTS_MPI_TREE_RUNS_DATA_H
#define ES_TESTS_MPI_TREE_RUNS_DATA_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/random.h"

enum type_name {
    TYPE_INT,
    TYPE_DOUBLE,
    TYPE_DOUBLE_INT,
    TYPE_PAIR,    /* two ints with gaps */
    TYPE_MATRIX,  /* four ints around the address, the lower bound negative */
    TYPE_SWAPPED, /* two ints, the second first, without a gap */
    TYPE_MIXED,   /* a char and a double */
    TYPE_COUNT,
};

struct type {
    MPI_Datatype type;
    int ints; /* number of ints in an element that has nothing else, otherwise 0 */
};

enum op_name {
    OP_SUM,
    OP_MAX,
    OP_MINLOC,
    OP_PAIRS,    /* commutes */
    OP_MATRICES, /* does not commute */
    OP_COUNT,
};

struct buffer {
    char *memory;
    size_t size;
    char *base; /* address of the first element */
};

extern struct type types[TYPE_COUNT];
extern MPI_Op ops[OP_COUNT];

void make_types(void);
void free_types(void);

/* Allocates a buffer for `count` elements. */
struct buffer make_buffer(MPI_Datatype type, int count);
struct buffer copy_buffer(const struct buffer *buffer, MPI_Datatype type, int count);
int is_same(const struct buffer *a, const struct buffer *b);
void free_buffer(struct buffer *buffer);

/* Writes the contribution of a rank: `count` elements of types[name], as `count_there`
 * elements of type `there` from element `first` on. */
void fill(const struct buffer *buffer,
          MPI_Datatype there,
          int first,
          int count_there,
          enum type_name name,
          int count,
          uint64_t seed);

/* The same for doubles. */
void draw_doubles(double *values, int count, uint64_t seed);

#endif
