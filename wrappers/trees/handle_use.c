/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Handles in use: a short table under a lock, since few are held at a time.  MPI is
 * called outside the lock: freeing a datatype can call back into the program.
 */
#include "config.h"

#include "wrappers/trees/handle_use.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/mpi_next.h"

enum kind { TYPE, OPERATION };

struct held {
    uint64_t handle;
    enum kind kind;
    int users;  /* operations under way; 0 = the slot is free */
    bool freed; /* by the program */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held *table; /* the rest under lock */
static size_t capacity;

static struct held *find(enum kind kind, uint64_t handle)
{
    for (size_t i = 0; i < capacity; i++)
        if (table[i].users > 0 && table[i].kind == kind && table[i].handle == handle)
            return &table[i];
    return NULL;
}

static struct held *find_free(void)
{
    size_t more = capacity + 8;
    struct held *grown;

    for (size_t i = 0; i < capacity; i++)
        if (table[i].users == 0)
            return &table[i];
    grown = realloc(table, more * sizeof *table);
    if (grown == NULL)
        return NULL;
    table = grown;
    for (size_t i = capacity; i < more; i++)
        table[i] = (struct held){.users = 0};
    capacity = more;
    return &table[more - 8];
}

static bool take(enum kind kind, uint64_t handle)
{
    struct held *held;

    pthread_mutex_lock(&lock);
    held = find(kind, handle);
    if (held == NULL) {
        held = find_free();
        if (held != NULL)
            *held = (struct held){.handle = handle, .kind = kind};
    }
    if (held != NULL)
        held->users++;
    pthread_mutex_unlock(&lock);
    return held != NULL;
}

/* Whether the program has freed the handle, and nobody else uses it. */
static bool drop(enum kind kind, uint64_t handle)
{
    struct held *held;
    bool is_last;

    pthread_mutex_lock(&lock);
    held = find(kind, handle);
    is_last = held != NULL && --held->users == 0 && held->freed;
    pthread_mutex_unlock(&lock);
    return is_last;
}

static void drop_type(MPI_Datatype type)
{
    if (!drop(TYPE, ESI_HANDLE(type)))
        return;
    ESI_REAL(MPI_Type_free)(&type);
    /* As when the program frees one: its size may be in caches again. */
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
}

static void drop_op(MPI_Op op)
{
    if (drop(OPERATION, ESI_HANDLE(op)))
        ESI_REAL(MPI_Op_free)(&op);
}

bool esi_handle_use_begin(struct esi_handle_use *handles)
{
    handles->count = 0;
    if (take(TYPE, ESI_HANDLE(handles->types[0])))
        handles->count = 1;
    if (handles->count == 1 && take(TYPE, ESI_HANDLE(handles->types[1])))
        handles->count = 2;
    if (handles->count == 2 && take(OPERATION, ESI_HANDLE(handles->op)))
        handles->count = 3;
    if (handles->count < 3)
        esi_handle_use_end(handles);
    return handles->count == 3;
}

void esi_handle_use_end(struct esi_handle_use *handles)
{
    if (handles->count > 2)
        drop_op(handles->op);
    if (handles->count > 1)
        drop_type(handles->types[1]);
    if (handles->count > 0)
        drop_type(handles->types[0]);
    handles->count = 0;
}

static bool put_off(enum kind kind, uint64_t handle)
{
    struct held *held;

    pthread_mutex_lock(&lock);
    held = find(kind, handle);
    if (held != NULL)
        held->freed = true;
    pthread_mutex_unlock(&lock);
    return held != NULL;
}

static bool is_held(enum kind kind, uint64_t handle)
{
    bool found;

    pthread_mutex_lock(&lock);
    found = find(kind, handle) != NULL;
    pthread_mutex_unlock(&lock);
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
    return is_held(TYPE, ESI_HANDLE(type)) && !is_predefined_type(type) &&
           put_off(TYPE, ESI_HANDLE(type));
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
    return !is_predefined_op(op) && put_off(OPERATION, ESI_HANDLE(op));
}
