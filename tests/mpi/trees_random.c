/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random collective operations: trees_random SEED STEPS.  All ranks draw the same
 * sequence from the seed. Each prints a hash of all data that it received, including
 * gaps and untouched parts of buffers.  All arithmetic is exact, so the hash does not
 * depend on the order of reductions and is the same with and without trees.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

enum { MAX_COUNT = 6000, MAX_RANKS = 8, MAX_EXTENT = 24, MODULUS = 65521 };
enum { BUFFER_BYTES = MAX_COUNT * MAX_RANKS * MAX_EXTENT };

struct pair {
    double value;
    int index;
};

enum fill { INTEGERS, DOUBLES, PAIRS };

struct element {
    MPI_Datatype type;
    size_t extent;
    enum fill fill;
    MPI_Op ops[5];
    int op_count;
};

static uint64_t stream; /* the same at all ranks */
static uint64_t hash = 14695981039346656037u;
static unsigned char *send, *receive;
static struct element elements[6];
static int element_count;
static MPI_Comm comms[5];
enum { COMM_COUNT = 5 };
static MPI_Comm inter;
static int world_rank;

static void take(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
}

/* --- Data ----------------------------------------------------------------------- */

static void fill(unsigned char *buffer, size_t bytes, enum fill how, unsigned int salt)
{
    unsigned int value = salt * 2654435761u + (unsigned int)world_rank * 40503u;

    memset(buffer, (int)(salt & 0x7f), bytes);
    for (size_t i = 0; i * 16 < bytes; i++) {
        value = value * 1664525u + 1013904223u;
        if (how == INTEGERS) {
            for (int k = 0; k < 4; k++)
                ((int *)buffer)[4 * i + (size_t)k] = (int)((value >> 8 * k) % 1000);
        } else if (how == DOUBLES) {
            ((double *)buffer)[2 * i] = value >> 20;
            ((double *)buffer)[2 * i + 1] = value >> 22;
        } else {
            ((struct pair *)buffer)[i].value = value >> 29;
            ((struct pair *)buffer)[i].index = (int)(value & 7);
        }
    }
}

/* Composes the maps x -> a x + b: associative, but not commutative. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    unsigned int *left = in;
    unsigned int *right = inout;

    (void)type;
    for (int i = 0; i < *length; i++, left += 2, right += 2) {
        right[1] = (left[0] % MODULUS * (right[1] % MODULUS) + left[1]) % MODULUS;
        right[0] = left[0] % MODULUS * (right[0] % MODULUS) % MODULUS;
    }
}

/* Adds every other integer of a type with gaps. */
static void add_strided(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int *from = in;
    int *to = inout;

    (void)type;
    for (int i = 0; i < *length; i++, from += 6, to += 6)
        for (int k = 0; k < 6; k += 2)
            to[k] += from[k];
}

static void add_element(MPI_Datatype type, size_t extent, enum fill how)
{
    elements[element_count++] =
        (struct element){.type = type, .extent = extent, .fill = how};
}

static void add_op(MPI_Op op)
{
    struct element *element = &elements[element_count - 1];

    element->ops[element->op_count++] = op;
}

static void make_elements(void)
{
    MPI_Datatype strided, resized, affine;
    MPI_Op op;

    add_element(MPI_INT, sizeof(int), INTEGERS);
    add_op(MPI_SUM);
    add_op(MPI_MAX);
    add_op(MPI_BXOR);
    add_op(MPI_LAND);
    add_element(MPI_DOUBLE, sizeof(double), DOUBLES);
    add_op(MPI_SUM);
    add_op(MPI_MIN);
    add_element(MPI_DOUBLE_INT, sizeof(struct pair), PAIRS);
    add_op(MPI_MAXLOC);
    add_op(MPI_MINLOC);
    add_element(MPI_2INT, 2 * sizeof(int), INTEGERS);
    add_op(MPI_MINLOC);
    MPI_Type_vector(3, 1, 2, MPI_INT, &strided);
    MPI_Type_create_resized(strided, 0, 24, &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&strided);
    add_element(resized, 24, INTEGERS);
    MPI_Op_create(add_strided, 1, &op);
    add_op(op);
    MPI_Type_contiguous(2, MPI_INT, &affine);
    MPI_Type_commit(&affine);
    add_element(affine, 8, INTEGERS);
    MPI_Op_create(compose, 0, &op);
    add_op(op);
}

static void make_comms(void)
{
    MPI_Comm half;
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_set_name(comms[1], world_rank == 0 ? "twin" : "not asked");
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &comms[3]);
    comms[4] = MPI_COMM_SELF;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < size / 2, 0, &half);
    inter = MPI_COMM_NULL;
    if (size > 1)
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD,
                             world_rank < size / 2 ? size / 2 : 0, 1, &inter);
    MPI_Comm_free(&half);
}

/* --- Steps ---------------------------------------------------------------------- */

struct step {
    MPI_Comm comm;
    const struct element *element;
    MPI_Op op;
    int rank, size, root, count;
    bool in_place;
    bool is_large; /* the _c form */
};

static int draw_count(void)
{
    static const int counts[] = {0, 1, 1, 2, 3, 7, 16, 100, 1000, MAX_COUNT};

    return counts[random_below(&stream, 10)];
}

static struct step draw_step(void)
{
    struct step step;

