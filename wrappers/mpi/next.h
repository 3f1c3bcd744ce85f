/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The real MPI behind our symbols: the next definition of a symbol after this library.
 *
 * A symbol is looked up when it is first used.  Threads that do so concurrently store
 * the same address, so relaxed atomics are sufficient.
 */
#ifndef ES_WRAPPERS_MPI_NEXT_H
#define ES_WRAPPERS_MPI_NEXT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define ESI_EXPORT __attribute__((visibility("default")))

/* The MPI for which this library is built. */
#ifdef OPEN_MPI
#define ESI_OWN_MPI "Open MPI"
#else
#define ESI_OWN_MPI "MPICH"
#endif

/* Addresses of a symbol, initially NULL.  Calls of an MPI with another ABI, which the
 * program has loaded late, are passed on without interpretation. */
struct esi_next {
    _Atomic(void *) own;
    _Atomic(void *) foreign;
};

/* Returns whether an MPI with another ABI is loaded. */
bool esi_next_is_foreign(void);

/* Looks up the next definition of `name`, unless already known, and returns that of
 * this library's MPI.  NULL if it is foreign, or if there is none, which is reported on
 * stderr.  Thread safe. */
__attribute__((cold)) void *esi_next_resolve(struct esi_next *known, const char *name);

/* NULL if not resolved yet. */
static inline void *esi_next_known(struct esi_next *known)
{
    return atomic_load_explicit(&known->own, memory_order_relaxed);
}

#ifdef OPEN_MPI
/* Open MPI's handles are addresses of data, and the program may have copies of that
 * data in place of the library's: the first definition counts.  It may be loaded after
 * this library.  NULL if there is no `name`, which is reported on stderr. */
void *esi_next_resolve_data(const char *name);

static inline void *esi_next_find_data(_Atomic(void *) *known, const char *name)
{
    void *data = atomic_load_explicit(known, memory_order_relaxed);

    if (__builtin_expect(data == NULL, 0)) {
        data = esi_next_resolve_data(name);
        atomic_store_explicit(known, data, memory_order_relaxed);
    }
    return data;
}

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                                           \
    (__extension__({                                                                   \
        static _Atomic(void *) known_##global;                                         \
        (type) esi_next_find_data(&known_##global, #global);                           \
    }))
#endif

static inline void *esi_next_find(struct esi_next *known, const char *name)
{
    void *next = esi_next_known(known);

    return __builtin_expect(next != NULL, 1) ? next : esi_next_resolve(known, name);
}

/* A routine of the real MPI for our own calls, with the type of its prototype.  Uses
 * the PMPI_ name, so that other tools do not see our calls. */
#define ESI_REAL(routine)                                                              \
    ((esi_##routine##_fn *)esi_next_find(&esi_real[ESI_ROUTINE_##routine],             \
                                         "P" #routine))

#endif
