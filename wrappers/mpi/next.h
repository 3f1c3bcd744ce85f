/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The real MPI behind our names: the next definition of a symbol after this library.
 *
 * A symbol is looked up when it is first needed.  Threads that meet there look it up
 * twice and store the same address, so relaxed atomics are enough.
 */
#ifndef ES_WRAPPERS_MPI_NEXT_H
#define ES_WRAPPERS_MPI_NEXT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define ESI_EXPORT __attribute__((visibility("default")))

/* The MPI that this library is built for. */
#ifdef OPEN_MPI
#define ESI_OWN_MPI "Open MPI"
#else
#define ESI_OWN_MPI "MPICH"
#endif

/* Where a symbol is; all NULL at first.  Calls of an MPI with another binary interface,
 * which a program has loaded late, are passed on: nothing of them is interpreted. */
struct esi_next {
    _Atomic(void *) own;
    _Atomic(void *) foreign;
};

/* Whether an MPI is loaded, and it has another binary interface. */
bool esi_next_is_foreign(void);

/* Looks up the next definition of `name`, unless that is done, and returns that of this
 * library's MPI.  NULL: it is foreign, or there is none, which one line on stderr says.
 * Any thread. */
__attribute__((cold)) void *esi_next_resolve(struct esi_next *known, const char *name);

/* NULL: to be resolved. */
static inline void *esi_next_known(struct esi_next *known)
{
    return atomic_load_explicit(&known->own, memory_order_relaxed);
}

#ifdef OPEN_MPI
/* Its handles are addresses of data, of which a program may have copies in the place of
 * those in its library: the first definition counts.  They may come later than this
 * library, too.  NULL when there is no `name`, with one line about it on stderr. */
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

/* A routine of the real MPI for our own calls, typed as its prototype.  It goes by the
 * PMPI_ name, so that other tools do not see us. */
#define ESI_REAL(routine)                                                              \
    ((esi_##routine##_fn *)esi_next_find(&esi_real[ESI_ROUTINE_##routine],             \
                                         "P" #routine))

#endif
