/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The contents of the ledger other than the interposer's own tables.
 *
 * Data of communicators, threads and windows is protected by a mutex, because none of
 * it is on the path of a message.  Epochs claim their slots by compare and swap.
 */
#include "config.h"

#include "wrappers/mpi/ledger.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/process.h"
#include "tuplespace/arena_pool.h"
#include "tuplespace/error_classes.h"
#include "wrappers/mpi/mpi_next.h"

enum { FIRST_COMMUNICATORS_LOG2 = 6 };

static struct esi_ledger_layout private_ledger;
static struct esi_ledger_communicator nobodys_communicator;
static struct esi_arena_pool pool = ESI_ARENA_POOL_INITIALIZER;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
/* The table of communicators, protected by `changing`. */
static struct {
    _Atomic uint64_t *offsets; /* by index */
    unsigned int log2;
} communicators;

struct esi_ledger_layout *esi_ledger = &private_ledger;

void esi_ledger_start(struct es_segment *segment)
{
    struct esi_ledger_layout *ledger;
    MPI_Request none = MPI_REQUEST_NULL;

    if (esi_segment_add_ledger(segment, &pool, &ledger) < 0)
        return;
    memcpy(&ledger->null_request, &none, sizeof none);
    esi_ledger = ledger;
}

void esi_ledger_leave(void)
{
    esi_ledger = &private_ledger;
    pool.segment = NULL;
}

/* Marks the ledger as incomplete. */
static void note_partial(void)
{
    atomic_store_explicit(&esi_ledger->partial, 1, memory_order_relaxed);
}

void *esi_ledger_take(size_t bytes)
{
    void *piece = esi_arena_pool_take(&pool, bytes);

    if (piece == NULL ||
        (pool.segment != NULL && esi_arena_pool_offset(&pool, piece) == 0))
        note_partial();
    return piece;
}

void *esi_ledger_take_aside(size_t bytes)
{
    return esi_arena_pool_take(&pool, bytes);
}

void esi_ledger_give(void *piece, size_t bytes)
{
    esi_arena_pool_give(&pool, piece, bytes);
}

uint64_t esi_ledger_place(const void *piece, unsigned int slots_log2)
{
    return piece != NULL
               ? esi_place_make(esi_arena_pool_offset(&pool, piece), slots_log2)
               : 0;
}

/* --- Communicators ---------------------------------------------------------------- */

/* Extends the table to include an index.  The caller holds the lock. */
static bool communicators_reserve(uint16_t index)
{
    unsigned int log2 =
        communicators.offsets != NULL ? communicators.log2 : FIRST_COMMUNICATORS_LOG2;
    _Atomic uint64_t *old = communicators.offsets;
    size_t old_bytes = old != NULL ? sizeof *old << communicators.log2 : 0;
    _Atomic uint64_t *larger;

    while ((size_t)1 << log2 <= index)
        log2++;
    if (old != NULL && log2 == communicators.log2)
        return true;
    larger = esi_ledger_take(sizeof *larger << log2);
    if (larger == NULL)
        return false;
    for (size_t i = 0; i < old_bytes / sizeof *old; i++)
        atomic_init(&larger[i], atomic_load_explicit(&old[i], memory_order_relaxed));
    communicators.offsets = larger;
    communicators.log2 = log2;
    atomic_store_explicit(&esi_ledger->communicators, esi_ledger_place(larger, log2),
                          memory_order_release);
    esi_ledger_give(old, old_bytes);
    return true;
}

struct esi_ledger_communicator *esi_ledger_add_communicator(uint16_t index)
{
    struct esi_ledger_communicator *made = NULL;

    if (index != ES_COMMUNICATOR_NONE)
        made = esi_ledger_take(sizeof *made);
    if (made == NULL) {
        note_partial();
        return &nobodys_communicator;
    }
    made->index = index;
    pthread_mutex_lock(&changing);
    if (communicators_reserve(index))
        atomic_store_explicit(&communicators.offsets[index],
                              esi_arena_pool_offset(&pool, made), memory_order_release);
    pthread_mutex_unlock(&changing);
    return made;
}

void esi_ledger_remove_communicator(struct esi_ledger_communicator *communicator)
{
    uint32_t index;

    if (communicator == NULL || communicator == &nobodys_communicator)
        return;
    index = communicator->index;
    pthread_mutex_lock(&changing);
    /* The index may have been reused. */
    if (communicators.offsets != NULL && index < (size_t)1 << communicators.log2 &&
        atomic_load_explicit(&communicators.offsets[index], memory_order_relaxed) ==
            esi_arena_pool_offset(&pool, communicator))
        atomic_store_explicit(&communicators.offsets[index], 0, memory_order_release);
    pthread_mutex_unlock(&changing);
    esi_ledger_give(communicator, sizeof *communicator);
}

