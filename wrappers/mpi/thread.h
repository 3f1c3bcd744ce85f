/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * State of the observed thread, and the slot that outlives it.
 *
 * The state is thread-local: functions must be called by the thread that they are
 * about.  The slot holds what the next thread takes over: the thread number, the
 * elements, and tuples that other threads queued for it.  An element has one writer at
 * a time.
 *
 * All functions may run concurrently; queueing a tuple for another thread is lock-free.
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

/* Stands for a poll that is not of a request: a probe, a window. */
#define ESI_POLLED_OTHER UINT64_MAX

#define ESI_LIKELY(x) __builtin_expect(!!(x), 1)
#define ESI_UNLIKELY(x) __builtin_expect(!!(x), 0)

struct esi_comm;
struct esi_ledger_thread;
struct esi_owned_path;
struct esi_path;
struct esi_profile_peer_layout;
struct esi_profile_table;

/* A tuple that one thread held back and whose number another thread determined.  Only
 * the first thread may write to its elements. */
struct esi_late_tuple {
    struct esi_late_tuple *next;
    uint64_t site;
    struct es_tuple tuple;
};

enum { ESI_SIZE_CACHE = 8, ESI_SITE_CACHE = 16, ESI_MESSAGE_CACHE = 32 };

/* Cached description of a message that the thread has sent or received before.  A
 * message with the same key needs no lookups. */
struct esi_known_message {
    uint64_t comm_handle;
    uint64_t datatype;
    int64_t count;
    int32_t peer;
    int32_t tag;
    uint32_t epoch; /* in which the entry is valid; 0 = never */
    uint32_t bytes;
    struct esi_comm *comm;
    _Atomic uint32_t *counter; /* of the channel */
    struct esi_profile_peer_layout
        *profile; /* sums of the receiver; NULL for receives */
};

struct esi_slot {
    struct esi_slot *next;        /* of the idle slots */
    struct esi_slot *next_all;    /* of all slots */
    int number;                   /* thread number, in order of first MPI calls */
    struct esi_owned_path *paths; /* all paths created for the slot: path.c */
    _Atomic(struct esi_late_tuple *) late; /* newest first */
    struct esi_ledger_thread *ledger;      /* NULL if out of memory */
    struct esi_profile_table *profile;     /* never NULL */
    struct esi_known_message sent[ESI_MESSAGE_CACHE], received[ESI_MESSAGE_CACHE];
    _Atomic uint32_t unnumbered; /* dummy counter of channels without numbers */
};

struct esi_thread {
    uint32_t depth;        /* 1 inside an MPI routine called by the program */
    uint16_t operation;    /* the routine; 0 if it is not recorded */
    uint64_t outermost;    /* stack address at which it began */
    uint64_t entered;      /* return address of the last call outside of the fast path,
                              also of nested ones, */
    uint64_t frame;        /* and its frame as seen by the caller: sites.h */
    uint64_t site;         /* call site of the operation */
    uint64_t module_begin; /* module that contained the last call site */
    uint64_t module_bytes;
    struct esi_path *paths[ES_CLASS_COUNT]; /* NULL if not created yet */
    uint64_t known_send;  /* handle of the last send's request if it is in the table,
                             else 0 */
    uint64_t comm_handle; /* one-entry cache, valid in comm_epoch */
    struct esi_comm *comm;
    uint32_t comm_epoch;
    struct {
        uint64_t type;
        uint32_t epoch;
        uint32_t bytes;
    } sizes[ESI_SIZE_CACHE];         /* datatype sizes by handle */
    uint16_t basics[ESI_SIZE_CACHE]; /* their basic types: objects.h */
    uint16_t operator_code;          /* of the last reduction operator: objects.h */
    uint64_t operator_handle;
    struct esi_numbered_site {
        uint64_t site;
        uint16_t number;
    } numbered[ESI_SITE_CACHE]; /* sites.h */
    uint64_t limit;             /* requests that this call can complete: requests.h */
    struct esi_slot *slot;      /* NULL if the thread has none yet */
    struct esi_ledger_thread *ledger;  /* of the slot */
    struct esi_profile_table *profile; /* of the slot */
    uint64_t polled;      /* handle of the last failed poll since the last event, or
                            ESI_POLLED_OTHER; 0 if none */
    uint32_t polled_at;   /* its position in the ledger */
    uint32_t polled_many; /* requests of the test call that began the set; 0 if none */
    /* The current series of failed polls in quick succession: when the first one ended,
     * their number, and the number at which the clock is read next. */
    uint64_t polling_since;
    uint64_t polls;
    uint64_t polls_checked;
};

