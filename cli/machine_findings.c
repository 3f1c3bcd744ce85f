/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The findings of `eventspace doctor` on this installation and machine. */
#include "config.h"

#include "cli/findings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/job_environment.h"
#include "base/process.h"
#include "cli/launch/capture.h"
#include "cli/launch/preload.h"
#include "cli/program_file.h"
#include "eventspace/clock.h"
#include "scopes/server/process_watch.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/segment_name.h"

enum { ANSWER_BYTES = 16 * 1024, ANSWER_LIMIT_MS = 5000 };

/* --- Installation ----------------------------------------------------------------- */

/* Runs this command with the library preloaded.  Returns false, with the loader's
 * message, if it cannot be loaded. */
static bool can_load(const char *library, char *complaint, size_t size)
{
    char self[PATH_MAX], setting[PATH_MAX + 16], env[] = "env", version[] = "version";

    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return true;
    self[length] = '\0';
    snprintf(setting, sizeof setting, "LD_PRELOAD=%s", library);
    char *const words[] = {env, setting, self, version, NULL};
    int code = esi_capture(words, ANSWER_LIMIT_MS, complaint, size);
    complaint[strcspn(complaint, "\n")] = '\0';
    /* The loader's messages come first. */
    return code == 0 && strcmp(complaint, PACKAGE_STRING) == 0;
}

static bool has_preload(const struct esi_mpi *mpi)
{
    char *library;

    if (esi_preload_find(mpi, NULL, &library) < 0)
        return false;
    free(library);
    return true;
}

/* `missing`: the severity if there is no library. */
static void find_preload(struct esi_findings *findings,
                         const struct esi_mpi *mpi,
                         enum esi_finding missing)
{
    struct es_error error = {.text = ""};
    char complaint[1024], text[1024];
    char *library;

    if (esi_preload_find(mpi, &error, &library) < 0) {
        esi_findings_add(findings, missing, "preload library",
                         "%s; programs of %s are not collected",
                         es_error_format(&error, text, sizeof text),
                         esi_mpi_family_name(mpi->family));
        return;
    }
    if (can_load(library, complaint, sizeof complaint))
        esi_findings_add(findings, ES_FINDING_GOOD, "preload library", "%s, for %s",
                         library, esi_mpi_family_name(mpi->family));
    else
        esi_findings_add(findings, ES_FINDING_PROBLEM, "preload library",
                         "%s cannot be loaded: %s", library, complaint);
    free(library);
}

static void find_versions(struct esi_findings *findings)
{
    esi_findings_add(findings, ES_FINDING_GOOD, "version", "%s, library folder %s",
                     PACKAGE_STRING, ES_LIBDIR);
    if (!esi_program_file_can_read())
        esi_findings_add(findings, ES_FINDING_NOTE, "programs",
                         "built without libelf: 'doctor PROGRAM' shows little; install "
                         "libelf-dev and configure again");
}

static void find_settings(struct esi_findings *findings)
{
    static const char *const names[] = {
        "EVENTSPACE_RUN",     "EVENTSPACE_DIR",   "EVENTSPACE_PLAN",
        "EVENTSPACE_RANK",    "EVENTSPACE_CLOCK", "EVENTSPACE_LAUNCHER",
        "EVENTSPACE_PRELOAD", "EVENTSPACE_MPI",   "LD_PRELOAD"};
    const char *disable = getenv("EVENTSPACE_DISABLE");

    if (disable)
        esi_findings_add(findings, ES_FINDING_PROBLEM, "environment",
                         "EVENTSPACE_DISABLE=%s: nothing is collected; unset it",
                         disable);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            esi_findings_add(findings, ES_FINDING_NOTE, "environment", "%s=%s",
                             names[i], value);
    }
}

/* --- MPI -------------------------------------------------------------------------- */

static enum esi_mpi_family family_of(const char *answer)
{
    static const char *const open_mpi[] = {"Open MPI", "OpenRTE", "openmpi", "PRRTE"};
    static const char *const mpich[] = {"HYDRA", "mpich", "MPICH", "Intel(R) MPI"};

    for (size_t i = 0; i < sizeof open_mpi / sizeof open_mpi[0]; i++)
        if (strstr(answer, open_mpi[i]))
            return ES_MPI_OPEN_MPI;
    for (size_t i = 0; i < sizeof mpich / sizeof mpich[0]; i++)
        if (strstr(answer, mpich[i]))
            return ES_MPI_MPICH;
    return ES_MPI_UNKNOWN;
}

