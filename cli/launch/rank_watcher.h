/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A process that records how a rank ends.
 *
 * The process started by the launcher becomes the program itself, so that the launcher
 * sees the rank's own end.  The watcher is not a child of it, has its own session and
 * holds none of its descriptors (except a terminal, if it is to report that nothing was
 * recorded), so neither the launcher nor the program notices it.  It ends as soon
 * as it has recorded the end.
 */
#ifndef ES_CLI_LAUNCH_RANK_WATCHER_H
#define ES_CLI_LAUNCH_RANK_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the watcher of this process, for single-threaded programs that exec(2)
 * `program` next, and makes the process's segment, in which the end is recorded even if
 * the program never calls MPI.  `clean_up`: remove the remains of the run when its last
 * rank has ended, if all ended successfully.  `speaks`: report on standard error if the
 * program ended successfully and nobody called MPI.  Returns 0, or -errno; then the end
 * will not be recorded. */
int esi_rank_watcher_start(const char *run,
                           const char *program,
                           bool clean_up,
                           bool speaks);

/* Waits until all watchers of the run's ranks on this host have finished, or until the
 * timeout. */
void esi_rank_watchers_await(const char *run, uint64_t timeout_ns);

#endif
