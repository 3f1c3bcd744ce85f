/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Threads and their slots.
 *
 * When a thread ends, its slot with number and elements goes to a later new thread, so
 * that a program which makes threads all the time does not fill the segment.
 */
#include "config.h"

#include "wrappers/mpi/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/mpi_next.h"
#include "wrappers/mpi/objects.h"
#include "wrappers/mpi/path.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/profile.h"

_Thread_local struct esi_thread esi_thread_self;

/* --- Slots ---------------------------------------------------------------------- */

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static struct esi_slot *idle_slots; /* the one that is idle longest first ... */
static struct esi_slot **idle_end = &idle_slots; /* ... and the end of their list */
static struct esi_slot *all_slots;
static int slot_count;
static pthread_key_t slot_key;
static pthread_once_t slot_key_once = PTHREAD_ONCE_INIT;

static void slot_release(void *argument)
{
    struct esi_slot *slot = argument;

    if (slot->ledger != NULL)
        esi_ledger_set_wait(slot->ledger, ESI_LEDGER_WAIT_NONE, 0);
    esi_path_forget();
    memset(&esi_thread_self, 0, sizeof esi_thread_self);
    pthread_mutex_lock(&slots_lock);
    slot->next = NULL;
    *idle_end = slot;
    idle_end = &slot->next;
    pthread_mutex_unlock(&slots_lock);
}

static void make_slot_key(void)
{
    pthread_key_create(&slot_key, slot_release);
}

static struct esi_slot *slot_acquire(void)
{
    struct esi_slot *slot;

    pthread_once(&slot_key_once, make_slot_key);
    pthread_mutex_lock(&slots_lock);
    slot = idle_slots;
    if (slot != NULL) {
        idle_slots = slot->next;
        if (idle_slots == NULL)
            idle_end = &idle_slots;
    } else {
        slot = calloc(1, sizeof *slot);
        if (slot != NULL) {
            slot->number = slot_count++;
            slot->ledger = esi_ledger_add_thread(slot->number);
            slot->profile = esi_profile_add_thread(slot->number);
            slot->next_all = all_slots;
            all_slots = slot;
        }
    }
    pthread_mutex_unlock(&slots_lock);
    if (slot != NULL)
        pthread_setspecific(slot_key, slot);
    return slot;
}

bool esi_thread_take_slot(struct esi_thread *thread)
{
    thread->slot = slot_acquire();
    thread->ledger = thread->slot != NULL ? thread->slot->ledger : NULL;
    thread->profile = thread->slot != NULL ? thread->slot->profile : NULL;
    if (thread->ledger != NULL)
        atomic_store_explicit(&thread->ledger->thread_id, (uint32_t)gettid(),
                              memory_order_relaxed);
    return thread->slot != NULL;
}

/* --- Polls that found nothing ----------------------------------------------------- */

void esi_thread_end_polls(struct esi_thread *thread)
{
    thread->polled = 0;
    thread->polled_many = 0;
    thread->polls = 0;
    thread->polls_checked = 0;
    if (thread->ledger != NULL)
        esi_ledger_set_wait(thread->ledger, ESI_LEDGER_WAIT_NONE, 0);
}

void esi_thread_check_polls(struct esi_thread *thread)
{
    uint64_t now = esi_clock_read();

    if (thread->polls == 1 ||
        now - thread->polling_since > thread->polls * esi_poll_gap) {
        thread->polling_since = now;
        thread->polls = 1;
    }
    thread->polls_checked = 2 * thread->polls;
}

/* The set begins, with what is in the thread's part of the ledger. */
static void begin_polls(struct esi_thread *thread, uint32_t count)
{
    thread->polled_at = 0;
    thread->polled_many = 0;
    atomic_store_explicit(&thread->ledger->others, 0, memory_order_relaxed);
    esi_ledger_set_wait(thread->ledger, ESI_LEDGER_WAIT_POLL, count);
}

void esi_thread_add_poll(struct esi_thread *thread, uint64_t handle)
{
    bool is_first = thread->polled == 0;

    if (thread->ledger == NULL)
        return;
    thread->polled = handle;
    if (is_first)
        begin_polls(thread, 0);
    if (handle == ESI_POLLED_OTHER)
        atomic_store_explicit(&thread->ledger->others, 1, memory_order_relaxed);
    else
        esi_ledger_add_poll(thread->ledger, &thread->polled_at, handle);
}