/* Asks a compiler or launcher for its MPI; -errno if it does not answer. */
static int ask_program(const char *command,
                       const char *question,
                       enum esi_mpi_family *ret_family)
{
    char *const argv[] = {(char *)(uintptr_t)command, (char *)(uintptr_t)question,
                          NULL};
    char *answer = malloc(ANSWER_BYTES);

    if (!answer)
        return -ENOMEM;
    int code = esi_capture(argv, ANSWER_LIMIT_MS, answer, ANSWER_BYTES);
    if (code >= 0)
        *ret_family = family_of(answer);
    free(answer);
    return code < 0 ? code : 0;
}

static bool find_tool(struct esi_findings *findings,
                      const char *command,
                      const char *question,
                      const char *role,
                      enum esi_mpi_family *ret_family)
{
    int code = ask_program(command, question, ret_family);

    if (code < 0)
        esi_findings_add(findings, ES_FINDING_NOTE, "MPI", "%s %s does not answer: %s",
                         role, command, strerror(-code));
    else
        esi_findings_add(
            findings, *ret_family == ES_MPI_UNKNOWN ? ES_FINDING_NOTE : ES_FINDING_GOOD,
            "MPI", "%s %s is of %s", role, command, esi_mpi_family_name(*ret_family));
    return code == 0;
}

static void find_mpi(struct esi_findings *findings, const struct esi_mpi *mpi)
{
    enum esi_mpi_family ours = ES_MPI_UNKNOWN, theirs = ES_MPI_UNKNOWN;

    bool has_compiler = find_tool(findings, mpi->compiler, "-show", "compiler", &ours);
    bool has_launcher =
        find_tool(findings, mpi->launcher, "--version", "launcher", &theirs);
    if (has_compiler && has_launcher && ours != theirs && ours && theirs)
        esi_findings_add(
            findings, ES_FINDING_PROBLEM, "MPI",
            "compiler and launcher do not belong together: every rank would "
            "run alone; configure --with-mpi=DIR, or on Debian "
            "update-alternatives --config mpirun");
}

/* The libraries are in separate packages: one of them is enough. */
static void find_mpis(struct esi_findings *findings)
{
    size_t count, found = 0;
    const struct esi_mpi *table = esi_mpi_table(&count);

    if (count == 0)
        esi_findings_add(findings, ES_FINDING_PROBLEM, "MPI",
                         "built without an MPI: MPI programs cannot be collected");
    for (size_t i = 0; i < count; i++)
        found += has_preload(&table[i]);
    for (size_t i = 0; i < count; i++) {
        find_preload(findings, &table[i],
                     found > 0 ? ES_FINDING_NOTE : ES_FINDING_PROBLEM);
        find_mpi(findings, &table[i]);
    }
}

/* --- Machine ---------------------------------------------------------------------- */

static void find_shared_memory(struct esi_findings *findings)
{
    const uint64_t mebibyte = 1 << 20, enough = 64;
    struct statvfs system;

    if (statvfs(ES_SHM_DIRECTORY, &system) != 0) {
        esi_findings_add(findings, ES_FINDING_PROBLEM, "shared memory",
                         ES_SHM_DIRECTORY ": %s; mount a tmpfs there", strerror(errno));
        return;
    }
    uint64_t size = (uint64_t)system.f_blocks * system.f_frsize / mebibyte;
    uint64_t free_space = (uint64_t)system.f_bavail * system.f_frsize / mebibyte;
    if (access(ES_SHM_DIRECTORY, W_OK | X_OK) != 0)
        esi_findings_add(findings, ES_FINDING_PROBLEM, "shared memory",
                         ES_SHM_DIRECTORY " is not writable: %s", strerror(errno));
    else
        esi_findings_add(
            findings, free_space < enough ? ES_FINDING_NOTE : ES_FINDING_GOOD,
            "shared memory",
            ES_SHM_DIRECTORY " has %" PRIu64 " MiB, %" PRIu64 " MiB free%s", size,
            free_space, free_space < enough ? ": elements may become smaller" : "");
}

