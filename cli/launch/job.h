/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names of runs: newly generated, or derived alike by all ranks of a job without
 * communication. */
#ifndef ES_CLI_LAUNCH_JOB_H
#define ES_CLI_LAUNCH_JOB_H

#include <stdbool.h>

enum { ES_RUN_NAME_BYTES = 64 }; /* with the terminating 0 */

/* Generates a unique readable name: "PROGRAM-TIME-RANDOM", with the time as HHMMSS, or
 * in a batch job "JOBID.PROGRAM-RANDOM". */
void esi_job_fresh_name(const char *program, char ret_name[ES_RUN_NAME_BYTES]);

/*
 * Derives the common name of all ranks of this job: "JOBID.STEP" if the ranks belong to
 * a step of the batch system, otherwise "job-HASH". The hash is of
 *
 * - on one host (according to the launcher: MPI_LOCALNRANKS equals PMI_SIZE and the
 *    like): the process that started the ranks, its start time, and the host;
 * - on several: the ids assigned by job managers (base/job_environment.c), and the
 *    --control-port of Hydra's proxies, which is the same on all hosts of one mpiexec;
 * - if there are none of these: as on one host.
 *
 * Returns false if this process is not a rank of a job: then it is a run of its own.
 */
bool esi_job_agreed_name(char ret_name[ES_RUN_NAME_BYTES]);

/* The environment variable by which a launcher identifies this process as one of
 * several ranks; NULL if there is none, as in the script of a batch job. */
const char *esi_job_rank_variable(void);

/* Number of ranks started by the launcher on this host; -1 if not known. */
int esi_job_local_ranks(void);

#endif
