/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One-sided operations and I/O (MPI-4.0, chapters 12 and 14): from windows and files to
 * their communicators, and the descriptions of the calls.
 *
 * The peer is the target's rank in the window's communicator.  Collective calls on a
 * window or a file count instances of the window or the file.  The tag is the number of
 * the window: the instance of the call that created it, which is the same in all
 * members.
 */
#include "config.h"

#include <stdlib.h>

#include "wrappers/mpi/completion.h"
#include "wrappers/mpi/handles.h"
#include "wrappers/mpi/ledger.h"

/* Post-start-complete-wait: the epochs of one kind, exposure or access, on a window.  A
 * process has at most one epoch of a kind at a time, so only one thread is here. */
struct epochs {
    MPI_Group group;    /* the window's; owned */
    int size;           /* of the group */
    uint32_t count;     /* number begun */
    uint32_t towards[]; /* number with each member of the window */
};

enum epoch_kind { EXPOSURE, ACCESS, EPOCH_KINDS };

/* A window or a file. */
struct object {
    uint16_t communicator;
    int32_t number;             /* of a window on its communicator; 0 for a file */
    _Atomic uint32_t instances; /* number of collective calls on it */
    struct epochs *epochs[EPOCH_KINDS]; /* owned; NULL if none yet */
    struct esi_window_ledger ledger;    /* of a window */
};

static struct esi_handles windows;
static struct esi_handles files;

static void object_destroy(struct object *object)
{
    for (int i = 0; object != NULL && i < EPOCH_KINDS; i++)
        if (object->epochs[i] != NULL) {
            ESI_REAL(MPI_Group_free)(&object->epochs[i]->group);
            free(object->epochs[i]);
        }
    if (object != NULL)
        esi_window_ledger_fini(&object->ledger);
    free(object);
}

static enum esi_ledger_object ledger_object(const struct esi_handles *objects)
{
    return objects == &windows ? ESI_LEDGER_WINDOWS : ESI_LEDGER_FILES;
}

static void object_register(struct esi_handles *objects,
                            uint64_t handle,
                            const struct es_tuple *made_by,
                            int32_t number)
{
    struct object *object = calloc(1, sizeof *object);

    if (object == NULL)
        return;
    object->communicator = made_by->communicator;
    esi_comm_pin(object->communicator);
    object->number = number;
    object_destroy(esi_handles_remove(objects, handle));
    if (objects == &windows)
        esi_window_ledger_init(&object->ledger, object->communicator, number);
    esi_ledger_count_object(ledger_object(objects), 1);
    if (!esi_handles_set(objects, handle, object))
        object_destroy(object);
}

static void object_forget(struct esi_handles *objects, uint64_t handle)
{
    struct object *object = esi_handles_remove(objects, handle);

    if (object != NULL)
        esi_ledger_count_object(ledger_object(objects), -1);
    object_destroy(object);
}

/* Ends the call: determines what remained; its tuple is then complete but not
 * written. */
static void end_call(struct esi_call *call, int result)
{
    call->tuple.stop = call->open ? esi_clock_read() : 0;
    if (ESI_UNLIKELY(esi_call_is_late(call, result)))
        esi_call_complete_late(call, result);
}

static void describe_object(struct esi_call *call,
                            struct esi_handles *objects,
                            uint64_t handle,
                            int rank,
                            uint32_t bytes,
                            uint32_t sequence)
{
    const struct object *object = esi_handles_find(objects, handle);

    esi_call_describe(call, NULL, esi_tuple_peer(rank), 0, bytes, sequence);
    if (object != NULL) {
        call->tuple.communicator = object->communicator;
        call->tuple.tag = object->number;
    }
    esi_call_open(call);
}

/* Describes a collective call on the object: the next instance. */
static void describe_together(struct esi_call *call,
                              struct esi_handles *objects,
                              uint64_t handle)
{
    struct object *object = esi_handles_find(objects, handle);

    if (object != NULL)
        esi_window_ledger_count_collective(&object->ledger, 1);
    describe_object(call, objects, handle, MPI_PROC_NULL, 0,
                    object != NULL ? esi_count_up(&object->instances)
                                   : ES_SEQUENCE_UNKNOWN);
}

/* --- Windows -------------------------------------------------------------------- */

void esi_begin_window(struct esi_call *call, MPI_Comm comm)
{
    esi_call_describe_collective(call, comm, ES_PEER_NONE, 0);
    call->tuple.tag = (int32_t)call->tuple.sequence;
    esi_call_open(call);
}

