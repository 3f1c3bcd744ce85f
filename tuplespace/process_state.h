/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_state.h - names of the states of observed processes, as used in output and in
 * archives, and which ends are failures. */
#ifndef ES_TUPLESPACE_PROCESS_STATE_H
#define ES_TUPLESPACE_PROCESS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/run.h"

/* "running" and so on; "lost" for an invalid state. */
const char *esi_process_state_name(enum es_process_state state);
/* The state with this name; ES_PROCESS_LOST if there is none. */
enum es_process_state esi_process_state_find(const char *name);

/* Whether the process has left MPI, and did not end with an exit code other than 0.
 * `exit_code` is -1 if it is alive, or the code is not known. */
bool esi_process_ended_well(enum es_process_state state, int exit_code);
/* Whether its end is a failure.  An end with 0 without MPI_Finalize is neither: as far
 * as the process knows, nothing went wrong. */
bool esi_process_has_failed(enum es_process_state state, int exit_code);

/* Whether the operation initializes MPI: it may be called before everything else. */
bool esi_process_is_initialized_by(uint16_t operation);

/* For a process that ended within a call of `operation`: "after MPI_Finalize" or
 * "before MPI_Init" if it had made the call then, to which MPI reacts by ending it;
 * else NULL.  `communicators` is the number of those that it is known to have had. */
const char *esi_process_misplaced(enum es_process_state state,
                                  size_t communicators,
                                  uint16_t operation);

#endif
