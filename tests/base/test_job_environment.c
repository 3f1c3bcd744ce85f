/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Facts about the job, read from the environments of launchers and from wrong
 * values. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/job_environment.h"
#include "tests/suites.h"

enum { VARIABLES = 12 };

struct environment_case {
    const char *name;
    const char *variables[VARIABLES]; /* NAME=VALUE */
    struct esi_job_environment job;
};

static void clear_environment(void)
{
    static const char *const prefixes[] = {"PMI",   "MPI_LOCAL", "OMPI_", "SLURM_",
                                           "FLUX_", "PALS_",     "PBS_",  "LSB_"};

    for (size_t i = 0; environ && environ[i];) {
        bool found = false;

        for (size_t k = 0; k < sizeof prefixes / sizeof prefixes[0] && !found; k++)
            found = strncmp(environ[i], prefixes[k], strlen(prefixes[k])) == 0;
        if (found) {
            char *name = strndup(environ[i], strcspn(environ[i], "="));
            unsetenv(name);
            free(name);
        } else {
            i++;
        }
    }
}

static void set_environment(const char *const variables[VARIABLES])
{
    clear_environment();
    for (size_t i = 0; i < VARIABLES && variables[i]; i++) {
        char *name = strdup(variables[i]);
        char *equals = strchr(name, '=');

        *equals = '\0';
        setenv(name, equals + 1, 1);
        free(name);
    }
}

static void assert_job_equal(const struct environment_case *row)
{
    const struct esi_job_environment *expected = &row->job;
    struct esi_job_environment job;
    char text[2][256];

    set_environment(row->variables);
    esi_job_environment_read(&job);
    clear_environment();
    const struct esi_job_environment *const both[] = {expected, &job};
    for (size_t i = 0; i < 2; i++)
        snprintf(text[i], sizeof text[i],
                 "%s: %s rank %d of %d, %d here, %d nodes, %d allocated on %d, "
                 "job '%s', step '%s' by '%s'%s, world %d",
                 row->name, both[i]->rank_variable ? both[i]->rank_variable : "-",
                 both[i]->rank, both[i]->size, both[i]->local_ranks, both[i]->nodes,
                 both[i]->allocated, both[i]->allocated_nodes, both[i]->job,
                 both[i]->step, both[i]->launcher, both[i]->lacks_pmi ? ", no PMI" : "",
                 both[i]->world);
    assert_string_equal(text[1], text[0]);
}

#define SLURM_STEP                                                                     \
    "SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=4",                     \
        "SLURM_STEP_NUM_NODES=2", "SLURM_NTASKS=4", "SLURM_NODEID=1",                  \
        "SLURM_STEP_TASKS_PER_NODE=3,1", "SLURM_PROCID=3"

