/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A preload library for tests over hosts: lets MPI_Finalize of MPICH 4.0 over UCX and
 * TCP end when ranks come to it at different times.
 *
 * There MPI_Finalize disconnects all endpoints of UCX and then waits in a barrier of
 * the process manager, without driving UCX.  An endpoint that was written to needs an
 * answer of its peer's UCX, so whoever comes later than its peer waits for ever.  So
 * the ranks meet before they finalize: first each talks to each, so that all have the
 * same connections; then in a barrier of the process manager, by its own protocol
 * (PMI-1) on the descriptor that the launcher has left open.  From there they come to
 * the real MPI_Finalize together.
 *
 * All calls go to what is loaded behind this library, which must itself stand behind
 * the collector: then nothing that is said here is recorded.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ES_EXPORT __attribute__((visibility("default")))

enum { TAG = 32001 };

typedef int (*finalize_fn)(void);
typedef int (*about_communicator_fn)(MPI_Comm communicator, int *ret_value);
typedef int (*sendrecv_fn)(const void *sent,
                           int sent_count,
                           MPI_Datatype sent_type,
                           int destination,
                           int sent_tag,
                           void *received,
                           int received_count,
                           MPI_Datatype received_type,
                           int source,
                           int received_tag,
                           MPI_Comm communicator,
                           MPI_Status *status);

/* ISO C has no conversion from object to function pointers; POSIX has. */
static void find_next(const char *name, void *ret_function)
{
    *(void **)ret_function = dlsym(RTLD_NEXT, name);
    if (!*(void **)ret_function)
        abort();
}

/* Sends nothing to each other rank: at each distance to one neighbour, from the other.
 */
static void talk_to_all(int rank, int size)
{
    sendrecv_fn exchange;

    find_next("PMPI_Sendrecv", &exchange);
    for (int distance = 1; distance < size; distance++)
        exchange(NULL, 0, MPI_BYTE, (rank + distance) % size, TAG, NULL, 0, MPI_BYTE,
                 (rank - distance + size) % size, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* A barrier that does not drive UCX; nothing where the launcher speaks another way. */
static void meet(void)
{
    static const char enter[] = "cmd=barrier_in\n";
    const char *text = getenv("PMI_FD");
    char c = '\0';

    if (!text)
        return;
    int manager = atoi(text);
    if (write(manager, enter, strlen(enter)) != (ssize_t)strlen(enter))
        return;
    while (c != '\n' && read(manager, &c, 1) == 1)
        continue;
}

static void gather_ranks(void)
{
    static bool done;
    about_communicator_fn get_rank, get_size;
    int rank, size;

    if (done)
        return;
    done = true;
    find_next("PMPI_Comm_rank", &get_rank);
    find_next("PMPI_Comm_size", &get_size);
    get_rank(MPI_COMM_WORLD, &rank);
    get_size(MPI_COMM_WORLD, &size);
    if (size > 1) {
        talk_to_all(rank, size);
        meet();
    }
}

/* Both names, since a collector hands on the one that the program has called. */
ES_EXPORT int MPI_Finalize(void)
{
    finalize_fn next;

    gather_ranks();
    find_next("MPI_Finalize", &next);
    return next();
}

ES_EXPORT int PMPI_Finalize(void)
{
    finalize_fn next;

    gather_ranks();
    find_next("PMPI_Finalize", &next);
    return next();
}