/* --- Threads ---------------------------------------------------------------------- */

struct esi_ledger_thread *esi_ledger_add_thread(int number)
{
    struct esi_ledger_thread *thread = esi_ledger_take(sizeof *thread);
    uint64_t offset;

    if (thread == NULL)
        return NULL;
    thread->thread = number;
    offset = esi_arena_pool_offset(&pool, thread);
    if (offset == 0)
        return thread;
    pthread_mutex_lock(&changing);
    atomic_init(&thread->next,
                atomic_load_explicit(&esi_ledger->threads, memory_order_relaxed));
    atomic_store_explicit(&esi_ledger->threads, offset, memory_order_release);
    pthread_mutex_unlock(&changing);
    return thread;
}

void esi_ledger_note_threads(bool concurrent, bool alone)
{
    uint32_t ids[ESI_LEDGER_LIBRARY_THREADS];
    int listed = 0;

    if (alone)
        listed =
            esi_process_list_threads((int)getpid(), ids, ESI_LEDGER_LIBRARY_THREADS);
    for (int i = 0; i < listed && i < ESI_LEDGER_LIBRARY_THREADS; i++)
        atomic_store_explicit(&esi_ledger->library_threads[i],
                              ids[i] == (uint32_t)gettid() ? 0 : ids[i],
                              memory_order_relaxed);
    if (concurrent)
        atomic_store_explicit(&esi_ledger->concurrent, 1, memory_order_relaxed);
}

/* Programs poll one request, or a few in turn: the one after the last one polled is
 * checked first. */
void esi_ledger_add_poll(struct esi_ledger_thread *thread,
                         uint32_t *position,
                         uint64_t handle)
{
    uint64_t what = atomic_load_explicit(&thread->what, memory_order_relaxed);
    uint32_t count = what >> 32 == ESI_LEDGER_WAIT_POLL ? (uint32_t)what : 0;
    uint32_t known = count < ESI_LEDGER_HANDLES ? count : ESI_LEDGER_HANDLES;
    uint32_t next = *position + 1 < known ? *position + 1 : 0;

    if (known > 0 && thread->handles[next] == handle) {
        *position = next;
        return;
    }
    for (uint32_t i = 0; i < known; i++)
        if (thread->handles[i] == handle) {
            *position = i;
            return;
        }
    if (known < ESI_LEDGER_HANDLES) {
        thread->handles[known] = handle;
        *position = known;
    } else if (count > ESI_LEDGER_HANDLES) {
        return; /* `count` shows that there are more */
    }
    esi_ledger_set_wait(thread, ESI_LEDGER_WAIT_POLL, count + 1);
}

/* --- Objects, errors -------------------------------------------------------------- */

void esi_ledger_count_object(enum esi_ledger_object object, int change)
{
    atomic_fetch_add_explicit(&esi_ledger->unfreed[object], (uint64_t)(int64_t)change,
                              memory_order_relaxed);
}

static void store_text(const char *text)
{
    uint32_t words[ESI_LEDGER_TEXT_WORDS] = {0};
    size_t length = strnlen(text, sizeof words - 1);

    memcpy(words, text, length);
    for (int i = 0; i < ESI_LEDGER_TEXT_WORDS; i++)
        atomic_store_explicit(&esi_ledger->error_text[i], words[i],
                              memory_order_relaxed);
}

/* Not every MPI has all classes. */
#ifndef MPI_ERR_SESSION
#define MPI_ERR_SESSION (-1)
#endif
#ifndef MPI_ERR_PROC_ABORTED
#define MPI_ERR_PROC_ABORTED (-1)
#endif
#ifndef MPI_ERR_VALUE_TOO_LARGE
#define MPI_ERR_VALUE_TOO_LARGE (-1)
#endif
#ifndef MPI_ERR_ERRHANDLER
#define MPI_ERR_ERRHANDLER (-1)
#endif

/* The number of a class of this MPI's. */
static uint32_t number_of_class(int error_class)
{
    static const int classes[] = {
#define ESI_VALUE(name) MPI_ERR_##name,
        ESI_ERROR_CLASSES(ESI_VALUE)
#undef ESI_VALUE
    };

    for (uint32_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (classes[i] == error_class)
            return i + 1;
    return ESI_ERROR_UNKNOWN;
}

uint32_t esi_ledger_note_error(uint16_t operation, int code)
{
    struct esi_ledger_layout *ledger = esi_ledger;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int error_class = code;
    int length = 0;
    uint32_t number;
    uint32_t version;

    if (ESI_REAL(MPI_Error_class)(code, &error_class) != MPI_SUCCESS ||
        ESI_REAL(MPI_Error_string)(code, text, &length) != MPI_SUCCESS)
        text[0] = '\0';
    number = number_of_class(error_class);
    pthread_mutex_lock(&changing);
    version = atomic_load_explicit(&ledger->error_version, memory_order_relaxed);
    atomic_store_explicit(&ledger->error_version, version + 1, memory_order_relaxed);
    /* Pairs with the fence of readers: a reader that sees a word sees the odd
     * version. */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ledger->error_class, number, memory_order_relaxed);
    atomic_store_explicit(&ledger->error_operation, operation, memory_order_relaxed);
    store_text(text);
    atomic_store_explicit(&ledger->error_version, version + 2, memory_order_release);
    pthread_mutex_unlock(&changing);
    return number;
}

