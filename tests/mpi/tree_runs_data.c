/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Datatypes, operations and buffers for tests of collective trees. */
#include "tree_runs_data.h"

#include <stdlib.h>
#include <string.h>

enum {
    GUARD = 64,
    PATTERN = 0xa5,
    MODULUS = 10007,
    MATRIX_EXTENT = 32,
    PAIR_EXTENT = 20
};

struct type types[TYPE_COUNT];
MPI_Op ops[OP_COUNT];

static const MPI_Aint matrix_places[4] = {-8, 0, 4, 12};
static const MPI_Aint pair_places[2] = {4, 12};

/* --- Operations ----------------------------------------------------------------- */

static int *entry(void *base, int element, int extent, MPI_Aint place)
{
    return (int *)((char *)base + (MPI_Aint)element * extent + place);
}

static void multiply_matrices(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        int a[4];
        int b[4];

        for (int k = 0; k < 4; k++) {
            a[k] = *entry(left, i, MATRIX_EXTENT, matrix_places[k]);
            b[k] = *entry(right, i, MATRIX_EXTENT, matrix_places[k]);
        }
        for (int k = 0; k < 4; k++)
            *entry(right, i, MATRIX_EXTENT, matrix_places[k]) =
                (a[k / 2 * 2] * b[k % 2] + a[k / 2 * 2 + 1] * b[k % 2 + 2]) % MODULUS;
    }
}

static void add_pairs(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        for (int k = 0; k < 2; k++)
            *entry(right, i, PAIR_EXTENT, pair_places[k]) +=
                *entry(left, i, PAIR_EXTENT, pair_places[k]);
}

/* --- Types ---------------------------------------------------------------------- */

static MPI_Datatype resize(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent)
{
    MPI_Datatype resized;

    MPI_Type_create_resized(type, lower, extent, &resized);
    MPI_Type_free(&type);
    MPI_Type_commit(&resized);
    return resized;
}

static MPI_Datatype ints_at(int count, const MPI_Aint *places)
{
    MPI_Datatype type;

    MPI_Type_create_hindexed_block(count, 1, places, MPI_INT, &type);
    return type;
}

static MPI_Datatype make_mixed(void)
{
    int lengths[] = {1, 1};
    MPI_Aint places[] = {3, 8};
    MPI_Datatype members[] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype type;

    MPI_Type_create_struct(2, lengths, places, members, &type);
    return resize(type, 0, 24);
}

void make_types(void)
{
    static const MPI_Aint swapped[] = {sizeof(int), 0};

    types[TYPE_INT] = (struct type){MPI_INT, 1};
    types[TYPE_DOUBLE] = (struct type){MPI_DOUBLE, 0};
    types[TYPE_DOUBLE_INT] = (struct type){MPI_DOUBLE_INT, 0};
    types[TYPE_PAIR] =
        (struct type){resize(ints_at(2, pair_places), 0, PAIR_EXTENT), 2};
    types[TYPE_MATRIX] =
        (struct type){resize(ints_at(4, matrix_places), -12, MATRIX_EXTENT), 4};
    types[TYPE_SWAPPED] =
        (struct type){resize(ints_at(2, swapped), 0, 2 * sizeof(int)), 2};
    types[TYPE_MIXED] = (struct type){make_mixed(), 0};
    ops[OP_SUM] = MPI_SUM;
    ops[OP_MAX] = MPI_MAX;
    ops[OP_MINLOC] = MPI_MINLOC;
    MPI_Op_create(add_pairs, 1, &ops[OP_PAIRS]);
    MPI_Op_create(multiply_matrices, 0, &ops[OP_MATRICES]);
}

void free_types(void)
{
    for (int i = TYPE_PAIR; i < TYPE_COUNT; i++)
        MPI_Type_free(&types[i].type);
    MPI_Op_free(&ops[OP_PAIRS]);
    MPI_Op_free(&ops[OP_MATRICES]);
}

/* --- Buffers -------------------------------------------------------------------- */

struct buffer make_buffer(MPI_Datatype type, int count)
{
    struct buffer buffer;
    MPI_Aint lower, extent, true_lower, true_extent;

    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    buffer.size =
        2 * GUARD + (count > 0 ? (size_t)(true_extent + (count - 1) * extent) : 0);
    buffer.memory = malloc(buffer.size);
    memset(buffer.memory, PATTERN, buffer.size);
    buffer.base = buffer.memory + GUARD - true_lower;
    return buffer;
}

struct buffer copy_buffer(const struct buffer *buffer, MPI_Datatype type, int count)
{
    struct buffer copy = make_buffer(type, count);

    memcpy(copy.memory, buffer->memory, copy.size);
    return copy;
}

int is_same(const struct buffer *a, const struct buffer *b)
{
    return a->size == b->size && memcmp(a->memory, b->memory, a->size) == 0;
}

void free_buffer(struct buffer *buffer)
{
    free(buffer->memory);
    *buffer = (struct buffer){.memory = NULL};
}

/* Draws numbers whose sums depend on the order. */
void draw_doubles(double *values, int count, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        double value = (double)random_below(&seed, 1000000) / 7;

        values[i] = random_below(&seed, 2) ? value * 1e9 : -value;
    }
}

static void draw_bytes(char *packed, int size, int ints, uint64_t seed)
{
    for (int i = 0; i < size; i++)
        packed[i] = (char)random_below(&seed, 256);
    for (int i = 0; ints && i < size / (int)sizeof(int); i++) {
        int value = random_int(&seed, MODULUS);

        memcpy(packed + (size_t)i * sizeof value, &value, sizeof value);
    }
}

static void draw_pairs(char *packed, int count, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        double value = random_below(&seed, 5);
        int place = random_int(&seed, 1000);

        memcpy(packed, &value, sizeof value);
        memcpy(packed + sizeof value, &place, sizeof place);
        packed += sizeof value + sizeof place;
    }
}

void fill(const struct buffer *buffer,
          MPI_Datatype there,
          int first,
          int count_there,
          enum type_name name,
          int count,
          uint64_t seed)
{
    MPI_Aint lower, extent;
    int size;
    int position = 0;
    char *packed;

    MPI_Type_size(types[name].type, &size);
    MPI_Type_get_extent(there, &lower, &extent);
    size *= count;
    packed = malloc((size_t)size + 1);
    if (name == TYPE_DOUBLE)
        draw_doubles((double *)(void *)packed, count, seed);
    else if (name == TYPE_DOUBLE_INT)
        draw_pairs(packed, count, seed);
    else
        draw_bytes(packed, size, types[name].ints, seed);
    MPI_Unpack(packed, size, &position, buffer->base + first * extent, count_there,
               there, MPI_COMM_SELF);
    free(packed);
}