void esi_end_window_made(struct esi_call *call, int result, MPI_Comm comm, MPI_Win *win)
{
    (void)comm;
    end_call(call, result);
    call->tuple.tag = (int32_t)call->tuple.sequence;
    if (result == MPI_SUCCESS)
        object_register(&windows, ESI_HANDLE(*win), &call->tuple, call->tuple.tag);
    esi_completion_leave(call, call->tuple.stop);
}

void esi_begin_rma(struct esi_call *call,
                   MPI_Win win,
                   int rank,
                   MPI_Count count,
                   MPI_Datatype datatype)
{
    describe_object(call, &windows, ESI_HANDLE(win), rank,
                    esi_call_get_bytes(call, count, datatype), ES_SEQUENCE_UNKNOWN);
}

void esi_begin_rma_request(struct esi_call *call,
                           MPI_Win win,
                           int rank,
                           MPI_Count count,
                           MPI_Datatype datatype)
{
    esi_begin_rma(call, win, rank, count, datatype);
}

void esi_begin_rma_sync(struct esi_call *call, MPI_Win win)
{
    describe_object(call, &windows, ESI_HANDLE(win), MPI_PROC_NULL, 0,
                    ES_SEQUENCE_UNKNOWN);
}

void esi_begin_rma_lock(struct esi_call *call, MPI_Win win, int rank)
{
    describe_object(call, &windows, ESI_HANDLE(win), rank, 0, ES_SEQUENCE_UNKNOWN);
}

/* --- Post, start, complete, wait ------------------------------------------------ */

/* The epochs of a window, created if necessary; NULL if out of memory. */
static struct epochs *epochs_of(struct object *object,
                                MPI_Win win,
                                enum epoch_kind kind)
{
    struct epochs *epochs = object->epochs[kind];
    MPI_Group group;
    int size = 0;

    if (epochs != NULL || ESI_REAL(MPI_Win_get_group)(win, &group) != MPI_SUCCESS)
        return epochs;
    ESI_REAL(MPI_Group_size)(group, &size);
    epochs = calloc(1, sizeof *epochs + (size_t)size * sizeof epochs->towards[0]);
    if (epochs == NULL) {
        ESI_REAL(MPI_Group_free)(&group);
    } else {
        epochs->group = group;
        epochs->size = size;
        esi_window_ledger_reserve(&object->ledger, size);
    }
    return object->epochs[kind] = epochs;
}

/* The number of epochs of a kind begun on the window. */
static uint32_t epochs_begun(MPI_Win win, enum epoch_kind kind)
{
    const struct object *object = esi_handles_find(&windows, ESI_HANDLE(win));

    return object != NULL && object->epochs[kind] != NULL ? object->epochs[kind]->count
                                                          : 0;
}

/* Describes an epoch about to begin: the sequence is its number. */
static void describe_begin(struct esi_call *call, MPI_Win win, enum epoch_kind kind)
{
    describe_object(call, &windows, ESI_HANDLE(win), MPI_PROC_NULL, 0,
                    epochs_begun(win, kind));
}

/* Describes the end of the epoch begun last. */
static void describe_end(struct esi_call *call, MPI_Win win, enum epoch_kind kind)
{
    uint32_t begun = epochs_begun(win, kind);

    describe_object(call, &windows, ESI_HANDLE(win), MPI_PROC_NULL, 0,
                    begun > 0 ? begun - 1 : ES_SEQUENCE_UNKNOWN);
}

/* Shows an epoch with a member in the ledger. */
static void show_member(const struct object *object, enum epoch_kind kind, int peer)
{
    enum esi_ledger_epoch_kind shown =
        kind == EXPOSURE ? ESI_LEDGER_POST : ESI_LEDGER_START;

    esi_window_ledger_open(&object->ledger, shown, peer,
                           object->epochs[kind]->towards[peer], true);
    esi_window_ledger_count(&object->ledger, shown, peer);
}

/* Writes a tuple for each member of the epoch's group, with the number of epochs with
 * it. */
static void write_members(const struct esi_call *call,
                          uint16_t operation,
                          const struct object *object,
                          enum epoch_kind kind,
                          MPI_Group group)
{
    struct epochs *epochs = object->epochs[kind];
    struct es_tuple tuple = call->tuple;
    int size = 0;
    int *ranks;

    ESI_REAL(MPI_Group_size)(group, &size);
    ranks = calloc((size_t)size * 2 + 1, sizeof *ranks);
    if (ranks == NULL)
        return;
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    ESI_REAL(MPI_Group_translate_ranks)
    (group, size, ranks, epochs->group, ranks + size);
    tuple.operation = operation;
    for (int i = 0; i < size; i++) {
        tuple.peer = ranks[size + i];
        /* Not a member of the window: MPI should have reported an error. */
        if (tuple.peer < 0 || tuple.peer >= epochs->size)
            continue;
        show_member(object, kind, tuple.peer);
        tuple.sequence = epochs->towards[tuple.peer]++;
        if (call->open)
            esi_path_write(call->thread, &tuple);
    }
    free(ranks);
}

