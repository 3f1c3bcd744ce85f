/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Collective trees in the observed process: initialization and finalization, blocking
 * operations and nonblocking operations.
 *
 * esi_trees_start() (wrappers/mpi/tree_ops.h) reads EVENTSPACE_TREES and installs the
 * table of functions that generated wrappers call while an operation is being recorded.
 * An operation uses a tree if the rules, the arguments and the communicator allow it;
 * otherwise the wrapper calls the real routine.  All ranks decide alike:
 * docs/collective-trees.md explains why.
 *
 * A decision that all ranks must make alike depends only on what they have in common:
 * the rules of EVENTSPACE_TREES, the operation's significant arguments, the number of
 * tree-capable operations on the communicator so far, and what rank 0 has sent at the
 * last rule synchronization (rules.h).  So it also works where nothing can be recorded
 * (no shared memory): a rank that stepped aside still takes part.
 *
 * For a nonblocking operation, the program gets a generalized request.  New operations
 * are pushed onto a lock-free stack.  The thread that has set `advancing` moves them
 * into the list, in the order in which they began, and advances them; meanwhile it owns
 * the list.  A finished operation is removed from the list.  It is completed after
 * `advancing` is cleared, because completing can call into the program (attribute
 * callbacks of a datatype that it has freed meanwhile).
 *
 * The memory of an operation has two owners: its run, until it is done, and its
 * request, until MPI frees it.
 */
#include "config.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "wrappers/mpi/call.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/progress.h"
#include "wrappers/mpi/tree_ops.h"
#include "wrappers/trees/arguments.h"
#include "wrappers/trees/dispatch.h"

/* --- Nonblocking operations ------------------------------------------------------- */

struct pending {
    struct pending *next;
    struct esi_dispatch dispatch;
    struct esi_tree_run *run;
    struct esi_handle_use handles;
    struct esi_comm *known; /* the program's communicator; holds a reference */
    MPI_Comm comm;          /* its handle, valid while `known` has it */
    MPI_Request request;
    int result;
    _Atomic int owners;
};

static _Atomic(struct pending *) begun_stack; /* newest first */
static atomic_flag advancing = ATOMIC_FLAG_INIT;
static struct pending *list; /* oldest first; used while `advancing` is ours */

/* Determines whether any rule names a nonblocking form (esi_progress_collectives). */
static void start_nonblocking(const struct esi_tree_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        if ((rules->rules[i].operations & ~ES_TREE_ALL_BLOCKING) != 0)
            esi_progress_collectives = true;
}

/* Reasons for calls to advance operations even if none is under way: both are
 * needed. */
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

/* Several threads may be in MPI concurrently.  Then calls always advance operations,
 * once there is a communicator of several processes: another thread may begin an
 * operation while one of them blocks. */
static void note_threads(void)
{
    note_reason(HAS_THREADS);
}

/* There is a communicator of several processes.  Before, no operation can use a tree,
 * and no call waits for another process. */
static void note_peers(void)
{
    note_reason(HAS_OTHERS);
}

/* --- The request ------------------------------------------------------------------ */

static void unref_pending(struct pending *pending)
{
    /* The last owner sees what the other did. */
    if (atomic_fetch_sub_explicit(&pending->owners, 1, memory_order_acq_rel) == 1) {
        esi_comm_unref(pending->known);
        free(pending);
    }
}

/* Raises the error at the operation's communicator, if the completion call can report
 * one. */
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
 * undefined, and remain as in MPI's requests. */
static int query_request(void *data, MPI_Status *status)
{
    ESI_REAL(MPI_Status_set_elements)(status, MPI_BYTE, 0);
    ESI_REAL(MPI_Status_set_cancelled)(status, 0);
    return report_error(data);
}

