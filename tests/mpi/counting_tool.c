/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * counting_tool - another PMPI tool, like those of users: it counts calls of the
 * program and prints the counts in MPI_Finalize.
 *
 * It interposes only the MPI_ names, and calls the PMPI_ names.
 */
#include <mpi.h>
#include <stdio.h>

static int sends, receives, waits, barriers, dups;

#define EXPORT __attribute__((visibility("default")))

EXPORT int MPI_Send(const void *buf,
                    int count,
                    MPI_Datatype type,
                    int dest,
                    int tag,
                    MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

EXPORT int MPI_Irecv(void *buf,
                     int count,
                     MPI_Datatype type,
                     int source,
                     int tag,
                     MPI_Comm comm,
                     MPI_Request *request)
{
    receives++;
    return PMPI_Irecv(buf, count, type, source, tag, comm, request);
}

EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    waits++;
    return PMPI_Wait(request, status);
}

/* A tool may make calls of its own, which must not count as the program's. */
EXPORT int MPI_Barrier(MPI_Comm comm)
{
    int word = 0;

    barriers++;
    PMPI_Bcast(&word, 1, MPI_INT, 0, comm);
    return PMPI_Barrier(comm);
}

EXPORT int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    dups++;
    return PMPI_Comm_dup(comm, made);
}

EXPORT int MPI_Finalize(void)
{
    fprintf(stderr, "tool: %d sends %d receives %d waits %d barriers %d dups\n", sends,
            receives, waits, barriers, dups);
    return PMPI_Finalize();
}