static void note_epoch_begun(struct esi_call *call,
                             int result,
                             MPI_Win win,
                             MPI_Group group,
                             enum epoch_kind kind,
                             uint16_t member_operation)
{
    struct object *object = esi_handles_find(&windows, ESI_HANDLE(win));
    struct epochs *epochs = NULL;

    end_call(call, result);
    if (call->open) {
        esi_call_write(call);
        esi_call_count(call, call->tuple.stop);
    }
    if (result == MPI_SUCCESS && object != NULL)
        epochs = epochs_of(object, win, kind);
    if (epochs != NULL) {
        epochs->count++;
        write_members(call, member_operation, object, kind, group);
    }
    esi_call_exit(call);
}

void esi_begin_rma_post(struct esi_call *call, MPI_Win win)
{
    describe_begin(call, win, EXPOSURE);
}

void esi_end_rma_posted(struct esi_call *call, int result, MPI_Win win, MPI_Group group)
{
    note_epoch_begun(call, result, win, group, EXPOSURE, ES_OP_MPI_Win_post_member);
}

void esi_begin_rma_start(struct esi_call *call, MPI_Win win)
{
    describe_begin(call, win, ACCESS);
}

void esi_end_rma_started(struct esi_call *call,
                         int result,
                         MPI_Win win,
                         MPI_Group group)
{
    note_epoch_begun(call, result, win, group, ACCESS, ES_OP_MPI_Win_start_member);
}

void esi_begin_rma_complete(struct esi_call *call, MPI_Win win)
{
    describe_end(call, win, ACCESS);
}

void esi_begin_rma_wait(struct esi_call *call, MPI_Win win)
{
    describe_end(call, win, EXPOSURE);
}

/* Ends a call on a window; NULL if it failed or the window is not known. */
static struct object *end_on_window(struct esi_call *call, int result, MPI_Win win)
{
    esi_call_leave(call, result);
    return result == MPI_SUCCESS ? esi_handles_find(&windows, ESI_HANDLE(win)) : NULL;
}

void esi_end_rma_completed(struct esi_call *call, int result, MPI_Win win)
{
    struct object *object = end_on_window(call, result, win);

    if (object != NULL)
        esi_window_ledger_close(&object->ledger, 1u << ESI_LEDGER_START, ES_PEER_ANY,
                                esi_window_ledger_complete);
}

void esi_end_rma_waited(struct esi_call *call, int result, MPI_Win win)
{
    struct object *object = end_on_window(call, result, win);

    if (object != NULL)
        esi_window_ledger_close(&object->ledger, 1u << ESI_LEDGER_POST, ES_PEER_ANY,
                                NULL);
}

/* --- Locks and fences ------------------------------------------------------------- */

enum {
    LOCK_KINDS = 1u << ESI_LEDGER_LOCK_SHARED | 1u << ESI_LEDGER_LOCK_EXCLUSIVE |
                 1u << ESI_LEDGER_LOCK_ALL
};

/* `rank` is ES_PEER_NONE for all targets. */
void esi_begin_rma_ask_lock(struct esi_call *call, MPI_Win win, int rank, int lock_type)
{
    struct object *object = esi_handles_find(&windows, ESI_HANDLE(win));
    enum esi_ledger_epoch_kind kind = lock_type == MPI_LOCK_EXCLUSIVE
                                          ? ESI_LEDGER_LOCK_EXCLUSIVE
                                          : ESI_LEDGER_LOCK_SHARED;

    if (object != NULL)
        esi_window_ledger_open(&object->ledger,
                               rank == ES_PEER_NONE ? ESI_LEDGER_LOCK_ALL : kind, rank,
                               0, false);
    describe_object(call, &windows, ESI_HANDLE(win),
                    rank == ES_PEER_NONE ? MPI_PROC_NULL : rank, 0,
                    kind == ESI_LEDGER_LOCK_EXCLUSIVE);
}

void esi_end_rma_locked(struct esi_call *call, int result, MPI_Win win, int rank)
{
    struct object *object = esi_handles_find(&windows, ESI_HANDLE(win));

    esi_call_leave(call, result);
    if (object == NULL)
        return;
    if (result == MPI_SUCCESS)
        esi_window_ledger_grant(&object->ledger, rank);
    else
        esi_window_ledger_close(&object->ledger, LOCK_KINDS, rank, NULL);
}