static int release_request(void *data)
{
    struct pending *pending = data;

    /* Until here completion calls had to check for its error. */
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

/* --- Advancing -------------------------------------------------------------------- */

/* Appends them after the existing ones, in the order in which they began. */
static void append_begun(void)
{
    /* Pairs with the release of push_pending(): they are complete. */
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

/* Advances all operations; removes completed ones from the list and returns them, in
 * order. */
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

/* The program may use its buffers again. */
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
    /* Pairs with end_advancing(): sees the list as the last thread left it. */
    if (!atomic_flag_test_and_set_explicit(&advancing, memory_order_acquire))
        return true;
    /* Another thread is advancing, and may wait for this core. */
    sched_yield();
    return false;
}

static void end_advancing(void)
{
    atomic_flag_clear_explicit(&advancing, memory_order_release);
}

/* Advances what is under way, unless another thread does. */
static void progress_trees(void)
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

/* --- Beginning -------------------------------------------------------------------- */

/* Ends an operation that could not begin.  Returns the result of the call. */
static int fail_pending(struct pending *pending, MPI_Comm comm, int code)
{
    esi_dispatch_release(&pending->dispatch);
    esi_handle_use_end(&pending->handles);
    free(pending);
    return esi_comm_raise(comm, code);
}

/* Begins an operation that uses a tree.  Its request reports errors of the run. */
static int begin_pending(struct pending *pending,
                         const struct esi_call *call,
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
    pending->result = esi_tree_run_begin(pending->dispatch.run, &pending->run);
    *ret_request = pending->request;
    atomic_fetch_add(&esi_progress_reasons, 1);
    push_pending(pending);
    progress_trees();
    return MPI_SUCCESS;
}

/* This rank is out of memory for what the other ranks do. */
static bool fail_without_memory(const struct esi_call *call,
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

static bool post_operation(const struct esi_call *call,
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

/* --- Ending ----------------------------------------------------------------------- */

/* Returns whether an operation of the communicator (NULL for any) is in the list. */
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
        progress_trees();
        if (begin_advancing()) {
            append_begun();
            is_busy = is_listed(comm);
            end_advancing();
        }
    }
}

/* Advances until no operation of the communicator is under way. */
static void drain_communicator(const struct esi_comm *comm)
{
    if (atomic_load(&esi_progress_reasons) != 0 && comm != NULL)
        drain_pending(comm);
}

/* Advances until no operation is under way. */
static void drain_all(void)
{
    if (atomic_load(&esi_progress_reasons) != 0)
        drain_pending(NULL);
}

/* --- Blocking operations ---------------------------------------------------------- */

/* Other operations advance while this one waits. */
static int run_with_progress(const struct esi_tree_call *call)
{
    struct esi_tree_run *run;
    int code = esi_tree_run_begin(call, &run);
    bool done = false;

    while (run != NULL && code == MPI_SUCCESS && !done) {
        progress_trees();
        code = esi_tree_run_step(run, &done);
    }
    esi_tree_run_end(run);
    return code;
}

static bool run_operation(const struct esi_call *call,
                          const struct esi_collective *collective,
                          int *ret_result)
{
    struct esi_dispatch dispatch;
    int code;

    switch (esi_dispatch_find(call, collective, &dispatch)) {
    case ESI_DISPATCH_TREE:
        code = esi_progress_is_due() ? run_with_progress(dispatch.run)
                                     : esi_tree_run(dispatch.run, dispatch.kept);
        esi_dispatch_release(&dispatch);
        break;
    case ESI_DISPATCH_FAILED:
        code = dispatch.code;
        break;
    default:
        return false;
    }
    *ret_result = code == MPI_SUCCESS ? code : esi_comm_raise(collective->comm, code);
    return true;
}

/* --- Begin and end ---------------------------------------------------------------- */

static void free_comm_trees(struct esi_comm *comm)
{
    if (comm == NULL || comm->trees == NULL)
        return;
    drain_communicator(comm);
    esi_comm_trees_destroy(comm->trees);
    comm->trees = NULL;
    comm->gate = (struct esi_tree_gate){.native = 0};
}

static void start_trees(void)
{
    esi_shadows_start();
    esi_argument_check_start();
}

static void finalize_trees(void)
{
    drain_all();
    free_comm_trees(esi_comm_lookup(ESI_HANDLE((MPI_Comm){MPI_COMM_WORLD})));
    esi_shadows_end();
    esi_argument_check_end();
}

static const struct esi_tree_ops tree_ops = {
    .run = run_operation,
    .post = post_operation,
    .on_failed = esi_dispatch_take_back,
    .progress = progress_trees,
    .on_threads = note_threads,
    .on_peers = note_peers,
    .on_initialized = start_trees,
    .on_finalize = finalize_trees,
#ifdef ESI_HAS_MPI_Session_init
    .on_session_begin = esi_argument_check_start_in_session,
    .on_session_end = esi_argument_check_end_session,
#endif
    .on_comm_free = free_comm_trees,
    .defer_type_free = esi_handle_use_defer_type_free,
    .defer_op_free = esi_handle_use_defer_op_free,
};

/* Invalid text is reported by rank 0.  All ranks read the same text, so all of them run
 * without trees. */
void esi_trees_start(int rank)
{
    const char *text = getenv("EVENTSPACE_TREES");
    struct es_error error = {.line = 0};
    char line[400];

    if (text == NULL || *text == '\0')
        return;
    if (esi_rules_get(text, &error, &esi_rules_initial) < 0) {
        if (rank <= 0)
            esi_process_warn("%s; there are no collective trees",
                             es_error_format(&error, line, sizeof line));
        return;
    }
    start_nonblocking(&esi_rules_plan(esi_rules_initial)->rules);
    esi_trees_install(&tree_ops);
}
