/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A preload library for tests with more ranks than cores: waiting ranks of an MPICH
 * over UCX yield the core to other ranks.
 *
 * Waiting ranks poll all the time, so a rank that could progress has to wait until the
 * time slice of another one ends. After a number of consecutive empty polls the shim
 * yields the core; four ranks on two cores then run faster by two orders of magnitude.
 *
 * With ES_YIELD_NAP in the environment a rank that has yielded many times in a row
 * sleeps instead, after many short naps for longer. So tests with waiting ranks need
 * hardly any processor time. Tests that measure the times of operations do not set it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { POLLS_MAX = 20, YIELDS_MAX = 50, NAPS_MAX = 100 };
enum { NAP_NS = 100000, LONG_NAP_NS = 1000000 };

/* As UCX declares it, except for the type of the handle. */
unsigned ucp_worker_progress(void *worker);

typedef unsigned (*progress_fn)(void *worker);

static progress_fn next_progress;
static bool naps;

__attribute__((constructor)) static void find_next(void)
{
    /* ISO C has no conversion from object to function pointers; POSIX has. */
    *(void **)&next_progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    naps = getenv("ES_YIELD_NAP") != NULL;
}

/* Yields or sleeps after POLLS_MAX empty polls. `given` is the number of calls since
 * the last poll that found something. Returns that number plus one, up to the limit
 * from which on it makes no difference. */
static int give_way(int given)
{
    const struct timespec nap = {
        .tv_nsec = given < YIELDS_MAX + NAPS_MAX ? NAP_NS : LONG_NAP_NS};

    if (given < YIELDS_MAX || !naps)
        sched_yield();
    else
        nanosleep(&nap, NULL);
    return given < YIELDS_MAX + NAPS_MAX ? given + 1 : given;
}

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    static _Thread_local int empty_polls;
    static _Thread_local int given;

    /* UCX may have been loaded after us, by dlopen(). */
    if (!next_progress)
        find_next();
    if (!next_progress)
        abort();
    unsigned found = next_progress(worker);
    empty_polls = found ? 0 : empty_polls + 1;
    if (found)
        given = 0;
    if (empty_polls >= POLLS_MAX) {
        empty_polls = 0;
        given = give_way(given);
    }
    return found;
}
