/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Runs a program as a child with minimal interference.
 *
 * The supervisor blocks all signals and receives them with sigtimedwait(2), so that it
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
#include <time.h>
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

void esi_supervise_leave_signals(void)
{
    static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                  SIGTSTP, SIGTTIN, SIGTTOU};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signal(numbers[i], SIG_IGN);
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

static bool stops_a_job(int number)
{
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static void pass_on(pid_t child, const siginfo_t *info)
{
    if (!went_to_the_group(info))
        kill(child, info->si_signo);
}

/* A terminal's SIGINT may have ended the child before ours was received. */
static bool is_pending(int number)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, number) == 1;
}

/* Stops with this signal until continued. */
static void stop_self(int number)
{
    sigset_t one, before;

    if (is_pending(SIGCONT))
        return;
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Returns the next change of the child's state, if there is one: whether it has ended,
 * or the signal that has stopped it. */
static bool next_change(pid_t child, int *ret_status, int *stopped_by)
{
    const int asked = WNOHANG | WUNTRACED | WCONTINUED;
    pid_t changed;

    while ((changed = waitpid(child, ret_status, asked)) > 0) {
        if (!WIFSTOPPED(*ret_status) && !WIFCONTINUED(*ret_status))
            return true;
        *stopped_by = WIFSTOPPED(*ret_status) ? WSTOPSIG(*ret_status) : 0;
    }
    if (changed == 0 || errno == EINTR)
        return false;
    *ret_status = -1;
    return true;
}

/* Receives a signal; returns false if it is time to look at the processes again. */
static bool await_signal(pid_t child, struct esi_unseen *unseen, siginfo_t *ret_info)
{
    int pause_ms = unseen ? esi_unseen_look(unseen, child) : -1;
    struct timespec pause = {.tv_sec = pause_ms / 1000,
                             .tv_nsec = pause_ms % 1000 * 1000000L};
    sigset_t all;

    sigfillset(&all);
    return sigtimedwait(&all, ret_info, pause_ms < 0 ? NULL : &pause) > 0;
}

/*
 * The supervisor is a member of the shell's job like the child: it stops when it has
 * received a signal that stops, but only when the child has stopped, too.  Launchers
 * handle these signals: after SIGTTIN they go on without standard input.  If somebody
 * stops only the child, the supervisor goes on: nobody would wake it.
 */
int esi_supervise_wait(pid_t child, struct esi_unseen *unseen, bool *ret_interrupted)
{
    bool interrupted = false, is_asked_to_stop = false;
    int status, stopped_by = 0;
    siginfo_t info;

    while (!next_change(child, &status, &stopped_by)) {
        if (is_asked_to_stop && stopped_by) {
            is_asked_to_stop = false;
            stop_self(stopped_by);
        }
        if (!await_signal(child, unseen, &info) || info.si_signo == SIGCHLD)
            continue;
        interrupted = interrupted || info.si_signo == SIGINT;
        if (stops_a_job(info.si_signo) || info.si_signo == SIGCONT)
            is_asked_to_stop = info.si_signo != SIGCONT;
        pass_on(child, &info);
    }
    *ret_interrupted = interrupted || is_pending(SIGINT);
    return status;
}
