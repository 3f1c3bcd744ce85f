/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tuple servers in a job step of their own.
 *
 * Slurm kills all processes of a step when its last task ends, also the tuple servers
 * that ranks have started, before anybody could read what the ranks recorded last.
 */
#ifndef ES_CLI_LAUNCH_SERVER_STEP_H
#define ES_CLI_LAUNCH_SERVER_STEP_H

/* Where `launcher` is srun, in an allocation: starts `eventspace exec --serve` on each
 * of its nodes, and waits until the servers are ready, but not too long.  Where that
 * cannot be done the ranks start their servers themselves. */
void esi_server_step_start(const char *launcher);

/* The other end, on a node, where the tuple server is up: says so, and returns when the
 * run's directory is gone.  Where the job ends before, it removes what the run left. */
void esi_server_step_serve(const char *run);

#endif
