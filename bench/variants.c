/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Loads the variants, and implements the floor variant. */
#include "config.h"

#include "bench/variants.h"

#include <dlfcn.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "eventspace/clock.h"
#include "eventspace/tuple.h"

enum { FLOOR_SLOTS = 4096 };

static struct es_tuple floor_ring[FLOOR_SLOTS];
static struct {
    alignas(64) _Atomic unsigned long long head;
} floor_line;
static enum es_clock_kind kind;
static struct variant direct;

unsigned long long bench_ticks(void)
{
    return es_clock_ticks_of(kind);
}

double bench_tick_ns(void)
{
    static struct es_clock clock;

    if (clock.frequency_hz == 0)
        es_clock_calibrate(20000000, &clock);
    return 1e9 / (double)clock.frequency_hz;
}

/* The least that any collector must do. */
static void floor_store(unsigned long long start,
                        unsigned short operation,
                        int peer,
                        int tag)
{
    unsigned long long head =
        atomic_load_explicit(&floor_line.head, memory_order_relaxed);
    struct es_tuple *slot = &floor_ring[head % FLOOR_SLOTS];

    slot->start = start;
    slot->operation = operation;
    slot->communicator = 0;
    slot->sequence = (unsigned int)head;
    slot->peer = peer;
    slot->tag = tag;
    slot->bytes = 8;
    slot->stop = bench_ticks();
    atomic_store_explicit(&floor_line.head, head + 1, memory_order_release);
}

static int floor_send(const void *buf,
                      int count,
                      MPI_Datatype type,
                      int dest,
                      int tag,
                      MPI_Comm comm)
{
    unsigned long long start = bench_ticks();
    int result = direct.send(buf, count, type, dest, tag, comm);

    floor_store(start, 1, dest, tag);
    return result;
}

static int floor_recv(void *buf,
                      int count,
                      MPI_Datatype type,
                      int source,
                      int tag,
                      MPI_Comm comm,
                      MPI_Status *status)
{
    unsigned long long start = bench_ticks();
    int result = direct.recv(buf, count, type, source, tag, comm, status);

    floor_store(start, 2, source, tag);
    return result;
}

static int floor_isend(const void *buf,
                       int count,
                       MPI_Datatype type,
                       int dest,
                       int tag,
                       MPI_Comm comm,
                       MPI_Request *request)
{
    unsigned long long start = bench_ticks();
    int result = direct.isend(buf, count, type, dest, tag, comm, request);

    floor_store(start, 3, dest, tag);
    return result;
}

static int floor_irecv(void *buf,
                       int count,
                       MPI_Datatype type,
                       int source,
                       int tag,
                       MPI_Comm comm,
                       MPI_Request *request)
{
    unsigned long long start = bench_ticks();
    int result = direct.irecv(buf, count, type, source, tag, comm, request);

    floor_store(start, 4, source, tag);
    return result;
}

static int floor_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    unsigned long long start = bench_ticks();
    int result = direct.waitall(count, requests, statuses);

    floor_store(start, 5, -1, count);
    return result;
}

static int floor_allreduce(const void *in,
                           void *out,
                           int count,
                           MPI_Datatype type,
                           MPI_Op op,
                           MPI_Comm comm)
{
    unsigned long long start = bench_ticks();
    int result = direct.allreduce(in, out, count, type, op, comm);

    floor_store(start, 6, -1, count);
    return result;
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (found == NULL) {
        fprintf(stderr, "bench: %s\n", dlerror());
        exit(1);
    }
    return found;
}

static void fill(void *library, const char *name, struct variant *variant)
{
    variant->name = name;
    *(void **)&variant->init = symbol(library, "MPI_Init");
    *(void **)&variant->send = symbol(library, "MPI_Send");
    *(void **)&variant->recv = symbol(library, "MPI_Recv");
    *(void **)&variant->isend = symbol(library, "MPI_Isend");
    *(void **)&variant->irecv = symbol(library, "MPI_Irecv");
    *(void **)&variant->waitall = symbol(library, "MPI_Waitall");
    *(void **)&variant->allreduce = symbol(library, "MPI_Allreduce");
    *(void **)&variant->test = symbol(library, "MPI_Test");
    *(void **)&variant->iprobe = symbol(library, "MPI_Iprobe");
}

static void *load(const char *directory, const char *file)
{
    char path[4096];
    void *library;

    snprintf(path, sizeof path, "%s/%s", directory, file);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "bench: %s\n", dlerror());
        exit(1);
    }
    return library;
}

void variants_load(const char *directory, struct variant variants[VARIANT_COUNT])
{
    kind = es_clock_kind();
    fill(RTLD_DEFAULT, "direct", &variants[DIRECT]);
    direct = variants[DIRECT];
    fill(load(directory, "libpassthrough.so"), "pass-through", &variants[PASS_THROUGH]);
    variants[FLOOR] = direct;
    variants[FLOOR].name = "floor";
    variants[FLOOR].send = floor_send;
    variants[FLOOR].recv = floor_recv;
    variants[FLOOR].isend = floor_isend;
    variants[FLOOR].irecv = floor_irecv;
    variants[FLOOR].waitall = floor_waitall;
    variants[FLOOR].allreduce = floor_allreduce;
    fill(load(directory, "libeventspace-mpi.so"), "collected", &variants[COLLECTED]);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof values[0], compare);
    return count % 2 != 0 ? values[count / 2]
                          : (values[count / 2 - 1] + values[count / 2]) / 2;
}
