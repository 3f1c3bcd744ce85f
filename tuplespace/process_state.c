/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_state.c - names of the states of observed processes. */
#include "config.h"

#include "tuplespace/process_state.h"

#include <stddef.h>
#include <string.h>

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
