/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Recording an operation: the path from the thread through the collector to its
 * element.
 *
 * Each wrapper is `enter`, a *before* that describes the operation and shows it as the
 * open tuple, the call itself, and an *after* that publishes the tuple.  No lock, no
 * system call, no allocation and no division once the thread's path exists.
 *
 * The thread's own state is thread-local; nothing here may be called for another
 * thread.
 */
#ifndef ES_WRAPPERS_MPI_RECORD_H
#define ES_WRAPPERS_MPI_RECORD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "eventspace/clock.h"
#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/writer.h"
#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/mpi_next.h"
#include "wrappers/mpi/requests.h"

#define ESI_LIKELY(x) __builtin_expect(!!(x), 1)
#define ESI_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* One collector of one thread with its element (path.c). */
struct esi_path {
    struct es_writer writer;
    bool is_choice; /* stands for several: choose by communicator and peer */
    bool polls;     /* polls that find nothing are written too */
};

/* What a thread leaves behind for the next one that takes its number: elements have one
 * writer, at a time. */
struct esi_slot;

enum { ESI_SIZE_CACHE = 8 };

struct esi_thread {
    uint32_t depth;        /* 1 while inside an operation of the program's */
    int number;            /* of the thread, in order of first call; -1 = none yet */
    const void *outermost; /* where on the stack that operation began */
    struct esi_path *paths[ES_CLASS_COUNT]; /* NULL = not made yet */
    uint64_t known_send;  /* handle of the last send's request while it is in the table;
                             else 0 */
    uint64_t comm_handle; /* one-entry cache, valid in comm_epoch */
    struct esi_comm *comm;
    uint32_t comm_epoch;
    uint32_t reserved;
    struct esi_last {
        uint64_t key; /* of a channel on `comm`; 0 = none */
        _Atomic uint32_t *counter;
    } sent, received;
    struct {
        uint64_t type;
        uint32_t epoch;
        uint32_t bytes;
    } sizes[ESI_SIZE_CACHE]; /* of datatypes, by handle */
    uint64_t limit;          /* of requests that this call can complete: requests.h */
    struct esi_slot *slot;   /* what outlives the thread; NULL = none yet */
};

extern _Thread_local struct esi_thread esi_self
    __attribute__((tls_model("initial-exec")));
extern enum es_clock_kind esi_clock;

/* One call of the program's. */
struct esi_call {
    struct esi_thread *thread;
    struct esi_path *path;
    struct esi_comm *comm; /* NULL = none or not known yet */
    uint64_t unknown_comm; /* handle of a communicator not known yet; 0 = none */
    MPI_Count count;       /* elements whose size was not known at entry; 0 = none */
    MPI_Datatype datatype;
    bool open;     /* the tuple is shown in the element */
    bool numbered; /* a channel counted it: given back if it fails */
    struct es_tuple tuple;
};

/* Slow paths (record.c, path.c). */

/* The thread's path for an operation's class, made.  NULL when the process has stepped
 * aside: then the thread looks from now on as if it were inside MPI, and its calls pass
 * through.  With collective trees, which need all ranks, it is one that records nothing
 * instead. */
struct esi_path *esi_path_make(struct esi_thread *thread, uint16_t operation);
struct esi_path *esi_path_choose(struct esi_path *path, const struct es_tuple *tuple);
void esi_leave_late(struct esi_call *call, int result);
/* The same for a call that makes a persistent request: it takes no number. */
void esi_init_late(struct esi_call *call, int result);
void esi_write_late(struct esi_thread *thread);

static inline uint64_t esi_ticks(void)
{
    return es_clock_ticks_of(esi_clock);
}

/* Whether the operation that this thread is in was left by a jump (an error handler
 * that throws): then its frame is gone, and this call is the program's.  Stacks grow
 * down. */
static inline bool esi_is_abandoned(const struct esi_thread *thread, const void *here)
{
    return (uintptr_t)here >= (uintptr_t)thread->outermost;
}

/* Begins an operation.  False: MPI called itself, or a tool between us and it; then
 * nothing is to be done. */
