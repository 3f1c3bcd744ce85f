/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Waits for a condition instead of for a time. */
#ifndef ES_TESTS_AWAIT_H
#define ES_TESTS_AWAIT_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Waits until `condition` holds; it is evaluated about once a millisecond.  If it does
 * not hold within a minute, far longer than a busy machine needs, the program aborts:
 *
 *     AWAIT(atomic_load(&counter) == 3);
 */
#define AWAIT(condition)                                                               \
    for (time_t await_end = await_begin(); !(condition);                               \
         await_pause(await_end, #condition, __FILE__, __LINE__))

static inline time_t await_begin(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 60;
}

static inline void await_pause(time_t end,
                               const char *condition,
                               const char *file,
                               int line)
{
    struct timespec pause = {.tv_nsec = 1000000};
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > end) {
        fprintf(stderr, "%s:%d: in vain: %s\n", file, line, condition);
        abort();
    }
    nanosleep(&pause, NULL);
}

#endif
