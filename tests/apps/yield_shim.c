/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A preload library for tests with more ranks than cores: waiting ranks of an MPICH
 * over UCX give way to the others.
 *
 * Such ranks poll without end, so a rank that could go on waits for the end of
 * another's time slice. After a number of polls in a row that found nothing we give up
 * the core; four ranks on two cores are faster by two orders of magnitude.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

enum { PATIENCE = 20 };

/* As UCX declares it, but for the type of the handle. */
unsigned ucp_worker_progress(void *worker);

typedef unsigned (*progress_fn)(void *worker);

static progress_fn next_progress;

__attribute__((constructor)) static void find_next(void)
{
    /* ISO C has no conversion from object to function pointers; POSIX has. */
    *(void **)&next_progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
}

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    static _Thread_local int empty_polls;

    /* UCX may have been loaded after us, by dlopen(). */
    if (!next_progress)
        find_next();
    if (!next_progress)
        abort();
    unsigned found = next_progress(worker);
    empty_polls = found ? 0 : empty_polls + 1;
    if (empty_polls >= PATIENCE) {
        empty_polls = 0;
        sched_yield();
    }
    return found;
}