ES_HOT bool esi_enter(struct esi_call *call, uint16_t operation, enum es_class op_class)
{
    struct esi_thread *thread = &esi_self;

    if (ESI_UNLIKELY(thread->depth != 0) && !esi_is_abandoned(thread, call))
        return false;
    thread->depth = 1;
    thread->outermost = call;
    if (op_class == ES_CLASS_COMPLETION)
        thread->limit = ESI_UNLIKELY(esi_multiple) ? esi_request_serial() : UINT64_MAX;
    call->thread = thread;
    call->path = thread->paths[op_class];
    if (ESI_UNLIKELY(call->path == NULL)) {
        call->path = esi_path_make(thread, operation);
        if (call->path == NULL)
            return false;
    }
    call->open = false;
    call->numbered = false;
    call->unknown_comm = 0;
    call->count = 0;
    call->comm = NULL;
    call->tuple.operation = operation;
    return true;
}

/* --- Describing ----------------------------------------------------------------- */

ES_HOT struct esi_comm *esi_comm_of(struct esi_call *call, MPI_Comm comm)
{
    struct esi_thread *thread = call->thread;
    uint64_t handle = ESI_HANDLE(comm);
    uint32_t epoch = atomic_load_explicit(&esi_handle_epoch, memory_order_acquire);

    if (ESI_UNLIKELY(thread->comm_handle != handle || thread->comm_epoch != epoch)) {
        struct esi_comm *found = esi_comm_lookup(handle);

        if (found == NULL) {
            call->unknown_comm = handle;
            return NULL;
        }
        thread->comm_handle = handle;
        thread->comm_epoch = epoch;
        thread->comm = found;
        thread->sent.key = 0;
        thread->received.key = 0;
    }
    return call->comm = thread->comm;
}

/* The next number of a channel of the thread's cached communicator.  Counters move when
 * their table grows, which makes a new epoch. */
ES_HOT uint32_t esi_next_number(struct esi_last *last,
                                struct esi_channels *channels,
                                int peer,
                                int tag)
{
    uint64_t key = esi_channel_key(peer, tag);
    _Atomic uint32_t *counter = last->counter;

    if (ESI_UNLIKELY(last->key != key)) {
        counter = esi_channel(channels, peer, tag);
        if (counter == NULL)
            return ES_SEQUENCE_UNKNOWN;
        if (ESI_UNLIKELY(atomic_load_explicit(counter, memory_order_relaxed) >=
                         ESI_COUNT_DOUBTFUL)) {
            esi_count_up(counter); /* a send that is not numbered; not remembered */
            return ES_SEQUENCE_UNKNOWN;
        }
        last->counter = counter;
        last->key = key;
    }
    return esi_count_up(counter);
}

static inline uint32_t esi_bytes_cut(uint64_t bytes)
{
    return bytes < ES_BYTES_MAX ? (uint32_t)bytes : ES_BYTES_MAX;
}

/* Payload of `count` elements.  The size of a type that is not cached is asked for when
 * the call has succeeded: only then is the handle known to be good. */
ES_HOT uint32_t esi_bytes(struct esi_call *call, MPI_Count count, MPI_Datatype datatype)
{
    uint64_t handle = ESI_HANDLE(datatype);
    unsigned int at = (unsigned int)((handle ^ handle >> 8) % ESI_SIZE_CACHE);
    struct esi_thread *thread = call->thread;

    if (ESI_LIKELY(thread->sizes[at].type == handle &&
                   thread->sizes[at].epoch ==
                       atomic_load_explicit(&esi_handle_epoch, memory_order_relaxed)))
        return count <= 0 ? 0
                          : esi_bytes_cut((uint64_t)count * thread->sizes[at].bytes);
    if (count > 0) {
        call->count = count;
        call->datatype = datatype;
    }
    return 0;
}

static inline int32_t esi_peer(int rank)
{
    return rank >= 0 ? rank : rank == MPI_ANY_SOURCE ? ES_PEER_ANY : ES_PEER_NONE;
}

static inline int32_t esi_tag(int tag)
{
    return tag == MPI_ANY_TAG ? ES_TAG_ANY : tag;
}

ES_HOT void esi_describe(struct esi_call *call,
                         const struct esi_comm *comm,
                         int32_t peer,
                         int32_t tag,
                         uint32_t bytes,
                         uint32_t sequence)
{
    call->tuple.stop = 0;
    call->tuple.communicator = comm != NULL ? comm->index : ES_COMMUNICATOR_NONE;
    call->tuple.sequence = sequence;
    call->tuple.peer = peer;
    call->tuple.tag = tag;
    call->tuple.bytes = bytes;
}

