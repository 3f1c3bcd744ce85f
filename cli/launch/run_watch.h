/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * run_watch.h - somebody looks at the run while `eventspace run` waits for its end.
 *
 * A process beside it looks each second, as `eventspace why` does, and says once what
 * is certain.  At the end it says what is left over.
 */
#ifndef ES_CLI_LAUNCH_RUN_WATCH_H
#define ES_CLI_LAUNCH_RUN_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/* The exit status of `run` where the watch has ended the job: none of sysexits(3), of
 * shells and timeout(1), and none that MPICH's launcher gives for a signal. */
enum { ES_EXIT_ABORTED = 86 };

struct esi_run_watch {
    pid_t pid; /* 0 = there is none */
    int lifeline;
};

/* Watches `run`.  Where `aborts`, what hangs for certain is ended: the caller gets
 * SIGTERM, which it passes on to the launcher.  `other` is the lifeline of another
 * child, which the watch must not hold open; -1 = none.  0 or -errno. */
int esi_run_watch_start(const char *run,
                        bool aborts,
                        int other,
                        struct esi_run_watch *ret_watch);

/* The program has ended: has the watch say what is left over, and waits for it.
 * Whether it has ended the job. */
bool esi_run_watch_end(struct esi_run_watch *watch);

#endif