static void find_clock(struct esi_findings *findings)
{
    const uint64_t budget_ns = 20000000, hour_ns = UINT64_C(3600000000000);
    bool is_tsc = es_clock_kind() == ES_CLOCK_TSC;
    struct es_clock clock;
    uint64_t error_ns;

    es_clock_calibrate(budget_ns, &clock);
    uint64_t hour_ticks = hour_ns / 1000 * (clock.frequency_hz / 1000) / 1000;
    es_clock_realtime_ns(&clock, clock.base_ticks + hour_ticks, &error_ns);
    esi_findings_add(findings, is_tsc ? ES_FINDING_GOOD : ES_FINDING_NOTE, "clock",
                     "%s at %.3f MHz; times are accurate to %.1f ms after one hour%s",
                     is_tsc ? "invariant TSC" : "CLOCK_MONOTONIC",
                     (double)clock.frequency_hz / 1e6, (double)error_ns / 1e6,
                     is_tsc ? "" : "; it costs more than a TSC would");
}

static void find_membarrier(struct esi_findings *findings)
{
    const long needed =
        MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

    if (commands >= 0 && (commands & needed) == needed)
        esi_findings_add(findings, ES_FINDING_GOOD, "membarrier",
                         "waiting readers can be woken without cost to the program");
    else
        esi_findings_add(findings, ES_FINDING_NOTE, "membarrier",
                         "%s: waiting readers poll at intervals instead of being woken",
                         commands < 0 ? strerror(errno) : "no expedited barriers");
}

static void find_processes(struct esi_findings *findings)
{
    uint64_t start;
    int code = esi_process_start_time(getpid(), &start);

    if (code == 0)
        esi_findings_add(findings, ES_FINDING_GOOD, "processes",
                         "/proc shows which processes are alive");
    else
        esi_findings_add(findings, ES_FINDING_NOTE, "processes",
                         "/proc: %s; a reused process id may look alive",
                         strerror(-code));
}

/* --- The job ---------------------------------------------------------------------- */

/* The launcher's data on the job of this process. */
static void find_job(struct esi_findings *findings)
{
    struct esi_job_environment job;
    char nodes[32] = "";

    esi_job_environment_read(&job);
    if (job.nodes > 0)
        snprintf(nodes, sizeof nodes, " on %d node%s", job.nodes,
                 job.nodes > 1 ? "s" : "");
    if (job.job[0])
        esi_findings_add(findings, ES_FINDING_GOOD, "job", "batch job %s, step %s",
                         job.job, job.step[0] ? job.step : "none");
    if (job.rank_variable && job.size > 1)
        esi_findings_add(findings, ES_FINDING_GOOD, "job", "rank %d of %d%s (%s)",
                         job.rank, job.size, nodes, job.rank_variable);
    if (job.lacks_pmi)
        esi_findings_add(
            findings, ES_FINDING_PROBLEM, "job",
            "srun has started %d processes without PMI: each rank would believe that "
            "it is alone; use srun --mpi=pmi2 (MPICH) or --mpi=pmix (Open MPI)",
            job.size);
}

/* Runs on this host whose processes are singletons. */
static void find_alone(struct esi_findings *findings)
{
    struct es_run_info *runs;
    struct esi_ending ending;
    char text[400];
    int count = es_run_list(&runs);

    for (int i = 0; i < count; i++)
        if (esi_ending_scan(runs[i].run, &ending) && ending.alone > 0)
            esi_findings_add(
                findings, ES_FINDING_PROBLEM, "job", "run %s: %s", runs[i].run,
                esi_command_describe_alone(ending.alone, text, sizeof text));
    if (count >= 0)
        free(runs);
}

static void find_run_directory(struct esi_findings *findings)
{
    char(*runs)[64];
    char base[ES_RUN_PATH_BYTES], text[1024];
    struct es_error error = {.text = ""};

    int code = esi_run_directory_base(&error, base);
    if (code == 0)
        code = esi_run_directory_list(&error, &runs);
    if (code < 0) {
        esi_findings_add(findings, ES_FINDING_PROBLEM, "run directories", "%s",
                         es_error_format(&error, text, sizeof text));
        return;
    }
    free(runs);
    esi_findings_add(findings, ES_FINDING_GOOD, "run directories", "%s, %d runs there",
                     base, code);
}

void esi_find_in_machine(struct esi_findings *findings)
{
    find_versions(findings);
    find_settings(findings);
    find_mpis(findings);
    find_shared_memory(findings);
    find_clock(findings);
    find_membarrier(findings);
    find_processes(findings);
    find_run_directory(findings);
    find_job(findings);
    find_alone(findings);
}