extern _Thread_local struct esi_thread esi_thread_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern enum es_clock_kind esi_clock __attribute__((visibility("hidden")));
/* Maximum average distance of the polls of a series, in ticks: ESI_POLL_GAPS. */
extern uint64_t esi_poll_gap __attribute__((visibility("hidden")));
#define ESI_POLL_GAPS UINT64_C(100000) /* per second: 10 us each */

/* Reads the recording clock, in ticks. */
static inline uint64_t esi_clock_read(void)
{
    return es_clock_ticks_of(esi_clock);
}

/* Returns whether the operation that this thread is in was left by a jump, such as an
 * exception of an error handler.  Then its frame is gone, and the current call is the
 * program's.  Assumes that stacks grow down. */
static inline bool esi_thread_is_abandoned(const struct esi_thread *thread,
                                           uint64_t here)
{
    return here >= thread->outermost;
}

/* Assigns a slot to the calling thread until it ends.  Prefers the slot idle for the
 * longest time, because readers had the most time to read its tuples.  Returns false if
 * out of memory. */
bool esi_thread_take_slot(struct esi_thread *thread);

/* Queues a tuple and its call site for the thread that owns the slot.  If out of
 * memory, drops the tuple and counts it (esi_process_count_refused_tuple()). */
void esi_slot_add_late(struct esi_slot *slot,
                       const struct es_tuple *tuple,
                       uint64_t site);

/* Number of queued tuples of all slots. */
extern _Atomic uint32_t esi_late_tuple_count;

/* Writes the tuples queued for this thread. */
void esi_slot_write_late(struct esi_thread *thread);

/* Writes the tuples queued for all threads.  Called when MPI is finalized, because then
 * no other thread is in an MPI call, and threads that ended do not return. */
void esi_slot_write_all_late(void);

/* --- Failed polls since the thread's last event, for the ledger ------------------- */

/* Ends the series of polls: the thread has an event. */
void esi_thread_end_polls(struct esi_thread *thread);

/* Adds a failed poll of one request, and of the requests of a test call, to the set in
 * the ledger unless they are in it. */
void esi_thread_add_poll(struct esi_thread *thread, uint64_t handle);
void esi_thread_note_polls(struct esi_thread *thread,
                           const uint64_t *handles,
                           uint32_t count);

/* Like esi_thread_add_poll(), fast for the request that was polled last. */
static inline void esi_thread_note_poll(struct esi_thread *thread, uint64_t handle)
{
    if (ESI_UNLIKELY(thread->polled != handle))
        esi_thread_add_poll(thread, handle);
}

/* Reads the clock and begins, continues or restarts the series of polls. */
void esi_thread_check_polls(struct esi_thread *thread);

/* Counts a failed poll.  Reads the clock at each power of two of them. */
static inline void esi_thread_count_poll(struct esi_thread *thread)
{
    if (ESI_UNLIKELY(++thread->polls >= thread->polls_checked))
        esi_thread_check_polls(thread);
}

/* Returns when the current series of polls began, or `now` if the polls were too far
 * apart.  Call before esi_thread_end_polls(). */
static inline uint64_t esi_thread_polling_since(const struct esi_thread *thread,
                                                uint64_t now)
{
    return thread->polled != 0 && thread->polls != 0 &&
                   now - thread->polling_since <= thread->polls * esi_poll_gap
               ? thread->polling_since
               : now;
}

/* Copies the properties of a datatype to the entry `at` of the thread's cache.  Returns
 * false if they are not known without a call to MPI. */
bool esi_thread_learn_type(struct esi_thread *thread, uint64_t handle, unsigned int at);

/* Returns the size of a datatype in bytes.  The handle must be valid. */
uint64_t esi_thread_get_type_bytes(struct esi_thread *thread, MPI_Datatype datatype);

#endif
