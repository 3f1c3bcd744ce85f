/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* late_host - knows nothing of MPI and loads late, privately, a module that does. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(void);

    if (module == NULL) {
        fprintf(stderr, "late_host: %s\n", argc > 1 ? dlerror() : "which module?");
        return 2;
    }
    *(void **)&run = dlsym(module, "run");
    return run != NULL ? run() : 3;
}
