/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A preload library for tests over hosts. It lets MPI_Finalize of MPICH 4.0 over UCX
 * and TCP return when ranks call it at different times.
 *
 * There MPI_Finalize disconnects all endpoints of UCX and then waits in a barrier of
 * the process manager without making progress in UCX.  An endpoint that was written to
 * needs an answer of its peer's UCX, so a rank that is later than its peer waits
 * forever. Therefore the ranks synchronise before they finalize: first each rank
 * exchanges a message with each other, so that all have the same connections; then they
 * enter a barrier of the process manager, by its own protocol (PMI-1) on the descriptor
 * inherited from the launcher.  After it they call the real MPI_Finalize together.
 *
 * This library must be loaded after the collector, and calls the libraries loaded after
 * itself, so that its own calls are not recorded.
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

/* Exchanges an empty message with each other rank: in each step with the ranks at one
 * distance on either side. */
static void talk_to_all(int rank, int size)
{
    sendrecv_fn exchange;

    find_next("PMPI_Sendrecv", &exchange);
    for (int distance = 1; distance < size; distance++)
        exchange(NULL, 0, MPI_BYTE, (rank + distance) % size, TAG, NULL, 0, MPI_BYTE,
                 (rank - distance + size) % size, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* A barrier without UCX; does nothing if the launcher uses another protocol. */
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

/* Both names are defined, since a collector calls the name that the program has
 * called. */
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
