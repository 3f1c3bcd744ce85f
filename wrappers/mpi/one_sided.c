/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One-sided operations and I/O (MPI-4.0, chapters 12 and 14): what leads from a window
 * or a file to its communicator, and how the calls are described.
 *
 * The peer is the target's rank in the window's communicator.  Collective calls on a
 * window or a file count instances on that communicator's entry of their own (the
 * window's or the file's).
 */
#include "config.h"

#include <stdlib.h>

#include "wrappers/mpi/handles.h"
#include "wrappers/mpi/record.h"

/* A window or a file. */
struct object {
    uint16_t communicator;
    _Atomic uint32_t instances; /* of collective calls on it */
};

static struct esi_handles windows;
static struct esi_handles files;

static void object_register(struct esi_handles *objects,
                            uint64_t handle,
                            const struct esi_comm *comm)
{
    struct object *object = calloc(1, sizeof *object);

    if (object == NULL)
        return;
    object->communicator = comm != NULL ? comm->index : ES_COMMUNICATOR_NONE;
    free(esi_handles_remove(objects, handle));
    if (!esi_handles_set(objects, handle, object))
        free(object);
}

static void object_forget(struct esi_handles *objects, uint64_t handle)
{
    free(esi_handles_remove(objects, handle));
}

static void describe_object(struct esi_call *call,
                            struct esi_handles *objects,
                            uint64_t handle,
                            int rank,
                            uint32_t bytes,
                            bool is_collective)
{
    struct object *object = esi_handles_find(objects, handle);

    esi_describe(call, NULL, esi_peer(rank), 0, bytes, ES_SEQUENCE_UNKNOWN);
    if (object != NULL) {
        call->tuple.communicator = object->communicator;
        if (is_collective)
            call->tuple.sequence = esi_count_up(&object->instances);
    }
    esi_open(call);
}

/* --- Windows -------------------------------------------------------------------- */

void esi_window(struct esi_call *call, MPI_Comm comm)
{
    esi_describe_collective(call, comm, ES_PEER_NONE, 0);
    esi_open(call);
}

void esi_window_made(struct esi_call *call, int result, MPI_Comm comm, MPI_Win *win)
{
    (void)comm;
    if (result == MPI_SUCCESS)
        object_register(&windows, ESI_HANDLE(*win), call->comm);
    esi_leave(call, result);
}

void esi_rma(struct esi_call *call,
             MPI_Win win,
             int rank,
             MPI_Count count,
             MPI_Datatype datatype)
{
    describe_object(call, &windows, ESI_HANDLE(win), rank,
                    esi_bytes(call, count, datatype), false);
}

void esi_rma_request(struct esi_call *call,
                     MPI_Win win,
                     int rank,
                     MPI_Count count,
                     MPI_Datatype datatype)
{
    esi_rma(call, win, rank, count, datatype);
}

void esi_rma_sync(struct esi_call *call, MPI_Win win)
{
    describe_object(call, &windows, ESI_HANDLE(win), MPI_PROC_NULL, 0, false);
}

void esi_rma_collective(struct esi_call *call, MPI_Win win)
{
    describe_object(call, &windows, ESI_HANDLE(win), MPI_PROC_NULL, 0, true);
}

void esi_rma_lock(struct esi_call *call, MPI_Win win, int rank)
{
    describe_object(call, &windows, ESI_HANDLE(win), rank, 0, false);
}

int esi_wrap_MPI_Win_test(esi_MPI_Win_test_fn *next, MPI_Win win, int *flag)
{
    struct esi_call call;
    int result;

    if (!esi_enter(&call, ES_OP_MPI_Win_test, ES_CLASS_ONE_SIDED))
        return next(win, flag);
    result = next(win, flag);
    if ((result != MPI_SUCCESS || !*flag) && esi_count_poll(&call)) {
        esi_exit(&call);
        return result;
    }
    esi_rma_sync(&call, win);
    esi_leave(&call, result);
    return result;
}

int esi_wrap_MPI_Win_free(esi_MPI_Win_free_fn *next, MPI_Win *win)
{
    struct esi_call call;
    int result;

    if (win == NULL || !esi_enter(&call, ES_OP_MPI_Win_free, ES_CLASS_ONE_SIDED))
        return next(win);
    esi_rma_collective(&call, *win);
    object_forget(&windows, ESI_HANDLE(*win));
    result = next(win);
    esi_leave(&call, result);
    return result;
}

/* --- Files ---------------------------------------------------------------------- */

void esi_io_open(struct esi_call *call, MPI_Comm comm)
{
    esi_describe_collective(call, comm, ES_PEER_NONE, 0);
    esi_open(call);
}

void esi_file_opened(struct esi_call *call, int result, MPI_Comm comm, MPI_File *file)
{
    (void)comm;
    if (result == MPI_SUCCESS)
        object_register(&files, ESI_HANDLE(*file), call->comm);
    esi_leave(call, result);
}

void esi_io(struct esi_call *call,
            MPI_File file,
            MPI_Count count,
            MPI_Datatype datatype)
{
    describe_object(call, &files, ESI_HANDLE(file), MPI_PROC_NULL,
                    esi_bytes(call, count, datatype), false);
}

void esi_io_request(struct esi_call *call,
                    MPI_File file,
                    MPI_Count count,
                    MPI_Datatype datatype)
{
    esi_io(call, file, count, datatype);
}

void esi_io_call(struct esi_call *call, MPI_File file)
{
    describe_object(call, &files, ESI_HANDLE(file), MPI_PROC_NULL, 0, false);
}

int esi_wrap_MPI_File_close(esi_MPI_File_close_fn *next, MPI_File *file)
{
    struct esi_call call;
    int result;

    if (file == NULL || !esi_enter(&call, ES_OP_MPI_File_close, ES_CLASS_IO))
        return next(file);
    describe_object(&call, &files, ESI_HANDLE(*file), MPI_PROC_NULL, 0, true);
    object_forget(&files, ESI_HANDLE(*file));
    result = next(file);
    esi_leave(&call, result);
    return result;
}
