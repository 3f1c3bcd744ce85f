/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_files.h - files of a run's directory, also where that is on another host. */
#ifndef ES_SCOPES_REMOTE_RUN_FILES_H
#define ES_SCOPES_REMOTE_RUN_FILES_H

#include "eventspace/error.h"
#include "eventspace/servers.h"
#include "pathmap/pathmap.h"

/* Text of a file of the home server's run directory.  Caller frees *ret_text.  -errno
 * as the home server says, with its words. */
int esi_run_file_fetch(struct es_servers *servers,
                       const char *name,
                       struct es_error *error,
                       char **ret_text);

/* The run's pathmap: of the run directory here, else (if `servers` is not NULL) of the
 * home server's.  Caller destroys it. */
int esi_run_map_load(const char *run,
                     struct es_servers *servers,
                     struct es_error *error,
                     struct esi_pathmap **ret_map);

#endif
