/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_data.h - elements of a datatype, in memory and packed. */
#ifndef ES_WRAPPERS_TREES_RUN_DATA_H
#define ES_WRAPPERS_TREES_RUN_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "wrappers/mpi/mpi_next.h"

struct esi_tree_run;

/* Elements of a datatype in the program's memory, or in our own memory with the same
 * layout. */
struct esi_data {
    char *base;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Count bytes; /* total bytes transferred */

    /* Of each element. */
    MPI_Count size;       /* bytes transferred */
    MPI_Aint extent;      /* distance to the next element */
    MPI_Aint true_lower;  /* from its address to its first byte */
    MPI_Aint true_extent; /* from its first to its last byte */
    bool is_plain; /* its bytes in memory are those transferred, in the same order */
};

/* Initializes the data.  The properties of the datatype are cached until the program
 * frees one.  Returns MPI's code. */
int esi_data_init(struct esi_data *data,
                  const void *base,
                  MPI_Count count,
                  MPI_Datatype type);
/* A part of the data: `count` elements starting at `first`. */
static inline struct esi_data esi_data_part(const struct esi_data *data,
                                            MPI_Count first,
                                            MPI_Count count)
{
    struct esi_data part = *data;

    part.base += first * data->extent;
    part.count = count;
    part.bytes = count * data->size;
    return part;
}

/* The memory needed for `count` elements of the type, and how far before the address of
 * the first element it starts (negative: after). */
void esi_data_span(const struct esi_data *data,
                   MPI_Count count,
                   size_t *ret_bytes,
                   MPI_Aint *ret_before);
/* Pack and unpack the data.  The packed form has data->bytes. */
int esi_data_pack(struct esi_tree_run *run, const struct esi_data *data, char *packed);
int esi_data_unpack(struct esi_tree_run *run,
                    char *packed,
                    const struct esi_data *data);
/* Copies between types of the same signature; does nothing for the same memory. */
int esi_data_copy(struct esi_tree_run *run,
                  const struct esi_data *to,
                  const struct esi_data *from);
/* Reduces `count` elements of the type into `right`, like MPI_Reduce_local(). */
int esi_data_reduce(const struct esi_data *data,
                    MPI_Count count,
                    const char *left,
                    char *right,
                    MPI_Op op);

#endif
