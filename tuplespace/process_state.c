/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_state.c - names of the states of observed processes, and which ends are
 * failures. */
#include "config.h"

#include "tuplespace/process_state.h"

#include <stddef.h>
#include <string.h>

#include "tuplespace/operation_codes.h"

static const char *const names[] = {
    [ES_PROCESS_RUNNING] = "running", [ES_PROCESS_FINALIZED] = "finalized",
    [ES_PROCESS_ABORTED] = "aborted", [ES_PROCESS_EXITED] = "exited",
    [ES_PROCESS_KILLED] = "killed",   [ES_PROCESS_LOST] = "lost",
};
enum { STATES = sizeof names / sizeof names[0] };

const char *esi_process_state_name(enum es_process_state state)
{
    return names[(unsigned)state < STATES ? state : ES_PROCESS_LOST];
}

enum es_process_state esi_process_state_find(const char *name)
{
    for (int i = 0; i < STATES; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum es_process_state)i;
    return ES_PROCESS_LOST;
}

bool esi_process_ended_well(enum es_process_state state, int exit_code)
{
    return state == ES_PROCESS_FINALIZED && exit_code <= 0;
}

bool esi_process_has_failed(enum es_process_state state, int exit_code)
{
    return state != ES_PROCESS_RUNNING && !esi_process_ended_well(state, exit_code) &&
           !(state == ES_PROCESS_EXITED && exit_code == 0);
}

bool esi_process_is_initialized_by(uint16_t operation)
{
    return operation == ES_OP_MPI_Init || operation == ES_OP_MPI_Init_thread ||
           operation == ES_OP_MPI_Session_init;
}

const char *esi_process_misplaced(enum es_process_state state,
                                  size_t communicators,
                                  uint16_t operation)
{
    if (state == ES_PROCESS_FINALIZED)
        return "after MPI_Finalize";
    return state == ES_PROCESS_EXITED && communicators == 0 &&
                   !esi_process_is_initialized_by(operation)
               ? "before MPI_Init"
               : NULL;
}
