/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The operations, and both ways to call them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"

#include "bench/collective_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void routines_by_name(struct routines *ret_routines)
{
    *ret_routines = (struct routines){
        .barrier = MPI_Barrier,
        .bcast = MPI_Bcast,
        .reduce = MPI_Reduce,
        .allreduce = MPI_Allreduce,
        .gather = MPI_Gather,
        .scatter = MPI_Scatter,
        .allgather = MPI_Allgather,
    };
}

static void *symbol(void *library, const char *name)
{
    void *found = library ? dlsym(library, name) : NULL;

    if (!found) {
        fprintf(stderr, "collective: no %s in the MPI library: %s\n", name, dlerror());
        exit(1);
    }
    return found;
}

/* The file that contains this variable of the MPI library.  Nobody interposes the
 * variable, and nothing here refers to it, so it is not copied into this program
 * either. */
static void *open_library(void)
{
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, "MPI_F_STATUS_IGNORE");

    return address && dladdr(address, &info)
               ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
               : NULL;
}

void routines_of_library(struct routines *ret_routines)
{
    void *library = open_library();

    *(void **)&ret_routines->barrier = symbol(library, "PMPI_Barrier");
    *(void **)&ret_routines->bcast = symbol(library, "PMPI_Bcast");
    *(void **)&ret_routines->reduce = symbol(library, "PMPI_Reduce");
    *(void **)&ret_routines->allreduce = symbol(library, "PMPI_Allreduce");
    *(void **)&ret_routines->gather = symbol(library, "PMPI_Gather");
    *(void **)&ret_routines->scatter = symbol(library, "PMPI_Scatter");
    *(void **)&ret_routines->allgather = symbol(library, "PMPI_Allgather");
}

/* --- Operations ------------------------------------------------------------------ */

static void run_barrier(const struct call *call)
{
    call->routines->barrier(call->comm);
}

static void run_bcast(const struct call *call)
{
    call->routines->bcast(call->out, call->count, MPI_DOUBLE, 0, call->comm);
}

static void run_reduce(const struct call *call)
{
    call->routines->reduce(call->in, call->out, call->count, MPI_DOUBLE, MPI_SUM, 0,
                           call->comm);
}

static void run_allreduce(const struct call *call)
{
    call->routines->allreduce(call->in, call->out, call->count, MPI_DOUBLE, MPI_SUM,
                              call->comm);
}

static void run_gather(const struct call *call)
{
    call->routines->gather(call->in, call->count, MPI_DOUBLE, call->out, call->count,
                           MPI_DOUBLE, 0, call->comm);
}

static void run_scatter(const struct call *call)
{
    call->routines->scatter(call->in, call->count, MPI_DOUBLE, call->out, call->count,
                            MPI_DOUBLE, 0, call->comm);
}

static void run_allgather(const struct call *call)
{
    call->routines->allgather(call->in, call->count, MPI_DOUBLE, call->out, call->count,
                              MPI_DOUBLE, call->comm);
}

const struct operation operations[OPERATION_COUNT] = {
    {"barrier", run_barrier, false},    {"bcast", run_bcast, true},
    {"reduce", run_reduce, true},       {"allreduce", run_allreduce, true},
    {"gather", run_gather, true},       {"scatter", run_scatter, true},
    {"allgather", run_allgather, true},
};