void esi_end_rma_unlocked(struct esi_call *call, int result, MPI_Win win, int rank)
{
    struct object *object = end_on_window(call, result, win);

    if (object != NULL)
        esi_window_ledger_close(&object->ledger, LOCK_KINDS, rank, NULL);
}

/* Of a fence that was refused: the members' next call is the same instance. */
static void take_back_together(MPI_Win win, uint32_t number)
{
    struct object *object = esi_handles_find(&windows, ESI_HANDLE(win));

    if (object == NULL || number == ES_SEQUENCE_UNKNOWN)
        return;
    esi_window_ledger_count_collective(&object->ledger, -1);
    esi_count_back(&object->instances, number);
}

void esi_begin_rma_fence(struct esi_call *call, MPI_Win win)
{
    describe_together(call, &windows, ESI_HANDLE(win));
}

void esi_end_rma_fenced(struct esi_call *call, int result, MPI_Win win, int assert)
{
    uint32_t number = call->tuple.sequence;
    struct object *object = end_on_window(call, result, win);

    if (result != MPI_SUCCESS && esi_error_is_refusal(result))
        take_back_together(win, number);
    if (object == NULL)
        return;
    esi_window_ledger_close(&object->ledger, 1u << ESI_LEDGER_FENCE, ES_PEER_NONE,
                            NULL);
    if ((assert &MPI_MODE_NOSUCCEED) == 0)
        esi_window_ledger_open(&object->ledger, ESI_LEDGER_FENCE, ES_PEER_NONE, number,
                               true);
}

int esi_wrap_MPI_Win_test(esi_MPI_Win_test_fn *next, MPI_Win win, int *flag)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Win_test, ES_CLASS_ONE_SIDED))
        return next(win, flag);
    result = next(win, flag);
    if ((result != MPI_SUCCESS || !*flag) && esi_call_count_poll(&call)) {
        esi_call_exit(&call);
        esi_thread_note_poll(call.thread, ESI_POLLED_OTHER);
        return result;
    }
    if (result == MPI_SUCCESS && *flag) {
        esi_begin_rma_wait(&call, win);
        esi_end_rma_waited(&call, result, win);
    } else { /* does not end an epoch */
        describe_object(&call, &windows, ESI_HANDLE(win), MPI_PROC_NULL, 0,
                        ES_SEQUENCE_UNKNOWN);
        esi_call_leave(&call, result);
    }
    return result;
}

int esi_wrap_MPI_Win_free(esi_MPI_Win_free_fn *next, MPI_Win *win)
{
    struct esi_call call;
    int result;

    if (win == NULL || !esi_call_enter(&call, ES_OP_MPI_Win_free, ES_CLASS_ONE_SIDED))
        return next(win);
    describe_together(&call, &windows, ESI_HANDLE(*win));
    object_forget(&windows, ESI_HANDLE(*win));
    result = next(win);
    esi_call_leave(&call, result);
    return result;
}

/* --- Files ---------------------------------------------------------------------- */

void esi_begin_io_open(struct esi_call *call, MPI_Comm comm)
{
    esi_call_describe_collective(call, comm, ES_PEER_NONE, 0);
    esi_call_open(call);
}

void esi_end_file_opened(struct esi_call *call,
                         int result,
                         MPI_Comm comm,
                         MPI_File *file)
{
    (void)comm;
    end_call(call, result);
    if (result == MPI_SUCCESS)
        object_register(&files, ESI_HANDLE(*file), &call->tuple, 0);
    esi_completion_leave(call, call->tuple.stop);
}

void esi_begin_io(struct esi_call *call,
                  MPI_File file,
                  MPI_Count count,
                  MPI_Datatype datatype)
{
    describe_object(call, &files, ESI_HANDLE(file), MPI_PROC_NULL,
                    esi_call_get_bytes(call, count, datatype), ES_SEQUENCE_UNKNOWN);
}

void esi_begin_io_request(struct esi_call *call,
                          MPI_File file,
                          MPI_Count count,
                          MPI_Datatype datatype)
{
    esi_begin_io(call, file, count, datatype);
}

void esi_begin_io_call(struct esi_call *call, MPI_File file)
{
    describe_object(call, &files, ESI_HANDLE(file), MPI_PROC_NULL, 0,
                    ES_SEQUENCE_UNKNOWN);
}

int esi_wrap_MPI_File_close(esi_MPI_File_close_fn *next, MPI_File *file)
{
    struct esi_call call;
    int result;

    if (file == NULL || !esi_call_enter(&call, ES_OP_MPI_File_close, ES_CLASS_IO))
        return next(file);
    describe_together(&call, &files, ESI_HANDLE(*file));
    object_forget(&files, ESI_HANDLE(*file));
    result = next(file);
    esi_call_leave(&call, result);
    return result;
}
