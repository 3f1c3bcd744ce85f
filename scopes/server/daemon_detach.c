/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * How `eventspaced` leaves whoever started it.
 *
 * A launcher waits until all copies of the descriptors are closed that it gave to its
 * ranks, so nothing may stay open but what is named.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plain.h"
#include "scopes/server/daemon.h"

enum {
    READY_MS = 5000,
    NICE = 5, /* a rank that wants the CPU gets about three times as much of it */
    TOLD_BYTES = 4096,
};

/* --- Telling the one who started us ------------------------------------------- */

void esi_daemon_report(int ready, const char *fault, const char *text)
{
    if (ready >= 0)
        dprintf(ready, "%c%s\n", fault ? '-' : '+', fault ? fault : text);
    else if (fault)
        esi_plain_print(stderr, "eventspaced: %s\n", fault);
    else
        printf("%s\n", text);
    fflush(stdout);
}

_Noreturn static void daemon_detach_report(const char *told, size_t length)
{
    if (length > 0 && told[0] == '+') {
        fputs(told + 1, stdout);
        fflush(stdout);
        _exit(ES_DAEMON_OK);
    }
    esi_plain_print(stderr, "eventspaced: %.*s\n",
                    length > 0 ? (int)strcspn(told + 1, "\n") : INT_MAX,
                    length > 0 ? told + 1 : "it did not say that it is ready");
    _exit(ES_DAEMON_FAULT);
}

/* Waits for what the server says, to its end of line. */
_Noreturn static void await_ready(int ready)
{
    struct pollfd polled = {.fd = ready, .events = POLLIN};
    char told[TOLD_BYTES + 1];
    size_t length = 0;
    ssize_t more = 1;

    while (more > 0 && length < TOLD_BYTES && poll(&polled, 1, READY_MS) > 0) {
        more = read(ready, told + length, TOLD_BYTES - length);
        length += more > 0 ? (size_t)more : 0;
    }
    told[length] = '\0';
    daemon_detach_report(told, length);
}

/* --- Leaving ------------------------------------------------------------------ */

static void close_all_between(unsigned first, unsigned last)
{
    enum { MANY = 65536 };

    if (first > last || syscall(SYS_close_range, first, last, 0u) == 0)
        return;
    /* Kernels before 5.9. */
    for (unsigned i = first; i <= last && i < MANY; i++)
        close((int)i);
}

static void close_all_but(int one, int other)
{
    unsigned low = (unsigned)(one < other ? one : other);
    unsigned high = (unsigned)(one < other ? other : one);
    int null = open("/dev/null", O_RDWR);

    if (null >= 0)
        for (int i = 0; i <= STDERR_FILENO; i++)
            dup2(null, i);
    close_all_between(STDERR_FILENO + 1, low - 1);
    close_all_between(low + 1, high - 1);
    close_all_between(high + 1, ~0u);
}

/* Signals as a program finds them that nobody has prepared. */
static void reset_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Above the standard ones, which are to be replaced. */
static int move_up(int descriptor)
{
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    return moved < 0 ? descriptor : moved;
}

int esi_daemon_detach(int keep)
{
    int ends[2];
    pid_t child;

    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0) {
        esi_plain_print(stderr, "eventspaced: cannot leave for the background: %s\n",
                        strerror(errno));
        exit(ES_DAEMON_FAULT);
    }
    if (child > 0) {
        close(ends[1]);
        /* The one in the middle; what it says is what counts. */
        waitpid(child, NULL, 0);
        await_ready(ends[0]);
    }
    /* Leads a session first, so that the next one can get no terminal. */
    setsid();
    child = fork();
    if (child != 0)
        _exit(child < 0 ? ES_DAEMON_FAULT : ES_DAEMON_OK);
    int ready = move_up(ends[1]);
    close_all_but(keep, ready);
    reset_signals();
    umask(S_IRWXG | S_IRWXO);
    (void)!chdir("/");
    return ready;
}

void esi_daemon_step_back(void)
{
    cpu_set_t all;

    /* A rank that started us may be bound to its core; we are to run where there is
     * room. The kernel takes away what this process may not use. */
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
}
