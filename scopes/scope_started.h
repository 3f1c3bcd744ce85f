/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Processes of a scope that have not called MPI (tuplespace/started.h). */
#ifndef ES_SCOPES_SCOPE_STARTED_H
#define ES_SCOPES_SCOPE_STARTED_H

#include <stdbool.h>

struct es_scope;

/* Whether a process of the scope has left MPI_Init.  It waits there for all ranks, so
 * one that still seems not to have called MPI calls it unseen. */
bool esi_scope_has_left_init(const struct es_scope *scope);

#endif
