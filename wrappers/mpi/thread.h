/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The observed thread, and the slot that outlives it.
 *
 * A thread's own state is thread-local, so nothing here may be called for another
 * thread.  Its slot has what the next thread takes over: the number, the elements, and
 * tuples that others left for it.  An element has one writer at a time.
 *
 *   may run at the same time: everything; a tuple is left for another thread without a
 *   lock.
 */
#ifndef ES_WRAPPERS_MPI_THREAD_H
#define ES_WRAPPERS_MPI_THREAD_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "eventspace/clock.h"
#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "tuplespace/writer.h"

/* In the place of a request that was polled: a probe, a window. */
#define ESI_POLLED_OTHER UINT64_MAX

#define ESI_LIKELY(x) __builtin_expect(!!(x), 1)
#define ESI_UNLIKELY(x) __builtin_expect(!!(x), 0)

struct esi_comm;
struct esi_ledger_thread;
struct esi_owned_path;
struct esi_path;
struct esi_profile_peer_layout;
struct esi_profile_table;

/* A tuple that one thread held back and whose number another thread decided.  Only the
 * first may write into its elements. */
struct esi_late_tuple {
    struct esi_late_tuple *next;
    uint64_t site;
    struct es_tuple tuple;
};

enum { ESI_SIZE_CACHE = 8, ESI_SITE_CACHE = 16, ESI_MESSAGE_CACHE = 32 };

/* A message that a thread has sent or received before, and what was found out about it:
 * one like it is described without a further look. */
struct esi_known_message {
    uint64_t comm_handle;
    uint64_t datatype;
    int64_t count;
    int32_t peer;
    int32_t tag;
    uint32_t epoch; /* in which the rest is valid; 0 = never */
    uint32_t bytes;
    struct esi_comm *comm;
    _Atomic uint32_t *counter;               /* of its channel */
    struct esi_profile_peer_layout *profile; /* whom it counts; NULL = received */
};

struct esi_slot {
    struct esi_slot *next;                 /* of the idle slots */
    struct esi_slot *next_all;             /* of all slots */
    int number;                            /* of the thread, in order of first calls */
    struct esi_owned_path *paths;          /* all that were made for it: path.c */
    _Atomic(struct esi_late_tuple *) late; /* newest first */
    struct esi_ledger_thread *ledger;      /* NULL = without memory */
    struct esi_profile_table *profile;     /* never NULL */
    struct esi_known_message sent[ESI_MESSAGE_CACHE], received[ESI_MESSAGE_CACHE];
    _Atomic uint32_t unnumbered; /* the counter of a channel without numbers */
};

struct esi_thread {
    uint32_t depth;        /* 1 while inside a routine of the program's */
    uint16_t operation;    /* of that; 0 = it is not recorded */
    uint64_t outermost;    /* where on the stack it began */
    uint64_t entered;      /* return address of the last call, also of MPI's own ... */
    uint64_t frame;        /* ... and its frame, as its caller sees it: sites.h */
    uint64_t site;         /* where that operation was called */
    uint64_t module_begin; /* of the module that calls came from so far */
    uint64_t module_bytes;
    struct esi_path *paths[ES_CLASS_COUNT]; /* NULL = not made yet */
    uint64_t known_send;  /* handle of the last send's request while it is in the table;
                             else 0 */
    uint64_t comm_handle; /* one-entry cache, valid in comm_epoch */
    struct esi_comm *comm;
    uint32_t comm_epoch;
    struct {
        uint64_t type;
        uint32_t epoch;
        uint32_t bytes;
    } sizes[ESI_SIZE_CACHE];         /* of datatypes, by handle */
    uint16_t basics[ESI_SIZE_CACHE]; /* what they are made of: objects.h */
    uint16_t operator_code;          /* of the operator that was met last: objects.h */
    uint64_t operator_handle;
    struct esi_numbered_site {
        uint64_t site;
        uint16_t number;
    } numbered[ESI_SITE_CACHE]; /* sites.h */
    uint64_t limit;        /* of requests that this call can complete: requests.h */
    struct esi_slot *slot; /* what outlives the thread; NULL = none yet */
    struct esi_ledger_thread *ledger;  /* its slot's */
    struct esi_profile_table *profile; /* its slot's */
    uint64_t polled;      /* handle of the last poll that found nothing, since the last
                            event; ESI_POLLED_OTHER or 0 = none */
    uint32_t polled_at;   /* its position in the ledger */
    uint32_t polled_many; /* requests of the test call that began the set; 0 = none */
    /* The row of polls that found nothing, close behind one another: when the first of
     * them ended, how many there were, and at how many the clock is read next. */
    uint64_t polling_since;
    uint64_t polls;
    uint64_t polls_checked;
};