bool esi_error_is_refusal(int code)
{
    int error_class = MPI_ERR_UNKNOWN;

    if (ESI_REAL(MPI_Error_class)(code, &error_class) != MPI_SUCCESS)
        return false;
    switch (error_class) {
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_COMM:
    case MPI_ERR_RANK:
    case MPI_ERR_ROOT:
    case MPI_ERR_GROUP:
    case MPI_ERR_OP:
    case MPI_ERR_TOPOLOGY:
    case MPI_ERR_DIMS:
    case MPI_ERR_ARG:
    case MPI_ERR_INFO:
    case MPI_ERR_SIZE:
    case MPI_ERR_DISP:
    case MPI_ERR_ASSERT:
        return true;
    default:
        return false;
    }
}

/* --- Windows ---------------------------------------------------------------------- */

static _Atomic uint64_t *free_window(void)
{
    for (int i = 0; i < ESI_LEDGER_MAX_WINDOWS; i++)
        if (atomic_load_explicit(&esi_ledger->windows[i], memory_order_relaxed) == 0)
            return &esi_ledger->windows[i];
    return NULL;
}

void esi_window_ledger_init(struct esi_window_ledger *window,
                            uint16_t communicator,
                            int32_t number)
{
    struct esi_ledger_window *shown = esi_ledger_take(sizeof *shown);
    _Atomic uint64_t *slot;

    *window = (struct esi_window_ledger){
        .communicator = communicator, .number = number, .shown = shown};
    if (shown == NULL)
        return;
    shown->communicator = communicator;
    shown->number = number;
    pthread_mutex_lock(&changing);
    slot = free_window();
    if (slot != NULL)
        atomic_store_explicit(slot, esi_arena_pool_offset(&pool, shown),
                              memory_order_release);
    else
        note_partial();
    pthread_mutex_unlock(&changing);
}

/* Hides the window from readers. */
static void hide_window(const struct esi_ledger_window *shown)
{
    uint64_t offset = esi_arena_pool_offset(&pool, shown);

    if (offset == 0)
        return;
    pthread_mutex_lock(&changing);
    for (int i = 0; i < ESI_LEDGER_MAX_WINDOWS; i++)
        if (atomic_load_explicit(&esi_ledger->windows[i], memory_order_relaxed) ==
            offset)
            atomic_store_explicit(&esi_ledger->windows[i], 0, memory_order_release);
    pthread_mutex_unlock(&changing);
}

void esi_window_ledger_fini(struct esi_window_ledger *window)
{
    if (window->shown == NULL)
        return;
    esi_window_ledger_close(window, UINT32_MAX, ES_PEER_ANY, NULL);
    hide_window(window->shown);
    esi_ledger_give(window->members, sizeof *window->members << window->members_log2);
    esi_ledger_give(window->shown, sizeof *window->shown);
    window->shown = NULL;
    window->members = NULL;
}

void esi_window_ledger_count_collective(struct esi_window_ledger *window, int change)
{
    if (window->shown != NULL)
        atomic_fetch_add_explicit(&window->shown->collectives, (uint32_t)change,
                                  memory_order_relaxed);
}

void esi_window_ledger_reserve(struct esi_window_ledger *window, int size)
{
    if (window->shown == NULL || window->members != NULL)
        return;
    while (1 << window->members_log2 < size)
        window->members_log2++;
    window->members = esi_ledger_take(sizeof *window->members << window->members_log2);
    atomic_store_explicit(&window->shown->members,
                          esi_ledger_place(window->members, window->members_log2),
                          memory_order_release);
}

static struct esi_ledger_member *member_of(const struct esi_window_ledger *window,
                                           int32_t peer)
{
    return window->members != NULL && peer >= 0 && peer < 1 << window->members_log2
               ? &window->members[peer]
               : NULL;
}

void esi_window_ledger_count(const struct esi_window_ledger *window,
                             enum esi_ledger_epoch_kind kind,
                             int32_t peer)
{
    struct esi_ledger_member *member = member_of(window, peer);

    if (member != NULL)
        atomic_fetch_add_explicit(kind == ESI_LEDGER_POST ? &member->posted
                                                          : &member->started,
                                  1, memory_order_relaxed);
}