/* Chooses the element and reads the clock; false when nobody wants the tuple. */
ES_HOT bool esi_start(struct esi_call *call)
{
    if (ESI_UNLIKELY(call->path->is_choice))
        call->path = esi_path_choose(call->path, &call->tuple);
    if (!es_writer_is_enabled(&call->path->writer))
        return false;
    call->tuple.start = esi_ticks();
    return true;
}

/* Shows the described operation as the open tuple. */
ES_HOT void esi_open(struct esi_call *call)
{
    if (esi_start(call)) {
        call->open = true;
        es_writer_open(&call->path->writer, &call->tuple);
    }
}

/* Counts a poll that found nothing; false when the plan wants it written instead. */
static inline bool esi_count_poll(struct esi_call *call)
{
    if (ESI_UNLIKELY(call->path->polls))
        return false;
    if (es_writer_is_enabled(&call->path->writer))
        es_writer_count_poll(&call->path->writer);
    return true;
}

/* Ends the operation: what comes after is again the program's. */
ES_HOT void esi_exit(struct esi_call *call)
{
    struct esi_thread *thread = call->thread;

    if (ESI_UNLIKELY(esi_multiple)) /* others may have decided what we held back */
        esi_write_late(thread);
    thread->depth = 0;
}

/* --- Before: generated wrappers call these -------------------------------------- */

static inline void esi_call(struct esi_call *call)
{
    esi_describe(call, NULL, ES_PEER_NONE, 0, 0, 0);
    esi_open(call);
}

static inline void esi_on_communicator(struct esi_call *call, MPI_Comm comm)
{
    esi_describe(call, esi_comm_of(call, comm), ES_PEER_NONE, 0, 0, 0);
    esi_open(call);
}

/* Root as recorded: MPI_ROOT and MPI_PROC_NULL of intercommunicators have no rank. */
static inline int32_t esi_root(int root)
{
    return root >= 0 ? root : ES_PEER_NONE;
}

ES_HOT uint32_t esi_instance(struct esi_comm *comm)
{
    return comm != NULL ? esi_count_up(&comm->instances) : ES_SEQUENCE_UNKNOWN;
}

ES_HOT void esi_describe_collective(struct esi_call *call,
                                    MPI_Comm comm,
                                    int root,
                                    uint32_t bytes)
{
    struct esi_comm *known = esi_comm_of(call, comm);

    esi_describe(call, known, esi_root(root), 0, bytes, esi_instance(known));
}

ES_HOT void esi_collective(struct esi_call *call,
                           MPI_Comm comm,
                           int root,
                           MPI_Count count,
                           MPI_Datatype datatype)
{
    esi_describe_collective(call, comm, root, esi_bytes(call, count, datatype));
    esi_open(call);
}

/* Sum of the counts that a vector collective sends to each member. */
MPI_Count esi_sum(struct esi_call *call, MPI_Comm comm, const int counts[]);
MPI_Count esi_sum_c(struct esi_call *call, MPI_Comm comm, const MPI_Count counts[]);

static inline void esi_collective_vector(struct esi_call *call,
                                         MPI_Comm comm,
                                         int root,
                                         const int counts[],
                                         MPI_Datatype datatype)
{
    esi_collective(call, comm, root, esi_sum(call, comm, counts), datatype);
}

static inline void esi_collective_vector_c(struct esi_call *call,
                                           MPI_Comm comm,
                                           int root,
                                           const MPI_Count counts[],
                                           MPI_Datatype datatype)
{
    esi_collective(call, comm, root, esi_sum_c(call, comm, counts), datatype);
}

/* Nonblocking collectives: the tuple is written when they complete. */
static inline void esi_icollective(struct esi_call *call,
                                   MPI_Comm comm,
                                   int root,
                                   MPI_Count count,
                                   MPI_Datatype datatype)
{
    esi_describe_collective(call, comm, root, esi_bytes(call, count, datatype));
    call->tuple.start = esi_ticks();
}

