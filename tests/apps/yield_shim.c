/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A preload library for tests with more ranks than cores: waiting ranks of an MPICH
 * over UCX give way to the others.
 *
 * Such ranks poll without end, so a rank that could go on waits for the end of
 * another's time slice. After a number of polls in a row that found nothing we give up
 * the core; four ranks on two cores are faster by two orders of magnitude.
 *
 * With ES_YIELD_NAP in the environment a rank that has given way many times in a row
 * sleeps a moment instead, and a longer one when that was in vain for long: a test that
 * lets ranks wait costs hardly any processor time. What measures times of operations
 * goes without.
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

/* As UCX declares it, but for the type of the handle. */
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

/* After POLLS_MAX polls that found nothing. Returns how often we have given way since
 * one did, as far as that matters. */
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
