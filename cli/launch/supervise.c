/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Runs a program as a child with minimal interference.
 *
 * The supervisor blocks all signals and receives them with sigwaitinfo(2), so that it
 * installs no handlers and the child inherits everything as the launcher left it.
 */
#include "config.h"

#include "cli/launch/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"

enum { EXIT_NOT_FOUND = 127, EXIT_NOT_EXECUTABLE = 126 };

/* Restored in the child. */
struct signal_settings {
    sigset_t mask;
    struct sigaction child_action;
};

/* waitpid() must find the child even if our parent ignores SIGCHLD. */
static void take_signals(struct signal_settings *ret_before)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &ret_before->mask);
    sigaction(SIGCHLD, &plain, &ret_before->child_action);
}

static void give_signals_back(const struct signal_settings *before)
{
    sigaction(SIGCHLD, &before->child_action, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

_Noreturn void esi_supervise_become(char **argv)
{
    execvp(argv[0], argv);
    int reason = errno;
    esi_command_fail(ES_EXIT_USAGE, "%s: cannot be run: %s", argv[0], strerror(reason));
    _exit(reason == ENOENT || reason == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

_Noreturn static void become_child(const struct esi_supervision *supervision,
                                   const struct signal_settings *before,
                                   pid_t supervisor)
{
    if (supervision->death_signal) {
        prctl(PR_SET_PDEATHSIG, supervision->death_signal);
        /* The supervisor may have died before prctl() was called. */
        if (getppid() != supervisor)
            _exit(EXIT_NOT_EXECUTABLE);
    }
    give_signals_back(before);
    esi_supervise_become(supervision->argv);
}

pid_t esi_supervise_start(const struct esi_supervision *supervision)
{
    struct signal_settings before;
    pid_t supervisor = getpid();

    take_signals(&before);
    pid_t child = fork();
    if (child == 0)
        become_child(supervision, &before, supervisor);
    if (child < 0) {
        int reason = errno;
        give_signals_back(&before);
        return -reason;
    }
    return child;
}

static bool is_of_terminal(int number)
{
    static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTSTP,
                                  SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* Whether the child got this signal, too: terminal signals go to its process group. */
static bool went_to_the_group(const siginfo_t *info)
{
    return info->si_code == SI_KERNEL && is_of_terminal(info->si_signo);
}

/* Stops with this signal until continued. */
static void stop_self(int number)
{
    sigset_t one, before;

    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void pass_on(pid_t child, const siginfo_t *info)
{
    int number = info->si_signo;

    if (!went_to_the_group(info))
        kill(child, number);
    if (number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
        stop_self(number);
}

/* A terminal's SIGINT may have ended the child before ours was received. */
static bool is_pending(int number)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, number) == 1;
}

int esi_supervise_wait(pid_t child, bool *ret_interrupted)
{
    bool interrupted = false;
    int status = -1;
    sigset_t all;
    siginfo_t info;

    sigfillset(&all);
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            break;
        if (ended < 0 && errno != EINTR) {
            status = -1;
            break;
        }
        if (sigwaitinfo(&all, &info) <= 0 || info.si_signo == SIGCHLD)
            continue;
        interrupted = interrupted || info.si_signo == SIGINT;
        pass_on(child, &info);
    }
    *ret_interrupted = interrupted || is_pending(SIGINT);
    return status;
}