void esi_thread_note_polls(struct esi_thread *thread,
                           const uint64_t *handles,
                           uint32_t count)
{
    uint32_t known = count < ESI_LEDGER_HANDLES ? count : ESI_LEDGER_HANDLES;

    if (thread->ledger == NULL || count == 0)
        return;
    if (thread->polled != 0 && thread->polled_many != count) {
        for (uint32_t i = 0; i < known; i++)
            esi_thread_note_poll(thread, handles[i]);
        return;
    }
    if (handles != thread->ledger->handles)
        memcpy(thread->ledger->handles, handles, known * sizeof handles[0]);
    if (thread->polled == 0)
        begin_polls(thread, count);
    thread->polled_many = count;
    thread->polled = handles[known - 1];
    thread->polled_at = known - 1;
}

/* --- Tuples left for a thread --------------------------------------------------- */

_Atomic uint32_t esi_late_tuple_count;

void esi_slot_write_late(struct esi_thread *thread)
{
    struct esi_late_tuple *late;

    if (thread->slot == NULL ||
        atomic_load_explicit(&thread->slot->late, memory_order_relaxed) == NULL)
        return;
    /* Pairs with the release of esi_slot_add_late(): the tuples are there. */
    late = atomic_exchange_explicit(&thread->slot->late, NULL, memory_order_acquire);
    while (late != NULL) {
        struct esi_late_tuple *next = late->next;

        esi_path_write_at(thread, &late->tuple, late->site);
        atomic_fetch_sub_explicit(&esi_late_tuple_count, 1, memory_order_release);
        free(late);
        late = next;
    }
}

void esi_slot_add_late(struct esi_slot *slot,
                       const struct es_tuple *tuple,
                       uint64_t site)
{
    struct esi_late_tuple *late = malloc(sizeof *late);

    if (late == NULL) {
        esi_process_count_refused_tuple();
        return;
    }
    late->tuple = *tuple;
    late->site = site;
    atomic_fetch_add_explicit(&esi_late_tuple_count, 1, memory_order_relaxed);
    late->next = atomic_load_explicit(&slot->late, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(
        &slot->late, &late->next, late, memory_order_release, memory_order_relaxed))
        continue;
}

void esi_slot_write_all_late(void)
{
    struct esi_thread self = esi_thread_self;
    struct esi_slot *slot;

    pthread_mutex_lock(&slots_lock);
    slot = all_slots;
    pthread_mutex_unlock(&slots_lock);
    for (; slot != NULL; slot = slot->next_all) { /* they stay */
        esi_thread_self =
            (struct esi_thread){.depth = 1, .outermost = self.outermost, .slot = slot};
        esi_slot_write_late(&esi_thread_self);
    }
    esi_thread_self = self;
}

/* --- Datatypes ------------------------------------------------------------------ */

static void remember_type(struct esi_thread *thread,
                          unsigned int at,
                          uint64_t handle,
                          uint32_t epoch,
                          const struct esi_type_facts *facts)
{
    thread->sizes[at].type = handle;
    thread->sizes[at].epoch = epoch;
    thread->sizes[at].bytes = facts->bytes;
    thread->basics[at] = facts->basic;
}

bool esi_thread_learn_type(struct esi_thread *thread, uint64_t handle, unsigned int at)
{
    uint32_t epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire);
    struct esi_type_facts facts;

    if (!esi_type_find(handle, &facts))
        return false;
    remember_type(thread, at, handle, epoch, &facts);
    return true;
}

uint64_t esi_thread_get_type_bytes(struct esi_thread *thread, MPI_Datatype datatype)
{
    uint64_t handle = ESI_HANDLE(datatype);
    unsigned int at = esi_type_slot(handle);
    uint32_t epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire);
    MPI_Count size = 0;

    if (thread->sizes[at].type == handle && thread->sizes[at].epoch == epoch)
        return thread->sizes[at].bytes;
    if (ESI_REAL(MPI_Type_size_x)(datatype, &size) != MPI_SUCCESS || size < 0)
        return 0;
    if (size < UINT32_MAX)
        remember_type(thread, at, handle, epoch,
                      &(struct esi_type_facts){.bytes = (uint32_t)size,
                                               .basic = ESI_BASIC_UNKNOWN});
    return (uint64_t)size;
}
