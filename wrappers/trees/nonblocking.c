/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Nonblocking operations under way.
 *
 * New ones are pushed onto a stack without a lock.  The thread that has set
 * `advancing` moves them into the list, in the order in which they began, and
 * advances them; the list is its own meanwhile.  A finished operation leaves the
 * list.  It is completed after `advancing` is cleared, since completing can call
 * into the program (attribute callbacks of a datatype that it has freed meanwhile).
 *
 * An operation's memory has two owners: its run, until it is done, and its request,
 * until MPI needs it no more.
 */
#include "config.h"

#include "wrappers/trees/nonblocking.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "wrappers/mpi/progress.h"
#include "wrappers/mpi/call.h"
#include "wrappers/trees/dispatch.h"
#include "wrappers/trees/handle_use.h"
#include "wrappers/trees/trees.h"

struct pending {
    struct pending *next;
    struct esi_dispatch dispatch;
    struct esi_tree_run *run;
    struct esi_handle_use handles;
    struct esi_comm *known; /* the program's communicator; referenced */
    MPI_Comm comm;          /* its handle, good while `known` has it */
    MPI_Request request;
    int result;
    _Atomic int owners;
};

static _Atomic(struct pending *) begun_stack; /* the newest first */
static atomic_flag advancing = ATOMIC_FLAG_INIT;
static struct pending *list; /* the oldest first; while `moving` is ours */

void esi_nonblocking_start(const struct esi_tree_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        if ((rules->rules[i].operations & ~ES_TREE_ALL_BLOCKING) != 0)
            esi_progress_collectives = true;
}

/* Why calls advance operations also while none is under way: both are needed. */
enum { HAS_THREADS = 1, HAS_OTHERS = 2 };

static void note_reason(int reason)
{
    static atomic_int reasons;
    int before;

    if (!esi_progress_collectives)
        return;
    before = atomic_fetch_or(&reasons, reason);
    if ((before & reason) == 0 && (before | reason) == (HAS_THREADS | HAS_OTHERS))
        atomic_fetch_add(&esi_progress_reasons, 1);
}

void esi_nonblocking_note_threads(void)
{
    note_reason(HAS_THREADS);
}

void esi_nonblocking_note_peers(void)
{
    note_reason(HAS_OTHERS);
}

/* --- The request ---------------------------------------------------------------- */

static void unref_pending(struct pending *pending)
{
    /* The last owner sees what the other did. */
    if (atomic_fetch_sub_explicit(&pending->owners, 1, memory_order_acq_rel) == 1) {
        esi_comm_unref(pending->known);
        free(pending);
    }
}

/* Raises the error at the operation's communicator, if the completion call is one that
 * can. */
static int report_error(const struct pending *pending)
{
    if (pending->result == MPI_SUCCESS || esi_progress_error == NULL ||
        esi_comm_lookup(ESI_HANDLE(pending->comm)) != pending->known)
        return pending->result;
    esi_progress_error->comm = pending->comm;
    esi_progress_error->code = pending->result;
    return MPI_SUCCESS;
}

/* The status of a collective operation: nothing was received.  Source and tag are
 * undefined, and stay what they are in MPI's requests. */
static int query_request(void *data, MPI_Status *status)
{
    ESI_REAL(MPI_Status_set_elements)(status, MPI_BYTE, 0);
    ESI_REAL(MPI_Status_set_cancelled)(status, 0);
    return report_error(data);
}

static int release_request(void *data)
{
    struct pending *pending = data;

    /* Until here completion calls had to look for its error. */
    if (pending->result != MPI_SUCCESS)
        atomic_fetch_sub(&esi_progress_reasons, 1);
    unref_pending(pending);
    return MPI_SUCCESS;
}

/* Collective operations cannot be cancelled. */
static int cancel_request(void *data, int is_complete)
{
    (void)data;
    (void)is_complete;
    return MPI_ERR_REQUEST;
}

/* --- Moving on ------------------------------------------------------------------ */

/* Behind those that are there, in the order in which they began. */
static void append_begun(void)
{
    /* Pairs with the release of push(): what they are is written. */
    struct pending *from =
        atomic_exchange_explicit(&begun_stack, NULL, memory_order_acquire);
    struct pending *forward = NULL;
    struct pending **end = &list;

    while (from != NULL) {
        struct pending *next = from->next;

        from->next = forward;
        forward = from;
        from = next;
    }
    while (*end != NULL)
        end = &(*end)->next;
    *end = forward;
}

