/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* errors.c - the handlers that replace MPI_ERRORS_ARE_FATAL. */
#include "config.h"

#include "wrappers/mpi/errors.h"

#include <pthread.h>

#include "wrappers/mpi/call.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/mpi_next.h"
#include "wrappers/mpi/process.h"

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static int users;

/* Kept while MPI is initialized, because a freed handle is reused. */
/* No MPI has a handle of 0, and MPI_ERRHANDLER_NULL is not always a constant. */
#define NO_HANDLER ((MPI_Errhandler)0)

static _Atomic MPI_Errhandler communicator_handler = NO_HANDLER;
static _Atomic MPI_Errhandler window_handler = NO_HANDLER;

/* The operation of this thread's failed call; 0 if it is not recorded. */
static uint16_t find_operation(const void *here)
{
    const struct esi_thread *thread = &esi_thread_self;

    if (thread->depth == 0 || esi_thread_is_abandoned(thread, (uintptr_t)here))
        return 0;
    return thread->operation;
}

static void on_communicator_error(MPI_Comm *comm, int *code, ...)
{
    esi_ledger_note_fatal(find_operation(&comm), *code);
    ESI_REAL(MPI_Comm_set_errhandler)(*comm, MPI_ERRORS_ARE_FATAL);
    ESI_REAL(MPI_Comm_call_errhandler)(*comm, *code);
}

static void on_window_error(MPI_Win *win, int *code, ...)
{
    esi_ledger_note_fatal(find_operation(&win), *code);
    ESI_REAL(MPI_Win_set_errhandler)(*win, MPI_ERRORS_ARE_FATAL);
    ESI_REAL(MPI_Win_call_errhandler)(*win, *code);
}

/* --- Begin and end ---------------------------------------------------------------- */

static void create_handlers(void)
{
    MPI_Errhandler made;

    if (ESI_REAL(MPI_Comm_create_errhandler)(on_communicator_error, &made) ==
        MPI_SUCCESS)
        atomic_store(&communicator_handler, made);
    if (ESI_REAL(MPI_Win_create_errhandler)(on_window_error, &made) == MPI_SUCCESS)
        atomic_store(&window_handler, made);
}

void esi_errors_begin(void)
{
    if (esi_process_get() == NULL)
        return;
    pthread_mutex_lock(&counting);
    if (users++ == 0)
        create_handlers();
    pthread_mutex_unlock(&counting);
}

/* The value is kept: communicators use it until MPI is finalized. */
static void free_handler(_Atomic MPI_Errhandler *handler)
{
    MPI_Errhandler freed = atomic_load(handler);

    if (freed != NO_HANDLER)
        ESI_REAL(MPI_Errhandler_free)(&freed);
}

void esi_errors_end(void)
{
    pthread_mutex_lock(&counting);
    if (users > 0 && --users == 0) {
        free_handler(&communicator_handler);
        free_handler(&window_handler);
    }
    pthread_mutex_unlock(&counting);
}

/* --- Replacing MPI_ERRORS_ARE_FATAL ----------------------------------------------- */

void esi_errors_watch_communicator(MPI_Comm comm)
{
    MPI_Errhandler ours = atomic_load(&communicator_handler);
    MPI_Errhandler handler;

    if (ours == NO_HANDLER ||
        ESI_REAL(MPI_Comm_get_errhandler)(comm, &handler) != MPI_SUCCESS)
        return;
    if (handler == MPI_ERRORS_ARE_FATAL)
        ESI_REAL(MPI_Comm_set_errhandler)(comm, ours);
    ESI_REAL(MPI_Errhandler_free)(&handler);
}

void esi_errors_watch_window(MPI_Win win)
{
    MPI_Errhandler ours = atomic_load(&window_handler);
    MPI_Errhandler handler;

    if (ours == NO_HANDLER ||
        ESI_REAL(MPI_Win_get_errhandler)(win, &handler) != MPI_SUCCESS)
        return;
    if (handler == MPI_ERRORS_ARE_FATAL)
        ESI_REAL(MPI_Win_set_errhandler)(win, ours);
    ESI_REAL(MPI_Errhandler_free)(&handler);
}

/* The handler to set if the program wants `wanted`. */
static MPI_Errhandler replace_fatal(_Atomic MPI_Errhandler *handler,
                                    MPI_Errhandler wanted)
{
    MPI_Errhandler ours = atomic_load(handler);

    return wanted == MPI_ERRORS_ARE_FATAL && ours != NO_HANDLER ? ours : wanted;
}

/* Where MPI has our handler, the program gets MPI_ERRORS_ARE_FATAL from MPI: it may
 * free what it gets, and Open MPI counts the references to that handler, too. */
static int get_communicator_handler(int (*next)(MPI_Comm, MPI_Errhandler *),
                                    MPI_Comm comm,
                                    MPI_Errhandler *errhandler)
{
    MPI_Errhandler ours = atomic_load(&communicator_handler);
    int result = next(comm, errhandler);

    if (result != MPI_SUCCESS || ours == NO_HANDLER || *errhandler != ours)
        return result;
    ESI_REAL(MPI_Errhandler_free)(errhandler);
    ESI_REAL(MPI_Comm_set_errhandler)(comm, MPI_ERRORS_ARE_FATAL);
    result = next(comm, errhandler);
    ESI_REAL(MPI_Comm_set_errhandler)(comm, ours);
    return result;
}

/* --- What the program calls ------------------------------------------------------- */

int esi_wrap_MPI_Comm_set_errhandler(esi_MPI_Comm_set_errhandler_fn *next,
                                     MPI_Comm comm,
                                     MPI_Errhandler errhandler)
{
    return next(comm, replace_fatal(&communicator_handler, errhandler));
}

int esi_wrap_MPI_Comm_get_errhandler(esi_MPI_Comm_get_errhandler_fn *next,
                                     MPI_Comm comm,
                                     MPI_Errhandler *errhandler)
{
    return get_communicator_handler(next, comm, errhandler);
}

/* Removed from the standard: Open MPI's mpi.h does not have the next two. */
#ifndef OPEN_MPI
int esi_wrap_MPI_Errhandler_set(int (*next)(MPI_Comm, MPI_Errhandler),
                                MPI_Comm comm,
                                MPI_Errhandler errhandler)
{
    return next(comm, replace_fatal(&communicator_handler, errhandler));
}

int esi_wrap_MPI_Errhandler_get(int (*next)(MPI_Comm, MPI_Errhandler *),
                                MPI_Comm comm,
                                MPI_Errhandler *errhandler)
{
    return get_communicator_handler(next, comm, errhandler);
}

#endif

int esi_wrap_MPI_Win_set_errhandler(esi_MPI_Win_set_errhandler_fn *next,
                                    MPI_Win win,
                                    MPI_Errhandler errhandler)
{
    return next(win, replace_fatal(&window_handler, errhandler));
}

int esi_wrap_MPI_Win_get_errhandler(esi_MPI_Win_get_errhandler_fn *next,
                                    MPI_Win win,
                                    MPI_Errhandler *errhandler)
{
    MPI_Errhandler ours = atomic_load(&window_handler);
    int result = next(win, errhandler);

    if (result != MPI_SUCCESS || ours == NO_HANDLER || *errhandler != ours)
        return result;
    ESI_REAL(MPI_Errhandler_free)(errhandler);
    ESI_REAL(MPI_Win_set_errhandler)(win, MPI_ERRORS_ARE_FATAL);
    result = next(win, errhandler);
    ESI_REAL(MPI_Win_set_errhandler)(win, ours);
    return result;
}
