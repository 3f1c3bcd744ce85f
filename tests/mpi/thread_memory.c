/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Threads that live one after the other, and send a message each: thread_memory COUNT.
 * Prints by how many KiB memory has grown since the first thousand of them. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *live(void *argument)
{
    int out = 0;
    int in;

    (void)argument;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    return NULL;
}

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long size = -1;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            size = atol(line + 6);
    if (file)
        fclose(file);
    return size;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 2000;
    long begin_kib = 0;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < count && provided == MPI_THREAD_MULTIPLE; i++) {
        pthread_t thread;

        if (i == 1000)
            begin_kib = resident_kib();
        if (pthread_create(&thread, NULL, live, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    printf("%ld\n", begin_kib ? resident_kib() - begin_kib : 0);
    MPI_Finalize();
    return 0;
}
