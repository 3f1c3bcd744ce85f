/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What launchers and batch systems tell a process in its environment. */
#ifndef ES_BASE_JOB_ENVIRONMENT_H
#define ES_BASE_JOB_ENVIRONMENT_H

#include <stdbool.h>

enum { ESI_JOB_NAME_BYTES = 64 }; /* with the terminating 0; a run's name is as long */

/* The process as one rank of a job.  -1 = nobody said. */
struct esi_job_environment {
    const char *rank_variable; /* that tells the rank; NULL = no launcher did */
    int rank;
    int size;        /* ranks of the job */
    int local_ranks; /* of these on this host */
    int nodes;
    int allocated; /* ranks that the batch job has asked for, also in its script */
    int allocated_nodes; /* of an allocation in which srun starts steps */
    /* The batch job, of the characters of a run's name; "" = there is none. */
    char job[ESI_JOB_NAME_BYTES];
    /* JOB.STEP, or the name of what plays that part; "" where the ranks are not those
     * of a step of the batch system: a launcher in it has started them. */
    char step[ESI_JOB_NAME_BYTES];
    /* What started the ranks: "hydra", "openmpi", "pals", "flux", "srun"; "" = none of
     * these. */
    const char *launcher;
    bool lacks_pmi; /* srun has started several ranks and speaks no PMI with them */
    /* The MPI_COMM_WORLD: 0 = one that was launched, N = the N-th of those that were
     * spawned since, -1 = one of those, nobody says which. */
    int world;
};

/* Reads the environment.  What is no number, or none that can be meant, counts as not
 * there. */
void esi_job_environment_read(struct esi_job_environment *ret_job);

/* Whether a batch system ends this process, by signals, when its job ends. */
bool esi_job_environment_is_batch(void);

/* Calls `visit` for each variable that is set and tells the ids of a job. */
void esi_job_environment_ids(void (*visit)(const char *name,
                                           const char *value,
                                           void *context),
                             void *context);

#endif
