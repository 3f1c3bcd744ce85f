/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Finds the real MPI: the next definition after this library.
 *
 * A program linked with MPI, or with another tool before it, has it in its global
 * scope.  An interpreter may have loaded it late and privately; then every loaded
 * library is searched by name.
 */
#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wrappers/mpi/mpi_next.h"
#include "wrappers/mpi/process.h"

struct esi_next esi_real[ESI_ROUTINE_COUNT];

struct symbol_search {
    const char *name;
    const void *ours; /* address where this library is loaded */
    void *found;
};

static const void *base_of(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* Searches one loaded library, but accepts no definition of this one. */
static int ask_library(struct dl_phdr_info *library, size_t size, void *context)
{
    struct symbol_search *search = context;
    void *handle;
    void *found;

    (void)size;
    if (library->dlpi_name == NULL || library->dlpi_name[0] == '\0')
        return 0;
    handle = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return 0;
    found = dlsym(handle, search->name);
    if (found != NULL && base_of(found) != search->ours)
        search->found = found;
    dlclose(handle); /* it stays loaded, because it was loaded before */
    return search->found != NULL;
}

static void *find_symbol(const char *name)
{
    struct symbol_search search = {.name = name,
                                   .ours = base_of((const void *)ask_library)};

    search.found = dlsym(RTLD_NEXT, name);
    if (search.found == NULL)
        dl_iterate_phdr(ask_library, &search);
    return search.found;
}

/* The file name of the library, or "". */
static const char *file_of(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

bool esi_next_is_foreign(void)
{
#ifdef OPEN_MPI
    const bool is_open_mpi = true;
#else
    const bool is_open_mpi = false;
#endif
    static const void *_Atomic own; /* MPI_Init of this MPI, once it was found */
    const void *init = find_symbol("MPI_Init");

    /* A search in vain opens each library, which takes long if UCX watches dlopen(). */
    if (init == NULL || init == atomic_load_explicit(&own, memory_order_relaxed))
        return false;
    if ((find_symbol("ompi_mpi_comm_world") != NULL) != is_open_mpi ||
        strstr(file_of(init), "libmpi_abi") != NULL)
        return true;
    atomic_store_explicit(&own, init, memory_order_relaxed);
    return false;
}

static void *say_missing(const char *name)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char line[256];

    if (atomic_flag_test_and_set(&said))
        return NULL;
    snprintf(line, sizeof line,
             "eventspace: no MPI library defines %s; the call fails\n", name);
    (void)!write(STDERR_FILENO, line, strlen(line)); /* stderr may be closed */
    return NULL;
}

#ifdef OPEN_MPI
void *esi_next_resolve_data(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    if (found == NULL)
        found = find_symbol(name);
    return found != NULL ? found : say_missing(name);
}
#endif

void *esi_next_resolve(struct esi_next *known, const char *name)
{
    void *found;

    if (known->foreign != NULL)
        return NULL;
    found = find_symbol(name);
    if (found == NULL)
        return say_missing(name);
    if (!esi_next_is_foreign()) {
        known->own = found;
        return found;
    }
    if (esi_process_leave_mpi != NULL)
        esi_process_leave_mpi();
    known->foreign = found;
    return NULL;
}