static inline void esi_icollective_vector(struct esi_call *call,
                                          MPI_Comm comm,
                                          int root,
                                          const int counts[],
                                          MPI_Datatype datatype)
{
    esi_icollective(call, comm, root, esi_sum(call, comm, counts), datatype);
}

static inline void esi_icollective_vector_c(struct esi_call *call,
                                            MPI_Comm comm,
                                            int root,
                                            const MPI_Count counts[],
                                            MPI_Datatype datatype)
{
    esi_icollective(call, comm, root, esi_sum_c(call, comm, counts), datatype);
}

/* Persistent collectives: nothing is moved yet, and the instance is that of each start.
 */
static inline void esi_collective_init(struct esi_call *call,
                                       MPI_Comm comm,
                                       int root,
                                       MPI_Count count,
                                       MPI_Datatype datatype)
{
    esi_describe(call, esi_comm_of(call, comm), esi_root(root), 0,
                 esi_bytes(call, count, datatype), ES_SEQUENCE_UNKNOWN);
    esi_open(call);
}

static inline void esi_collective_init_vector(struct esi_call *call,
                                              MPI_Comm comm,
                                              int root,
                                              const int counts[],
                                              MPI_Datatype datatype)
{
    esi_collective_init(call, comm, root, esi_sum(call, comm, counts), datatype);
}

static inline void esi_collective_init_vector_c(struct esi_call *call,
                                                MPI_Comm comm,
                                                int root,
                                                const MPI_Count counts[],
                                                MPI_Datatype datatype)
{
    esi_collective_init(call, comm, root, esi_sum_c(call, comm, counts), datatype);
}

ES_HOT void esi_describe_send(struct esi_call *call,
                              MPI_Comm comm,
                              int dest,
                              int tag,
                              MPI_Count count,
                              MPI_Datatype datatype)
{
    struct esi_comm *known = esi_comm_of(call, comm);
    uint32_t sequence = ES_SEQUENCE_UNKNOWN;

    if (ESI_LIKELY(known != NULL && dest >= 0 && dest < known->peers && tag >= 0)) {
        sequence = esi_next_number(&call->thread->sent, &known->sent, dest, tag);
        call->numbered = true;
    }
    esi_describe(call, known, esi_peer(dest), tag, esi_bytes(call, count, datatype),
                 sequence);
}

ES_HOT void esi_send(struct esi_call *call,
                     MPI_Comm comm,
                     int dest,
                     int tag,
                     MPI_Count count,
                     MPI_Datatype datatype)
{
    esi_describe_send(call, comm, dest, tag, count, datatype);
    esi_open(call);
}

/* The same: a send happens at its start. */
ES_HOT void esi_isend(struct esi_call *call,
                      MPI_Comm comm,
                      int dest,
                      int tag,
                      MPI_Count count,
                      MPI_Datatype datatype)
{
    esi_send(call, comm, dest, tag, count, datatype);
}

/* Persistent sends: numbered at each start. */
static inline void esi_send_init(struct esi_call *call,
                                 MPI_Comm comm,
                                 int dest,
                                 int tag,
                                 MPI_Count count,
                                 MPI_Datatype datatype)
{
    esi_describe(call, esi_comm_of(call, comm), esi_peer(dest), tag,
                 esi_bytes(call, count, datatype), ES_SEQUENCE_UNKNOWN);
    esi_open(call);
}

/* One-sided operations and I/O (one_sided.c, io.c). */
void esi_rma(struct esi_call *call,
             MPI_Win win,
             int rank,
             MPI_Count count,
             MPI_Datatype datatype);
void esi_rma_request(struct esi_call *call,
                     MPI_Win win,
                     int rank,
                     MPI_Count count,
                     MPI_Datatype datatype);
void esi_rma_sync(struct esi_call *call, MPI_Win win);
void esi_rma_post(struct esi_call *call, MPI_Win win);
void esi_rma_start(struct esi_call *call, MPI_Win win);
void esi_rma_complete(struct esi_call *call, MPI_Win win);
void esi_rma_wait(struct esi_call *call, MPI_Win win);
void esi_rma_collective(struct esi_call *call, MPI_Win win);
void esi_rma_lock(struct esi_call *call, MPI_Win win, int rank);
void esi_window(struct esi_call *call, MPI_Comm comm);
void esi_io(struct esi_call *call,
            MPI_File file,
            MPI_Count count,
            MPI_Datatype datatype);
