/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* late_host MODULE [global] - is not linked with MPI; loads a module that is, with
 * local or global symbols.
 * late_host MODULE handle SECONDS - takes MPI's routines from the module's handle, as
 * ctypes does, and needs that time between two of them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A routine without arguments, or with two that may be NULL. */
static int call(void *module, const char *name)
{
    int (*routine)(void *, void *);

    *(void **)&routine = dlsym(module, name);
    return routine != NULL ? routine(NULL, NULL) : 4;
}

int main(int argc, char **argv)
{
    int scope = argc > 2 ? RTLD_GLOBAL : RTLD_LOCAL;
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | scope) : NULL;
    int (*run)(void);

    if (module == NULL) {
        fprintf(stderr, "late_host: %s\n", argc > 1 ? dlerror() : "which module?");
        return 2;
    }
    if (argc > 3 && strcmp(argv[2], "handle") == 0)
        return call(module, "MPI_Init") + (int)sleep((unsigned)atoi(argv[3])) +
               call(module, "MPI_Finalize");
    *(void **)&run = dlsym(module, "run");
    return run != NULL ? run() : 3;
}
