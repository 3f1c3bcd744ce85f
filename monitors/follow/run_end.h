/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_end.h - whether anybody is left who could write. */
#ifndef ES_MONITORS_FOLLOW_RUN_END_H
#define ES_MONITORS_FOLLOW_RUN_END_H

#include <stdbool.h>

#include "eventspace/scope.h"

/* Whether no process of the run is left that could write, as far as the run's segments
 * here and the scope's elements elsewhere tell.  As long as none is known and a tuple
 * server lives the run has not begun.  `servers` may be NULL. */
bool esi_run_is_over(const struct es_run *run,
                     const struct es_scope *scope,
                     struct es_servers *servers);

#endif
