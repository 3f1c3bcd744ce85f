/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The initial collective trees of a run. */
#ifndef ES_CLI_LAUNCH_RUN_TREES_H
#define ES_CLI_LAUNCH_RUN_TREES_H

#include "cli/launch/run_setup.h"
#include "eventspace/error.h"

struct esi_pathmap;

/* The rules for all ranks from the request and the map; NULL if neither has any, or if
 * not all ranks would have the library that implements trees (with a note). The caller
 * frees *ret_text.  Returns 0 or -ENOMEM. */
int esi_run_trees_text(const struct esi_run_request *request,
                       const struct esi_pathmap *map,
                       struct es_error *error,
                       char **ret_text);

/* Passes the rules to the ranks, in this process's environment.  Returns 0 or
 * -errno. */
int esi_run_trees_set(const char *text);

#endif
