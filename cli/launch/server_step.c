/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* server_step.c - a second srun, whose tasks last as long as the run directories. */
#include "config.h"

#include "cli/launch/server_step.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "base/job_environment.h"
#include "base/now.h"
#include "cli/command.h"
#include "cli/launch/server_start.h"
#include "scopes/server/process_watch.h"
#include "scopes/server/server_location.h"
#include "tuplespace/run_directory.h"

enum { READY_MS = 10000, OPTION_BYTES = 32 };

static bool is_srun(const char *launcher)
{
    const char *slash = strrchr(launcher, '/');

    return strcmp(slash ? slash + 1 : launcher, "srun") == 0;
}

_Noreturn static void become_step(const char *srun, int nodes, int output)
{
    char self[PATH_MAX], node_option[OPTION_BYTES], task_option[OPTION_BYTES];
    sigset_t none;

    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        _exit(ES_EXIT_USAGE);
    self[length] = '\0';
    snprintf(node_option, sizeof node_option, "--nodes=%d", nodes);
    snprintf(task_option, sizeof task_option, "--ntasks=%d", nodes);
    /* A terminal's Ctrl-C is for the ranks only. */
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execlp(srun, srun, "--overlap", node_option, task_option, "--ntasks-per-node=1",
           "--cpus-per-task=1", "--mpi=none", "--export=ALL", "--input=none",
           "--wait=0", self, "exec", "--serve", (char *)NULL);
    _exit(ES_EXIT_USAGE);
}

/* Each node writes an empty line. */
static void await_nodes(int input, int nodes)
{
    const uint64_t deadline =
        esi_now_ns(CLOCK_MONOTONIC) + READY_MS * UINT64_C(1000000);
    struct pollfd polled = {.fd = input, .events = POLLIN};
    char said;

    while (nodes > 0) {
        uint64_t now = esi_now_ns(CLOCK_MONOTONIC);
        if (now >= deadline ||
            poll(&polled, 1, (int)((deadline - now) / 1000000) + 1) <= 0)
            break;
        if (read(input, &said, 1) <= 0)
            break;
        nodes--;
    }
    if (nodes > 0)
        esi_command_note("no job step for the tuple servers: those of other nodes end "
                         "with the ranks, and may leave files behind");
}

void esi_server_step_start(const char *launcher)
{
    struct esi_job_environment job;
    int ends[2];

    esi_job_environment_read(&job);
    if (!is_srun(launcher) || job.allocated_nodes < 1 || pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        become_step(launcher, job.allocated_nodes, ends[1]);
    close(ends[1]);
    await_nodes(ends[0], pid > 0 ? job.allocated_nodes : 1);
    close(ends[0]);
    if (pid <= 0)
        return;
    /* When the job ends, srun would have its step killed before the tasks have cleaned
     * up.  They no longer need srun, nor its child, which would do the same if srun
     * died. */
    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static bool has_directory(const char *run)
{
    char path[ES_RUN_PATH_BYTES];

    return esi_run_directory_path(run, NULL, NULL, path) == 0 &&
           access(path, F_OK) == 0;
}

static bool has_live_ranks(const char *run)
{
    struct esi_ending ending;

    return esi_ending_scan(run, &ending) && ending.alive > 0;
}

/* Waits for the signal that ends the job.  Returns whether it was received. */
static bool await_job_end(void)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    sigset_t end;

    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    return sigtimedwait(&end, NULL, &pause) == SIGTERM;
}

/* Nobody can observe the run any more.  Its ranks on this host got the signal, too; the
 * batch system kills those that do not end, and this process. */
static void remove_run(const struct esi_server_location *place)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    struct es_error error = {.text = ""};
    char unreached[ES_UNREACHED_BYTES];

    while (has_live_ranks(place->run))
        nanosleep(&pause, NULL);
    esi_server_end(place->run, false, &error, unreached);
    es_run_remove(place->run, false);
    if (place->kind != ES_RUN_DIRECTORY_SHARED)
        esi_run_directory_remove(place->run, NULL);
}

void esi_server_step_serve(const char *run)
{
    char host[ES_HOST_NAME_BYTES];
    struct esi_server_location place;
    bool job_ends = false;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    esi_server_location_find(run, esi_host_name(host), &place);
    (void)!write(STDOUT_FILENO, "\n", 1); /* srun passes lines on */
    while (!job_ends && has_directory(run))
        job_ends = await_job_end();
    if (job_ends)
        remove_run(&place);
}
