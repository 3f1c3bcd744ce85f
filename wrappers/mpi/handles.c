/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Handles to objects: open addressing; keys stay, objects come and go.
 *
 * A removed handle keeps its slot, since MPI gives the same handles out again.  A full
 * table is replaced by a copy twice as large; the old one is kept, as others may be
 * reading it: all of them together are no larger than the newest.
 */
#include "config.h"

#include "wrappers/mpi/handles.h"

#include <pthread.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

struct slot {
    _Atomic uint64_t key; /* handle plus one; 0 = never used */
    _Atomic(void *) object;
};

struct esi_handle_table {
    uint64_t mask;
    uint64_t used;
    struct esi_handle_table *older;
    struct slot slots[];
};

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static struct slot *probe(struct esi_handle_table *table, uint64_t key)
{
    uint64_t at = key * UINT64_C(0x9E3779B97F4A7C15) >> 32 & table->mask;

    for (;; at = (at + 1) & table->mask) {
        uint64_t found =
            atomic_load_explicit(&table->slots[at].key, memory_order_acquire);

        if (found == key || found == 0)
            return &table->slots[at];
    }
}

void *esi_handles_find(struct esi_handles *handles, uint64_t handle)
{
    /* Both pair with the releases in set(): the slots, then the object. */
    struct esi_handle_table *table =
        atomic_load_explicit(&handles->table, memory_order_acquire);

    struct slot *slot;

    if (table == NULL)
        return NULL;
    slot = probe(table, handle + 1);
    if (atomic_load_explicit(&slot->key, memory_order_acquire) != handle + 1)
        return NULL;
    return atomic_load_explicit(&slot->object, memory_order_acquire);
}

static void insert(struct esi_handle_table *table, uint64_t key, void *object)
{
    struct slot *slot = probe(table, key);

    atomic_store_explicit(&slot->object, object, memory_order_release);
    if (atomic_load_explicit(&slot->key, memory_order_relaxed) == 0)
        table->used++;
    atomic_store_explicit(&slot->key, key, memory_order_release);
}

static struct esi_handle_table *with_room(struct esi_handles *handles)
{
    struct esi_handle_table *old =
        atomic_load_explicit(&handles->table, memory_order_relaxed);
    uint64_t slots = old != NULL ? (old->mask + 1) * 2 : FIRST_SLOTS;
    struct esi_handle_table *table;

    if (old != NULL && old->used * 2 <= old->mask)
        return old;
    table = calloc(1, sizeof *table + slots * sizeof table->slots[0]);
    if (table == NULL)
        return NULL;
    table->mask = slots - 1;
    table->older = old;
    for (uint64_t i = 0; old != NULL && i <= old->mask; i++) {
        void *object =
            atomic_load_explicit(&old->slots[i].object, memory_order_relaxed);

        if (object != NULL)
            insert(table,
                   atomic_load_explicit(&old->slots[i].key, memory_order_relaxed),
                   object);
    }
    atomic_store_explicit(&handles->table, table, memory_order_release);
    return table;
}

bool esi_handles_set(struct esi_handles *handles, uint64_t handle, void *object)
{
    struct esi_handle_table *table;

    pthread_mutex_lock(&changing);
    table = with_room(handles);
    if (table != NULL)
        insert(table, handle + 1, object);
    pthread_mutex_unlock(&changing);
    return table != NULL;
}

void *esi_handles_remove(struct esi_handles *handles, uint64_t handle)
{
    struct esi_handle_table *table;
    void *object = NULL;

    pthread_mutex_lock(&changing);
    table = atomic_load_explicit(&handles->table, memory_order_relaxed);
    if (table != NULL)
        object = atomic_exchange_explicit(&probe(table, handle + 1)->object, NULL,
                                          memory_order_acq_rel);
    pthread_mutex_unlock(&changing);
    return object;
}
