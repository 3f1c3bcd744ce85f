/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * untouched [multiple] - prints what a collector could change in its process, at
 * several moments: error handlers, attributes, signals, environment, descriptors,
 * threads, errno, floating point, locale, limits and timers.  Addresses are printed as
 * the module that has them, and variables of the collector are left out.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;

static const char *when;

static const char *module_of(void *address)
{
    Dl_info info;

    if (address == (void *)SIG_DFL)
        return "default";
    if (address == (void *)SIG_IGN)
        return "ignored";
    return dladdr(address, &info) != 0 ? info.dli_fname : "unknown";
}

static void print_signals(void)
{
    sigset_t blocked;

    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;

        if (sigaction(i, NULL, &action) != 0)
            continue;
        printf("%s: signal %d: %s, flags %x, blocked %d\n", when, i,
               module_of((void *)action.sa_handler), (unsigned)action.sa_flags,
               sigismember(&blocked, i));
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Launchers use numbers of their own in each run, so values are compared with those at
 * the start. */
static void print_environment(void)
{
    static char *at_start[4096];
    static size_t known;
    char *sorted[4096];
    size_t count = 0;

    for (char **next = environ; *next != NULL && count < 4096; next++)
        if (strncmp(*next, "LD_PRELOAD=", 11) != 0 &&
            strncmp(*next, "EVENTSPACE_", 11) != 0)
            sorted[count++] = *next;
    qsort(sorted, count, sizeof sorted[0], compare_texts);
    if (known == 0)
        for (; known < count; known++)
            at_start[known] = strdup(sorted[known]);
    for (size_t i = 0; i < count; i++)
        printf("%s: environment: %.*s %s\n", when, (int)strcspn(sorted[i], "="),
               sorted[i],
               bsearch(&sorted[i], at_start, known, sizeof at_start[0],
                       compare_texts) != NULL
                   ? "as at the start"
                   : "set since");
}

static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;

    if (directory == NULL)
        return -1;
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static void print_process(void)
{
    struct rlimit limit;
    struct itimerval timer;
    mode_t mask = umask(0);

    umask(mask);
    printf("%s: mask of files: %o\n", when, (unsigned)mask);
    printf("%s: descriptors: %d\n", when, count_entries("/proc/self/fd"));
    printf("%s: threads: %d\n", when, count_entries("/proc/self/task"));
    printf("%s: locale: %s\n", when, setlocale(LC_ALL, NULL));
    printf("%s: rounding %d, exceptions %d, trapped %d\n", when, fegetround(),
           fetestexcept(FE_ALL_EXCEPT), fegetexcept());
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
            printf("%s: limit %d: %llu\n", when, i, (unsigned long long)limit.rlim_cur);
    for (int i = ITIMER_REAL; i <= ITIMER_PROF; i++)
        if (getitimer((__itimer_which_t)i, &timer) == 0)
            printf("%s: timer %d: %ld\n", when, i, (long)timer.it_interval.tv_usec);
}

static const char *name_handler(MPI_Errhandler handler)
{
    return handler == MPI_ERRORS_ARE_FATAL ? "fatal"
           : handler == MPI_ERRORS_RETURN  ? "return"
                                           : "other";
}

static void print_handler(const char *what, MPI_Comm comm)
{
    MPI_Errhandler handler;

    MPI_Comm_get_errhandler(comm, &handler);
    printf("%s: handler of %s: %s\n", when, what, name_handler(handler));
    MPI_Errhandler_free(&handler);
    printf("%s: it is freed: %d\n", when, handler == MPI_ERRHANDLER_NULL);
}

static void print_attributes(MPI_Comm comm)
{
    static const int keys[] = {MPI_TAG_UB,          MPI_IO,
                               MPI_WTIME_IS_GLOBAL, MPI_APPNUM,
                               MPI_UNIVERSE_SIZE,   MPI_LASTUSEDCODE};
    int key;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int *value;
        int flag;

        MPI_Comm_get_attr(comm, keys[i], &value, &flag);
        printf("%s: attribute %zu: %d %d\n", when, i, flag, flag ? *value : 0);
    }
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    printf("%s: next key: %d\n", when, key); /* numbered from the first one */
    MPI_Comm_free_keyval(&key);
}

/* The objects are made by the program, as often in each moment. */
static void print_mpi(void)
{
    MPI_Errhandler handler;
    int *memory;
    MPI_Comm made;
    MPI_Win window;

    print_handler("world", MPI_COMM_WORLD);
    print_handler("self", MPI_COMM_SELF);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    print_handler("a duplicate", made);
    MPI_Comm_free(&made);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
    print_handler("a part", made);
    MPI_Comm_free(&made);
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    MPI_Win_get_errhandler(window, &handler);
    printf("%s: handler of a window: %s\n", when, name_handler(handler));
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&window);
    MPI_File_get_errhandler(MPI_FILE_NULL, &handler);
    printf("%s: handler of files: %s\n", when, name_handler(handler));
    print_attributes(MPI_COMM_WORLD);
}

/* MPI itself does not change errno in these calls. */
static void *call(void *moment)
{
    int word = 0, received;
    MPI_Request requests[2];

    for (int i = 0; i < 100; i++) {
        errno = 77;
        MPI_Irecv(&received, 1, MPI_INT, 0, i % 3, MPI_COMM_SELF, &requests[0]);
        MPI_Isend(&word, 1, MPI_INT, 0, i % 3, MPI_COMM_SELF, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_SELF);
        if (i == 0 || i == 99)
            printf("%s: errno after call %d: %d\n", (const char *)moment, i, errno);
    }
    return NULL;
}

static void call_in_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, call, "in a thread") == 0)
        pthread_join(thread, NULL);
}

static void print(const char *moment)
{
    when = moment;
    print_process();
    print_signals();
    print_environment();
}

int main(int argc, char **argv)
{
    int provided, flag;

    print("at the start");
    errno = 77;
    MPI_Initialized(&flag);
    printf("%s: errno: %d\n", when, errno);
    print("after the first call");
    if (argc > 1)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    print("after MPI_Init");
    print_mpi();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    when = "with errors returned";
    print_mpi();
    call("in calls");
    if (argc > 1)
        call_in_thread();
    print("after calls");
    MPI_Finalize();
    print("after MPI_Finalize");
    return 0;
}
