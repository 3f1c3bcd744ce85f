/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* late_host MODULE [global] - is not linked with MPI; loads a module that is, with
 * local or global symbols. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int scope = argc > 2 ? RTLD_GLOBAL : RTLD_LOCAL;
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | scope) : NULL;
    int (*run)(void);

    if (module == NULL) {
        fprintf(stderr, "late_host: %s\n", argc > 1 ? dlerror() : "which module?");
        return 2;
    }
    *(void **)&run = dlsym(module, "run");
    return run != NULL ? run() : 3;
}