void esi_io_request(struct esi_call *call,
                    MPI_File file,
                    MPI_Count count,
                    MPI_Datatype datatype);
void esi_io_call(struct esi_call *call, MPI_File file);
void esi_io_open(struct esi_call *call, MPI_Comm comm);

/* A partition that is ready: the request's peer, the partition as tag (partitioned.c).
 */
void esi_partition(struct esi_call *call, MPI_Request request, int partition);

static inline void esi_communicator(struct esi_call *call, MPI_Comm comm)
{
    esi_describe_collective(call, comm, ES_PEER_NONE, 0);
    esi_open(call);
}

/* --- After ---------------------------------------------------------------------- */

/* Whether something was left to be found out once the call has succeeded, or to be
 * taken back because it failed. */
ES_HOT bool esi_is_late(const struct esi_call *call, int result)
{
    return result != MPI_SUCCESS || call->count != 0 || call->unknown_comm != 0;
}

ES_HOT void esi_leave(struct esi_call *call, int result)
{
    uint64_t stop;

    if (ESI_LIKELY(call->open)) {
        stop = esi_ticks();
        if (ESI_UNLIKELY(esi_is_late(call, result))) {
            call->tuple.stop = stop;
            esi_leave_late(call, result);
            es_writer_write(&call->path->writer, &call->tuple);
        } else {
            es_writer_close(&call->path->writer, stop);
        }
    } else if (ESI_UNLIKELY(esi_is_late(call, result))) {
        esi_leave_late(call, result);
    }
    esi_exit(call);
}

void esi_posted_send(struct esi_call *call, int result, MPI_Request *request);
void esi_posted_collective(struct esi_call *call, int result, MPI_Request *request);
void esi_posted_other(struct esi_call *call, int result, MPI_Request *request);
void esi_made_persistent(struct esi_call *call, int result, MPI_Request *request);
void esi_created(struct esi_call *call,
                 int result,
                 MPI_Comm comm,
                 int token,
                 MPI_Comm *newcomm);
void esi_rma_posted(struct esi_call *call, int result, MPI_Win win, MPI_Group group);
void esi_rma_started(struct esi_call *call, int result, MPI_Win win, MPI_Group group);
void esi_window_made(struct esi_call *call, int result, MPI_Comm comm, MPI_Win *win);
void esi_file_opened(struct esi_call *call, int result, MPI_Comm comm, MPI_File *file);

/* --- For the hand-written wrappers ---------------------------------------------- */

/* Writes a finished tuple of this thread (an end of a message or a nonblocking
 * collective that is not the call itself) into its element. */
void esi_write(struct esi_thread *thread, const struct es_tuple *tuple);

/* The same for a class that is known. */
ES_HOT void esi_write_as(struct esi_thread *thread,
                         enum es_class op_class,
                         const struct es_tuple *tuple)
{
    struct esi_path *path = thread->paths[op_class];

    if (ESI_UNLIKELY(path == NULL || path->is_choice))
        esi_write(thread, tuple);
    else if (es_writer_is_enabled(&path->writer))
        es_writer_write(&path->writer, tuple);
}

/* Size of a datatype whose handle is known to be good. */
uint64_t esi_type_bytes(struct esi_thread *thread, MPI_Datatype datatype);

/* Bytes that a completed receive got, by its status: as MPI tells. */
uint32_t esi_status_ask(const MPI_Status *status);

/* Whether the byte count lies in the status where the MPICH ABI has it; tried when MPI
 * has started. */
extern bool esi_status_is_open;
void esi_status_try(void);

/* The same, without a call where that is possible: asking costs as much as a clock
 * read. */
ES_HOT uint32_t esi_status_bytes(const MPI_Status *status)
{
#ifdef HAVE_MPI_STATUS_COUNT_LO
    if (ESI_LIKELY(esi_status_is_open && status->count_hi_and_cancelled == 0))
        return (uint32_t)status->count_lo;
#endif
    return esi_status_ask(status);
}

/* The callback of every match: writes the tuple, or leaves it to the thread that may.
 */
void esi_publish(void *owner, const struct es_tuple *tuple);

#endif
