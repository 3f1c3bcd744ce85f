/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_files.h - reads files of a run's directory, which may be on another host. */
#ifndef ES_SCOPES_REMOTE_RUN_FILES_H
#define ES_SCOPES_REMOTE_RUN_FILES_H

#include "eventspace/error.h"
#include "eventspace/servers.h"
#include "pathmap/pathmap.h"

/* Fetches a text file from the home server's run directory.  The caller frees
 * *ret_text.  Errors (-errno) and their texts are those of the home server. */
int esi_run_file_fetch(struct es_servers *servers,
                       const char *name,
                       struct es_error *error,
                       char **ret_text);

/* Loads the run's pathmap from the run directory on this host, otherwise from the home
 * server (if `servers` is not NULL).  The caller destroys it. */
int esi_run_map_load(const char *run,
                     struct es_servers *servers,
                     struct es_error *error,
                     struct esi_pathmap **ret_map);

#endif
