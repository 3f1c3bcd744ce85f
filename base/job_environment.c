/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * job_environment.c - the variables set by launchers, in one table.
 *
 * Launchers start each other: Hydra has srun start its daemons, and PALS sets PMI's
 * variables in addition to its own.  The innermost launcher is first in the table, and
 * for each fact the first number found is used.
 */
#include "config.h"

#include "base/job_environment.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variables of a launcher; NULL for facts it does not provide. */
struct launcher_variables {
    const char *name;
    const char *mark; /* set by nobody else, and not by the
                         launcher itself if there are no ranks */
    const char *rank;
    const char *size;
    const char *local_ranks;
    const char *nodes;
    const char *allocated;
    const char *allocated_nodes;
    const char *ids[2];
};

static const struct launcher_variables launchers[] = {
    /* MPICH's Hydra, and others with PMI-1 or PMI-2. */
    {.name = "hydra",
     .mark = "MPI_LOCALNRANKS",
     .rank = "PMI_RANK",
     .size = "PMI_SIZE",
     .local_ranks = "MPI_LOCALNRANKS"},
    /* Open MPI. */
    {.name = "openmpi",
     .mark = "OMPI_COMM_WORLD_SIZE",
     .rank = "OMPI_COMM_WORLD_RANK",
     .size = "OMPI_COMM_WORLD_SIZE",
     .local_ranks = "OMPI_COMM_WORLD_LOCAL_SIZE"},
    /* Launchers with PMIx, which provides the size on request only. */
    {.rank = "PMIX_RANK", .ids = {"PMIX_NAMESPACE"}},
    /* HPE's PALS. */
    {.name = "pals",
     .mark = "PALS_APID",
     .rank = "PALS_RANKID",
     .local_ranks = "PALS_LOCAL_SIZE",
     .ids = {"PALS_APID"}},
    {.name = "flux",
     .mark = "FLUX_JOB_ID",
     .rank = "FLUX_TASK_RANK",
     .size = "FLUX_JOB_SIZE",
     .nodes = "FLUX_JOB_NNODES",
     .ids = {"FLUX_JOB_ID"}},
    /* Slurm also sets SLURM_PROCID in the script of a batch job. */
    {.name = "srun",
     .mark = "SLURM_STEP_NUM_TASKS",
     .rank = "SLURM_PROCID",
     .size = "SLURM_STEP_NUM_TASKS",
     .nodes = "SLURM_STEP_NUM_NODES",
     .allocated = "SLURM_NTASKS",
     .allocated_nodes = "SLURM_JOB_NUM_NODES",
     .ids = {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {.ids = {"PBS_JOBID", "LSB_JOBID"}},
};

enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

/* A number of at least `least`, else -1. */
static int read_number(const char *text, int least)
{
    char *end;

    /* strtol() would accept spaces and signs. */
    if (!text || *text < '0' || *text > '9')
        return -1;
    long number = strtol(text, &end, 10);
    return *end || number < least || number > INT_MAX ? -1 : (int)number;
}

/* The number of the first launcher that provides the fact, which is at `offset` in its
 * variables. */
static int find_number(size_t offset, int least, const char **ret_variable)
{
    for (size_t i = 0; i < LAUNCHERS; i++) {
        const char *variable =
            *(const char *const *)((const char *)&launchers[i] + offset);
        int number = variable ? read_number(getenv(variable), least) : -1;

        if (number < 0)
            continue;
        if (ret_variable)
            *ret_variable = variable;
        return number;
    }
    return -1;
}

#define FIND_NUMBER(fact, least, ret_variable)                                         \
    find_number(offsetof(struct launcher_variables, fact), least, ret_variable)

/* Entry `index` of Slurm's "2(x3),1": 2 for 0 to 2, 1 for 3. */
static int read_tasks_of_node(const char *list, int index)
{
    while (list && *list) {
        int tasks, times = 1, length = 0, repeat = 0;

        if (sscanf(list, "%d%n(x%d)%n", &tasks, &length, &times, &repeat) < 1)
            return -1;
        list += repeat ? repeat : length;
        if (tasks < 1 || times < 1 || (*list && *list != ','))
            return -1;
        if (index < times)
            return tasks;
        index -= times;
        list += *list == ',';
    }
    return -1;
}

static int find_local_ranks(void)
{
    int ranks = FIND_NUMBER(local_ranks, 1, NULL);
    int node = read_number(getenv("SLURM_NODEID"), 0);

    return ranks < 0 && node >= 0
               ? read_tasks_of_node(getenv("SLURM_STEP_TASKS_PER_NODE"), node)
               : ranks;
}

/* Open MPI's launcher numbers its jobs from 1: version 4 in the lower half of a number,
 * version 5 after a name, "prterun-HOST-PID@1".  0 or less if it is not one of its
 * jobs. */
static int job_number(const char *name)
{
    const char *at = strrchr(name, '@');
    unsigned long number;
    char *end;

    if (at)
        return read_number(at + 1, 0);
    number = strtoul(name, &end, 10);
    return *end == '\0' ? (int)(number & UINT16_MAX) : 0;
}

/* Hydra does not number spawned worlds. */
static int find_world(void)
{
    const char *name = getenv("PMIX_NAMESPACE");
    int job = name ? job_number(name) : 0;

    if (getenv("PMI_RANK"))
        return getenv("PMI_SPAWNED") ? -1 : 0;
    return job > 0 ? job - 1 : 0;
}

/* --- Names ------------------------------------------------------------------------ */

/* Copies the characters allowed in a name, up to the first other one after them: "1234"
 * of PBS's "1234[7].server", "fXyz" of Flux's "ƒXyz". */
static void copy_id(const char *id, int longest, char out[ESI_JOB_NAME_BYTES])
{
    static const char flux[] = "\xc6\x92"; /* LATIN SMALL LETTER F WITH HOOK */
    static const char letters[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    bool is_flux = strncmp(id, flux, sizeof flux - 1) == 0;

    id += is_flux ? sizeof flux - 1 : 0;
    int length = (int)strspn(id, letters);
    snprintf(out, ESI_JOB_NAME_BYTES, "%s%.*s", is_flux ? "f" : "",
             length < longest ? length : longest, id);
}

static void find_job(char out[ESI_JOB_NAME_BYTES])
{
    static const char *const variables[] = {"SLURM_JOB_ID", "FLUX_JOB_ID", "PBS_JOBID",
                                            "LSB_JOBID"};
    enum { LONGEST = 24 };

    out[0] = '\0';
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && !out[0]; i++)
        if (getenv(variables[i]))
            copy_id(getenv(variables[i]), LONGEST, out);
}

/* Returns whether the ranks are the tasks of the batch system's step, rather than
 * processes started by a launcher in one of its tasks. */
static bool is_task(const struct esi_job_environment *job,
                    const char *rank_variable,
                    const char *size_variable)
{
    return job->rank >= 0 && read_number(getenv(rank_variable), 0) == job->rank &&
           read_number(getenv(size_variable), 1) == job->size;
}

static void find_step(const struct esi_job_environment *job,
                      char out[ESI_JOB_NAME_BYTES])
{
    enum { LONGEST = 8 };
    const char *application = getenv("PALS_APID");
    int step = read_number(getenv("SLURM_STEP_ID"), 0);
    char id[ESI_JOB_NAME_BYTES] = "";

    out[0] = '\0';
    if (!job->job[0])
        return;
    /* Steps above the largest int are the script and interactive shells. */
    if (step >= 0 && is_task(job, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))
        snprintf(id, sizeof id, "%d", step);
    else if (application && read_number(getenv("PALS_RANKID"), 0) == job->rank)
        copy_id(application, LONGEST, id);
    if (id[0])
        snprintf(out, ESI_JOB_NAME_BYTES, "%.40s.%.20s", job->job, id);
    else if (is_task(job, "FLUX_TASK_RANK", "FLUX_JOB_SIZE"))
        strcpy(out, job->job);
}

/* Several launchers use PMI: the first one that has set its mark and reports the same
 * rank. */
static const char *find_launcher(int rank)
{
    for (size_t i = 0; i < LAUNCHERS && rank >= 0; i++)
        if (launchers[i].mark && getenv(launchers[i].mark) &&
            read_number(getenv(launchers[i].rank), 0) == rank)
            return launchers[i].name;
    return "";
}

/* Returns whether srun provides no PMI to its ranks, as with srun --mpi=none. */
static bool lacks_pmi(const struct esi_job_environment *job)
{
    return job->rank_variable && strcmp(job->rank_variable, "SLURM_PROCID") == 0 &&
           job->size > 1;
}

void esi_job_environment_read(struct esi_job_environment *ret_job)
{
    struct esi_job_environment job = {.rank_variable = NULL};

    job.rank = FIND_NUMBER(rank, 0, &job.rank_variable);
    job.size = FIND_NUMBER(size, 1, NULL);
    job.local_ranks = find_local_ranks();
    job.nodes = FIND_NUMBER(nodes, 1, NULL);
    job.allocated = FIND_NUMBER(allocated, 1, NULL);
    job.allocated_nodes = FIND_NUMBER(allocated_nodes, 1, NULL);
    job.world = find_world();
    find_job(job.job);
    find_step(&job, job.step);
    job.launcher = find_launcher(job.rank);
    job.lacks_pmi = lacks_pmi(&job);
    *ret_job = job;
}

bool esi_job_environment_is_batch(void)
{
    struct esi_job_environment job;

    esi_job_environment_read(&job);
    return job.job[0] != '\0';
}

void esi_job_environment_ids(void (*visit)(const char *name,
                                           const char *value,
                                           void *context),
                             void *context)
{
    for (size_t i = 0; i < LAUNCHERS; i++)
        for (size_t k = 0; k < 2; k++) {
            const char *name = launchers[i].ids[k];
            const char *value = name ? getenv(name) : NULL;

            if (value && *value)
                visit(name, value, context);
        }
}
