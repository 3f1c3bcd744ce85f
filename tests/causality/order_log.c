/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_log.c - writes the log of a rank. */
#include "order_log.h"

#include <mpi.h>
#include <stdlib.h>

enum { THREAD_STEP = 100 };

int rank;
int size;
_Thread_local int thread;
_Thread_local FILE *log_file;
_Thread_local int log_calls;
static _Thread_local int lines;

void die(const char *why)
{
    fprintf(stderr, "order_truth: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (memory == NULL)
        die("no memory");
    return memory;
}

int log_name(int of)
{
    return of + thread * THREAD_STEP;
}

int log_put(char kind, const char *name, int number)
{
    if (lines > 0)
        fputc('\n', log_file);
    fprintf(log_file, "%c\t%d\t%s\t%d", kind, log_calls, name, number);
    return ++lines;
}

void log_hear(bool *is_first, int from, int line)
{
    fprintf(log_file, "%c%d:%d", *is_first ? '\t' : ',', log_name(from), line);
    *is_first = false;
}

void log_made(const char *name, int begins)
{
    static _Thread_local int id = -1;

    log_calls++;
    if (begins) {
        log_put('E', name, id);
    } else {
        log_put('X', name, id--);
        fputs("\t*", log_file);
    }
}

void log_open(const char *directory)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/log.%d", directory, log_name(rank));
    log_file = fopen(path, "w");
    if (log_file == NULL)
        die("cannot write the log");
}

void log_close(void)
{
    fputc('\n', log_file);
    if (fclose(log_file) != 0)
        die("cannot write the log");
}
