/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* last_words.c - reports that a thread has ended a test program, and where it was. */
#include "config.h"

#include "tests/last_words.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 64, OFFSET_BYTES = 24, TRIES = 100, ASKING_SIGNAL = SIGURG };

struct frames {
    void *items[FRAMES];
    int count;
};

static const char *_Atomic suite; /* NULL = the program may end */
static atomic_bool has_finished;  /* the suite returned while a thread reports */
static atomic_bool is_telling;
static pthread_t test_thread;
static pid_t test_process;
static struct frames test_frames;
static atomic_bool test_has_told;

/* --- Backtraces ------------------------------------------------------------------- */

/* Replaces the child process by addr2line; does not return. */
static void become_addr2line(const struct frames *frames)
{
    char program[32], offsets[FRAMES][OFFSET_BYTES];
    char command[] = "addr2line", options[] = "-fspie";
    char *arguments[FRAMES + 4] = {command, options, program};
    int count = 3;
    Dl_info own, of;

    snprintf(program, sizeof program, "/proc/%d/exe", (int)test_process);
    dladdr((void *)(uintptr_t)last_words_begin, &own);
    for (int i = 0; i < frames->count; i++) {
        if (dladdr(frames->items[i], &of) == 0 || of.dli_fbase != own.dli_fbase)
            continue;
        /* A return address may belong to the line after the call. */
        snprintf(offsets[i], OFFSET_BYTES, "%#tx",
                 (char *)frames->items[i] - (char *)of.dli_fbase - 1);
        arguments[count++] = offsets[i];
    }
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(*arguments, arguments);
    _exit(1);
}

/* Prints the frames as the C library names them, then the source lines of those that
 * are in the program itself. */
static void print_frames(const char *whose, const struct frames *frames)
{
    fprintf(stderr, "# %s:\n", whose);
    backtrace_symbols_fd(frames->items, frames->count, STDERR_FILENO);
    pid_t child = fork();
    if (child == 0)
        become_addr2line(frames);
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void tell_frames(int signal_number)
{
    (void)signal_number;
    test_frames.count = backtrace(test_frames.items, FRAMES);
    test_has_told = true;
}

static void last_words_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void await_flag(const atomic_bool *flag)
{
    for (int i = 0; i < TRIES && !*flag; i++)
        last_words_pause();
}

/* Called before anything is printed, while the test's thread is still where it was. */
static void ask_test(void)
{
    if (!pthread_equal(pthread_self(), test_thread) &&
        pthread_kill(test_thread, ASKING_SIGNAL) == 0)
        await_flag(&test_has_told);
}

/* The test itself may be the cause: when it failed, it freed what the thread still
 * used. Therefore wait until cmocka has reported that, after the test's functions have
 * run. */
static void tell_of_test(void)
{
    if (pthread_equal(pthread_self(), test_thread))
        return;
    if (test_has_told)
        print_frames("the thread of the test", &test_frames);
    await_flag(&has_finished);
}

/* --- Exit ------------------------------------------------------------------------- */

/* A signal is blocked while it is handled. */
static const char *signal_now(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};
    sigset_t blocked;

    if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0)
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
            if (sigismember(&blocked, signals[i]) == 1)
                return strsignal(signals[i]);
    return "a failed assertion, or exit()";
}

/* Another thread may call exit() meanwhile; it waits here for the report. */
static void await_last_words(void)
{
    while (is_telling)
        last_words_pause();
}

static void say_last_words(void)
{
    const char *name = atomic_exchange(&suite, NULL);
    struct frames own;

    /* A child process of the test reports for itself. */
    if (!name || getpid() != test_process)
        return;
    is_telling = true;
    ask_test();
    printf("Bail out! %s: a thread has ended the program: %s\n", name, signal_now());
    fflush(stdout);
    own.count = backtrace(own.items, FRAMES);
    print_frames("the thread that has ended the program", &own);
    tell_of_test();
    is_telling = false;
}

void last_words_begin(const char *name)
{
    static bool is_ready;

    suite = name;
    test_thread = pthread_self();
    test_process = getpid();
    /* The first call of backtrace() loads a library; a signal handler must not do
     * that. */
    test_frames.count = backtrace(test_frames.items, FRAMES);
    if (is_ready)
        return;
    is_ready = true;
    sigaction(ASKING_SIGNAL, &(struct sigaction){.sa_handler = tell_frames}, NULL);
    atexit(await_last_words);
    atexit(say_last_words); /* called first */
}

void last_words_end(void)
{
    if (atomic_exchange(&suite, NULL))
        return;
    has_finished = true;
    for (;;) /* until that thread has printed its report and exits */
        pause();
}
