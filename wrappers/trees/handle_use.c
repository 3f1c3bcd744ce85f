/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Handles in use: a short table under a lock, since few are in use at a time.  MPI
 * is called outside the lock, because freeing a datatype can call back into the
 * program.
 */
#include "config.h"

#include "wrappers/trees/handle_use.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/mpi_next.h"

enum handle_kind { TYPE, OPERATION };

struct handle_entry {
    uint64_t handle;
    enum handle_kind kind;
    int users;     /* operations under way; 0 = the slot is free */
    bool is_freed; /* by the program */
};

static pthread_mutex_t uses_lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_entry *uses; /* the rest under lock */
static size_t use_count;          /* slots that were ever used */
static size_t capacity;

static struct handle_entry *find_use(enum handle_kind kind, uint64_t handle)
{
    for (size_t i = 0; i < use_count; i++)
        if (uses[i].users > 0 && uses[i].kind == kind && uses[i].handle == handle)
            return &uses[i];
    return NULL;
}

static struct handle_entry *find_free_use(void)
{
    for (size_t i = 0; i < use_count; i++)
        if (uses[i].users == 0)
            return &uses[i];
    if (ESI_ARRAY_RESERVE(uses, capacity, use_count + 1) < 0)
        return NULL;
    return &uses[use_count++];
}

static bool begin_use(enum handle_kind kind, uint64_t handle)
{
    struct handle_entry *use;

    pthread_mutex_lock(&uses_lock);
    use = find_use(kind, handle);
    if (use == NULL) {
        use = find_free_use();
        if (use != NULL)
            *use = (struct handle_entry){.handle = handle, .kind = kind};
    }
    if (use != NULL)
        use->users++;
    pthread_mutex_unlock(&uses_lock);
    return use != NULL;
}

/* Whether the program has freed the handle, and no other operation uses it. */
static bool end_use(enum handle_kind kind, uint64_t handle)
{
    struct handle_entry *use;
    bool is_last;

    pthread_mutex_lock(&uses_lock);
    use = find_use(kind, handle);
    is_last = use != NULL && --use->users == 0 && use->is_freed;
    pthread_mutex_unlock(&uses_lock);
    return is_last;
}

static void end_type_use(MPI_Datatype type)
{
    if (!end_use(TYPE, ESI_HANDLE(type)))
        return;
    ESI_REAL(MPI_Type_free)(&type);
    /* As when the program frees one: its size may be in caches again. */
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
}

static void end_op_use(MPI_Op op)
{
    if (end_use(OPERATION, ESI_HANDLE(op)))
        ESI_REAL(MPI_Op_free)(&op);
}

bool esi_handle_use_begin(struct esi_handle_use *handles)
{
    handles->count = 0;
    if (begin_use(TYPE, ESI_HANDLE(handles->types[0])))
        handles->count = 1;
    if (handles->count == 1 && begin_use(TYPE, ESI_HANDLE(handles->types[1])))
        handles->count = 2;
    if (handles->count == 2 && begin_use(OPERATION, ESI_HANDLE(handles->op)))
        handles->count = 3;
    if (handles->count < 3)
        esi_handle_use_end(handles);
    return handles->count == 3;
}

void esi_handle_use_end(struct esi_handle_use *handles)
{
    if (handles->count > 2)
        end_op_use(handles->op);
    if (handles->count > 1)
        end_type_use(handles->types[1]);
    if (handles->count > 0)
        end_type_use(handles->types[0]);
    handles->count = 0;
}

static bool defer_free(enum handle_kind kind, uint64_t handle)
{
    struct handle_entry *use;

    pthread_mutex_lock(&uses_lock);
    use = find_use(kind, handle);
    if (use != NULL)
        use->is_freed = true;
    pthread_mutex_unlock(&uses_lock);
    return use != NULL;
}

static bool is_in_use(enum handle_kind kind, uint64_t handle)
{
    bool found;

    pthread_mutex_lock(&uses_lock);
    found = find_use(kind, handle) != NULL;
    pthread_mutex_unlock(&uses_lock);
    return found;
}

static bool is_predefined_type(MPI_Datatype type)
{
    int integers;
    int addresses;
    int types;
    int combiner = MPI_COMBINER_NAMED;

    ESI_REAL(MPI_Type_get_envelope)(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

bool esi_handle_use_defer_type_free(MPI_Datatype type)
{
    return is_in_use(TYPE, ESI_HANDLE(type)) && !is_predefined_type(type) &&
           defer_free(TYPE, ESI_HANDLE(type));
}

static bool is_predefined_op(MPI_Op op)
{
    const MPI_Op predefined[] = {
        MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
        MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};

    for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++)
        if (op == predefined[i])
            return true;
    return false;
}

bool esi_handle_use_defer_op_free(MPI_Op op)
{
    return !is_predefined_op(op) && defer_free(OPERATION, ESI_HANDLE(op));
}
