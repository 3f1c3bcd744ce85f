/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Threads that live for some milliseconds: short_threads PHASES LIVES MESSAGES.
 *
 * Phase k has k + 1 threads at a time, so each phase has a thread with a new number.
 * LIVES times they send MESSAGES to themselves and end.  The pauses between phases are
 * long, because a recorder that finds nothing new looks less often.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 16 };

static int messages;
static pthread_barrier_t together;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000},
              NULL);
}

static void *live(void *argument)
{
    int tag = (int)(long)argument;
    int out = 0;
    int in;

    pthread_barrier_wait(&together);
    for (int i = 0; i < messages; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, 0, tag, &in, 1, MPI_INT, 0, tag, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    pthread_barrier_wait(&together);
    return NULL;
}

static void live_together(int threads)
{
    pthread_t ids[MOST];

    pthread_barrier_init(&together, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, live, (void *)i) != 0)
            exit(1);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&together);
}

int main(int argc, char **argv)
{
    int phases = argc > 1 ? atoi(argv[1]) : 3;
    int lives = argc > 2 ? atoi(argv[2]) : 5;
    int provided;

    messages = argc > 3 ? atoi(argv[3]) : 100;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE || phases > MOST) {
        printf("no threads\n");
        MPI_Finalize();
        return 0;
    }
    for (int phase = 0; phase < phases; phase++) {
        pause_ms(2200);
        for (int i = 0; i < lives; i++) {
            live_together(phase + 1);
            pause_ms(30);
        }
    }
    MPI_Finalize();
    return 0;
}
