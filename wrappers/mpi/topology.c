/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The neighbours that a rank receives from in neighbourhood collectives (MPI-4.0,
 * chapter 8): written once, when a communicator with a topology has been made.
 *
 * The real routines are asked about a communicator that MPI has just made; nothing
 * here communicates.
 */
#include "config.h"

#include <stdlib.h>

#include "wrappers/mpi/topology.h"

/* How many neighbours of a communicator are written; each tuple has the number of all.
 */
enum { NEIGHBOURS_MAX = 1024 };

/* Each returns how many there are, and their ranks, which the caller frees; -1 when it
 * cannot be found out.  Neighbours that are MPI_PROC_NULL are left out, as nothing
 * comes from them. */
static int neighbours_in_grid(MPI_Comm comm, int **ret_ranks)
{
    int dimensions = 0;
    int count = 0;
    int *ranks;

    if (ESI_REAL(MPI_Cartdim_get)(comm, &dimensions) != MPI_SUCCESS)
        return -1;
    ranks = calloc((size_t)dimensions * 2 + 1, sizeof *ranks);
    if (ranks == NULL)
        return -1;
    for (int i = 0; i < dimensions; i++) {
        int before = MPI_PROC_NULL;
        int behind = MPI_PROC_NULL;

        ESI_REAL(MPI_Cart_shift)(comm, i, 1, &before, &behind);
        if (before >= 0)
            ranks[count++] = before;
        if (behind >= 0)
            ranks[count++] = behind;
    }
    *ret_ranks = ranks;
    return count;
}

static int neighbours_in_graph(MPI_Comm comm, int rank, int **ret_ranks)
{
    int count = 0;
    int *ranks;

    if (ESI_REAL(MPI_Graph_neighbors_count)(comm, rank, &count) != MPI_SUCCESS)
        return -1;
    ranks = calloc((size_t)count + 1, sizeof *ranks);
    if (ranks == NULL)
        return -1;
    ESI_REAL(MPI_Graph_neighbors)(comm, rank, count, ranks);
    *ret_ranks = ranks;
    return count;
}

static int sources_in_graph(MPI_Comm comm, int **ret_ranks)
{
    int sources = 0;
    int destinations = 0;
    int weighted = 0;
    int *all;     /* sources, their weights, destinations, their weights */
    int *targets; /* the latter two */

    if (ESI_REAL(MPI_Dist_graph_neighbors_count)(comm, &sources, &destinations,
                                                 &weighted) != MPI_SUCCESS)
        return -1;
    all = calloc((size_t)sources * 2 + (size_t)destinations * 2 + 1, sizeof *all);
    if (all == NULL)
        return -1;
    targets = all + (size_t)sources * 2;
    ESI_REAL(MPI_Dist_graph_neighbors)
    (comm, sources, all, all + sources, destinations, targets, targets + destinations);
    *ret_ranks = all;
    return sources;
}

static int find_neighbours(MPI_Comm comm, int rank, int **ret_ranks)
{
    int kind = MPI_UNDEFINED;

    ESI_REAL(MPI_Topo_test)(comm, &kind);
    switch (kind) {
    case MPI_CART:
        return neighbours_in_grid(comm, ret_ranks);
    case MPI_GRAPH:
        return neighbours_in_graph(comm, rank, ret_ranks);
    case MPI_DIST_GRAPH:
        return sources_in_graph(comm, ret_ranks);
    default:
        return -1;
    }
}

void esi_topology_write_neighbours(struct esi_thread *thread,
                                   MPI_Comm handle,
                                   const struct esi_comm *comm,
                                   uint64_t now)
{
    struct es_tuple tuple = {.operation = ES_OP_MPI_topology_neighbour,
                             .start = now,
                             .stop = now,
                             .peer = ES_PEER_NONE};
    int *ranks = NULL;
    int count;

    if (comm == NULL || comm->inter)
        return;
    count = find_neighbours(handle, comm->rank, &ranks);
    tuple.communicator = comm->index;
    tuple.tag = count;
    for (int i = 0; i < count && i < NEIGHBOURS_MAX; i++) {
        tuple.sequence = (uint32_t)i;
        tuple.peer = ranks[i];
        esi_path_write(thread, &tuple);
    }
    if (count == 0)
        esi_path_write(thread, &tuple);
    free(ranks);
}
