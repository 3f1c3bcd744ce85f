/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tuple servers in their own job step.
 *
 * When the last task of a step ends, Slurm kills all its processes, including tuple
 * servers started by ranks, before the last data of the ranks could be read.
 */
#ifndef ES_CLI_LAUNCH_SERVER_STEP_H
#define ES_CLI_LAUNCH_SERVER_STEP_H

/* If `launcher` is srun in an allocation: starts `eventspace exec --serve` on each of
 * its nodes, and waits, with a time limit, until the servers are ready.  If this fails,
 * the ranks start their servers themselves. */
void esi_server_step_start(const char *launcher);

/* The counterpart on a node whose tuple server is running: reports this, and returns
 * when the run's directory is removed.  If the job ends earlier, removes the remains of
 * the run. */
void esi_server_step_serve(const char *run);

#endif