static void push_pending(struct pending *pending)
{
    pending->next = atomic_load_explicit(&begun_stack, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&begun_stack, &pending->next, pending,
                                                  memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

static bool is_done(struct pending *pending)
{
    bool done = false;

    if (pending->result == MPI_SUCCESS)
        pending->result = esi_tree_run_step(pending->run, &done);
    return done || pending->result != MPI_SUCCESS;
}

/* Steps all; those that are done leave the list.  Returns them, in order. */
static struct pending *step_all(void)
{
    struct pending *done = NULL;
    struct pending **last = &done;
    struct pending **at = &list;

    append_begun();
    while (*at != NULL) {
        struct pending *pending = *at;

        if (is_done(pending)) {
            *at = pending->next;
            pending->next = NULL;
            *last = pending;
            last = &pending->next;
        } else {
            at = &pending->next;
        }
    }
    return done;
}

/* The program's buffers are its own again. */
static void complete_pending(struct pending *pending)
{
    bool failed = pending->result != MPI_SUCCESS;

    esi_tree_run_end(pending->run);
    esi_dispatch_release(&pending->dispatch);
    esi_handle_use_end(&pending->handles);
    ESI_REAL(MPI_Grequest_complete)(pending->request);
    if (!failed)
        atomic_fetch_sub(&esi_progress_reasons, 1);
    unref_pending(pending);
}

static bool begin_advancing(void)
{
    /* Pairs with end_moving(): the list is as the last one left it. */
    if (!atomic_flag_test_and_set_explicit(&advancing, memory_order_acquire))
        return true;
    /* Another thread is at it, and may wait for this core. */
    sched_yield();
    return false;
}

static void end_advancing(void)
{
    atomic_flag_clear_explicit(&advancing, memory_order_release);
}

void esi_trees_progress(void)
{
    struct pending *done;

    if (!begin_advancing())
        return;
    done = step_all();
    end_advancing();
    while (done != NULL) {
        struct pending *next = done->next;

        complete_pending(done);
        done = next;
    }
}

/* --- Beginning ------------------------------------------------------------------ */

/* Ends what could not begin.  Returns what the call returns. */
static int fail_pending(struct pending *pending, MPI_Comm comm, int code)
{
    esi_dispatch_release(&pending->dispatch);
    esi_handle_use_end(&pending->handles);
    free(pending);
    return esi_comm_raise(comm, code);
}

/* Begins an operation that goes by tree.  Its request reports an error of the run. */
static int begin_pending(struct pending *pending,
                         struct esi_call *call,
                         const struct esi_collective *collective,
                         MPI_Request *ret_request)
{
    int result;

    pending->handles.types[0] = collective->send_type;
    pending->handles.types[1] = collective->receive_type;
    pending->handles.op = collective->op;
    if (!esi_handle_use_begin(&pending->handles))
        return fail_pending(pending, collective->comm, MPI_ERR_NO_MEM);
    result = ESI_REAL(MPI_Grequest_start)(query_request, release_request,
                                          cancel_request, pending, &pending->request);
    if (result != MPI_SUCCESS)
        return fail_pending(pending, collective->comm, result);
    pending->comm = collective->comm;
    pending->known = call->comm;
    esi_comm_ref(pending->known);
    atomic_init(&pending->owners, 2);
    pending->result = esi_tree_run_begin(&pending->dispatch.run, &pending->run);
    *ret_request = pending->request;
    atomic_fetch_add(&esi_progress_reasons, 1);
    push_pending(pending);
    esi_trees_progress();
    return MPI_SUCCESS;
}

/* This rank has no memory for what the other ranks do. */
static bool fail_without_memory(struct esi_call *call,
                                const struct esi_collective *collective,
                                int *ret_result)
{
    struct esi_dispatch dispatch;
    enum esi_dispatch_kind kind = esi_dispatch_find(call, collective, &dispatch);

    if (kind == ESI_DISPATCH_NATIVE)
        return false;
    if (kind == ESI_DISPATCH_TREE)
        esi_dispatch_release(&dispatch);
    *ret_result = esi_comm_raise(collective->comm, MPI_ERR_NO_MEM);
    return true;
}

bool esi_trees_post(struct esi_call *call,
                    const struct esi_collective *collective,
                    MPI_Request *ret_request,
                    int *ret_result)
{
    struct pending *pending;

    if (!esi_progress_collectives || ret_request == NULL)
        return false;
    pending = calloc(1, sizeof *pending);
    if (pending == NULL)
        return fail_without_memory(call, collective, ret_result);
    switch (esi_dispatch_find(call, collective, &pending->dispatch)) {
    case ESI_DISPATCH_TREE:
        *ret_result = begin_pending(pending, call, collective, ret_request);
        return true;
    case ESI_DISPATCH_FAILED:
        *ret_result = esi_comm_raise(collective->comm, pending->dispatch.code);
        free(pending);
        return true;
    default:
        free(pending);
        return false;
    }
}

/* --- Ending --------------------------------------------------------------------- */

/* Whether an operation of the communicator (NULL = any) is in the list. */
static bool is_listed(const struct esi_comm *comm)
{
    struct pending *pending = list;

    while (pending != NULL && comm != NULL && pending->known != comm)
        pending = pending->next;
    return pending != NULL;
}

static void drain_pending(const struct esi_comm *comm)
{
    bool is_busy = true;

    while (is_busy) {
        esi_trees_progress();
        if (begin_advancing()) {
            append_begun();
            is_busy = is_listed(comm);
            end_advancing();
        }
    }
}

void esi_nonblocking_drain(const struct esi_comm *comm)
{
    if (atomic_load(&esi_progress_reasons) != 0 && comm != NULL)
        drain_pending(comm);
}

void esi_nonblocking_drain_all(void)
{
    if (atomic_load(&esi_progress_reasons) != 0)
        drain_pending(NULL);
}
