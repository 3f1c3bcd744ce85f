/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One call by the program: begin and end of an operation.
 *
 * A wrapper consists of esi_call_enter(), a description (describe.h) that shows the
 * operation as the open tuple, the real call, and esi_call_leave() or another end,
 * which publishes the tuple.  What recording may do to the program:
 *
 *   path                            allocates  locks  may yield  may drop
 *   ------------------------------  ---------  -----  ---------  ------------------
 *   known path, known channel       no         no     no         no
 *   the same, element on `block`    no         no     sleeps (1) no
 *   a reader sleeps on the element  no         no     no (2)     no
 *   first call of a class, choice   yes        mutex  yes        element refused (3)
 *   first message of a channel      yes        mutex  yes        no: number unknown
 *   request is posted, completed    grows      spin   rarely (4) without memory (5)
 *   receive meets a wildcard        yes        spin   rarely (4) no: number unknown
 *   another thread decides it       yes        no     no         without memory (5)
 *   more than 64 requests at once   yes        no     no         without memory (5)
 *   communicator comes, goes        yes        mutex  yes        no: number unknown
 *   operation by tree               yes        mutex  yes        no
 *
 *   (1) until the reader has made room; at most ES_WRITER_PATIENCE_NS for one that
 *       does not advance.  (2) One system call wakes it.  (3) All operations of the
 *       path go unrecorded; counted in `elements_refused`.  (4) Only if threads are in
 *       MPI at the same time: the spin lock yields if its holder was preempted.
 *       (5) Counted in `tuples_refused`, and shown by `eventspace list`.
 *
 * Nothing else happens on a known path: no system call, no division.  A tuple that is
 * overwritten before a reader has read it is counted as lost by that reader.
 */
#ifndef ES_WRAPPERS_MPI_CALL_H
#define ES_WRAPPERS_MPI_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "tuplespace/writer.h"
#include "wrappers/mpi/match.h"
#include "wrappers/mpi/path.h"
#include "wrappers/mpi/profile.h"
#include "wrappers/mpi/requests.h"
#include "wrappers/mpi/sites.h"
#include "wrappers/mpi/thread.h"

struct esi_comm;

/* One call by the program.  On a known path its address is never taken: functions that
 * are not inlined get a copy.  Compilers can thus keep its members in registers, and a
 * tuple is never read back from memory where its parts were just written. */
struct esi_call {
    struct esi_thread *thread;
    struct esi_path *path;
    struct esi_comm *comm; /* NULL if none or not known yet */
    uint64_t unknown_comm; /* handle of a communicator that
                              is not known yet; 0 if none */
    MPI_Count count;       /* elements whose size was not known at entry; 0 if none */
    MPI_Datatype datatype;
    uint32_t alike; /* collectives: what must be the same in all members (objects.h),
                       and after the description its hash; 0 if nothing */
    uint64_t head;  /* completion calls: head of the element when the tuple was shown */
    bool open;      /* the tuple is shown in the element */
    bool numbered;  /* a channel has counted it: undone if the call fails */
    struct es_tuple tuple;
};

/* Begins an operation.  Returns false if MPI, or a tool between MPI and the program,
 * made the call; then it must not be recorded. */
ES_HOT bool esi_call_enter(struct esi_call *call,
                           uint16_t operation,
                           enum es_class op_class)
{
    struct esi_thread *thread = &esi_thread_self;

    if (ESI_UNLIKELY(thread->depth != 0) &&
        !esi_thread_is_abandoned(thread, thread->frame))
        return false;
    thread->depth = 1;
    thread->operation = operation;
    thread->outermost = thread->frame;
    if (op_class == ES_CLASS_COMPLETION)
        thread->limit = ESI_UNLIKELY(esi_multiple) ? esi_request_serial() : UINT64_MAX;
    call->path = thread->paths[op_class];
    if (ESI_UNLIKELY(call->path == NULL)) {
        call->path = esi_path_enter(thread, operation);
        if (call->path == NULL)
            return false;
    }
    esi_site_take(thread);
    call->open = false;
    call->head = 0;
    call->numbered = false;
    call->unknown_comm = 0;
    call->count = 0;
    call->alike = 0;
    call->comm = NULL;
    call->tuple.operation = operation;
    call->thread = thread;
    /* Computed once.  Otherwise each access would compute the address of the thread's
     * storage again. */
    __asm__("" : "+r"(call->thread));
    return true;
}

/* The path of the described operation. */
ES_HOT struct esi_path *esi_call_choose(const struct esi_call *call)
{
    struct es_tuple tuple;

    if (ESI_LIKELY(!call->path->is_choice))
        return call->path;
    tuple = call->tuple;
    return esi_path_choose(call->path, &tuple);
}

/* Selects the element and reads the clock.  Returns false if the tuple is not
 * wanted. */
ES_HOT bool esi_call_start(struct esi_call *call)
{
    call->path = esi_call_choose(call);
    if (!esi_writer_is_enabled(&call->path->writer))
        return false;
    call->tuple.start = esi_clock_read();
    return true;
}

/* Like esi_call_open(), for an element that is chosen, switched off or waits for its
 * reader (call.c). */
void esi_call_open_slowly(struct esi_call *call);

/* Shows the described operation as the open tuple. */
ES_HOT void esi_call_open(struct esi_call *call)
{
    if (ESI_LIKELY(esi_writer_is_plain(&call->path->writer))) {
        call->open = true;
        call->tuple.start = esi_clock_read();
        esi_writer_store(&call->path->writer, &call->tuple, call->thread->site);
    } else {
        struct esi_call slow = *call;

        esi_call_open_slowly(&slow);
        call->path = slow.path;
        call->open = slow.open;
        call->tuple.start = slow.tuple.start;
    }
}

