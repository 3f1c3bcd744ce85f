/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Runs a program as a child and gets out of its way.
 *
 * The supervisor blocks all signals and takes them one by one with sigwaitinfo(2), so
 * that it installs no handlers and the child finds everything as the launcher left it.
 */
#include "config.h"

#include "cli/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"

enum { EXIT_NOT_FOUND = 127, EXIT_NOT_EXECUTABLE = 126 };

/* What the child gets back. */
struct signal_settings {
    sigset_t mask;
    struct sigaction child_action;
};

/* The child must be found even where whoever started us ignores SIGCHLD. */
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

_Noreturn static void become_child(const struct es_supervision *supervision,
                                   const struct signal_settings *before,
                                   pid_t supervisor)
{
    if (supervision->death_signal) {
        prctl(PR_SET_PDEATHSIG, supervision->death_signal);
        /* It may have died before we asked to be told. */
        if (getppid() != supervisor)
            _exit(EXIT_NOT_EXECUTABLE);
    }
    give_signals_back(before);
    esi_supervise_become(supervision->argv);
}

static void close_range_of(unsigned first, unsigned last)
{
    enum { MANY = 65536 };

    if (first > last || syscall(SYS_close_range, first, last, 0u) == 0)
        return;
    /* Kernels before 5.9. */
    for (unsigned i = first; i <= last && i < MANY; i++)
        close((int)i);
}

/*
 * Readers of the program's pipes and sockets must see their end when the program closes
 * them, so no copy may live here.  0 to 2 stay taken: what is opened later must not be
 * mistaken for standard error.
 */
static void drop_descriptors(int lifeline)
{
    const unsigned first = STDERR_FILENO + 1;
    int null = open("/dev/null", O_RDWR);

    if (null < 0)
        return;
    for (int i = 0; i <= STDERR_FILENO; i++)
        dup2(null, i);
    if (lifeline <= STDERR_FILENO) {
        close_range_of(first, ~0u);
        return;
    }
    close_range_of(first, (unsigned)lifeline - 1);
    close_range_of((unsigned)lifeline + 1, ~0u);
}

pid_t esi_supervise_start(const struct es_supervision *supervision)
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
    if (!supervision->keep_descriptors)
        drop_descriptors(supervision->lifeline);
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

/*
 * Whether the child got this signal too, because it went to the whole process group:
 * the terminal's do, and so do those of launchers that start every rank in a session of
 * its own (Hydra) and signal that.
 */
static bool went_to_the_group(const siginfo_t *info)
{
    if (info->si_code == SI_KERNEL)
        return is_of_terminal(info->si_signo);
    return info->si_code == SI_USER && info->si_pid == getppid() &&
           getsid(0) == getpid();
}

/* Stops as the signal says, until somebody continues us. */
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

int esi_supervise_wait(pid_t child)
{
    sigset_t all;
    siginfo_t info;
    int status;

    sigfillset(&all);
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return status;
        if (ended < 0 && errno != EINTR)
            return -1;
        if (sigwaitinfo(&all, &info) > 0 && info.si_signo != SIGCHLD)
            pass_on(child, &info);
    }
}

_Noreturn void esi_supervise_end_alike(int status)
{
    struct rlimit no_core = {0, 0};
    sigset_t all;

    if (!WIFSIGNALED(status))
        exit(status == -1 ? ES_EXIT_USAGE : WEXITSTATUS(status));
    fflush(stdout);
    setrlimit(RLIMIT_CORE, &no_core);
    /* Core files that are piped to a program ignore the limit. */
    prctl(PR_SET_DUMPABLE, 0);
    signal(WTERMSIG(status), SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    raise(WTERMSIG(status));
    /* The signal was not deadly for us after all: what shells answer comes nearest. */
    exit(128 + WTERMSIG(status));
}
