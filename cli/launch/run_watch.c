/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * run_watch.c - a child of `eventspace run`, which ends when the other end of a pipe is
 * closed.  It ignores signals: it ends with the run.
 */
#include "config.h"

#include "cli/launch/run_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/consumer.h"
#include "cli/launch/supervise.h"
#include "monitors/verdict/observe.h"
#include "monitors/latent/leaks.h"
#include "monitors/verdict/verdict_print.h"

enum {
    LOOK_MS = 1000,
    INSIST_LOOKS = 5, /* observations between two requests to end the job */
};

struct run_watcher {
    const char *run;
    pid_t launcher; /* of the job: our parent, which forwards signals */
    bool aborts;
    int lifeline;
    struct esi_observer *observer;
    size_t told;    /* number of reported verdicts */
    int looks_left; /* until the next request to end the job */
    bool aborted;
};

/* --- Verdicts --------------------------------------------------------------------- */

/* Certain hangs and errors.  The death of a rank is reported by its launcher. */
static size_t count_certain(const struct esi_diagnosis *diagnosis)
{
    size_t count = 0;

    for (size_t i = 0; i < diagnosis->count; i++)
        count +=
            diagnosis->items[i].certain && diagnosis->items[i].kind != ESI_VERDICT_DIED;
    return count;
}

static void tell_verdict(struct run_watcher *watcher,
                         const struct esi_diagnosis *diagnosis,
                         size_t certain)
{
    struct esi_verdict_style style = {.waits = true};

    if (certain <= watcher->told)
        return;
    watcher->told = certain;
    esi_command_note("'%s' cannot proceed%s:", watcher->run,
                     watcher->aborts ? ", and is terminated" : "");
    esi_diagnosis_print_text(diagnosis, &style, stderr);
    fflush(stderr);
}

/* Launchers end their ranks on request; if not, the request is repeated. */
static void end_job(struct run_watcher *watcher)
{
    watcher->aborted = true;
    if (watcher->looks_left-- > 0 || getppid() != watcher->launcher)
        return;
    watcher->looks_left = INSIST_LOOKS;
    kill(watcher->launcher, SIGTERM);
}

static void look_at_run(struct run_watcher *watcher)
{
    struct esi_observation observation;
    size_t certain;

    if (esi_observer_look(watcher->observer, &observation) < 0)
        return;
    certain = count_certain(observation.diagnosis);
    if (certain > 0)
        tell_verdict(watcher, observation.diagnosis, certain);
    if (watcher->aborts && (certain > 0 || watcher->aborted))
        end_job(watcher);
}

/* --- The end ---------------------------------------------------------------------- */

static void tell_leaks(const struct run_watcher *watcher)
{
    struct esi_observation observation;
    struct esi_leaks leaks;

    if (esi_observer_look(watcher->observer, &observation) < 0 ||
        esi_leaks_find(observation.diagnosis->facts, &leaks) < 0)
        return;
    if (leaks.count > 0)
        esi_command_note("'%s' ended with leaks:", watcher->run);
    if (leaks.count > 0)
        esi_leaks_print_text(&leaks, stderr);
    esi_leaks_fini(&leaks);
}

/* --- The process ------------------------------------------------------------------ */

/* Whether the run ends before the next observation is due. */
static bool await_look(const struct run_watcher *watcher)
{
    struct pollfd lifeline = {.fd = watcher->lifeline, .events = POLLIN};

    return poll(&lifeline, 1, LOOK_MS) != 0;
}

static int watch_run(struct run_watcher *watcher, struct esi_consumer *consumer)
{
    struct esi_observer_config config = {.stalled_after_ns = ESI_STALLED_AFTER_NS,
                                         .servers = consumer->servers};
    struct es_error error = {.text = ""};
    int result = es_run_open_empty(watcher->run, &error, &consumer->run);

    if (result == 0)
        result =
            esi_observer_create(consumer->run, &config, &error, &watcher->observer);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "the run is not watched");
    while (!await_look(watcher))
        look_at_run(watcher);
    if (!watcher->aborted)
        tell_leaks(watcher);
    esi_observer_destroy(watcher->observer);
    return watcher->aborted ? ES_EXIT_ABORTED : ES_EXIT_SUCCESS;
}

_Noreturn static void become_watcher(struct run_watcher *watcher)
{
    struct esi_consumer consumer = {.run = NULL};
    struct es_error error = {.text = ""};
    int status;

    esi_supervise_leave_signals();
    if (es_servers_open(watcher->run, NULL, &error, &consumer.servers) < 0)
        consumer.servers = NULL;
    status = watch_run(watcher, &consumer);
    esi_consumer_close(&consumer);
    _exit(status);
}

int esi_run_watch_start(const char *run,
                        bool aborts,
                        int other,
                        struct esi_run_watch *ret_watch)
{
    struct run_watcher watcher = {.run = run, .launcher = getpid(), .aborts = aborts};
    int lifeline[2];
    pid_t pid;

    if (pipe2(lifeline, O_CLOEXEC) < 0)
        return -errno;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        close(lifeline[1]);
        if (other >= 0)
            close(other);
        watcher.lifeline = lifeline[0];
        become_watcher(&watcher);
    }
    int code = pid < 0 ? -errno : 0;
    close(lifeline[0]);
    if (code < 0) {
        close(lifeline[1]);
        return code;
    }
    *ret_watch = (struct esi_run_watch){.pid = pid, .lifeline = lifeline[1]};
    return 0;
}

bool esi_run_watch_end(struct esi_run_watch *watch)
{
    int status = 0;
    pid_t ended;

    if (watch->pid <= 0)
        return false;
    close(watch->lifeline);
    while ((ended = waitpid(watch->pid, &status, 0)) < 0 && errno == EINTR)
        continue;
    watch->pid = 0;
    if (ended > 0 && WIFSIGNALED(status))
        esi_command_note("the watch was killed by signal %d", WTERMSIG(status));
    return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == ES_EXIT_ABORTED;
}