/* Publishes a complete tuple. */
ES_HOT void esi_call_write(struct esi_call *call)
{
    esi_writer_write_at(&call->path->writer, &call->tuple, call->thread->site);
}

/* Publishes the tuple of a finished operation.  Returns false if it is not wanted. */
ES_HOT bool esi_call_write_span(struct esi_call *call, uint64_t start, uint64_t stop)
{
    call->path = esi_call_choose(call);
    if (!esi_writer_is_enabled(&call->path->writer))
        return false;
    call->tuple.start = start;
    call->tuple.stop = stop;
    esi_call_write(call);
    return true;
}

/* Adds the call, which was written and ended at `stop`, to the profile, with the data
 * described by its tuple. */
ES_HOT void esi_call_count(const struct esi_call *call, uint64_t stop)
{
    esi_profile_add_call(call->thread, es_tuple_operation(&call->tuple),
                         stop - call->tuple.start, es_tuple_bytes(&call->tuple));
}

/* Returns whether the tuple of a call that is not open would be written now; for calls
 * that post operations. */
ES_HOT bool esi_call_is_wanted(const struct esi_call *call)
{
    return esi_writer_is_enabled(&esi_call_choose(call)->writer);
}

/* Counts a poll that found nothing.  Returns false if the plan requires a tuple
 * instead. */
ES_HOT bool esi_call_count_poll(struct esi_call *call)
{
    if (ESI_UNLIKELY(call->path->polls))
        return false;
    esi_thread_count_poll(call->thread);
    if (esi_writer_is_enabled(&call->path->writer))
        esi_writer_count_poll(&call->path->writer);
    return true;
}

/* Ends the operation: further calls are the program's again. */
ES_HOT void esi_call_exit(struct esi_call *call)
{
    struct esi_thread *thread = call->thread;

    if (ESI_UNLIKELY(esi_multiple)) /* other threads may have decided
                                       what this one held back */
        esi_slot_write_late(thread);
    thread->depth = 0;
}

/* --- The end -------------------------------------------------------------------- */

/* Returns whether something remains to be determined after the call succeeded, or to be
 * undone because it failed. */
ES_HOT bool esi_call_is_late(const struct esi_call *call, int result)
{
    return result != MPI_SUCCESS || call->count != 0 || call->unknown_comm != 0;
}

/* Marks the tuple of a call that returned an error (tuple.h). */
void esi_tuple_mark_failed(struct es_tuple *tuple, int result);
/* The same; and the call is no send, receive or instance. */
void esi_call_fail(struct esi_call *call, int result);
/* Writes the tuple of such a call, which would have begun an operation. */
void esi_call_write_failed(struct esi_call *call);
/* Determines what remained, or undoes what the failed call had done and marks its tuple
 * (call.c). */
void esi_call_complete_late(struct esi_call *call, int result);
/* Like esi_call_complete_late(), for a call that creates a persistent request, which
 * has no number. */
void esi_call_complete_init_late(struct esi_call *call, int result);

/* Like esi_call_complete_late(), and publishes the tuple, which ended at `stop`, if it
 * is open. */
void esi_call_write_late(struct esi_call *call, int result, uint64_t stop);

/* Publishes the tuple and ends the operation. */
ES_HOT void esi_call_leave(struct esi_call *call, int result)
{
    uint64_t stop = 0;

    if (ESI_LIKELY(call->open))
        stop = esi_clock_read();
    if (ESI_UNLIKELY(esi_call_is_late(call, result))) {
        struct esi_call late = *call;

        esi_call_write_late(&late, result, stop);
        *call = late;
    } else if (ESI_LIKELY(call->open)) {
        esi_writer_close(&call->path->writer, stop);
        esi_call_count(call, stop);
    }
    esi_call_exit(call);
}

/* Ends named by the table of operations, instead of esi_call_leave(): register what was
 * posted, created or looked at (completion.c, completion_calls.c, communicator_calls.c,
 * one_sided.c). */
void esi_end_posted_collective(struct esi_call *call, int result, MPI_Request *request);
void esi_end_posted_other(struct esi_call *call, int result, MPI_Request *request);
void esi_end_made_persistent(struct esi_call *call, int result, MPI_Request *request);
void esi_end_looked(struct esi_call *call,
                    int result,
                    bool found,
                    const MPI_Request requests[],
                    int count);
void esi_end_created(struct esi_call *call,
                     int result,
                     MPI_Comm comm,
                     int token,
                     MPI_Comm *newcomm);
void esi_end_spawned(struct esi_call *call,
                     int result,
                     const uint64_t key[2],
                     const MPI_Comm *made);
void esi_end_rma_posted(struct esi_call *call,
                        int result,
                        MPI_Win win,
                        MPI_Group group);
void esi_end_rma_started(struct esi_call *call,
                         int result,
                         MPI_Win win,
                         MPI_Group group);
void esi_end_rma_fenced(struct esi_call *call, int result, MPI_Win win, int assert);
void esi_end_rma_completed(struct esi_call *call, int result, MPI_Win win);
void esi_end_rma_waited(struct esi_call *call, int result, MPI_Win win);
void esi_end_rma_locked(struct esi_call *call, int result, MPI_Win win, int rank);
void esi_end_rma_unlocked(struct esi_call *call, int result, MPI_Win win, int rank);
void esi_end_window_made(struct esi_call *call,
                         int result,
                         MPI_Comm comm,
                         MPI_Win *win);
void esi_end_file_opened(struct esi_call *call,
                         int result,
                         MPI_Comm comm,
                         MPI_File *file);

#endif
