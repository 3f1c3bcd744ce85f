/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A process beside a rank that notes how the rank ends.
 *
 * The process that the launcher has started becomes the program itself, so that the
 * launcher sees the rank's own end.  The watcher is no child of it, has a session of
 * its own and holds none of its descriptors (but standard error, where it is to say
 * that nothing was recorded): neither the launcher nor the program meet it.  It ends as
 * soon as it has noted the end.
 */
#ifndef ES_CLI_LAUNCH_RANK_WATCHER_H
#define ES_CLI_LAUNCH_RANK_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the watcher of this process, for single-threaded programs that exec(2) next.
 * `clean_up`: what the run left is removed when its last rank has ended, if all ended
 * well.  `speaks_for`: the program, of which it is said on standard error if it ended
 * well and nobody called MPI; NULL: nothing is said.  0, or -errno: nobody will note
 * the end. */
int esi_rank_watcher_start(const char *run, bool clean_up, const char *speaks_for);

/* Waits until all watchers of the run's ranks on this host have noted what they saw, or
 * until the time is up. */
void esi_rank_watchers_await(const char *run, uint64_t timeout_ns);

#endif