static void launchers_are_understood(void **state)
{
    static const struct environment_case rows[] = {
        {"nobody", {NULL}, {NULL, -1, -1, -1, -1, -1, -1, "", "", "", false, 0}},
        {"Hydra",
         {"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=1"},
         {"PMI_RANK", 1, 2, 2, -1, -1, -1, "", "", "hydra", false, 0}},
        {"Hydra, spawned",
         {"PMI_RANK=1", "PMI_SIZE=2", "PMI_SPAWNED=1", "PMIX_NAMESPACE=65538"},
         {"PMI_RANK", 1, 2, -1, -1, -1, -1, "", "", "", false, -1}},
        {"Open MPI 4, spawned",
         {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1",
          "PMIX_NAMESPACE=4294901764"},
         {"OMPI_COMM_WORLD_RANK", 0, 1, -1, -1, -1, -1, "", "", "openmpi", false, 3}},
        {"Open MPI 4",
         {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1", "PMIX_NAMESPACE=65537"},
         {"OMPI_COMM_WORLD_RANK", 0, 1, -1, -1, -1, -1, "", "", "openmpi", false, 0}},
        {"Open MPI 5, spawned",
         {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1",
          "PMIX_NAMESPACE=prterun-n1-77@3"},
         {"OMPI_COMM_WORLD_RANK", 0, 1, -1, -1, -1, -1, "", "", "openmpi", false, 2}},
        {"Open MPI 5, spawned, by a launcher with a name of its own",
         {"PMIX_RANK=0", "PMIX_NAMESPACE=mine@2@12"},
         {"PMIX_RANK", 0, -1, -1, -1, -1, -1, "", "", "", false, 11}},
        {"names that are no job's",
         {"PMIX_RANK=0", "PMIX_NAMESPACE=prterun-n1-77@2x"},
         {"PMIX_RANK", 0, -1, -1, -1, -1, -1, "", "", "", false, 0}},
        {"a job without a number",
         {"PMIX_RANK=0", "PMIX_NAMESPACE=prterun-n1-77@"},
         {"PMIX_RANK", 0, -1, -1, -1, -1, -1, "", "", "", false, 0}},
        {"a number beyond all jobs",
         {"PMIX_RANK=0", "PMIX_NAMESPACE=prterun-n1-77@99999999999"},
         {"PMIX_RANK", 0, -1, -1, -1, -1, -1, "", "", "", false, 0}},
        {"Open MPI 5",
         {"OMPI_COMM_WORLD_RANK=7", "OMPI_COMM_WORLD_SIZE=8", "PMIX_RANK=7",
          "OMPI_COMM_WORLD_LOCAL_SIZE=4", "PMIX_NAMESPACE=prterun-n1-77@1"},
         {"OMPI_COMM_WORLD_RANK", 7, 8, 4, -1, -1, -1, "", "", "openmpi", false, 0}},
        {"srun --mpi=pmi2",
         {SLURM_STEP, "PMI_RANK=3", "PMI_SIZE=4"},
         {"PMI_RANK", 3, 4, 1, 2, 4, -1, "5", "5.0", "srun", false, 0}},
        {"srun --mpi=pmix",
         {SLURM_STEP, "PMIX_RANK=3", "PMIX_NAMESPACE=slurm.pmix.5.0"},
         {"PMIX_RANK", 3, 4, 1, 2, 4, -1, "5", "5.0", "srun", false, 0}},
        {"srun --mpi=none",
         {SLURM_STEP},
         {"SLURM_PROCID", 3, 4, 1, 2, 4, -1, "5", "5.0", "srun", true, 0}},
        {"srun -n1",
         {"SLURM_JOB_ID=5", "SLURM_STEP_ID=2", "SLURM_PROCID=0",
          "SLURM_STEP_NUM_TASKS=1"},
         {"SLURM_PROCID", 0, 1, -1, -1, -1, -1, "5", "5.2", "srun", false, 0}},
        {"the script of sbatch",
         {"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_NODEID=0",
          "SLURM_JOB_NUM_NODES=2"},
         {"SLURM_PROCID", 0, -1, -1, -1, 4, 2, "5", "", "", false, 0}},
        {"Hydra in that script, on one host",
         {"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_NTASKS=4", "PMI_RANK=2",
          "PMI_SIZE=4", "MPI_LOCALNRANKS=4"},
         {"PMI_RANK", 2, 4, 4, -1, 4, -1, "5", "", "hydra", false, 0}},
        {"Hydra over srun",
         {"SLURM_JOB_ID=5", "SLURM_STEP_ID=1", "SLURM_PROCID=1",
          "SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_NODES=2", "PMI_RANK=3",
          "PMI_SIZE=4", "MPI_LOCALNRANKS=2"},
         {"PMI_RANK", 3, 4, 2, 2, -1, -1, "5", "", "hydra", false, 0}},
        {"the shell of salloc",
         {"SLURM_JOB_ID=5", "SLURM_STEP_ID=4294967290", "SLURM_PROCID=0",
          "SLURM_STEP_NUM_TASKS=1"},
         {"SLURM_PROCID", 0, 1, -1, -1, -1, -1, "5", "", "srun", false, 0}},
        {"Flux",
         {"FLUX_JOB_ID=\xc6\x92WExD5", "FLUX_JOB_SIZE=6", "FLUX_JOB_NNODES=3",
          "FLUX_TASK_RANK=5", "FLUX_TASK_LOCAL_ID=1", "PMI_RANK=5", "PMI_SIZE=6"},
         {"PMI_RANK", 5, 6, -1, 3, -1, -1, "fWExD5", "fWExD5", "flux", false, 0}},
        {"PALS in a job of PBS",
         {"PBS_JOBID=1234.polaris-pbs-01", "PALS_RANKID=2", "PALS_LOCAL_SIZE=2",
          "PALS_APID=0b66ba1c-8a4d-4b0f", "PMI_RANK=2", "PMI_SIZE=4"},
         {"PMI_RANK", 2, 4, 2, -1, -1, -1, "1234", "1234.0b66ba1c", "pals", false, 0}},
        {"the script of PBS",
         {"PBS_JOBID=1234[7].server", "PBS_NODEFILE=/var/spool/pbs/aux/1234"},
         {NULL, -1, -1, -1, -1, -1, -1, "1234", "", "", false, 0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_job_equal(&rows[i]);
}

static void nonsense_counts_as_not_there(void **state)
{
    static const char *const nonsense[] = {"",   " ",  "x",   "1x",         "-1",
                                           "+1", " 1", "1e1", "2147483648", "0x1"};
    static const char *const names[] = {"PMI_RANK",      "PMI_SIZE",
                                        "SLURM_PROCID",  "SLURM_NODEID",
                                        "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS",
                                        "PALS_RANKID",   "MPI_LOCALNRANKS"};
    static const struct environment_case nobody = {
        "", {NULL}, {NULL, -1, -1, -1, -1, -1, -1, "", "", "", false, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            struct environment_case row = nobody;
            char variable[64];

            snprintf(variable, sizeof variable, "%s=%s", names[k], nonsense[i]);
            row.name = row.variables[0] = variable;
            assert_job_equal(&row);
        }
    clear_environment();
    setenv("PMI_SIZE", "0", 1);
    struct esi_job_environment job;
    esi_job_environment_read(&job);
    assert_int_equal(job.size, -1);
}

static void tasks_of_nodes_are_read_as_slurm_writes_them(void **state)
{
    static const struct {
        const char *list;
        const char *node;
        int expected;
    } rows[] = {
        {"2(x3),1", "0", 2},
        {"2(x3),1", "2", 2},
        {"2(x3),1", "3", 1},
        {"2(x3),1", "4", -1},
        {"4", "0", 4},
        {"1,2,3", "2", 3},
        {"16(x2147483647)", "1000", 16},
        {"", "0", -1},
        {",", "0", -1},
        {"2(x", "0", -1},
        {"2(x0),3", "0", -1},
        {"2(x-1),3", "1", -1},
        {"-2", "0", -1},
        {"2;3", "1", -1},
        {"two", "0", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct esi_job_environment job;

        clear_environment();
        setenv("SLURM_STEP_TASKS_PER_NODE", rows[i].list, 1);
        setenv("SLURM_NODEID", rows[i].node, 1);
        esi_job_environment_read(&job);
        if (job.local_ranks != rows[i].expected)
            fail_msg("'%s', node %s: %d tasks", rows[i].list, rows[i].node,
                     job.local_ranks);
    }
    clear_environment();
}

static void names_are_names_of_runs(void **state)
{
    static const char *const ids[] = {
        "",     ".",   "..",   "/etc/passwd", "a b",     "-n",      "\xc6\x92",
        "\xc6", "5.0", "5[1]", "5+1",         "\x1b[2J", "%s%s%s%s"};
    char long_id[400];

    (void)state;
    memset(long_id, '7', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    for (size_t i = 0; i <= sizeof ids / sizeof ids[0]; i++) {
        const char *id = i < sizeof ids / sizeof ids[0] ? ids[i] : long_id;
        struct esi_job_environment job;

        clear_environment();
        setenv("PBS_JOBID", id, 1);
        setenv("PALS_APID", id, 1);
        setenv("PALS_RANKID", "0", 1);
        esi_job_environment_read(&job);
        size_t length = strspn(job.step, "0123456789abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ.");
        assert_int_equal(job.step[length], '\0');
        assert_true(length < 40);
        if (length > 0) {
            assert_true(job.step[0] != '.' && job.step[length - 1] != '.');
            assert_null(strstr(job.step, ".."));
        }
    }
    clear_environment();
}

static void count_id(const char *name, const char *value, void *context)
{
    int *count = context;

    assert_string_equal(getenv(name), value);
    ++*count;
}

static void ids_of_jobs_are_visited(void **state)
{
    static const char *const variables[VARIABLES] = {SLURM_STEP, "PMIX_NAMESPACE=x",
                                                     "FLUX_JOB_ID="};
    int count = 0;

    (void)state;
    set_environment(variables);
    esi_job_environment_ids(count_id, &count);
    assert_int_equal(count, 3);
    clear_environment();
}

SUITE(test_job_environment)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launchers_are_understood),
        cmocka_unit_test(nonsense_counts_as_not_there),
        cmocka_unit_test(tasks_of_nodes_are_read_as_slurm_writes_them),
        cmocka_unit_test(names_are_names_of_runs),
        cmocka_unit_test(ids_of_jobs_are_visited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
