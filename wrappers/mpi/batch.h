/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The requests of one completion call: their handles as they were before it, since MPI
 * nulls what completes, and a place for statuses that the program does not want.
 *
 * Calls with up to 64 requests use the stack; larger ones allocate.  Where that fails
 * the completions of the call are not recorded, which is counted once.
 */
#ifndef ES_WRAPPERS_MPI_BATCH_H
#define ES_WRAPPERS_MPI_BATCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/process.h"

enum { ESI_BATCH_SMALL = 64 };

struct esi_batch {
    int count;
    uint64_t *handles;
    MPI_Status *statuses; /* the program's, or ours */
    void *heap;
    uint64_t small_handles[ESI_BATCH_SMALL];
    MPI_Status small_statuses[ESI_BATCH_SMALL];
};

/* Whether there are as many requests as the call says; of none there may be no array.
 */
static inline bool esi_batch_is_good(const MPI_Request *requests, int count)
{
    return requests != NULL || count == 0;
}

/* Takes the handles.  `statuses` is the program's array, or MPI_STATUSES_IGNORE.  False
 * without memory: the batch is then empty and the call's own `statuses` must be passed
 * on. */
static inline bool esi_batch_init(struct esi_batch *batch,
                                  const MPI_Request *requests,
                                  int count,
                                  MPI_Status *statuses)
{
    size_t size = count > 0 ? (size_t)count : 0;

    batch->handles = batch->small_handles;
    batch->statuses =
        statuses == MPI_STATUSES_IGNORE ? batch->small_statuses : statuses;
    batch->heap = NULL;
    batch->count = count > 0 ? count : 0;
    if (size > ESI_BATCH_SMALL) {
        batch->heap = malloc(size * (sizeof(uint64_t) + sizeof(MPI_Status)));
        if (batch->heap == NULL) {
            esi_process_count_refused_tuple();
            batch->count = 0;
            batch->statuses = statuses;
            return false;
        }
        batch->handles = batch->heap;
        if (statuses == MPI_STATUSES_IGNORE)
            batch->statuses = (MPI_Status *)(batch->handles + size);
    }
    for (size_t i = 0; i < size; i++)
        batch->handles[i] = ESI_HANDLE(requests[i]);
    return true;
}

static inline void esi_batch_fini(struct esi_batch *batch)
{
    free(batch->heap);
}

#endif
