/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Initialization and finalization of MPI (MPI-4.0, chapter 11): the world model and
 * sessions.
 *
 * Nothing collective, and nothing slow at the end.  If a program does not get there,
 * its segment says "running" although the process is gone.
 */
#include "config.h"

#include <unistd.h>

#include "base/process.h"
#include "wrappers/mpi/completion.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/tree_ops.h"

static _Atomic int open_sessions;
static _Atomic bool world_is_up;

bool esi_environment_is_up(void)
{
    int up = 0, over = 0;

    if (atomic_load(&open_sessions) > 0)
        return true;
    ESI_REAL(MPI_Initialized)(&up);
    ESI_REAL(MPI_Finalized)(&over);
    return up && !over;
}

static void flush_communicator(struct esi_comm *comm)
{
    esi_match_flush(&comm->received);
}

/* What is held back will not be decided any more. */
static void flush_communicators(void)
{
    esi_comm_foreach(flush_communicator);
    esi_slot_write_all_late();
}

/* Whether no thread but this one can create threads while MPI is initialised. */
static bool is_alone(void)
{
    return esi_process_list_threads((int)getpid(), NULL, 0) == 1;
}

static void world_up(int provided, bool alone)
{
    esi_ledger_note_threads(provided == MPI_THREAD_MULTIPLE, alone);
    if (provided == MPI_THREAD_MULTIPLE)
        esi_become_multiple();
    if (esi_multiple && esi_trees != NULL)
        esi_trees->on_threads();
    atomic_store(&world_is_up, true);
    esi_profile_begin();
    esi_process_set_state(ES_SEGMENT_RUNNING);
    esi_status_probe_count();
    esi_comm_register_world();
    if (esi_trees != NULL)
        esi_trees->on_initialized();
}

int esi_wrap_MPI_Init(esi_MPI_Init_fn *next, int *argc, char ***argv)
{
    struct esi_call call;
    bool alone = is_alone();
    int provided = MPI_THREAD_SINGLE;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Init, ES_CLASS_OTHER))
        return next(argc, argv);
    esi_begin_call(&call);
    result = next(argc, argv);
    if (result == MPI_SUCCESS) {
        /* An implementation may be configured to provide more than requested. */
        ESI_REAL(MPI_Query_thread)(&provided);
        world_up(provided, alone);
    }
    esi_call_leave(&call, result);
    return result;
}

int esi_wrap_MPI_Init_thread(esi_MPI_Init_thread_fn *next,
                             int *argc,
                             char ***argv,
                             int required,
                             int *provided)
{
    struct esi_call call;
    bool alone = is_alone();
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Init_thread, ES_CLASS_OTHER))
        return next(argc, argv, required, provided);
    esi_begin_call(&call);
    result = next(argc, argv, required, provided);
    if (result == MPI_SUCCESS)
        world_up(*provided, alone);
    esi_call_leave(&call, result);
    return result;
}

int esi_wrap_MPI_Finalize(esi_MPI_Finalize_fn *next)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Finalize, ES_CLASS_OTHER))
        return next();
    if (atomic_load(&open_sessions) == 0)
        esi_profile_end();
    flush_communicators();
    if (esi_trees != NULL)
        esi_trees->on_finalize();
    esi_comm_forget_groups();
    esi_begin_call(&call);
    result = next();
    atomic_store(&world_is_up, false);
    esi_call_leave(&call, result);
    if (result == MPI_SUCCESS && atomic_load(&open_sessions) == 0) {
        esi_comm_drop_destroyed();
        esi_process_set_state(ES_SEGMENT_FINALIZED);
        esi_path_forget();
    }
    return result;
}

/* Does not return: the open tuple remains, and the state shows the reason. */
int esi_wrap_MPI_Abort(esi_MPI_Abort_fn *next, MPI_Comm comm, int code)
{
    struct esi_call call;
    int result;

    /* Also from an error handler, where it is not an operation of its own. */
    if (esi_environment_is_up()) {
        esi_process_set_abort_code(code);
        esi_process_set_state(ES_SEGMENT_ABORTED);
    }
    if (!esi_call_enter(&call, ES_OP_MPI_Abort, ES_CLASS_OTHER))
        return next(comm, code);
    esi_begin_on_communicator(&call, comm);
    result = next(comm, code);
    esi_call_leave(&call, result);
    return result;
}

#ifdef ESI_HAS_MPI_Session_init
/* Both models have ended. */
static void finish_process(void)
{
    flush_communicators();
    esi_comm_drop_destroyed();
    esi_process_set_state(ES_SEGMENT_FINALIZED);
    esi_path_forget();
}

int esi_wrap_MPI_Session_init(esi_MPI_Session_init_fn *next,
                              MPI_Info info,
                              MPI_Errhandler errhandler,
                              MPI_Session *session)
{
    struct esi_call call;
    bool alone = is_alone();
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Session_init, ES_CLASS_OTHER))
        return next(info, errhandler, session);
    esi_begin_call(&call);
    result = next(info, errhandler, session);
    if (result == MPI_SUCCESS) {
        esi_request_share(); /* each session has its own thread level: be prepared */
        esi_ledger_note_threads(true, alone);
        atomic_fetch_add(&open_sessions, 1);
        esi_profile_begin();
        esi_process_set_state(ES_SEGMENT_RUNNING);
        esi_status_probe_count();
        esi_comm_set_session(*session);
        if (esi_trees != NULL) {
            esi_trees->on_threads();
            esi_trees->on_session_begin(*session);
        }
    }
    esi_call_leave(&call, result);
    return result;
}

int esi_wrap_MPI_Session_finalize(esi_MPI_Session_finalize_fn *next,
                                  MPI_Session *session)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, ES_OP_MPI_Session_finalize, ES_CLASS_OTHER))
        return next(session);
    if (atomic_load(&open_sessions) == 1 && !atomic_load(&world_is_up))
        esi_profile_end();
    esi_begin_call(&call);
    esi_comm_end_session(*session);
    if (esi_trees != NULL)
        esi_trees->on_session_end(*session);
    result = next(session);
    esi_call_leave(&call, result);
    if (result == MPI_SUCCESS && atomic_fetch_sub(&open_sessions, 1) == 1 &&
        !atomic_load(&world_is_up))
        finish_process();
    return result;
}
#endif
