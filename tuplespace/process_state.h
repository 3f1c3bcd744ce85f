/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_state.h - the states of observed processes by name, as they stand in output
 * and in archives. */
#ifndef ES_TUPLESPACE_PROCESS_STATE_H
#define ES_TUPLESPACE_PROCESS_STATE_H

#include "eventspace/run.h"

/* "running" and so on; "lost" for what is no state. */
const char *esi_process_state_name(enum es_process_state state);
/* The state of that name; ES_PROCESS_LOST for what is no name. */
enum es_process_state esi_process_state_find(const char *name);

#endif