void esi_window_ledger_complete(const struct esi_window_ledger *window, int32_t peer)
{
    struct esi_ledger_member *member = member_of(window, peer);

    if (member != NULL)
        atomic_fetch_add_explicit(&member->completed, 1, memory_order_relaxed);
}

/* --- Epochs ----------------------------------------------------------------------- */

static uint64_t what_of(const struct esi_window_ledger *window,
                        enum esi_ledger_epoch_kind kind,
                        bool granted)
{
    return window->communicator | (uint64_t)kind << 16 | (uint64_t)granted << 24 |
           (uint64_t)(uint32_t)window->number << 32;
}

/* Slot at which the search for an epoch starts. */
static uint32_t epoch_home(const struct esi_window_ledger *window, int32_t peer)
{
    return (uint32_t)(esi_hash_u64((uint64_t)(uint32_t)window->number << 32 ^
                                   (uint64_t)window->communicator << 24 ^
                                   (uint32_t)peer) >>
                      56);
}

_Static_assert(ESI_LEDGER_MAX_EPOCHS == 256, "eight bits of a hash");

void esi_window_ledger_open(const struct esi_window_ledger *window,
                            enum esi_ledger_epoch_kind kind,
                            int32_t peer,
                            uint32_t number,
                            bool granted)
{
    uint32_t home = epoch_home(window, peer);

    for (uint32_t i = 0; i < ESI_LEDGER_MAX_EPOCHS; i++) {
        struct esi_ledger_epoch_slot *slot =
            &esi_ledger->epochs[(home + i) % ESI_LEDGER_MAX_EPOCHS];
        uint64_t none = 0;

        /* Claimed with a kind that readers skip until it is complete. */
        if (atomic_load_explicit(&slot->what, memory_order_relaxed) != 0 ||
            !atomic_compare_exchange_strong(&slot->what, &none, UINT64_MAX))
            continue;
        atomic_store_explicit(&slot->whom, (uint32_t)peer | (uint64_t)number << 32,
                              memory_order_relaxed);
        atomic_store_explicit(&slot->what, what_of(window, kind, granted),
                              memory_order_release);
        return;
    }
    note_partial();
}

/* Returns whether an epoch belongs to the window, is of one of the kinds, and is with
 * the peer. */
static bool epoch_is(const struct esi_ledger_epoch_slot *slot,
                     const struct esi_window_ledger *window,
                     uint32_t kinds,
                     int32_t peer)
{
    uint64_t what = atomic_load_explicit(&slot->what, memory_order_acquire);
    uint64_t whom = atomic_load_explicit(&slot->whom, memory_order_relaxed);
    uint32_t kind = what >> 16 & 0xff;

    return what != 0 && what != UINT64_MAX && kind < 32 && (kinds >> kind & 1) != 0 &&
           (uint16_t)what == window->communicator &&
           (int32_t)(uint32_t)(what >> 32) == window->number &&
           (peer == ES_PEER_ANY || (int32_t)(uint32_t)whom == peer);
}

void esi_window_ledger_close(const struct esi_window_ledger *window,
                             uint32_t kinds,
                             int32_t peer,
                             void (*on_end)(const struct esi_window_ledger *window,
                                            int32_t peer))
{
    uint32_t home = epoch_home(window, peer);

    for (uint32_t i = 0; i < ESI_LEDGER_MAX_EPOCHS; i++) {
        struct esi_ledger_epoch_slot *slot =
            &esi_ledger->epochs[(home + i) % ESI_LEDGER_MAX_EPOCHS];

        if (!epoch_is(slot, window, kinds, peer))
            continue;
        if (on_end != NULL)
            on_end(window, (int32_t)(uint32_t)atomic_load_explicit(
                               &slot->whom, memory_order_relaxed));
        atomic_store_explicit(&slot->what, 0, memory_order_release);
        if (peer != ES_PEER_ANY)
            return;
    }
}

void esi_window_ledger_grant(const struct esi_window_ledger *window, int32_t peer)
{
    static const uint32_t locks = 1u << ESI_LEDGER_LOCK_SHARED |
                                  1u << ESI_LEDGER_LOCK_EXCLUSIVE |
                                  1u << ESI_LEDGER_LOCK_ALL;
    uint32_t home = epoch_home(window, peer);

    for (uint32_t i = 0; i < ESI_LEDGER_MAX_EPOCHS; i++) {
        struct esi_ledger_epoch_slot *slot =
            &esi_ledger->epochs[(home + i) % ESI_LEDGER_MAX_EPOCHS];

        if (epoch_is(slot, window, locks, peer)) {
            atomic_fetch_or_explicit(&slot->what, UINT64_C(1) << 24,
                                     memory_order_release);
            return;
        }
    }
}
