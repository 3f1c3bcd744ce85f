/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_state.h - names of the states of observed processes, as used in output and in
 * archives. */
#ifndef ES_TUPLESPACE_PROCESS_STATE_H
#define ES_TUPLESPACE_PROCESS_STATE_H

#include "eventspace/run.h"

/* "running" and so on; "lost" for an invalid state. */
const char *esi_process_state_name(enum es_process_state state);
/* The state with this name; ES_PROCESS_LOST if there is none. */
enum es_process_state esi_process_state_find(const char *name);

#endif
