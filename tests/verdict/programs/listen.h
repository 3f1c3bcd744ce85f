/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* listen.h - the signs of cases.h for threads that sleep until the sign "go". */
#ifndef TESTS_VERDICT_LISTEN_H
#define TESTS_VERDICT_LISTEN_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Makes the file reached.RANK in the folder $VERDICT_SIGNS. */
static inline void listen_reached(int rank)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/reached.%d", getenv("VERDICT_SIGNS"), rank);
    close(open(path, O_WRONLY | O_CREAT, 0600));
}

/* Waits for the file "go" there: a child process looks for it and writes to a pipe, so
 * that this thread sleeps in read(2). */
static inline void listen_for_go(void)
{
    struct timespec nap = {0, 2000000};
    const char *folder = getenv("VERDICT_SIGNS");
    char path[4096], byte;
    int ends[2];
    pid_t child;

    if (!folder)
        return;
    child = pipe(ends) ? -1 : fork();
    if (child == 0) {
        snprintf(path, sizeof path, "%s/go", folder);
        while (access(path, F_OK) != 0)
            nanosleep(&nap, NULL);
        _exit(write(ends[1], "g", 1) != 1);
    }
    if (child < 0 || read(ends[0], &byte, 1) != 1) {
        fprintf(stderr, "no child process wrote to the pipe\n");
        abort();
    }
    close(ends[0]);
    close(ends[1]);
    waitpid(child, NULL, 0);
}

#endif
