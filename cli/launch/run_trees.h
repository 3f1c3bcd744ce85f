/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The collective trees that a run starts with. */
#ifndef ES_CLI_LAUNCH_RUN_TREES_H
#define ES_CLI_LAUNCH_RUN_TREES_H

#include "cli/launch/run_setup.h"
#include "eventspace/error.h"

struct esi_pathmap;

/* The rules for all ranks, as the request and the map say; NULL when neither says
 * anything, or when not all ranks would have the library that the trees are in (then a
 * note tells so).  Caller frees *ret_text.  -ENOMEM. */
int esi_run_trees_text(const struct esi_run_request *request,
                       const struct esi_pathmap *map,
                       struct es_error *error,
                       char **ret_text);

/* Hands the rules to the ranks: into this process's environment.  -errno. */
int esi_run_trees_set(const char *text);

#endif