    step.comm = comms[random_below(&stream, COMM_COUNT)];
    MPI_Comm_rank(step.comm, &step.rank);
    MPI_Comm_size(step.comm, &step.size);
    step.element = &elements[random_below(&stream, (unsigned int)element_count)];
    step.op =
        step.element->ops[random_below(&stream, (unsigned int)step.element->op_count)];
    step.root = (int)(random_next(&stream) % 840 % (unsigned int)step.size);
    step.count = draw_count();
    step.in_place = random_below(&stream, 3) == 0;
    step.is_large = random_below(&stream, 4) == 0;
    return step;
}

#if MPI_VERSION >= 4
#define CALL(name, ...) (step->is_large ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))
#else
#define CALL(name, ...) name(__VA_ARGS__)
#endif

static int do_bcast(const struct step *step)
{
    return CALL(MPI_Bcast, receive, step->count, step->element->type, step->root,
                step->comm);
}

static int do_reduce(const struct step *step)
{
    bool is_root = step->rank == step->root;
    /* MPICH 4.0 crashes at large reductions in place with a root other than 0. */
    bool in_place = step->in_place && (step->root == 0 || step->count < 100);

    return CALL(MPI_Reduce, in_place && is_root ? MPI_IN_PLACE : send,
                is_root ? receive : NULL, step->count, step->element->type, step->op,
                step->root, step->comm);
}

static int do_allreduce(const struct step *step)
{
    return CALL(MPI_Allreduce, step->in_place ? MPI_IN_PLACE : send, receive,
                step->count, step->element->type, step->op, step->comm);
}

static int do_gather(const struct step *step)
{
    bool is_root = step->rank == step->root;

    return CALL(
        MPI_Gather, step->in_place && is_root ? MPI_IN_PLACE : send, step->count,
        step->element->type, is_root ? receive : NULL, is_root ? step->count : -1,
        is_root ? step->element->type : MPI_DATATYPE_NULL, step->root, step->comm);
}

static int do_scatter(const struct step *step)
{
    bool is_root = step->rank == step->root;

    return CALL(MPI_Scatter, is_root ? send : NULL, is_root ? step->count : -1,
                is_root ? step->element->type : MPI_DATATYPE_NULL,
                step->in_place && is_root ? MPI_IN_PLACE : receive, step->count,
                step->element->type, step->root, step->comm);
}

/* Receives with another type of the same signature, if there is one. */
static int do_allgather(const struct step *step)
{
    MPI_Datatype type = step->element->type;
    int count = step->count;

    if (type == MPI_INT && count % 3 == 0 && !step->in_place) {
        type = elements[4].type;
        count /= 3;
    }
    return CALL(MPI_Allgather, step->in_place ? MPI_IN_PLACE : send, step->count,
                step->element->type, receive, count, type, step->comm);
}

static int do_barrier(const struct step *step)
{
    return MPI_Barrier(step->comm);
}

static void do_step(unsigned int number)
{
    static int (*const kinds[])(const struct step *step) = {
        do_barrier, do_bcast,   do_reduce,   do_allreduce,
        do_gather,  do_scatter, do_allgather};
    struct step step = draw_step();
    size_t block = (size_t)step.count * step.element->extent;
    size_t bytes = block * (size_t)step.size + MAX_EXTENT;
    unsigned int kind = random_below(&stream, 7);
    int result;

    /* MPICH 4.0 itself fails to gather large blocks of types with gaps. */
    if (kind >= 4 && step.element->fill == PAIRS)
        step.element = &elements[1];
    if (bytes <
        8 * block) /* a received block may have gaps that the sent one has not */
        bytes = 8 * block;
    fill(send, bytes, step.element->fill, number * 2);
    fill(receive, bytes, step.element->fill, number * 2 + 1);
    result = kinds[kind](&step);
    take(&result, sizeof result);
    take(receive, bytes);
    if (getenv("TREES_RANDOM_VERBOSE") != NULL)
        fprintf(stderr, "%d: step %u kind %u comm size %d root %d count %d: %016llx\n",
                world_rank, number, kind, step.size, step.root, step.count,
                (unsigned long long)hash);
}

/* Trees do not apply here and must not interfere. */
static void do_inter_step(unsigned int number)
{
    int value = (int)number + world_rank;
    int sum = 0;

    if (inter == MPI_COMM_NULL)
        return;
    MPI_Barrier(inter);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
    take(&sum, sizeof sum);
}

static void print_hashes(void)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++) {
        uint64_t other = hash;

        if (world_rank == 0 && i > 0)
            MPI_Recv(&other, 1, MPI_UINT64_T, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (world_rank == 0)
            printf("%016llx%c", (unsigned long long)other, i + 1 < size ? ' ' : '\n');
    }
    if (world_rank > 0)
        MPI_Send(&hash, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    unsigned int steps = argc > 2 ? (unsigned int)atoi(argv[2]) : 100;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    stream = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    send = malloc(BUFFER_BYTES + 4096);
    receive = malloc(BUFFER_BYTES + 4096);
    make_elements();
    make_comms();
    for (unsigned int i = 0; i < steps; i++) {
        do_step(i);
        if (i % 50 == 0)
            do_inter_step(i);
    }
    print_hashes();
    for (int i = 1; i < 4; i++)
        MPI_Comm_free(&comms[i]);
    if (inter != MPI_COMM_NULL)
        MPI_Comm_free(&inter);
    MPI_Finalize();
    return 0;
}