extern _Thread_local struct esi_thread esi_thread_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern enum es_clock_kind esi_clock __attribute__((visibility("hidden")));
/* Ticks between polls of one row, at most, on average: see ESI_POLL_GAPS. */
extern uint64_t esi_poll_gap __attribute__((visibility("hidden")));
#define ESI_POLL_GAPS UINT64_C(100000) /* a second has so many: 10 us */

/* Ticks of the recording clock. */
static inline uint64_t esi_clock_read(void)
{
    return es_clock_ticks_of(esi_clock);
}

/* Whether the operation that this thread is in was left by a jump (an error handler
 * that throws).  Then its frame is gone, and this call is the program's.  Stacks grow
 * down. */
static inline bool esi_thread_is_abandoned(const struct esi_thread *thread,
                                           uint64_t here)
{
    return here >= thread->outermost;
}

/* Gives the calling thread a slot, which it gives back when it ends; the longest idle
 * one first, since readers had the most time for its tuples.  False without memory. */
bool esi_thread_take_slot(struct esi_thread *thread);

/* Leaves a tuple and its site for the thread that has the slot.  Without memory it is
 * dropped, and counted (esi_process_count_refused_tuple()). */
void esi_slot_add_late(struct esi_slot *slot,
                       const struct es_tuple *tuple,
                       uint64_t site);

/* Tuples that are left for threads and not yet written, of all slots. */
extern _Atomic uint32_t esi_late_tuple_count;

/* Writes what was left for this thread. */
void esi_slot_write_late(struct esi_thread *thread);

/* Writes what was left for all threads: when MPI ends no other thread is in it, and a
 * thread that has ended will not come back. */
void esi_slot_write_all_late(void);

/* --- Polls that found nothing since the thread's last event, for the ledger ------- */

/* The thread has an event again. */
void esi_thread_end_polls(struct esi_thread *thread);

/* One more, and the requests of a test call, which may lie in the ledger already. */
void esi_thread_add_poll(struct esi_thread *thread, uint64_t handle);
void esi_thread_note_polls(struct esi_thread *thread,
                           const uint64_t *handles,
                           uint32_t count);

/* The same: mostly it is the one that was polled last. */
static inline void esi_thread_note_poll(struct esi_thread *thread, uint64_t handle)
{
    if (ESI_UNLIKELY(thread->polled != handle))
        esi_thread_add_poll(thread, handle);
}

/* Reads the clock: the row of polls begins, goes on, or begins anew. */
void esi_thread_check_polls(struct esi_thread *thread);

/* One more poll that found nothing.  The clock is read at each power of two of them. */
static inline void esi_thread_count_poll(struct esi_thread *thread)
{
    if (ESI_UNLIKELY(++thread->polls >= thread->polls_checked))
        esi_thread_check_polls(thread);
}

/* Since when the thread has done nothing but poll, if its polls until `now` lie close
 * behind one another, else `now`.  Ahead of esi_thread_end_polls(). */
static inline uint64_t esi_thread_polling_since(const struct esi_thread *thread,
                                                uint64_t now)
{
    return thread->polled != 0 && thread->polls != 0 &&
                   now - thread->polling_since <= thread->polls * esi_poll_gap
               ? thread->polling_since
               : now;
}

/* Takes what is known of a datatype into the thread's cache, at `at`.  False when
 * nothing is known without asking MPI. */
bool esi_thread_learn_type(struct esi_thread *thread, uint64_t handle, unsigned int at);

/* Size of a datatype whose handle is known to be good, in bytes. */
uint64_t esi_thread_get_type_bytes(struct esi_thread *thread, MPI_Datatype datatype);

#endif
