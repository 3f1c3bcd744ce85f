/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_archive.h - who takes part in a recorded run. */
#ifndef ES_MONITORS_RUN_RUN_ARCHIVE_H
#define ES_MONITORS_RUN_RUN_ARCHIVE_H

#include "monitors/archive/archive_tables.h"
#include "monitors/run/run_model.h"

/* Adds the processes of an archive, with their communicators.  *ret_processes, by
 * number in the archive, is freed by the caller.  Returns 0 or -ENOMEM. */
int esi_run_read_archive(struct esi_run_model *run,
                         const struct esi_archive_tables *tables,
                         struct esi_run_process ***ret_processes);

#endif
