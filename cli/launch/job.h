/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names of runs: made fresh, or agreed among the ranks of one job without a word
 * spoken. */
#ifndef ES_CLI_LAUNCH_JOB_H
#define ES_CLI_LAUNCH_JOB_H

#include <stdbool.h>

enum { ES_RUN_NAME_BYTES = 64 }; /* with the terminating 0 */

/* Makes a readable name that nobody else has: "PROGRAM-TIME-RANDOM", the time as
 * HHMMSS, or in a batch job "JOBID.PROGRAM-RANDOM". */
void esi_job_fresh_name(const char *program, char ret_name[ES_RUN_NAME_BYTES]);

/*
 * Makes the name on which all ranks of this job agree: "JOBID.STEP" where the ranks are
 * those of a step of the batch system, else "job-HASH".  The hash is of
 *  - on one host (the launcher says so: MPI_LOCALNRANKS equals PMI_SIZE and the like):
 *    the process that started the ranks, its start time, and the host;
 *  - on several: the ids that job managers hand out (base/job_environment.c), and the
 *    --control-port of Hydra's proxies, which is the same on all hosts of one mpiexec;
 *  - where there is none of these: as on one host.
 * False when this process is no rank of a job: then it is a run of its own.
 */
bool esi_job_agreed_name(char ret_name[ES_RUN_NAME_BYTES]);

/* The variable that says that a launcher has started this process as one of several
 * ranks; NULL where none does, also in the script of a batch job. */
const char *esi_job_rank_variable(void);

/* Ranks that the launcher started on this host, -1 when it did not say. */
int esi_job_local_ranks(void);

#endif
