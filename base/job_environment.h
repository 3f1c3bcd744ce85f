/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Information from launchers and batch systems in the environment of a process. */
#ifndef ES_BASE_JOB_ENVIRONMENT_H
#define ES_BASE_JOB_ENVIRONMENT_H

#include <stdbool.h>

enum {
    ESI_JOB_NAME_BYTES = 64
}; /* including the terminating 0; the size of a run's name */

/* The process as a rank of a job.  -1 means not known. */
struct esi_job_environment {
    const char *rank_variable; /* variable that contains the
                                  rank; NULL if there is none */
    int rank;
    int size;        /* number of ranks of the job */
    int local_ranks; /* number of those on this host */
    int nodes;
    int allocated;       /* ranks requested for the batch job; also set in its script */
    int allocated_nodes; /* nodes of an allocation in which srun starts steps */
    /* The batch job, in the characters allowed in a run's name; "" if there is none. */
    char job[ESI_JOB_NAME_BYTES];
    /* JOB.STEP or its equivalent; "" if the ranks are not those of a step of the batch
     * system, but were started by a launcher in it. */
    char step[ESI_JOB_NAME_BYTES];
    /* Program that started the ranks: "hydra", "openmpi", "pals", "flux" or "srun"; ""
     * for others. */
    const char *launcher;
    bool lacks_pmi; /* srun has started several ranks but provides no PMI */
    /* The MPI_COMM_WORLD: 0 for the launched one, N for the N-th spawned since, -1 for
     * a spawned one of unknown number. */
    int world;
};

/* Reads the environment.  Ignores variables without a plausible number. */
void esi_job_environment_read(struct esi_job_environment *ret_job);

/* Returns whether a batch system kills this process when its job ends. */
bool esi_job_environment_is_batch(void);

/* Calls `visit` for each variable that is set and contains an id of a job. */
void esi_job_environment_ids(void (*visit)(const char *name,
                                           const char *value,
                                           void *context),
                             void *context);

#endif
