/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_data.h - elements of a datatype in memory, as they lie and packed. */
#ifndef ES_WRAPPERS_TREES_RUN_DATA_H
#define ES_WRAPPERS_TREES_RUN_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "wrappers/mpi/mpi_next.h"

struct esi_tree_run;

/* Elements of a datatype in the program's memory, or in ours of the same layout. */
struct esi_data {
    char *base;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Count bytes; /* that travel, of all */

    /* Of an element. */
    MPI_Count size;       /* bytes that travel */
    MPI_Aint extent;      /* to the next one */
    MPI_Aint true_lower;  /* from its address to its first byte */
    MPI_Aint true_extent; /* to behind its last */
    bool is_plain; /* its bytes in memory are those that travel, in their order */
};

/* What MPI says of the datatype is remembered until the program frees one. */
int esi_data_init(struct esi_data *data,
                  const void *base,
                  MPI_Count count,
                  MPI_Datatype type);
/* `count` elements from the `first` on. */
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

/* How much memory `count` elements of its type take, and how far before the address of
 * the first it begins (negative: behind). */
void esi_data_span(const struct esi_data *data,
                   MPI_Count count,
                   size_t *ret_bytes,
                   MPI_Aint *ret_before);
/* The packed form has data->bytes. */
int esi_data_pack(struct esi_tree_run *run, const struct esi_data *data, char *packed);
int esi_data_unpack(struct esi_tree_run *run,
                    char *packed,
                    const struct esi_data *data);
/* Between types of equal signature; the same memory is left alone. */
int esi_data_copy(struct esi_tree_run *run,
                  const struct esi_data *to,
                  const struct esi_data *from);
/* Reduces `count` elements of its type into `right`, as MPI_Reduce_local() does. */
int esi_data_reduce(const struct esi_data *data,
                    MPI_Count count,
                    const char *left,
                    char *right,
                    MPI_Op op);

#endif
