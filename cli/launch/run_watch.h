/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * run_watch.h - watches the run while `eventspace run` waits for its end.
 *
 * A separate process observes the run once a second, like `eventspace why`, and reports
 * each certain verdict once.  At the end it reports leaks.
 */
#ifndef ES_CLI_LAUNCH_RUN_WATCH_H
#define ES_CLI_LAUNCH_RUN_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/* The exit status of `run` if the watch has ended the job: distinct from those of
 * sysexits(3), shells and timeout(1), and from those of MPICH's launcher for
 * signals. */
enum { ES_EXIT_ABORTED = 86 };

struct esi_run_watch {
    pid_t pid; /* 0 = none */
    int lifeline;
};

/* Watches `run`. With `aborts`, a certain hang is ended: the caller gets SIGTERM, which
 * it passes on to the launcher.  `other` is the lifeline of another child, which the
 * watch must not keep open; -1 = none.  Returns 0 or -errno. */
int esi_run_watch_start(const char *run,
                        bool aborts,
                        int other,
                        struct esi_run_watch *ret_watch);

/* Call when the program has ended: lets the watch report leaks, and waits for it.
 * Returns whether it has ended the job. */
bool esi_run_watch_end(struct esi_run_watch *watch);

#endif
